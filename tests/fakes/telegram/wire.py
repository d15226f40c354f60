"""How a request reaches the Bot API: its parameters, whatever the body's encoding, and the error that answers it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import Message
from typing import Any, ClassVar
from urllib.parse import parse_qsl

JsonObject = dict[str, Any]

PLAIN_TEXT = frozenset(
    ("text", "caption", "description", "short_description", "name", "parse_mode", "action", "file_id", "url")
) | {"callback_query_id", "language_code", "secret_token", "business_connection_id", "message_effect_id"}
"""Parameters that are never JSON: a message that reads `42` stays the text `42`."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in a multipart body, with the name that its sender gave it."""

    name: str
    content: bytes


class ApiError(Exception):
    """A refusal as the Bot API words it. The first letter is lowered and the class of the error put in front, unless
    the text is a code such as `BUTTON_DATA_INVALID` (telegram-bot-api, `Client::fail_query_with_error`)."""

    PREFIX: ClassVar[dict[int, str]] = {
        400: "Bad Request",
        401: "Unauthorized",
        403: "Forbidden",
        404: "Not Found",
        409: "Conflict",
        413: "Request Entity Too Large",
    }

    def __init__(self, description: str, status: int = 400, parameters: JsonObject | None = None) -> None:
        prefix = self.PREFIX.get(status)
        is_code = len(description) > 1 and (description[1] == "_" or description[1].isupper())
        wording = description if is_code or not description else description[0].lower() + description[1:]
        if prefix is None or description.startswith(prefix):
            self.description = description
        else:
            self.description = f"{prefix}: {wording}"
        super().__init__(self.description)
        self.status = status
        self.parameters = parameters

    @classmethod
    def too_many(cls, retry_after: int) -> ApiError:
        return cls(f"Too Many Requests: retry after {retry_after}", 429, {"retry_after": retry_after})

    def body(self) -> JsonObject:
        answer: JsonObject = {"ok": False, "error_code": self.status, "description": self.description}
        return answer | ({"parameters": self.parameters} if self.parameters else {})


class Params(Mapping[str, Any]):
    """The parameters of one call, decoded: numbers, booleans, lists and objects are such, text stays text."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def text(self, name: str) -> str:
        """The empty string where the parameter is missing, as on the original."""
        value = self.get(name, "")
        if not isinstance(value, str):
            raise ApiError(f'Field "{name}" must be of type String')
        return value

    def integer(self, name: str, default: int = 0) -> int:
        value = self.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ApiError(f'Field "{name}" must be of type Number')
        return value

    def flag(self, name: str) -> bool:
        return bool(self.get(name, False))

    def file(self, name: str) -> Upload | str:
        """What was uploaded, or the id of a file that Telegram has; the empty string where the parameter is missing."""
        value = self.get(name, "")
        if isinstance(value, str) and value.startswith("attach://"):
            value = self.get(value.removeprefix("attach://"), "")
        if isinstance(value, Upload | str):
            return value
        raise ApiError(f'Field "{name}" must be of type String')

    def array(self, name: str) -> list[Any] | None:
        """None where the parameter is missing."""
        value = self.get(name)
        if value is None or isinstance(value, list):
            return value
        raise ApiError(f"can't parse {name} JSON object")

    def object(self, name: str) -> JsonObject | None:
        """None where the parameter is missing."""
        value = self.get(name)
        if value is None or isinstance(value, dict):
            return value
        raise ApiError(f"can't parse {name} JSON object")


def read_params(query: str, content_type: str, body: bytes) -> Params:
    """The parameters of the query string and of a form, multipart or JSON body. Raises `ApiError`."""
    values: JsonObject = {}
    try:
        values.update(parse_qsl(query, keep_blank_values=True, errors="strict"))
        kind = content_type.split(";")[0].strip().lower()
        if kind == "application/json":
            values.update(_json_body(body))
        elif kind == "multipart/form-data":
            values.update(_multipart(content_type, body))
        elif kind in ("application/x-www-form-urlencoded", ""):
            values.update(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict"))
        decoded = {name: _decode(name, value) for name, value in values.items()}
        json.dumps(decoded, ensure_ascii=False, default=lambda _: None).encode()  # a lone surrogate is no text
    except UnicodeError:
        raise ApiError("Strings must be encoded in UTF-8") from None
    return Params(decoded)


def _json_body(body: bytes) -> JsonObject:
    try:
        values = json.loads(body.decode() or "{}")
    except UnicodeError:
        raise
    except ValueError:
        raise ApiError("Can't parse request JSON object") from None
    if not isinstance(values, dict):
        raise ApiError("Request body must be a JSON object")
    return values


def _multipart(content_type: str, body: bytes) -> JsonObject:
    """Cut at the boundaries by hand: the standard library's parser takes seconds for a large file."""
    values: JsonObject = {}
    boundary = _headers(f"Content-Type: {content_type}".encode("latin-1")).get_boundary("")
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"))[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        headers = _headers(head)
        name = str(headers.get_param("name", "", header="content-disposition"))
        filename = headers.get_filename()
        values[name] = content.decode("utf-8") if filename is None else Upload(filename, content)
    return values


def _headers(head: bytes) -> Message:
    return message_from_bytes(head + b"\r\n\r\n", policy=policy.HTTP)


def _decode(name: str, value: Any) -> Any:
    if name in PLAIN_TEXT or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
