"""What is this machine and what is not: a proxy from the environment has no business with the former."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_here(url: str) -> bool:
    """Whether an address leads to this machine."""
    return is_loopback(urlsplit(url).hostname or "")
