"""A server that answers with the very bytes that a test gives it, whatever they are.

async with RawServer([http(sse(*said("Hello.")))]) as server:
    model = AnthropicModel("key", server.base_url)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

Event = Mapping[str, Any]
Reply = bytes | Iterable[bytes]
"""A whole answer with its status line; in pieces where each is to be written by itself, perhaps without an end."""
Answering = Callable[[Mapping[str, Any]], Reply]
"""Answers a POST by its JSON."""

_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class RawServer:
    """`replies` answer the POSTs, in order, the last one again and again; `pages` the GETs, by path (else 404).
    `bodies` are the POSTs' JSON, `paths` all that was asked for."""

    def __init__(self, replies: Sequence[Reply | Answering], pages: Mapping[str, bytes] | None = None) -> None:
        self.base_url = ""
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self._replies = list(replies)
        self._pages = dict(pages or {})
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split(" ", 2)
            headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.paths.append(path)
            for piece in self._answer(method, path, body):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)  # an answer without an end leaves room for others
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _answer(self, method: str, path: str, body: bytes) -> Iterable[bytes]:
        if method != "POST":
            return [self._pages.get(path, _NOT_FOUND)]
        self.bodies.append(json.loads(body))
        given = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        reply = given(self.bodies[-1]) if callable(given) else given
        return [reply] if isinstance(reply, bytes) else reply


def http(
    body: bytes | str | Event | Sequence[Any],
    status: str = "200 OK",
    kind: str = "text/event-stream",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """A whole answer, of JSON where `body` is neither text nor bytes."""
    if not isinstance(body, bytes | str):
        body, kind = json.dumps(body), "application/json"
    data = body if isinstance(body, bytes) else body.encode()
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n{more}\r\n".encode() + data


def sse(*events: Event | str) -> bytes:
    """A stream; a text is data as it is. JSON is escaped, so that halves of characters can stand in it."""
    return b"".join(
        (
            f"data: {event}\n\n"
            if isinstance(event, str)
            else f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n"
        ).encode()
        for event in events
    )


def started(**more: Any) -> Event:
    usage = {"input_tokens": 9, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "local", "usage": usage}
    return {"type": "message_start", "message": message | more}


def text_block(*pieces: str, index: int = 0) -> Iterator[Event]:
    yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
    for piece in pieces:
        yield {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": index}


def call_block(
    name: str, *pieces: object, index: int = 1, id: str = "toolu_1", given: object = None
) -> Iterator[Event]:
    """`pieces` as partial_json, whatever they are; `given`: the input that stands in the block's beginning."""
    block = {"type": "tool_use", "id": id, "name": name, "input": {} if given is None else given}
    yield {"type": "content_block_start", "index": index, "content_block": block}
    for piece in pieces:
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def ended(stop_reason: str | None = "end_turn") -> Iterator[Event]:
    yield {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def said(*pieces: str, stop_reason: str | None = "end_turn") -> list[Event]:
    """The events of an answer of one text."""
    return [started(), *text_block(*pieces), *ended(stop_reason)]
