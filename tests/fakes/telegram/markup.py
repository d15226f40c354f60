"""Text and its entities as Telegram checks them, in UTF-16 units.

Where the original quietly drops formatting (entity 101, an entity of no length, bold inside code, halves that overlap),
this one refuses: formatting that nobody sees is a mistake of the sender's. The documented rules are those of
https://core.telegram.org/bots/api#formatting-options.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.telegram.wire import ApiError, JsonObject

MAX_TEXT = 4096
MAX_CAPTION = 1024
MAX_RAW_BYTES = 32768
MAX_ENTITIES = 100
MAX_CALLBACK_DATA = 64
MAX_BUTTONS_IN_ROW, MAX_BUTTONS = 8, 100

CODE = frozenset(("code", "pre"))
QUOTES = frozenset(("blockquote", "expandable_blockquote"))
STYLES = frozenset(("bold", "italic", "underline", "strikethrough", "spoiler"))
ENTITY_TYPES = (
    CODE
    | QUOTES
    | STYLES
    | frozenset(("text_link", "text_mention", "custom_emoji", "mention", "hashtag", "cashtag", "bot_command"))
    | frozenset(("url", "email", "phone_number", "bank_card_number"))
)
REMOVED = frozenset("\r\u0333\u033f\u030a") | frozenset(map(chr, range(0x2028, 0x202F)))
INVISIBLE = frozenset(" \n\t\u00a0\u00ad\u2800\u3164\ufeff") | frozenset(map(chr, range(0x2000, 0x2010)))


def units(text: str) -> int:
    """Length in UTF-16 units, which is how Telegram counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, limit: int = MAX_TEXT) -> list[str]:
    """A long paste as Telegram's clients cut it: pieces of `limit` units, no symbol torn."""
    pieces, size = [""], 0
    for character in text:
        width = units(character)
        if size + width > limit:
            pieces.append("")
            size = 0
        pieces[-1] += character
        size += width
    return pieces


def detect(text: str, pattern: str, kind: str) -> list[JsonObject]:
    """The entities that Telegram finds by itself in what a person wrote."""
    return [
        {"type": kind, "offset": units(text[: found.start()]), "length": units(found.group())}
        for found in re.finditer(pattern, text)
    ]


def found_entities(text: str) -> list[JsonObject]:
    found = detect(text, r"(?<![\w/])/[A-Za-z0-9_]{1,64}(?:@\w{3,32})?(?![\w/])", "bot_command")
    found += detect(text, r"(?<![\w/@])@[A-Za-z]\w{3,31}\b", "mention")
    found += detect(text, r"https?://[^\s<>\"]+", "url")
    return sorted(found, key=lambda entity: entity["offset"])


def checked_text(
    text: str,
    entities: list[Any] | None,
    parse_mode: str,
    *,
    too_long: str = "Message is too long",
    most: int = MAX_TEXT,
) -> tuple[str, list[JsonObject]]:
    """Text and entities as they will be shown. Raises `ApiError` in the original's words."""
    if parse_mode and not entities:
        if parse_mode.lower() not in ("html", "markdown", "markdownv2"):
            raise ApiError("Unsupported parse_mode")
        raise ApiError("can't parse entities: this server takes entities, not markup")
    if not text:
        raise ApiError("Message text is empty")
    if len(text.encode()) > MAX_RAW_BYTES:
        raise ApiError("Text is too long")
    text, checked = _cleaned(text, [_entity(entity) for entity in entities or []])
    text, checked = _trimmed(text, checked)
    if all(character in INVISIBLE for character in text):
        raise ApiError("Text must be non-empty")
    if units(text) > most:
        raise ApiError(too_long)
    _check_nesting(checked)
    return text, checked


def checked_caption(text: str, entities: list[Any] | None, parse_mode: str) -> tuple[str, list[JsonObject]]:
    """As `checked_text`; a caption may be missing."""
    if not text:
        return "", []
    return checked_text(text, entities, parse_mode, too_long="message caption is too long", most=MAX_CAPTION)


def _entity(entity: Any) -> JsonObject:
    if not isinstance(entity, dict):
        raise ApiError("can't parse MessageEntity: expected an Object")
    for field in ("type", "offset", "length"):
        if field not in entity:
            raise ApiError(f"can't parse MessageEntity: Can't find field \"{field}\"")
    if any(isinstance(entity[field], bool) or not isinstance(entity[field], int) for field in ("offset", "length")):
        raise ApiError('can\'t parse MessageEntity: Field "offset" must be of type Number')
    if not isinstance(entity["type"], str) or entity["type"] not in ENTITY_TYPES:
        raise ApiError("can't parse MessageEntity: Unsupported type specified")
    if entity["offset"] < 0 or entity["length"] <= 0:
        raise ApiError(f"can't parse entities: empty entity at UTF-16 offset {entity['offset']}")
    if entity["type"] == "text_link":
        _check_link(entity)
    return dict(entity)


def _check_link(entity: JsonObject) -> None:
    if not isinstance(entity.get("url"), str):
        raise ApiError("can't parse MessageEntity: Can't find field \"url\"")
    url: str = entity["url"]
    scheme = urlsplit(url).scheme.lower()
    if scheme in ("tg", "ton", "tonsite"):
        return
    if scheme not in ("", "http", "https"):
        raise ApiError(f"Entity URL '{url}' is invalid: Unsupported URL protocol")
    try:
        host = urlsplit(url if scheme else f"http://{url}").hostname or ""
    except ValueError:
        host = ""
    if "." not in host and ":" not in host:
        raise ApiError(f"Entity URL '{url}' is invalid: Wrong HTTP URL")


def _cleaned(text: str, entities: list[JsonObject]) -> tuple[str, list[JsonObject]]:
    """Control characters become spaces, a few are removed, and the entities move along. An entity that begins or ends
    outside the text or within a symbol is refused."""
    place: dict[int, int] = {}
    kept: list[str] = []
    old = new = 0
    for character in text:
        place[old] = new
        width = 2 if ord(character) > 0xFFFF else 1
        old += width
        if character not in REMOVED:
            kept.append(" " if ord(character) < 32 and character != "\n" else character)
            new += width
    place[old] = new
    moved = []
    for entity in entities:
        begin, end = entity["offset"], entity["offset"] + entity["length"]
        if begin > old:
            raise ApiError(f"Entity begins after the end of the text at UTF-16 offset {begin}")
        if end > old:
            raise ApiError(
                f"Entity beginning at UTF-16 offset {begin} ends after the end of the text at UTF-16 offset {end}"
            )
        for edge, verb in ((begin, "begins"), (end, "ends")):
            if edge not in place:
                raise ApiError(
                    f"Entity {verb} in a middle of a UTF-16 symbol at byte offset {_byte_offset(text, edge)}"
                )
        moved.append(entity | {"offset": place[begin], "length": place[end] - place[begin]})
    return "".join(kept), moved


def _byte_offset(text: str, edge: int) -> int:
    return len(text.encode("utf-16-le")[: 2 * edge - 2].decode("utf-16-le").encode())


def _trimmed(text: str, entities: list[JsonObject]) -> tuple[str, list[JsonObject]]:
    """White space goes at the end, and at the start before the first entity."""
    text = text.rstrip(" \n")
    first = min((entity["offset"] for entity in entities), default=units(text))
    lead = min(len(text) - len(text.lstrip(" \n")), first)
    text, end = text[lead:], units(text) - lead
    shown = []
    for entity in entities:
        begin = entity["offset"] - lead
        length = min(entity["length"], end - begin)
        if length > 0:
            shown.append(entity | {"offset": begin, "length": length})
    return text, sorted(shown, key=lambda entity: (entity["offset"], -entity["length"]))


def _check_nesting(entities: list[JsonObject]) -> None:
    if len(entities) > MAX_ENTITIES:
        raise ApiError(f"can't parse entities: {len(entities)} entities are more than {MAX_ENTITIES}")
    open_entities: list[JsonObject] = []
    for entity in entities:
        begin, end = entity["offset"], entity["offset"] + entity["length"]
        open_entities = [other for other in open_entities if other["offset"] + other["length"] > begin]
        for other in open_entities:
            if other["offset"] + other["length"] < end:
                raise ApiError(f"can't parse entities: {entity['type']} and {other['type']} overlap at offset {begin}")
            if not _may_contain(other["type"], entity["type"]):
                raise ApiError(f"can't parse entities: {entity['type']} inside {other['type']} at offset {begin}")
        open_entities.append(entity)


def _may_contain(outer: str, inner: str) -> bool:
    if outer in CODE or (outer in QUOTES and inner in QUOTES):
        return False
    if inner in CODE:
        return outer in QUOTES
    return outer in STYLES | QUOTES or inner in STYLES


def checked_buttons(markup: JsonObject | None) -> JsonObject | None:
    """An inline keyboard within its limits; other keyboards as they are. Raises `ApiError`."""
    if markup is None or "inline_keyboard" not in markup:
        return markup
    rows = markup["inline_keyboard"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ApiError('can\'t parse inline keyboard: Field "inline_keyboard" must be an Array of Arrays')
    if any(len(row) > MAX_BUTTONS_IN_ROW for row in rows) or sum(map(len, rows)) > MAX_BUTTONS:
        raise ApiError("reply markup is too long")
    for button in (button for row in rows for button in row):
        if not isinstance(button, dict) or not button.get("text"):
            raise ApiError("can't parse inline keyboard button: Can't find field \"text\"")
        if len(button) == 1:
            raise ApiError("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        data = button.get("callback_data")
        if data is not None and not 1 <= len(str(data).encode()) <= MAX_CALLBACK_DATA:
            raise ApiError("BUTTON_DATA_INVALID")
    return markup
