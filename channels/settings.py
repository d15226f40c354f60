"""A section of the configuration, its types of values, and what the section of a platform has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    SecretStr,
    WithJsonSchema,
    model_validator,
)

from agent.languages.sentences import Sentence


class Section(BaseModel):
    """Unknown keys are forbidden here so that they are noticed; the loader turns them into warnings."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False, defer_build=True
    )

    texts: ClassVar[Mapping[str, str]] = {}
    """Sentences for the keys that a feature or a channel adds, for the reference."""

    @classmethod
    def of(cls, section: Section) -> Self:
        """The section with the keys that a feature adds to it. Raises `TypeError` where the feature is not there."""
        if not isinstance(section, cls):
            raise TypeError(f"{type(section).__name__} has no keys of {cls.__name__}")
        return section

    @model_validator(mode="before")
    @classmethod
    def null_means_default(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {key: inner for key, inner in value.items() if inner is not None or key not in cls.model_fields}


Validated = dict[str, Any]
"""The fields above the field whose default is being made."""


def as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def matching(pattern: re.Pattern[str], allowed: str) -> AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value):
            raise ValueError(Sentence("allowed: {allowed}", allowed=allowed))
        return value

    return AfterValidator(check)


def _url(value: str) -> str:
    allowed = Sentence("allowed: an address that starts with http:// or https://")
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError as error:
        raise ValueError(allowed) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", value):
        raise ValueError(allowed)
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(Sentence("{allowed}, without a user name, a password or a query in it", allowed=allowed))
    return value


def _printable(value: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]+", value.get_secret_value()):
        raise ValueError(Sentence("allowed: a key without spaces, line breaks and accents"))
    return value


NUMBER_OR_TEXT = WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]})
STRIPPED = BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value)
HIDDEN = PlainSerializer(lambda _: "***", return_type=str)

AnyId = Annotated[str, BeforeValidator(as_text), NUMBER_OR_TEXT]
NumericId = Annotated[
    str,
    BeforeValidator(as_text),
    matching(re.compile(r"\d{1,20}"), Sentence("a numeric user id (user names can change; /whoami shows the id)")),
    NUMBER_OR_TEXT,
]
ChatId = Annotated[str, BeforeValidator(as_text), matching(re.compile(r"-?\d{1,20}"), Sentence("a numeric chat id"))]
Url = Annotated[str, AfterValidator(_url)]
Secret = Annotated[SecretStr, STRIPPED, AfterValidator(_printable), HIDDEN]
