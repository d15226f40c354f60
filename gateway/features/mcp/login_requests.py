"""Asks the owner in their private chat to log in at a server of tools, when a turn needs it. The turn goes on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta

from agent.clock import Clock, utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import translated
from agent.memory.scope import Audience
from agent.tools.base import Tool, ToolError, ToolResult
from agent.tools.schema import Arguments, spec, takes
from channels.message import Address
from gateway.features.mcp.login_flow import LoginLink, McpLogins
from gateway.features.mcp.servers import ManagedServer
from gateway.features.mcp.values import McpFailure
from gateway.messages.outbox import Outbox
from gateway.policy.sessions import SessionRoute
from gateway.scheduling.targets import NoTarget, OwnerReports
from gateway.store import chat_rows
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow

log = logging.getLogger(__name__)

_AGAIN = timedelta(days=1)
"""After this time a job, or another person, may have an owner who did not use the link asked again."""
_WAITS = (
    "{name} needs its owner's login first: a link for it is in their private chat. Nothing is done yet; it works after "
    "the login, not before."
)
_NOBODY = "{name} needs its owner's login first, and no chat of theirs is known. Nothing is done."
_FAILED = "{name} needs a login, which can't begin: {why}. Nothing is done."
_DISK = "{name} needs a login, and the disk takes no more writing. Nothing is done. Tell the person."
_ABOUT = (
    "The owner is not logged in at {name}, so its tools are not there yet. Call this when something is wanted of it: "
    "the owner gets a link to log in."
)


class _NoArguments(Arguments):
    pass


class LoginRequests:
    def __init__(
        self,
        logins: McpLogins,
        database: Database,
        clock: Clock,
        outbox: Outbox,
        reports: OwnerReports,
        run: Callable[[Coroutine[None, None, None], str], None],
    ) -> None:
        """`run`: as `McpServers.run`."""
        self._logins = logins
        self._database = database
        self._clock = clock
        self._outbox = outbox
        self._reports = reports
        self._run = run
        self._asked_at: dict[ManagedServer, datetime] = {}
        self._asking: dict[ManagedServer, asyncio.Lock] = {}

    def tool(self, server: ManagedServer, row: InboxRow, route: SessionRoute) -> Tool:
        """A tool in place of the tools of a server that are not known before a login."""

        async def ask(_: _NoArguments) -> ToolResult:
            return ToolResult(await self.ask(server, row, route))

        about = spec(f"{server.name}__login", _ABOUT.format(name=server.name), _NoArguments)
        return Tool(about, takes(_NoArguments, ask))

    async def ask(self, server: ManagedServer, row: InboxRow, route: SessionRoute) -> str:
        """Sends the owner a link, unless they have one; returns the result for the model. Raises `ToolError`."""
        async with self._asking.setdefault(server, asyncio.Lock()):  # the second to ask finds the link sent
            now, waits = self._clock.now(), _WAITS.format(name=server.name)
            asked_at = self._asked_at.get(server)
            if (
                asked_at is not None
                and (self._logins.is_open(server) or not _is_owner(row, route))
                and now < asked_at + _AGAIN
            ):
                return waits
            try:
                address, _ = await self._reports.private_chat(row, route)
                link = await self._logins.link(server)
                text = LANGUAGES[await self._language(address)].chat.login
                shown = text.format(name=server.name, host=link.host, link=_in_markdown(link.address))
                await self._send(f"mcp:login:{server.key}:{utc_stamp(now)}", address, shown)
            except NoTarget as error:
                raise ToolError(_NOBODY.format(name=server.name)) from error
            except McpFailure as failure:
                raise ToolError(_FAILED.format(name=server.name, why=failure)) from failure
            except StorageUnavailable as error:
                raise ToolError(_DISK.format(name=server.name)) from error
            self._asked_at[server] = now
        self._run(self._tell(server, link, address, utc_stamp(now)), f"what came of the login at {server.name}")
        return waits

    async def _tell(self, server: ManagedServer, link: LoginLink, address: Address, asked_at: str) -> None:
        """Says in the chat how the login ended; nothing where the link was not used."""
        try:
            outcome = await asyncio.shield(link.ended)
            problem = outcome.problem
            self._asked_at.pop(server, None)
        except McpFailure as failure:
            if time.time() >= link.until:
                return
            outcome, problem = None, str(failure)
        try:
            language = await self._language(address)
            strings = LANGUAGES[language].chat
            text = strings.login_failed.format(name=server.name, why=translated(language, problem))
            if outcome is not None and not problem:
                text = strings.logged_in.format(name=server.name, host=outcome.host, count=outcome.tools)
            await self._send(f"mcp:login:{server.key}:{asked_at}:ended", address, text)
        except StorageUnavailable as error:
            log.error("what came of the login at %s is not told: %s", server.name, error)

    async def _send(self, key: str, address: Address, text: str) -> None:
        await self._outbox.write(self._outbox.drafts(f"{key}:{{}}", address, text))

    async def _language(self, address: Address) -> Language:
        return await self._database.run(chat_rows.language, address)


def _is_owner(row: InboxRow, route: SessionRoute) -> bool:
    """True where the owner has written just now."""
    return route.scope.audience is Audience.OWNER and row.message.due is None


def _in_markdown(address: str) -> str:
    """The address in a form that ends no link."""
    return address.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
