"""What a browser shows that comes back from a login at a server of tools. Its query has the answer: by the protocol
(OAuth) it can come in no other way, and it is good for one time."""

from __future__ import annotations

import asyncio

from aiohttp import web

from agent.languages.sentences import translated
from channels.web.shell import drawn
from channels.web.texts import accepted_by

ANSWER_PATH = "/login/mcp"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


async def login_answer(request: web.Request, name: str, problem: str) -> web.StreamResponse:
    """A page that says that the owner is logged in at the server `name`, or what the problem is."""
    language = accepted_by(request)
    why = str(translated(language, problem))
    body = await asyncio.to_thread(drawn, "login_answer.html", language, name=name, problem=why)
    status = 400 if problem else 200
    return web.Response(text=body, status=status, content_type="text/html", headers=_HEADERS)
