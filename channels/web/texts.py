"""The page's sentences in the languages of browsers, and refusals that say one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from aiohttp import web

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.sentences import said, sentences_of, translated


def sentence(language: str, english: str, **values: object) -> str:
    """The sentence with its `{values}` filled in."""
    return said(Language(language), english, **values)


def as_json(language: Language) -> bytes:
    """What the page's scripts say, English sentence -> sentence of that language. Blocks, the first time."""
    return json.dumps(sentences_of(language), ensure_ascii=False, separators=(",", ":")).encode()


def chosen(accepted: str) -> Language:
    """The best of our languages for an `Accept-Language` header."""
    wanted = sorted(map(_with_weight, accepted.split(",")[:20]), reverse=True)
    return next((Language(name) for weight, name in wanted if weight > 0 and name in ALL_LANGUAGES), Language.ENGLISH)


def accepted_by(request: web.BaseRequest) -> Language:
    """The language of the browser that asks."""
    return chosen(request.headers.get("Accept-Language", ""))


class Refusal(Exception):
    """Ends a request with a status and a sentence for the person; a `Sentence` is translated."""

    def __init__(self, status: HTTPStatus, why: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self._headers = headers or {}

    def answer(self, request: web.BaseRequest) -> web.Response:
        text = f"{translated(accepted_by(request), self)}\n"
        return web.Response(status=self.status, text=text, headers=self._headers)


def _with_weight(part: str) -> tuple[float, str]:
    name, _, parameters = part.strip().lower().partition(";")
    weight = parameters.replace(" ", "").removeprefix("q=") or "1"
    try:
        return float(weight[:5]), name.partition("-")[0]
    except ValueError:
        return 0.0, ""
