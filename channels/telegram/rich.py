"""Rich messages (Bot API 10.1) as Markdown: a tree of blocks instead of a text with entities. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from channels.json_fields import Json, get, moment_in_utc, objects_of, text_of
from channels.telegram.media import named
from channels.telegram.written import fenced, link, name_of, quoted
from channels.text import clean

_QUOTES = ("blockquote", "expandable_blockquote", "pullquote")
_SURROUNDED = {"strikethrough": "~~", "spoiler": "||", "code": "`"}


def rich_text(message: object) -> str:
    """A rich message as Markdown; a block is a line."""
    if not isinstance(message, Mapping):
        return ""
    for whole in ("markdown", "html"):
        if text := text_of(message, whole):
            return text
    return _blocks(message.get("blocks")).strip()


def _blocks(value: object) -> str:
    blocks = [block for block in value if isinstance(block, Mapping)] if isinstance(value, list) else []
    return "\n".join(filter(None, map(_block, blocks)))


def _block(block: Json) -> str:
    kind = text_of(block, "type")
    text = _inline(block.get("text"))
    if kind == "pre":
        return fenced(text, text_of(block, "language"))
    lines = [
        _inline(block.get("summary")),
        text,
        f"$${text_of(block, 'expression')}$$" if "expression" in block else "",
        named(block),
        _blocks(block.get("blocks")),
        *map(_item, objects_of(block, "items")),
        *_rows(block.get("cells")),
        " ".join(_button(button) for button in objects_of(block, "buttons")),
        _inline(block.get("credit")),
        _caption(block.get("caption")),
    ]
    shown = "\n".join(filter(None, lines))
    return quoted(shown) if kind in _QUOTES else shown


def _item(item: Json) -> str:
    box = "" if item.get("has_checkbox") is not True else "[x]" if item.get("is_checked") is True else "[ ]"
    return " ".join(filter(None, (text_of(item, "label"), box, _blocks(item.get("blocks")))))


def _rows(cells: object) -> list[str]:
    rows = [row for row in cells if isinstance(row, list)] if isinstance(cells, list) else []
    return [" | ".join(_inline(cell) for cell in row) for row in rows]


def _caption(caption: object) -> str:
    if not isinstance(caption, Mapping):
        return _inline(caption)
    return "\n".join(filter(None, (_inline(caption.get("text")), _inline(caption.get("credit")))))


def _button(button: Json) -> str:
    return link(_inline(button.get("text")), text_of(button, "url"))


def _inline(value: object) -> str:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return "".join(map(_inline, value))
    if not isinstance(value, Mapping):
        return ""
    kind, text = text_of(value, "type"), _inline(value.get("text"))
    user, at, button = value.get("user"), get(value, "unix_time", int), value.get("button")
    if kind in _SURROUNDED and text.strip():
        return f"{_SURROUNDED[kind]}{text}{_SURROUNDED[kind]}"
    if kind == "text_mention" and isinstance(user, Mapping):
        return text if name_of(user) in text else f"{text} ({name_of(user)})"
    if at is not None:
        return f"{text} ({moment_in_utc(at)})"
    if "expression" in value:
        return f"\\({text_of(value, 'expression')}\\)"
    if isinstance(button, Mapping):
        return _button(button)
    return link(text, text_of(value, "url")) or text_of(value, "alternative_text")
