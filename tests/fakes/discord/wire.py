"""How a request reaches the REST API, and the table of its routes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from aiohttp import BodyPartReader, web

from tests.fakes.discord.errors import ApiError, JsonObject, invalid
from tests.fakes.discord.model import File

W = TypeVar("W")


@dataclass(slots=True)
class Request:
    """One call, decoded. `ids` are the parts of the path; `files` the uploads by their number."""

    method: str
    path: str
    query: dict[str, str]
    json: Any = None
    files: dict[int, File] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def id(self, name: str) -> int:
        text = self.ids[name]
        if not re.fullmatch(r"\d{1,20}", text):
            raise invalid(name, "NUMBER_TYPE_COERCE", f'Value "{text}" is not snowflake.')
        return int(text)

    def body(self) -> JsonObject:
        if not isinstance(self.json, dict):
            raise ApiError(50109)
        return self.json

    def snowflake(self, name: str) -> int | None:
        """A snowflake of the query, None where it is missing."""
        text = self.query.get(name)
        if text is not None and not re.fullmatch(r"\d{1,20}", text):
            raise invalid(name, "NUMBER_TYPE_COERCE", f'Value "{text}" is not snowflake.')
        return None if text is None else int(text)


async def read_request(request: web.Request, path: str) -> Request:
    """Raises `ApiError` for a body that is no JSON."""
    made = Request(request.method, path, dict(request.query))
    kind = request.content_type if request.can_read_body else ""
    if kind == "multipart/form-data":
        await _read_parts(request, made)
    elif kind == "application/json":
        made.json = _parsed(await request.read())
    elif request.can_read_body and await request.read():
        raise ApiError(0, 400, "Expected \"Content-Type\" header to be one of {'application/json'}.")
    return made


async def _read_parts(request: web.Request, made: Request) -> None:
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        content = bytes(await part.read(decode=False))
        if part.name == "payload_json":
            made.json = _parsed(content)
        elif match := re.fullmatch(r"files?\[(\d+)\]", part.name or ""):
            name = part.filename or "unknown"
            made.files[int(match[1])] = File(name, content, guessed_type(name))


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content or b"null")
    except ValueError:
        raise ApiError(50109) from None


def guessed_type(name: str) -> str:
    """Discord looks at the name and not at what the sender claims."""
    known = {"txt": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8", "png": "image/png"}
    known |= {"jpg": "image/jpeg", "pdf": "application/pdf", "ogg": "audio/ogg", "json": "application/json"}
    return known.get(name.rsplit(".", 1)[-1].lower(), "application/octet-stream")


Handler = Callable[[W, Request], Any]
NO_CONTENT = object()
"""What a handler gives for the status 204."""


class Routes(Generic[W]):
    """Handlers by method and path; `{name}` is one part of the path."""

    def __init__(self) -> None:
        self._table: list[tuple[str, re.Pattern[str], Handler[W]]] = []

    def add(self, method: str, path: str) -> Callable[[Handler[W]], Handler[W]]:
        pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))

        def keep(handler: Handler[W]) -> Handler[W]:
            self._table.append((method, pattern, handler))
            return handler

        return keep

    def find(self, request: Request) -> Handler[W] | None:
        """Fills `request.ids`. None where no route is such. Raises `ApiError` (405) for another method of one."""
        known = False
        for method, pattern, handler in self._table:
            if match := pattern.fullmatch(request.path):
                known = True
                if method == request.method:
                    request.ids = match.groupdict()
                    return handler
        if known:
            raise ApiError(0, 405, "405: Method Not Allowed")
        return None
