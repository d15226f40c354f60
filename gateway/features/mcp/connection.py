"""A connection to a server, by the SDK. Imported when a server is started."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from agent.formats.network import BadEnvironment
from agent.formats.untrusted import clean
from agent.languages.sentences import Sentence, joined
from agent.model.base import Json
from gateway.features.mcp.listing import mending
from gateway.features.mcp.logins import ServerLogin
from gateway.features.mcp.oauth import LoginAuth
from gateway.features.mcp.program import MOST_BYTES, program_streams
from gateway.features.mcp.remote import LimitingTransport, http_client
from gateway.features.mcp.results import call_result
from gateway.features.mcp.schemas import RemoteTool, remote_tool
from gateway.features.mcp.values import CallResult, Launch, McpFailure, ProgramLaunch, innermost
from gateway.home import version

log = logging.getLogger(__name__)

_MOST_PAGES = 20
_MOST_LISTED = 500
_LONGEST_CALL = 3_600.0
"""Seconds, however much progress is told."""
_SAID_CHARS = 1_000
_TERMINATED = "Session terminated"
"""The SDK's words for a server that has forgotten the session."""
_RESULT: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
_REFUSALS = {
    401: Sentence("wants to know who is there (401): see its headers in config.yaml"),
    403: Sentence("does not allow it (403): see its headers in config.yaml"),
} | {
    status: Sentence("is not at that address ({status}): see its url in config.yaml", status=status)
    for status in (404, 405)
}
_UNSAID = ("Server returned an error response", "Not Found")
"""The SDK's words for an error without words."""
_BEGIN = Sentence("did not begin to work")
_LIST = Sentence("did not list its tools")
_ANSWER = Sentence("did not answer")


class McpConnection:
    """A connection to a server, open while its context is."""

    def __init__(
        self, name: str, client: Client, timeout: float, http: LimitingTransport, auth: LoginAuth | None
    ) -> None:
        self._name = name
        self._client = client
        self._timeout = timeout
        self._http = http
        self._auth = auth

    @property
    def protocol(self) -> str:
        return self._client.protocol_version

    @property
    def server(self) -> str:
        info = self._client.server_info
        return f"{info.name} {info.version}" if info is not None else ""

    async def tools(self) -> tuple[RemoteTool, ...]:
        """All tools that the server lists. Raises `McpFailure`."""
        found: dict[str, RemoteTool] = {}
        cursor: str | None = None
        with _translated(self._name, _LIST, self._timeout, self._http, self._auth):
            async with asyncio.timeout(self._timeout):
                for _ in range(_MOST_PAGES):
                    page = await self._client.list_tools(cursor=cursor)
                    for tool in await asyncio.to_thread(_remote_tools, page.tools[:_MOST_LISTED]):
                        found.setdefault(tool.name, tool)
                    cursor = page.next_cursor
                    if cursor is None or len(found) >= _MOST_LISTED:
                        break
        return tuple(found.values())[:_MOST_LISTED]

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Calls a tool once. Progress prolongs the time; cancelled, it tells the server. Raises `McpFailure`."""
        loop = asyncio.get_running_loop()
        last = loop.time() + _LONGEST_CALL
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        with _translated(self._name, "", self._timeout, self._http, self._auth):
            async with asyncio.timeout(self._timeout) as scope:

                async def progress(progress: float, total: float | None, message: str | None) -> None:
                    scope.reschedule(min(last, loop.time() + self._timeout))

                # Not by the client's own `call_tool`: that checks the result by the server's schema, whose patterns
                # may take for ever.
                result = await self._client.session.send_request(
                    types.CallToolRequest(params=params), _RESULT, progress_callback=progress
                )
        if isinstance(result, types.InputRequiredResult):
            raise McpFailure(Sentence("{name} wants to ask something back, which is not supported", name=self._name))
        return await asyncio.to_thread(call_result, result)

    async def watch(self) -> None:
        """Has a server of the newest protocol tell when its tools change; older servers tell by themselves."""
        if self.protocol not in MODERN_PROTOCOL_VERSIONS:
            return
        try:
            async with self._client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    pass  # told to the message handler, too
        except (MCPError, ListenNotSupportedError, SubscriptionLost, TimeoutError) as error:
            log.debug("%s does not tell of changes: %s", self._name, error)


@asynccontextmanager
async def connected(
    name: str,
    launch: Launch,
    timeout: float,
    patience: float,
    changed: Callable[[], None],
    ended: Callable[[], None],
    said: deque[str],
    login: ServerLogin | None,
) -> AsyncIterator[McpConnection]:
    """Starts or reaches a server, within `patience` seconds; a call has `timeout`. It calls `changed` when the server
    has other tools, `ended` when it has ended; `said` takes its last lines on stderr. Raises `McpFailure`."""

    async def handle(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed()

    limits = LimitingTransport()
    auth = LoginAuth(login) if login is not None else None
    async with contextlib.AsyncExitStack() as stack:
        with _translated(name, _BEGIN, patience, limits, auth):
            async with asyncio.timeout(patience):
                info = types.Implementation(name="daybook", version=version())
                client_of = partial(Client, client_info=info, message_handler=handle, cache=None)
                if isinstance(launch, ProgramLaunch):
                    client = client_of(mending(name, program_streams(launch, said, ended)))
                else:
                    http = await stack.enter_async_context(http_client(launch, limits, auth))
                    remote = streamable_http_client(launch.url, http_client=http, max_sse_event_size=MOST_BYTES)
                    client = client_of(mending(name, remote))
                await stack.enter_async_context(client)
        yield McpConnection(name, client, timeout, limits, auth)


def _remote_tools(listed: Sequence[types.Tool]) -> list[RemoteTool]:
    hints = [tool.annotations.read_only_hint if tool.annotations else None for tool in listed]
    return [
        remote_tool(tool.name, tool.description or "", tool.input_schema, reads_only=hint is True)
        for tool, hint in zip(listed, hints, strict=True)
    ]


def _maybe(failed: str) -> str:
    return Sentence("{why}. It may or may not have taken effect: check before you repeat it.", why=failed)


@contextlib.contextmanager
def _translated(
    name: str, what: str, timeout: float, http: LimitingTransport, auth: LoginAuth | None
) -> Iterator[None]:
    """`what` empty: for a call."""
    try:
        yield
    except TimeoutError as error:
        slow = Sentence("{name} {what} within {count} seconds", name=name, what=what or _ANSWER, count=f"{timeout:g}")
        raise McpFailure(slow if what else _maybe(slow)) from error
    except MCPError as error:
        if auth is not None and auth.failure is not None:
            raise auth.failure from error
        if error.message == _TERMINATED and http.refused == 404:
            gone = Sentence("{name} no longer knows us", name=name)
            raise McpFailure(gone, is_over=True, was_forgotten=True) from error
        is_over = error.code == types.CONNECTION_CLOSED
        if is_over and not what:
            raise McpFailure(_maybe(Sentence("{name} ended before it answered", name=name)), is_over=True) from error
        if http.refused and error.message in _UNSAID:
            answers = Sentence("answers {status}", status=http.refused)
            raise McpFailure(joined([name, _REFUSALS.get(http.refused, answers)], " "), is_over=True) from error
        if is_over:
            raise McpFailure(Sentence("{name} {what}: it ended", name=name, what=what), is_over=True) from error
        said = clean(error.message)[:_SAID_CHARS]
        raise McpFailure(joined([name, what or Sentence("refused the call")], " "), said) from error
    except BadEnvironment as problem:
        raise McpFailure(str(problem), is_over=True) from problem
    except (ValidationError, ValueError, RuntimeError) as error:
        odd = Sentence("{name} {what} as the protocol says", name=name, what=what or _ANSWER)
        raise McpFailure(odd if what else _maybe(odd)) from error
    except (httpx2.HTTPError, OSError) as error:
        why = str(error) or type(error).__name__
        raise McpFailure(Sentence("{name} can't be reached ({why})", name=name, why=why), is_over=True) from error
    except ExceptionGroup as several:
        with _translated(name, what, timeout, http, auth):
            raise innermost(several) from several
