"""What a browser is answered instead of what it asked for: a status and a sentence in its language."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from aiohttp import web

from agent.languages.sentences import translated
from channels.web.texts import accepted_by


class Refusal(Exception):
    """Ends a request. `why`: a sentence for the person; a `Sentence` is translated."""

    def __init__(self, status: HTTPStatus, why: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self._headers = headers or {}

    def answer(self, request: web.BaseRequest) -> web.Response:
        text = f"{translated(accepted_by(request), self)}\n"
        return web.Response(status=self.status, text=text, headers=self._headers)
