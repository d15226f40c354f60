"""What the web page's server may know of the gateway, and what the gateway knows of it: where the page is."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from agent.model.base import Json
from channels.message import ChannelStatus
from channels.web.record import NotRecorded
from gateway.control import Operation, Params
from gateway.metrics import prometheus
from gateway.store.database import StoreUnavailable
from gateway.supervise import Supervised

log = logging.getLogger(__name__)

FRESH_SECONDS = 2.0
"""Who asks more often gets the same figures: anybody on this machine may ask, and counting costs something."""


class WebHouse:
    """`channels.web.protocols.House`. `begun` is set once the page opens, or its first try to listen has failed;
    `address` is empty while it cannot be opened."""

    def __init__(self, token_place: str, now: Callable[[], float] = time.monotonic) -> None:
        """`token_place`: where a person finds the token; `now`: seconds since any moment."""
        self.address = ""
        self.begun = asyncio.Event()
        self._token_place = token_place
        self._now = now
        self._ask: Operation | None = None
        self._offer: Operation | None = None
        self._sources: Sequence[Supervised] = ()
        self._known = ""
        self._known_at = -math.inf
        self._asking = asyncio.Lock()

    def open(self, sources: Sequence[Supervised], status: Operation, offer: Operation | None = None) -> None:
        """Give it what it reports from: it is built before the channels, which need it, and these after them."""
        self._sources, self._ask, self._offer = sources, status, offer

    def table(self) -> Mapping[str, Operation]:
        return {"web.address": self.tell_address}

    async def tell_address(self, _: Params) -> Json:
        """`{address, why}`; the first is empty while the page cannot be opened, and the other says why."""
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
