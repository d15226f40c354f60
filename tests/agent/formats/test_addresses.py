"""Addresses that lead into a private network, in every spelling that some program accepts: none is opened."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.formats.addresses import AddressRefused, AddressRules, is_public

RULES = AddressRules()

HERE = Path(__file__).parent
PRIVATE = (HERE / "private.txt").read_text("utf-8").splitlines()
NO_ADDRESS = [
    *(HERE / "no_address.txt").read_text("utf-8").splitlines(),
    "http://example.org\t.evil/",
    "http://exam ple.org/",
    "http://example.org/\0",
    "http://example.org/\r\nHost: x",
]

PUBLIC = [
    ("https://example.org/a?b=c#d", "https://example.org/a?b=c"),
    ("example.org/tea", "https://example.org/tea"),
    ("http://Example.ORG./", "http://example.org/"),
    ("https://münchen.example/straße", "https://xn--mnchen-3ya.example/stra%C3%9Fe"),
    ("http://1.1.1.1/", "http://1.1.1.1/"),
    ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
    ("https://example.org:443/", "https://example.org/"),
    ("http://127.0.0.1.nip.io/", "http://127.0.0.1.nip.io/"),  # a name: refused when it is looked up
]


def test_the_table_is_long_enough() -> None:
    assert len(PRIVATE) + len(NO_ADDRESS) >= 80


@pytest.mark.parametrize("address", [*PRIVATE, *NO_ADDRESS])
def test_it_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        RULES.checked(address)
    assert address not in str(refused.value), "what a model wrote must not come back as others' text"


@pytest.mark.parametrize(("given", "address"), PUBLIC)
def test_a_public_address_is_opened_as_it_is_meant(given: str, address: str) -> None:
    assert str(RULES.checked(given)) == address


@given(st.ip_addresses())
def test_what_is_public_is_global_and_embeds_nothing_private(address: object) -> None:
    found = ip_address(str(address))
    if is_public(found):
        assert found.is_global and not found.is_multicast and not found.is_private


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_another_counts_as_itself(address: object) -> None:
    number = int(ip_address(str(address)))
    mapped, translated = ip_address((0xFFFF << 32) | number), ip_address((0x64FF9B << 96) | number)
    assert is_public(mapped) == is_public(translated) == is_public(ip_address(number))


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        url = RULES.checked(text)
    except AddressRefused:
        return
    assert url.scheme in ("http", "https") and url.port in (80, 443) and url.raw_host
