"""What every visitor gets: the page's shell and its static files, without private data; and the answer of a login."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING

from aiohttp import web

from agent.languages.codes import ALL_LANGUAGES
from agent.languages.sentences import translated
from channels.web import texts
from channels.web.format import rendered
from channels.web.views.view import View

if TYPE_CHECKING:
    from jinja2 import Environment

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
ANSWER_PATH = "/login/mcp"
"""Where a browser comes back to from a login at a server of tools."""
_ANSWER_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_MEDIA_TYPES = {"js": "text/javascript", "webmanifest": "application/manifest+json"}


def policy_at(host: str, *, is_encrypted: bool = False) -> str:
    return f"{_POLICY}; connect-src 'self' {'wss' if is_encrypted else 'ws'}://{host}"


@dataclass(frozen=True, slots=True)
class StaticFile:
    body: bytes
    media_type: str
    etag: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """By name; tables of sentences are `texts-<language>.json`. Blocks, the first time."""
    files = resources.files("channels.web").joinpath("static").iterdir()
    bodies = {file.name: file.read_bytes() for file in files}
    bodies |= {f"texts-{language}.json": texts.as_json(language) for language in ALL_LANGUAGES}
    return {name: _static_file(name, body) for name, body in bodies.items()}


def _static_file(name: str, body: bytes) -> StaticFile:
    ending = name.rpartition(".")[2]
    media_type = _MEDIA_TYPES.get(ending) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return StaticFile(body, media_type, sha256(body).hexdigest()[:20])


@cache
def _environment() -> Environment:
    # A start need not wait for these.
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415
    from markupsafe import Markup  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("channels.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markdown"] = lambda text: Markup(rendered(str(text)))  # all of its text is escaped
    environment.filters["size"] = size
    return environment


def drawn(template: str, language: str, **values: object) -> str:
    """A template's HTML. Blocks, the first time."""
    _: Callable[..., str] = partial(texts.sentence, language)
    return _environment().get_template(template).render(values, _=_, language=language)


@cache
def shell(view: View, views: tuple[View, ...], language: str) -> bytes:
    """The page around that view. Blocks, the first time."""
    return drawn("shell.html", language, view=view, views=views).encode()


async def login_answer(request: web.Request, name: str, problem: str) -> web.StreamResponse:
    """A page that says that the owner is logged in at the server `name`, or what the problem is. The query of `request`
    has the login's answer: OAuth has no other way for it, and it can be used once."""
    language = texts.accepted_by(request)
    why = str(translated(language, problem))
    body = await asyncio.to_thread(drawn, "login_answer.html", language, name=name, problem=why)
    status = 400 if problem else 200
    return web.Response(text=body, status=status, content_type="text/html", headers=_ANSWER_HEADERS)


def size(count: object) -> str:
    """Bytes as people read them: `640 bytes`, `1.2 kB`, `12 MB`."""
    number = float(str(count))
    if number < 1_000:
        return f"{number:.0f} bytes"
    unit, number = ("kB", number / 1_000) if number < 1_000_000 else ("MB", number / 1_000_000)
    return f"{number:.1f} {unit}" if number < 10 else f"{number:,.0f} {unit}"
