"""Web addresses that may be opened: public ones only, however they are written."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from yarl import URL

IpAddress = IPv4Address | IPv6Address

_SCHEMES = frozenset({"http", "https"})
_LONGEST = 2_000
_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "192.0.0.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "::/96",
            "64:ff9b:1::/48",
            "100::/63",
            "2001::/23",
            "2002::/16",
            "2620:4f:8000::/48",
            "3fff::/20",
            "5f00::/16",
            "fec0::/10",
        ),
    )
)
"""Networks of the special-purpose registries (RFC 6890) that some releases of `ipaddress` call global, and those whose
addresses stand for others (6to4, Teredo)."""


class AddressRefused(Exception):
    """The text says why, as the end of a sentence about the address."""


class NotPublic(OSError):
    """A name leads into a private network."""


def is_public(address: IpAddress) -> bool:
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address.is_site_local or address.scope_id is not None:
            return False
    special = any(address in network for network in _NOT_PUBLIC if network.version == address.version)
    return address.is_global and not (address.is_multicast or address.is_reserved or special)


@dataclass(frozen=True, slots=True)
class AddressRules:
    ports: frozenset[int] = frozenset({80, 443})
    is_public: Callable[[IpAddress], bool] = is_public

    def checked(self, given: str) -> URL:
        """The address without its fragment. Raises `AddressRefused`; looks no name up."""
        text = given.strip()
        if not text.isprintable() or " " in text or "\\" in text or len(text) > _LONGEST:
            raise AddressRefused("it is not a web address")
        try:
            url = URL(text if "://" in text else f"https://{text}").with_fragment(None)
            host, port = (url.raw_host or "").rstrip("."), url.port
        except (ValueError, UnicodeError) as error:
            raise AddressRefused("it is not a web address") from error
        if url.scheme not in _SCHEMES:
            raise AddressRefused("only http and https can be opened")
        if url.raw_user is not None or url.raw_password is not None:
            raise AddressRefused("it has a user name in it")
        if port not in self.ports:
            raise AddressRefused("only the ports 80 and 443 can be opened")
        if not host or "%" in host:
            raise AddressRefused("it has no name of a server")
        number = _number(host)
        if number is not None:
            if not self.is_public(number):
                raise AddressRefused("it is in a private network")
            return url.with_host(str(number))
        if "." not in host:
            raise AddressRefused("it is in a private network")
        return url.with_host(host)


def _number(host: str) -> IpAddress | None:
    """The host as an IP address, in any spelling that programs accept; None for a name. Raises `AddressRefused`."""
    try:
        return ip_address(host)
    except ValueError:
        last = host.rpartition(".")[2]
        if not (last.isdigit() or last[:2].lower() == "0x"):
            return None
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError as error:
        raise AddressRefused("it is not a web address") from error
