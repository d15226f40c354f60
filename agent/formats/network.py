"""Proxies and certificates that the machine's environment names. `channels/network.py` reads the same for the channels;
a test compares them."""

from __future__ import annotations

import ipaddress
import os
import ssl
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


class BadEnvironment(Exception):
    """A variable of the environment allows no connection. The text is a sentence that names it and what to do:
    `english` with `values`."""

    def __init__(self, english: str, **values: str) -> None:
        super().__init__(english.format(**values))
        self.english = english
        self.values = values


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_here(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def proxy_for(url: str) -> str | None:
    """The environment's proxy; None for this machine. Raises `BadEnvironment` for a proxy that speaks no HTTP."""
    parts = urlsplit(url)
    if is_here(url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    kind = parts.scheme if proxies.get(parts.scheme) else "all"
    if not (proxy := proxies.get(kind)):
        return None
    named = [name for name, value in os.environ.items() if value and name.lower() == f"{kind}_proxy"]
    name = max(named, key=str.islower, default="The system's proxy")
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    scheme = proxy.partition("://")[0].lower()
    if scheme.startswith("socks"):
        raise BadEnvironment(
            "{name} is a SOCKS proxy ({scheme}), which Daybook can't use. Set {instead} to your proxy's HTTP address, "
            "or unset {name}, then restart Daybook.",
            name=name,
            scheme=scheme,
            instead=f"{parts.scheme.upper()}_PROXY",
        )
    if scheme not in ("http", "https") or not _has_host(proxy):
        raise BadEnvironment(
            "{name} is not the address of an HTTP proxy. Set it to one, as http://127.0.0.1:8080, or unset it, then "
            "restart Daybook.",
            name=name,
        )
    return proxy


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        return False


def tls(*, strict: bool = True) -> ssl.SSLContext:
    """The certificates of the system, of Python's packages and of the environment; shared, as loading them takes some
    20 ms. Raises `BadEnvironment` for a variable that names none, if `strict`."""
    return _context(strict, tuple((name, os.environ.get(name, "")) for name in _CERTIFICATES))


@cache
def _context(strict: bool, variables: tuple[tuple[str, str], ...]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    for name, value in variables:
        if value:
            with nullcontext() if strict else suppress(BadEnvironment):
                _load(context, name, value)
    return context


def _load(context: ssl.SSLContext, name: str, value: str) -> None:
    places = value.split(os.pathsep) if name == "SSL_CERT_DIR" else [value]
    found = [place for place in places if Path(place).exists()]
    if not found:
        raise BadEnvironment(
            "{name} names certificates that are not there: {places}. Correct {name}, or unset it, then restart "
            "Daybook.",
            name=name,
            places=value[:300],
        )
    try:
        for place in found:
            if Path(place).is_dir():
                context.load_verify_locations(capath=place)
            else:
                context.load_verify_locations(cafile=place)
    except OSError as error:
        if isinstance(error, ssl.SSLError):
            raise BadEnvironment(
                "{name} names {places}, which holds no certificates. Correct {name}, or unset it, then restart "
                "Daybook.",
                name=name,
                places=value[:300],
            ) from error
        raise BadEnvironment(
            "{name} names {places}, which can't be used: {why}. Correct {name}, or unset it, then restart Daybook.",
            name=name,
            places=value[:300],
            why=error.strerror or "",
        ) from error
