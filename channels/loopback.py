"""Recognizes addresses of this machine, which need no proxy from the environment."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_here(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")
