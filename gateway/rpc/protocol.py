"""The protocol of the local socket: one JSON object a line, each way.

server   {"daybook": 1, "version": "…", "pid": 7}          at once, to greet
client   {"call": "status", "params": {…}, "language": "de"}
                                                           server  {"result": …} or {"error": "…"}
client   {"chat": "main"}                                  from then on:
client   {"say": "…", "id": "…", "attached": [PATH, …], "language": "de"}
server   {"said": "id"} or {"unsaid": "why"}               in order
server   {"preview": "…"}  {"busy": true}
server   {"final": "…", "id": "…", "reply_to": "…", "key": "…", "buttons": [[LABEL, DATA], …]}    client  {"seen": "id"}
client   {"leave": true}                                   server closes when what it sent has been seen
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.formats.parsing import load_json
from agent.model.base import Json

PROTOCOL = 1
MAX_REQUEST = 4_000_000
"""Bytes of one line to the server."""
MAX_ANSWER = 256_000_000
_LONGEST_PATH = 100
"""Bytes of a socket's path: Linux takes 107, macOS 103."""


class ProtocolError(Exception):
    """The other side broke the protocol; the text says how."""


async def read_line(reader: asyncio.StreamReader) -> Mapping[str, Json] | None:
    """The next object; None at the end. Raises `ProtocolError`."""
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise ProtocolError(f"a request is larger than {MAX_REQUEST:,} bytes") from error
    try:
        value = load_json(line)
    except ValueError as error:
        raise ProtocolError("a line is not JSON") from error
    if not isinstance(value, dict):
        raise ProtocolError("a line is not a JSON object")
    return value


async def write_line(writer: asyncio.StreamWriter, value: Mapping[str, Json]) -> None:
    """Raises `ConnectionError` where the other side is gone."""
    writer.write(json.dumps(value).encode("ascii") + b"\n")
    await writer.drain()


@contextlib.contextmanager
def short_path(socket: Path) -> Iterator[str]:
    """A path that the system accepts: a link in a private folder if the socket's is too long."""
    if len(os.fsencode(socket)) <= _LONGEST_PATH:
        yield str(socket)
        return
    short = "/tmp" if Path("/tmp").is_dir() else None  # macOS's own temporary folder is too long already
    with tempfile.TemporaryDirectory(prefix="daybook-", dir=short) as folder:
        link = Path(folder) / "s"
        link.symlink_to(socket.parent, target_is_directory=True)
        yield str(link / socket.name)


Params = Mapping[str, Json]
RpcHandler = Callable[[Params], Awaitable[Json]]
"""Takes its parameters by name; raises `OperationError`, any other exception is a bug."""


class OperationError(Exception):
    """One sentence for the person, without secrets."""


@dataclass(frozen=True, slots=True)
class MessageOutcome:
    done: bool
    """Its turn has ended; `end` is then reply, silence, error, stopped…"""
    end: str = ""
    turn: str = ""
    """Names the turn: keys of the messages that it sent begin with it."""

    @classmethod
    def read(cls, value: Json) -> MessageOutcome:
        """Reads the result of `chat.outcome {id}`: `{done, outcome, turn}`."""
        fields = value if isinstance(value, Mapping) else {}
        return cls(bool(fields.get("done")), str(fields.get("outcome") or ""), str(fields.get("turn") or ""))


__all__ = ["Json", "MessageOutcome", "OperationError", "Params", "RpcHandler"]
