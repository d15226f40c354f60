"""The gateway as the web page's server sees it, the page's address, and its token."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agent.model.base import Json
from channels.message import ChannelStatus
from channels.web.record import NotRecorded
from gateway.config import WebConfig
from gateway.home import Home, write_private
from gateway.metrics import prometheus
from gateway.rpc.protocol import Operation, Params
from gateway.store.database import StoreUnavailable
from gateway.supervisor import SupervisedSource

log = logging.getLogger(__name__)

FRESH_SECONDS = 2.0
"""Who asks more often gets the same figures: anybody on this machine may ask, and counting costs something."""


class GatewayWebHost:
    """Implements `channels.web.protocols.WebHost`. `begun` is set once the page opens, or its first try to listen
    failed; `address` is empty while the page is closed."""

    def __init__(self, token_place: str, now: Callable[[], float] = time.monotonic) -> None:
        """`token_place`: where a person finds the token; `now`: seconds since any moment."""
        self.address = ""
        self.begun = asyncio.Event()
        self._token_place = token_place
        self._now = now
        self._ask: Operation | None = None
        self._offer: Operation | None = None
        self._sources: Sequence[SupervisedSource] = ()
        self._known = ""
        self._known_at = -math.inf
        self._asking = asyncio.Lock()

    def open(self, sources: Sequence[SupervisedSource], status: Operation, offer: Operation | None = None) -> None:
        """Sets what it reports from: the channels need the host, and these are built after the channels."""
        self._sources, self._ask, self._offer = sources, status, offer

    def table(self) -> Mapping[str, Operation]:
        return {"web.address": self.tell_address}

    async def tell_address(self, _: Params) -> Json:
        """`{address, why}`: `address` is empty while the page cannot be opened, and `why` is the reason."""
        states = (one.status for one in self._sources if one.source.name == "web")
        return {"address": self.address, "why": "" if self.address else next((it.last_error for it in states), "")}

    def listens(self, address: str) -> None:
        if address and address != self.address:
            log.info("the web page is at %s (its token: %s)", address, self._token_place)
        self.address = address
        self.begun.set()

    async def channels(self) -> Mapping[str, ChannelStatus]:
        return {one.source.name: one.status for one in self._sources}

    async def embedder(self, answer: str) -> object:
        if self._offer is None:
            return {"state": ""}
        return await self._offer({"answer": answer} if answer else {})

    async def metrics(self) -> str:
        async with self._asking:
            if self._ask is not None and self._now() - self._known_at >= FRESH_SECONDS:
                try:
                    status: Json = await self._ask({})
                except StoreUnavailable as error:
                    raise NotRecorded(str(error)) from error
                self._known = prometheus(status, datetime.now(UTC))
                self._known_at = self._now()
            return self._known


def read(config: WebConfig, home: Home) -> str:
    """The page's token, made where there is none. Blocks. Raises `OSError`, and `ValueError` with a sentence where the
    file holds no token: an empty one would admit everybody."""
    if config.token is not None:
        return _sound(config.token.get_secret_value(), "channels.web.token", "set another, or null to have one made")
    if not home.web_token.exists():
        _make(home.web_token)
    found = home.web_token.read_text(encoding="utf-8", errors="replace")
    return _sound(found, str(home.web_token), "delete the file to have one made")


def place(config: WebConfig, home: Home) -> str:
    """The place where a person finds the token."""
    where = "channels.web.token in config.yaml" if config.token is not None else str(home.web_token)
    return f"{where}; `daybook web` shows it"


def _make(file: Path) -> None:
    """Writes a new token whole. Where another process was faster, its token stays."""
    scratch = file.with_name(f"{file.name}.{secrets.token_hex(4)}.new")
    write_private(scratch, f"{secrets.token_urlsafe(32)}\n")
    try:
        os.link(scratch, file)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)


def _sound(token: str, where: str, cure: str) -> str:
    token = token.strip()
    if not token:
        raise ValueError(f"{where} is empty; {cure}")
    return token
