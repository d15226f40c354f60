"""The gateway as the page's server sees it."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from agent.clock import Clock, utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.fs import put_in_place
from agent.languages.codes import Language
from agent.languages.sentences import Sentence
from agent.model.base import Json
from channels.message import ChannelStatus
from channels.web.auth import LoginLinks, url_of
from channels.web.listen import network_host
from channels.web.record import NotRecorded
from channels.web.views.view import ActionFailed, NotOffered
from gateway.config import WebConfig
from gateway.home import Home, write_private
from gateway.operations import OperationGroup, is_on_page, operation
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import OperationError, Params, RpcHandler
from gateway.store import outbox_rows
from gateway.store.claims import SOLE, Claims
from gateway.store.database import Database
from gateway.supervisor import SupervisedSource

if TYPE_CHECKING:
    from gateway.metrics import Metrics

log = logging.getLogger(__name__)

FRESH_SECONDS = 2.0
"""Figures that are asked for more often stay the same: anybody on this machine may ask, and counting costs."""
_OVERLAP = timedelta(minutes=1)
"""An answer is committed no later than this after the moment that it is recorded with."""


class GatewayWebHost(OperationGroup):
    """Implements `channels.web.protocols.WebHost`. `begun`: the first try to listen is over; `address` is empty while
    the page is closed."""

    def __init__(
        self,
        host: str,
        token_source: str,
        operations: Mapping[str, RpcHandler],
        sources: Sequence[SupervisedSource],
        database: Database,
        clock: Clock,
        now: Callable[[], float] = time.monotonic,
        public_url: str = "",
        claims: Claims = SOLE,
    ) -> None:
        """`host`: where the page listens; `public_url`: where a proxy serves it; `token_source`: where a person finds
        its token. `operations` and `sources` may grow: the page is one of the channels they are made of."""
        self.address = ""
        self.begun = asyncio.Event()
        self._host = host
        self._public_url = public_url
        self._token_source = token_source
        self._operations = operations
        self._sources = sources
        self._database = database
        self._clock = clock
        self._now = now
        self._claims = claims
        self._answers_since = clock.now()
        self._links = LoginLinks()
        self._metrics: Metrics | None = None
        self._known = ""
        self._known_at = -math.inf
        self._asking = asyncio.Lock()

    @property
    def serves(self) -> bool:
        return self._claims.leads

    @property
    def timezone(self) -> str:
        return self._clock.zone.key

    @operation("web.address")
    async def address_json(self) -> Json:
        """`{address, why}`: the address, or "" and the reason."""
        return {"address": self.address, "why": self._why_closed()}

    @operation("web.link")
    async def link_json(self) -> Json:
        """`{address, link, phone, why}`: as `web.address`, with fresh links for this machine and for another device of
        its network, or ""."""
        if any(source.source.name == "web" for source in self._sources):
            await self.begun.wait()
        return {
            "address": self.address,
            "link": self.new_link(),
            "phone": self._phone_link(),
            "why": self._why_closed(),
        }

    def _why_closed(self) -> str:
        states = (source.status for source in self._sources if source.source.name == "web")
        return "" if self.address else next((state.last_error for state in states), "")

    @property
    def owners_url(self) -> str:
        """Where the owner's browser reaches the page, on this machine or by the proxy; empty while it is closed."""
        return (self._public_url or self.address) if self.address else ""

    @property
    def port(self) -> int:
        """The page's port; 0 while the page is closed."""
        return urlsplit(self.address).port or 0

    def new_link(self) -> str:
        """A link that logs in once, within ten minutes."""
        return url_of(self.address, self._links.new_secret()) if self.address else ""

    def _phone_link(self) -> str:
        host = network_host(self._host)
        url = self._public_url or (f"http://{host}:{self.port}" if host else "")
        return url_of(url, self._links.new_secret()) if self.address and url else ""

    def redeem(self, secret: str) -> bool:
        return self._links.redeem(secret)

    def listens(self, address: str) -> None:
        if address and address != self.address:
            log.info("the web page is at %s (its token: %s)", address, self._token_source)
        self.address = address
        self.begun.set()

    async def channels(self) -> Mapping[str, ChannelStatus]:
        return {source.source.name: source.status for source in self._sources}

    def offers(self, operation: str) -> bool:
        return operation in self._operations and is_on_page(operation)

    async def call(self, operation: str, parameters: Mapping[str, object]) -> object:
        if operation not in self._operations:
            raise NotOffered(Sentence("The page can't do that."))
        try:
            return await self._operations[operation](cast(Params, parameters))
        except OperationError as problem:
            raise ActionFailed(str(problem)) from problem

    async def metrics(self) -> str:
        async with self._asking:
            if self._now() - self._known_at >= FRESH_SECONDS:
                try:
                    self._known = await self._read_metrics()
                except StorageUnavailable as error:
                    raise NotRecorded(str(error)) from error
                self._known_at = self._now()
            return self._known

    async def _read_metrics(self) -> str:
        if self._metrics is None:
            from gateway.metrics import Metrics  # noqa: PLC0415 (a start need not wait for its library)

            self._metrics = Metrics()
        status, now = await self._operations["status"]({}), self._clock.now()
        self._metrics.count(await self._database.run(outbox_rows.answer_seconds, utc_stamp(self._answers_since)))
        self._answers_since = max(self._answers_since, now - _OVERLAP)
        return self._metrics.text(status, datetime.now(UTC))


def read_token(config: WebConfig, home: Home) -> str:
    """The page's token, made if it is missing. Blocks. Raises `OSError`, and `ValueError` for an empty token, which
    would admit everybody."""
    if config.token is not None:
        return _sound(
            config.token.get_secret_value(),
            "channels.web.token",
            Sentence("set another one, or `null` to get a new one"),
        )
    if not home.web_token.exists():
        _make(home.web_token)
    found = home.web_token.read_text(encoding="utf-8", errors="replace")
    return _sound(found, str(home.web_token), Sentence("delete the file to get a new one"))


def token_source(config: WebConfig, home: Home) -> str:
    where = "channels.web.token in config.yaml" if config.token is not None else str(home.web_token)
    return f"{where}; `daybook web` shows it"


def _make(file: Path) -> None:
    """Writes a token, unless another process was faster."""
    scratch = file.with_name(f"{file.name}.{secrets.token_hex(4)}.new")
    write_private(scratch, f"{secrets.token_urlsafe(32)}\n")
    try:
        os.link(scratch, file)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        put_in_place(scratch, file)
    finally:
        scratch.unlink(missing_ok=True)


def _sound(token: str, where: str, fix: str) -> str:
    token = token.strip()
    if not token:
        raise ValueError(Sentence("{where} is empty; {fix}", where=where, fix=fix))
    return token


_ANSWERED_WITHIN = 10.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """The page's address with links that log in once: for this machine, and for another device of its network. `why`:
    the reason if the gateway runs and the page doesn't."""

    address: str = ""
    link: str = ""
    phone: str = ""
    why: str = ""


async def page_address(home: Home) -> str:
    """The page's address, from a home's running gateway."""
    return (await _asked(home, "web.address")).address


async def page_link(home: Home, language: Language) -> PageLink:
    return await _asked(home, "web.link", language)


async def _asked(home: Home, operation: str, language: Language = Language.ENGLISH) -> PageLink:
    try:
        async with asyncio.timeout(_ANSWERED_WITHIN), connect(home.socket) as connection:
            found = await connection.call(operation, {}, language)
    except NotRunning:
        return PageLink()
    except OperationError as error:
        return PageLink(why=str(error).rstrip(".。"))
    except TimeoutError:
        return PageLink(why=Sentence("Daybook doesn't answer"))
    fields = found if isinstance(found, Mapping) else {}
    address, link, phone, why = (str(fields.get(name) or "") for name in ("address", "link", "phone", "why"))
    no_page = Sentence("the running Daybook has no page; restart it")
    return PageLink(address, link, phone, why if address or why else no_page)
