"""Mends lists of tools, so that an odd tool costs a server that tool, not its whole list: the SDK refuses a list as a
whole. Messages are mended on their way to the SDK, whatever carries them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Protocol, TypeVar

from anyio.abc import ObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from agent.formats.parsing import load_json
from agent.model.base import Json

log = logging.getLogger(__name__)

_MOST_NAMED = 5
_LONGEST_NAMED = 80

_Received = SessionMessage | Exception


_Writing = TypeVar("_Writing")


class _Incoming(Protocol):
    async def receive(self) -> _Received: ...

    async def aclose(self) -> None: ...


class _MendedStream(ObjectReceiveStream[_Received]):
    def __init__(self, server: str, incoming: _Incoming) -> None:
        self._server = server
        self._incoming = incoming

    async def receive(self) -> _Received:
        received = await self._incoming.receive()
        if not isinstance(received, SessionMessage) or not isinstance(received.message, JSONRPCResponse):
            return received
        answer = received.message
        if "tools" not in answer.result:
            return received
        result, left_out = await asyncio.to_thread(mended, answer.result)
        if left_out:
            named = ", ".join(left_out[:_MOST_NAMED])
            log.warning("%s lists %d tools that can't be used: %s", self._server, len(left_out), named)
        return replace(received, message=answer.model_copy(update={"result": result}))

    async def aclose(self) -> None:
        await self._incoming.aclose()


@asynccontextmanager
async def mending(
    server: str, transport: AbstractAsyncContextManager[tuple[_Incoming, _Writing]]
) -> AsyncIterator[tuple[_MendedStream, _Writing]]:
    """The transport's streams, with lists of tools mended."""
    async with transport as (incoming, outgoing):
        yield _MendedStream(server, incoming), outgoing


def mended(result: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """An answer to `tools/list` in which every tool is as the protocol says, and the names left out, in words for the
    log. Of a tool it keeps what is used. An answer that is no list of tools stays."""
    made = {key: value for key, value in result.items() if key != "_meta"}
    if not isinstance(made.get("nextCursor"), str):
        made.pop("nextCursor", None)
    listed = result.get("tools")
    if listed is None:  # an empty list, as some languages write it
        listed = []
    if not isinstance(listed, list):
        return made, []
    tools = [_tool(item) for item in listed]
    left_out = [_in_words(item) for item, tool in zip(listed, tools, strict=True) if tool is None]
    return {**made, "tools": [tool for tool in tools if tool is not None]}, left_out


def _tool(said: Json) -> dict[str, Json] | None:
    if not isinstance(said, Mapping):
        return None
    name, about, hints = said.get("name"), said.get("description"), said.get("annotations")
    if not isinstance(name, str) or not name.strip() or _encodable(name) != name:
        return None
    tool: dict[str, Json] = {"name": name, "inputSchema": _schema(said.get("inputSchema"))}
    if isinstance(about, str):
        tool["description"] = about
    if isinstance(hints, Mapping) and isinstance(reads := hints.get("readOnlyHint"), bool):
        tool["annotations"] = {"readOnlyHint": reads}
    try:
        found: dict[str, Json] = load_json(_encodable(json.dumps(tool, ensure_ascii=False)))
    except (ValueError, RecursionError):  # nested without end
        return None
    return found


def _schema(said: Json) -> dict[str, Json]:
    """Only the outermost level, which the SDK checks: `remote_tool` does the rest."""
    made = dict(said) if isinstance(said, Mapping) else {}
    if (properties := made.get("properties")) is not None:
        known = properties.items() if isinstance(properties, Mapping) else ()
        made["properties"] = {
            name: schema if isinstance(schema, Mapping) else schema is not False for name, schema in known
        }
    if (required := made.get("required")) is not None:
        made["required"] = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    if not isinstance(made.get("$schema"), str):
        made.pop("$schema", None)
    return {**made, "type": "object"}


def _encodable(text: str) -> str:
    """The text without halves of characters, which no request can hold."""
    return text.encode("utf-8", "replace").decode()


def _in_words(said: Json) -> str:
    name = said.get("name") if isinstance(said, Mapping) else said
    return ascii(name)[:_LONGEST_NAMED]
