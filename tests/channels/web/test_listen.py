"""Where the page listens, and what others call it."""

from __future__ import annotations

import ipaddress

import pytest

from channels.web.listen import network_host


@pytest.mark.parametrize(
    ("host", "called"),
    [
        ("127.0.0.1", ""),
        ("localhost", ""),
        ("::1", ""),
        ("192.168.7.7", "192.168.7.7"),
        ("fd00::7", "[fd00::7]"),
        ("daybook.lan", "daybook.lan"),
    ],
)
def test_a_phone_calls_it_by_what_it_can_reach(host: str, called: str) -> None:
    assert network_host(host) == called


@pytest.mark.parametrize("wildcard", ["", "0.0.0.0", "::"])
def test_who_listens_everywhere_has_the_address_of_the_network_if_there_is_one(wildcard: str) -> None:
    found = network_host(wildcard).strip("[]")
    assert not found or not (ipaddress.ip_address(found).is_loopback or ipaddress.ip_address(found).is_unspecified)
