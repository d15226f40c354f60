"""A web of servers on loopback: names that a resolver of ours leads there, and rules that let them count as public."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp.abc import AbstractResolver, ResolveResult

from agent.formats.addresses import AddressRules, IpAddress

PUBLIC = "127.0.0.1"
PRIVATE = "127.0.0.2"
"""Both are on loopback; the rules of these tests call the first one public."""


def is_public(address: IpAddress) -> bool:
    return str(address) == PUBLIC


@dataclass
class Names(AbstractResolver):
    """`table`: the addresses of a name, one list a look-up, the last one again and again."""

    table: dict[str, list[list[str]]]
    asked: list[str] = field(default_factory=list)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        if host not in self.table:
            raise OSError(f"no such name: {host}")
        turns = self.table[host]
        found = turns.pop(0) if len(turns) > 1 else turns[0]
        return [
            ResolveResult(
                hostname=host,
                host=one,
                port=port,
                family=socket.AF_INET6 if ":" in one else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for one in found
        ]

    async def close(self) -> None: ...


Answer = Callable[[str, asyncio.StreamWriter], object]


@dataclass
class Web:
    port: int
    paths: list[str]

    @property
    def rules(self) -> AddressRules:
        return AddressRules(frozenset({self.port}), is_public)

    def at(self, path: str, host: str = "tea.example") -> str:
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def web(pages: Mapping[str, bytes | Callable[[asyncio.StreamWriter], object]]) -> AsyncIterator[Web]:
    """Serves the very bytes of a path, or what a function writes."""
    seen: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            host = next(line[6:] for line in head.split("\r\n") if line.lower().startswith("host: "))
            seen.append(f"{host} {head.split(' ')[1]}\n{head}")
            page = pages.get(head.split(" ")[1], b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            if callable(page):
                result = page(writer)
                if asyncio.iscoroutine(result):
                    await result
            else:
                writer.write(page)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield Web(server.sockets[0].getsockname()[1], seen)


def page(body: bytes | str, kind: str = "text/html; charset=utf-8", status: str = "200 OK", more: str = "") -> bytes:
    data = body.encode() if isinstance(body, str) else body
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(data)}\r\n\r\n".encode() + data


def redirect(target: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()
