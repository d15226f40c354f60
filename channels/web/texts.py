"""The page's sentences in the languages of browsers. English sentences are the keys of `texts/<language>.json`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

from channels.json_fields import load_json

LANGUAGES = ("en", "de", "es", "fr", "zh", "ja")


@cache
def table(language: str) -> Mapping[str, str]:
    """English sentence -> sentence of that language; empty for English. Blocks, the first time."""
    if language == "en":
        return {}
    read = load_json(resources.files("channels.web").joinpath("texts", f"{language}.json").read_bytes())
    return {str(english): str(text) for english, text in read.items()}


def sentence(language: str, english: str, **values: object) -> str:
    """The sentence with its `{values}` filled in."""
    text = table(language).get(english, english)
    return text.format(**values) if values else text


def chosen(accepted: str) -> str:
    """The best of our languages for an `Accept-Language` header."""
    wanted = sorted(map(_with_weight, accepted.split(",")[:20]), reverse=True)
    return next((name for weight, name in wanted if weight > 0 and name in LANGUAGES), "en")


def _with_weight(part: str) -> tuple[float, str]:
    name, _, parameters = part.strip().lower().partition(";")
    weight = parameters.replace(" ", "").removeprefix("q=") or "1"
    try:
        return float(weight[:5]), name.partition("-")[0]
    except ValueError:
        return 0.0, ""
