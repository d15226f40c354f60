"""Logins in progress: a link that the owner opens, and the address to which the browser is sent back with the answer.

That address leads to the page where one can reach it, else to a listener of this machine's own. Where the browser is on
another machine it shows an error there, and the owner hands its address over. An answer is known by its `state`, which
only the link has, and which is good for one answer.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, parse_qsl, urlsplit

from agent.formats.imports import without_collector
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from channels.network import is_here
from gateway.features.mcp.servers import ManagedServer, McpServers
from gateway.features.mcp.values import McpFailure, login_not_kept

if TYPE_CHECKING:
    from mcp.client.auth import AuthorizationCodeResult

    from gateway.features.mcp.oauth import LogIn, Revoke

log = logging.getLogger(__name__)

LINK_SECONDS = 3_600.0
_HERE = "127.0.0.1"
_LINK_WITHIN = 45.0
_ENDS_WITHIN = 90.0
"""Seconds after the answer."""
_LONGEST = 20_000
_CODE = re.compile(r"[a-z_]{1,40}")
_OVER = Sentence(
    "This answer belongs to no open login: it was used already, is more than an hour old, or Daybook was restarted. "
    "Begin again with the newest link."
)
_NO_ANSWER = Sentence(
    "That is not the address of a login's answer. Copy the whole address of the page that the browser ended on."
)


@dataclass(frozen=True, slots=True)
class LoginLink:
    """A link that the owner opens. `host`: where the owner logs in; `until`: seconds since 1970; `ended` raises
    `McpFailure`."""

    server: str
    host: str
    address: str = field(repr=False)
    until: float
    ended: asyncio.Future[LoggedIn] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """A login that was made. `problem`: why the server does not work all the same."""

    server: str
    host: str
    tools: int
    problem: str = ""


@dataclass(slots=True)
class _OpenLogin:
    server: ManagedServer
    link: asyncio.Future[LoginLink]
    answer: asyncio.Future[AuthorizationCodeResult]
    ended: asyncio.Future[LoggedIn]
    state: str = ""
    task: asyncio.Task[None] | None = None


class McpLogins:
    """Logins in progress. `page`: the address under which the owner's browser reaches the page now; empty: none."""

    def __init__(self, servers: McpServers, page: Callable[[], str], lasts: float = LINK_SECONDS) -> None:
        self._servers = servers
        self._page = page
        self._lasts = lasts
        self._open: dict[ManagedServer, _OpenLogin] = {}

    def is_open(self, server: ManagedServer) -> bool:
        return server in self._open

    async def link(self, server: ManagedServer) -> LoginLink:
        """The link of the open login, or of a new one. Raises `McpFailure`."""
        open_login = self._open.get(server) or self._begin(server)
        try:
            async with asyncio.timeout(_LINK_WITHIN):
                return await asyncio.shield(open_login.link)
        except TimeoutError as error:
            raise _silent(server) from error

    async def answer(self, address: str) -> LoggedIn:
        """Takes the address to which a browser was sent back. Raises `McpFailure`."""
        given = _parameters(address)
        waiting = [
            open_login
            for open_login in self._open.values()
            if open_login.state == given["state"] and not open_login.answer.done()
        ]
        if not waiting or not given["state"]:
            raise McpFailure(_OVER)
        [open_login] = waiting
        if code := given.get("code"):
            from mcp.client.auth import AuthorizationCodeResult  # noqa: PLC0415 (loaded since the login began)

            open_login.answer.set_result(AuthorizationCodeResult(code=code, state=given["state"], iss=given.get("iss")))
        else:
            error = given.get("error", "")
            why = error if _CODE.fullmatch(error) else Sentence("an error without a name")
            open_login.answer.set_exception(McpFailure(Sentence("it was declined ({why})", why=why)))
        try:
            async with asyncio.timeout(_ENDS_WITHIN):
                return await asyncio.shield(open_login.ended)
        except TimeoutError as error:
            raise _silent(open_login.server) from error

    async def log_out(self, server: ManagedServer) -> bool:
        """Forgets the login, and has the login server forget it; False if there was none. Raises `OSError`."""
        if (open_login := self._open.pop(server, None)) is not None and open_login.task is not None:
            open_login.task.cancel()
        if (login := server.login) is None or (grant := login.grant) is None:
            return False
        await login.forget()
        server.renew()
        _, revoke = await asyncio.to_thread(_sdk)
        try:
            await revoke(login.url, grant)
        except McpFailure as failure:
            log.warning("%s may still count the login of %s as good: %s", grant.host, server.name, failure)
        return True

    def _begin(self, server: ManagedServer) -> _OpenLogin:
        loop = asyncio.get_running_loop()
        open_login = _OpenLogin(server, loop.create_future(), loop.create_future(), loop.create_future())
        self._open[server] = open_login
        self._servers.run(self._run(open_login), f"login at {server.name}")
        return open_login

    async def _run(self, open_login: _OpenLogin) -> None:
        open_login.task = asyncio.current_task()
        name = open_login.server.name
        try:
            async with self._redirect() as redirect:  # until whoever brought the answer has read the outcome
                try:
                    open_login.ended.set_result(await self._log_in(open_login, redirect))
                except McpFailure as failure:
                    open_login.ended.set_exception(failure)
                except TimeoutError:
                    late = Sentence("the link to log in at {name} was not used in time", name=name)
                    open_login.ended.set_exception(McpFailure(late))
                except Exception as bug:  # its text may hold a code
                    log.error("the login at %s broke off (%s)", name, type(bug).__name__)
                    open_login.ended.set_exception(McpFailure(Sentence("the login at {name} broke off", name=name)))
        except OSError as error:
            log.warning("a login at %s failed: %s", name, error)
            if not open_login.ended.done():
                refused = Sentence("this machine refuses ({why})", why=system_says(error))
                open_login.ended.set_exception(McpFailure(refused))
        finally:
            if self._open.get(open_login.server) is open_login:
                del self._open[open_login.server]
            if not open_login.ended.done():
                open_login.ended.set_exception(McpFailure(Sentence("the login at {name} was given up", name=name)))
            failed = open_login.ended.exception()  # seen, also where nobody waits
            if not open_login.link.done():
                open_login.link.set_exception(failed or McpFailure(Sentence("{name} needs no login", name=name)))
                open_login.link.exception()
            open_login.answer.cancel()

    async def _log_in(self, open_login: _OpenLogin, redirect: str) -> LoggedIn:
        server, login = open_login.server, open_login.server.login
        if login is None:
            raise McpFailure(
                Sentence(
                    "{name} takes no login: it is a program, or has a key of yours in its headers", name=server.name
                )
            )
        if login.challenge is None:
            await _challenged(server)
        if (challenge := login.challenge) is None:
            if login.grant:
                raise McpFailure(Sentence("you are logged in at {host} already", host=login.grant.host))
            raise McpFailure(Sentence("{name} needs no login", name=server.name))
        log_in, _ = await asyncio.to_thread(_sdk)
        until = time.time() + self._lasts

        def show(host: str, address: str) -> None:
            open_login.state = dict(parse_qsl(urlsplit(address).query)).get("state", "")
            open_login.link.set_result(LoginLink(server.name, host, address, until, open_login.ended))

        async with asyncio.timeout(self._lasts):
            grant = await log_in(login.url, challenge, login.grant, redirect, show, open_login.answer)
        try:
            await login.accept(grant)
        except OSError as error:
            raise McpFailure(login_not_kept(server.name, system_says(error))) from error
        log.info("logged in at %s for %s", grant.host, server.name)
        server.renew()
        try:
            await server.start()
        except McpFailure as failure:
            return LoggedIn(server.name, grant.host, 0, str(failure))
        return LoggedIn(server.name, grant.host, len(server.tools or ()))

    @asynccontextmanager
    async def _redirect(self) -> AsyncIterator[str]:
        """The address to which the browser is sent back. Raises `OSError`."""
        # Only while somebody logs in.
        from aiohttp import web  # noqa: PLC0415

        from channels.web.shell import ANSWER_PATH, login_answer  # noqa: PLC0415

        async def answered(request: web.Request) -> web.StreamResponse:
            name = problem = ""
            try:
                name = (await self.answer(request.path_qs)).server
            except McpFailure as failure:
                problem = str(failure)
            return await login_answer(request, name, problem)

        page = self._page()
        if page and (urlsplit(page).scheme == "https" or is_here(page)):
            yield f"{page}{ANSWER_PATH}"
            return
        app = web.Application()
        app.router.add_get(ANSWER_PATH, answered, allow_head=False)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_ENDS_WITHIN)
        await runner.setup()
        try:
            await web.TCPSite(runner, _HERE, 0).start()
            yield f"http://{_HERE}:{runner.addresses[0][1]}{ANSWER_PATH}"
        finally:
            await runner.cleanup()


def _silent(server: ManagedServer) -> McpFailure:
    return McpFailure(Sentence("the login server of {name} does not answer", name=server.name))


def _sdk() -> tuple[LogIn, Revoke]:
    # In a thread: it takes a second.
    with without_collector():
        from gateway.features.mcp.oauth import log_in, revoke  # noqa: PLC0415 (only where there are servers)
    return log_in, revoke


async def _challenged(server: ManagedServer) -> None:
    """Has the server say whether it wants a login. Raises `McpFailure` for any other failure."""
    try:
        server.renew()
        await server.start()
    except McpFailure as failure:
        if not failure.needs_login:
            raise


def _parameters(address: str) -> Mapping[str, str]:
    """The parameters of an answer, each given once. Raises `McpFailure`."""
    try:
        found = parse_qs(urlsplit(address.strip()).query, max_num_fields=20) if len(address) <= _LONGEST else {}
    except ValueError:
        found = {}
    if "state" not in found or not {"code", "error"} & found.keys() or any(len(texts) > 1 for texts in found.values()):
        raise McpFailure(_NO_ANSWER)
    return {name: values[0] for name, values in found.items()}
