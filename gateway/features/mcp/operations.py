"""Servers of tools and the owner's logins at them: the operations behind `daybook mcp login|logout` and the page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from agent.clock import utc_stamp
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.model.base import Json
from gateway.features.mcp.catalog import McpCatalog
from gateway.features.mcp.login_flow import LoggedIn, McpLogins
from gateway.features.mcp.servers import ManagedServer
from gateway.features.mcp.values import McpFailure
from gateway.handlers.agents import AgentName
from gateway.operations import Id, OperationGroup, Text, operation
from gateway.rpc.protocol import OperationError


class McpOperations(OperationGroup):
    """`default_agent`: whose servers are meant where none is named."""

    def __init__(self, catalog: McpCatalog, logins: McpLogins, default_agent: str) -> None:
        self._catalog = catalog
        self._logins = logins
        self._default = default_agent

    @operation("mcp.servers", on_page=True)
    async def servers(self) -> Json:
        """The servers of all agents: `[{agent, name, running, tools, login, login_host}]`."""
        return [
            {
                "agent": agent,
                "name": server.name,
                "running": server.is_running,
                "tools": None if server.tools is None else len(server.tools),
                **login_json(server),
            }
            for agent, server in self._catalog.servers()
        ]

    @operation("mcp.link", on_page=True)
    async def link(self, name: Id, agent: AgentName = "") -> Json:
        """`{name, host, link, until}`, by which the owner logs in."""
        try:
            link = await self._logins.link(self._find(name, agent))
        except McpFailure as failure:
            raise _refused(failure) from failure
        until = utc_stamp(datetime.fromtimestamp(link.until, UTC))
        return {"name": link.server, "host": link.host, "link": link.address, "until": until}

    @operation("mcp.login")
    async def login(self, name: Id, agent: AgentName = "") -> Json:
        """Log in at the server NAME by a link that you open in a browser, on any computer.

        As `mcp.link`, and waits until the owner is logged in: `{name, host, tools, problem}`."""
        try:
            link = await self._logins.link(self._find(name, agent))
            return _outcome_json(await asyncio.shield(link.ended))
        except McpFailure as failure:
            raise _refused(failure) from failure

    @operation("mcp.answer", on_page=True)
    async def answer(self, address: Text) -> Json:
        """As `mcp.login`; `address`: to which the browser was sent back."""
        try:
            return _outcome_json(await self._logins.answer(address))
        except McpFailure as failure:
            raise _refused(failure) from failure

    @operation("mcp.logout", on_page=True)
    async def logout(self, name: Id, agent: AgentName = "") -> Json:
        """Forget the login at the server NAME.

        `{done}`, False where nobody was logged in."""
        try:
            return {"done": await self._logins.log_out(self._find(name, agent))}
        except OSError as error:
            raise OperationError(Sentence("The login can't be deleted: {why}.", why=system_says(error))) from error

    def _find(self, name: str, agent: str) -> ManagedServer:
        wanted = agent or self._default
        known = {server.name: server for its_agent, server in self._catalog.servers() if its_agent == wanted}
        if name not in known:
            raise OperationError(no_server(name, known))
        return known[name]


def no_server(name: str, known: Iterable[str]) -> Sentence:
    named = ", ".join(known) or "-"
    return Sentence("There is no server {name}. There are: {known}.", name=repr(name), known=named)


def login_json(server: ManagedServer) -> Mapping[str, Json]:
    """`{login, login_host}`; `login` is `needed`, `done`, or empty where no login is known."""
    login = server.login
    if login is None:
        return {"login": "", "login_host": ""}
    state = "needed" if login.is_needed else "done" if login.grant else ""
    return {"login": state, "login_host": login.grant.host if login.grant else ""}


def _outcome_json(outcome: LoggedIn) -> Json:
    return {"name": outcome.server, "host": outcome.host, "tools": outcome.tools, "problem": outcome.problem}


def _refused(failure: McpFailure) -> OperationError:
    text = str(failure)
    is_whole = text.endswith(".")
    return OperationError(text if is_whole else Sentence("That didn't work: {why}.", why=text))
