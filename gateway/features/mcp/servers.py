"""The servers of tools: started at first use, restarted after a failure, ended with the gateway."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from agent.formats.imports import without_collector
from agent.formats.secrets import NO_SECRETS, KnownSecrets
from agent.languages.sentences import Sentence
from agent.model.base import Json
from channels.tasks import backoff
from gateway.features.mcp.config import LocalMcpServer, RemoteMcpServer
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.logins import ServerLogin
from gateway.features.mcp.schemas import RemoteTool
from gateway.features.mcp.values import CallResult, Launch, McpFailure, ProgramLaunch, RemoteLaunch, innermost

if TYPE_CHECKING:
    from gateway.features.mcp.connection import McpConnection

log = logging.getLogger(__name__)

_Notify = Callable[[], None]
_Connect = Callable[
    [str, Launch, float, float, _Notify, _Notify, "deque[str]", ServerLogin | None],
    "AbstractAsyncContextManager[McpConnection]",
]
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
_BETWEEN_LISTS = 1.0
"""Seconds: a server may tell of changes without end."""
_SAID_LINES = 5


@dataclass(slots=True)
class _Running:
    """A server's life, from start to end."""

    opened: asyncio.Future[McpConnection]
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False
    has_changed: bool = False

    def end(self) -> None:
        self.is_over = True
        self.wake.set()

    def change(self) -> None:
        self.has_changed = True
        self.wake.set()


class ManagedServer:
    """A server that is configured. `spawn` runs its life as a task."""

    def __init__(
        self,
        name: str,
        launch: Launch,
        timeout: float,
        patience: float,
        kept: KeptMcp,
        spawn: Callable[[ManagedServer, _Running], None],
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        self._secrets = secrets
        self.name = name
        self.launch = launch
        self.said: deque[str] = deque(maxlen=_SAID_LINES)
        """Its last lines on stderr."""
        self._timeout = timeout
        self._patience = patience
        self._kept = kept
        self._spawn = spawn
        self.key = f"{name}-{_digest(launch)}"
        """Names the settings, too."""
        self.login = kept.login(name, launch.url) if isinstance(launch, RemoteLaunch) and launch.may_log_in else None
        self._tools = kept.tools(self.key)
        self._running: _Running | None = None
        self._failures = 0
        self._not_before = 0.0

    @property
    def tools(self) -> tuple[RemoteTool, ...] | None:
        """The server's tools; None while they are not known: it has never run."""
        return self._tools

    @property
    def is_running(self) -> bool:
        return self._running is not None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """The result of a call, without known secrets. Raises `McpFailure`."""
        running, connection = await self._connection()
        try:
            result = await connection.call(tool, arguments)
        except McpFailure as failure:
            if failure.is_over:
                running.end()
            if not failure.was_forgotten:
                raise
            result = await (await self._connection())[1].call(tool, arguments)
        return await asyncio.to_thread(_without, result, self._secrets)

    async def start(self) -> McpConnection:
        """The connection, which lasts as long as the server. Raises `McpFailure`."""
        return (await self._connection())[1]

    def renew(self) -> None:
        """Ends the connection and forgets failures: the next use begins with the login as it is now."""
        self._failures, self._not_before = 0, 0.0
        if (running := self._running) is not None:
            self._running = None
            running.end()

    async def live(self, running: _Running) -> None:
        """A life from start to end. Its failure is told to those who wait for the connection."""
        try:
            await self._live(running)
        except Exception as error:
            first = innermost(error)
            if not isinstance(first, McpFailure):
                log.debug("%s: the connection broke", self.name, exc_info=True)
                broke = Sentence("{name} broke off ({why})", name=self.name, why=type(first).__name__)
                first = McpFailure(broke, is_over=True)
            self._failed(running, first)
        finally:
            if self._running is running:
                self._running = None
            if not running.opened.done():
                running.opened.set_exception(McpFailure(Sentence("{name} is ended with Daybook", name=self.name)))
            running.opened.exception()  # seen, also where nobody waits

    async def _live(self, running: _Running) -> None:
        self.said.clear()
        connected = await asyncio.to_thread(_sdk)
        async with connected(
            self.name,
            self.launch,
            self._timeout,
            max(self._timeout, self._patience),
            running.change,
            running.end,
            self.said,
            self.login,
        ) as connection:
            await self._list(connection)
            if self.login is not None:
                await self.login.works_without()
            self._failures = 0
            running.opened.set_result(connection)
            watching = asyncio.create_task(connection.watch(), name=f"changes of {self.name}")
            try:
                while not running.is_over:
                    await running.wake.wait()
                    running.wake.clear()
                    if running.has_changed and not running.is_over:
                        running.has_changed = False
                        await self._list(connection)
                        await asyncio.sleep(_BETWEEN_LISTS)
            finally:
                watching.cancel()
                await asyncio.wait([watching])

    async def _list(self, connection: McpConnection) -> None:
        tools = tuple(_described(tool, self._secrets) for tool in await connection.tools())
        if tools == self._tools:
            return
        self._tools = tools  # before it is kept: the disk may be slow
        try:
            await asyncio.to_thread(self._kept.keep_tools, self.key, tools)
        except OSError as error:
            log.warning("the list of %s's tools is not kept: %s", self.name, error)

    async def _connection(self) -> tuple[_Running, McpConnection]:
        loop = asyncio.get_running_loop()
        running = self._running
        if running is None or running.is_over:
            if (wait := self._not_before - loop.time()) > 0:
                known = {"name": self.name, "count": self._failures, "seconds": f"{wait:.0f}"}
                raise McpFailure(Sentence("{name} has failed {count} times; it is tried again in {seconds} s", **known))
            self._running = running = _Running(loop.create_future())
            self._spawn(self, running)
        return running, await asyncio.shield(running.opened)

    def _failed(self, running: _Running, failure: McpFailure) -> None:
        self._failures += not failure.needs_login
        if self._failures > 1:  # once it may be tried again at once
            wait = backoff(self._failures - 1, _FIRST_WAIT, _LONGEST_WAIT)
            self._not_before = asyncio.get_running_loop().time() + wait
        log.warning("%s", self._secrets(": ".join([str(failure), *self.said])))
        if not running.opened.done():
            running.opened.set_exception(failure)


def _described(tool: RemoteTool, secrets: KnownSecrets) -> RemoteTool:
    """The tool without known secrets in its description, whose end may have been cut off."""
    told = secrets(secrets.before_cut(tool.description.removesuffix("…")))
    about = told + "…" * tool.description.endswith("…")
    return replace(tool, description=about, schema={key: _struck(value, secrets) for key, value in tool.schema.items()})


def _struck(value: Json, secrets: KnownSecrets) -> Json:
    if isinstance(value, str):
        return secrets(value)
    if isinstance(value, Mapping):
        return {key: _struck(part, secrets) for key, part in value.items()}
    return [_struck(part, secrets) for part in value] if isinstance(value, list | tuple) else value


def _without(result: CallResult, secrets: KnownSecrets) -> CallResult:
    files = tuple(replace(file, content=secrets.in_bytes(file.content)) for file in result.files)
    return replace(result, text=secrets(result.text), files=files)


class McpServers:
    """All servers; as a context manager it ends them on leaving. `patience`: seconds that a server may take to
    start."""

    def __init__(self, kept: KeptMcp, patience: float = 30.0, secrets: KnownSecrets = NO_SECRETS) -> None:
        self.kept = kept
        self._secrets = secrets
        self._patience = patience
        self._servers: dict[tuple[str, ...], ManagedServer] = {}
        self._group = asyncio.TaskGroup()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(None, None, None)

    def run(self, work: Coroutine[None, None, None], name: str) -> None:
        """Runs the work as a task that ends with the servers."""
        task = self._group.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def server(self, name: str, config: LocalMcpServer | RemoteMcpServer) -> ManagedServer:
        """The server of these settings. Blocks where it is new."""
        launch = launch_of(config)
        key = (name, _digest(launch), *_secrets(launch))  # another key is another account
        if key not in self._servers:
            self._servers[key] = ManagedServer(
                name, launch, config.timeout_s, self._patience, self.kept, self._spawn, self._secrets
            )
        return self._servers[key]

    def learn(self) -> None:
        """Starts the servers whose tools are not known."""
        for server in self._servers.values():
            if server.tools is None:
                self.run(_learn(server), f"tools of {server.name}")

    def _spawn(self, server: ManagedServer, running: _Running) -> None:
        self.run(server.live(running), f"MCP server {server.name}")


async def _learn(server: ManagedServer) -> None:
    try:
        await server.start()
    except McpFailure:
        log.warning("the tools of %s are not known", server.name)  # the failure itself is logged where it happened


def launch_of(config: LocalMcpServer | RemoteMcpServer) -> Launch:
    if isinstance(config, LocalMcpServer):
        return ProgramLaunch(config.command, {name: value.get_secret_value() for name, value in config.env.items()})
    return RemoteLaunch(config.url, {name: value.get_secret_value() for name, value in config.headers.items()})


def _sdk() -> _Connect:
    # In a thread: it takes a second.
    with without_collector():
        from gateway.features.mcp.connection import connected  # noqa: PLC0415 (only where there are servers)
    return connected


def _secrets(launch: Launch) -> tuple[str, ...]:
    return tuple((launch.env if isinstance(launch, ProgramLaunch) else launch.headers).values())


def _digest(launch: Launch) -> str:
    """Names the command or the address, without its secrets."""
    match launch:
        case ProgramLaunch(command, env):
            parts: list[Json] = [list(command), sorted(env)]
        case RemoteLaunch(url, headers):
            parts = [url, sorted(headers)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ServerProbe:
    server: str
    """The server's own name and version."""
    protocol: str
    tools: tuple[RemoteTool, ...]
    failure: str = ""
    needs_login: bool = False
    said: tuple[str, ...] = ()
    """Its last lines on stderr."""


async def probe(name: str, config: LocalMcpServer | RemoteMcpServer, kept: KeptMcp) -> ServerProbe:
    """Starts or reaches a server, for the doctor and the command line, and keeps the list of its tools."""
    async with McpServers(kept) as servers:
        server = servers.server(name, config)
        try:
            connection = await server.start()
        except McpFailure as failure:
            return ServerProbe("", "", (), str(failure), failure.needs_login, tuple(server.said))
        return ServerProbe(connection.server, connection.protocol, server.tools or ())
