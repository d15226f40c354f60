"""The page's sentences in the languages of browsers."""

from __future__ import annotations

import json

from aiohttp import web

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.sentences import said, sentences_of


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


def _with_weight(part: str) -> tuple[float, str]:
    name, _, parameters = part.strip().lower().partition(";")
    weight = parameters.replace(" ", "").removeprefix("q=") or "1"
    try:
        return float(weight[:5]), name.partition("-")[0]
    except ValueError:
        return 0.0, ""
