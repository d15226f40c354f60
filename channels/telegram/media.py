"""Attachments of a message: files to fetch, others as text. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from channels.json_fields import Json, get, object_of, objects_of, text_of
from channels.message import Attachment

_FILES = (
    ("animation", "animation", "video/mp4"),
    ("audio", "audio", "audio/mpeg"),
    ("document", "document", ""),
    ("video", "video", "video/mp4"),
    ("video_note", "video note", "video/mp4"),
    ("voice", "voice", "audio/ogg"),
)
"""Field, a word for people, and the default media type."""


def attachments(message: Json) -> Iterator[Attachment]:
    yield from _photo(message)
    yield from _sticker(message)
    for field, kind, media_type in _FILES:
        file = object_of(message, field)
        if file is None or (field == "document" and "animation" in message):
            continue  # an animation is repeated as a document for old clients
        yield Attachment(
            kind,
            name=_line(text_of(file, "file_name")),
            size=get(file, "file_size", int),
            media_type=text_of(file, "mime_type") or media_type,
            handle=text_of(file, "file_id"),
            words=_join(", ", text_of(file, "performer"), text_of(file, "title")),
        )
    for field, (kind, words) in _TEXT_KINDS.items():
        thing = object_of(message, field)
        if thing is None or (field == "location" and "venue" in message):
            continue
        yield Attachment(kind, words=_line(words(thing)))


def named(found: Iterator[Attachment]) -> str:
    """`[document a.pdf] [location 48.1, 11.6]`."""
    return " ".join("[" + _join(" ", one.kind, one.name, one.words) + "]" for one in found)


def _photo(message: Json) -> Iterator[Attachment]:
    live = object_of(message, "live_photo")  # its photo is repeated beside it for old clients
    sizes = message.get("photo") or (live or {}).get("photo")
    pictures = [one for one in sizes if isinstance(one, Mapping)] if isinstance(sizes, list) else []
    if pictures:
        largest = sorted(pictures, key=lambda one: (get(one, "width", int) or 0) * (get(one, "height", int) or 0))[-1]
        size, handle = get(largest, "file_size", int), text_of(largest, "file_id")
        yield Attachment("photo", size=size, media_type="image/jpeg", handle=handle)
    elif live is not None:
        yield Attachment("photo")


def _sticker(message: Json) -> Iterator[Attachment]:
    sticker = object_of(message, "sticker")
    if sticker is None:
        return
    words = text_of(sticker, "emoji")
    if sticker.get("is_animated") is True or sticker.get("is_video") is True:
        yield Attachment("sticker", words=words)
    else:
        size, handle = get(sticker, "file_size", int), text_of(sticker, "file_id")
        yield Attachment("sticker", size=size, media_type="image/webp" if handle else "", handle=handle, words=words)


def _location(location: Json) -> str:
    position = [location.get(field) for field in ("latitude", "longitude")]
    numbers = [
        f"{one:g}" if isinstance(one, int) else f"{one:.6f}" for one in position if isinstance(one, (int, float))
    ]
    return ", ".join(numbers) + (" (live)" if "live_period" in location else "")


def _venue(venue: Json) -> str:
    where = _location(object_of(venue, "location") or {})
    return _join(", ", text_of(venue, "title"), text_of(venue, "address"), where)


def _contact(contact: Json) -> str:
    name = _join(" ", text_of(contact, "first_name"), text_of(contact, "last_name"))
    return _join(", ", name, text_of(contact, "phone_number"))


def _poll(poll: Json) -> str:
    return _with_list(text_of(poll, "question"), [text_of(option, "text") for option in objects_of(poll, "options")])


def _checklist(checklist: Json) -> str:
    lines = [
        ("[x] " if get(task, "completion_date", int) else "[ ] ") + text_of(task, "text")
        for task in objects_of(checklist, "tasks")
    ]
    return _with_list(text_of(checklist, "title"), lines)


def _titled(thing: Json) -> str:
    return _join(": ", text_of(thing, "title"), text_of(thing, "description"))


def _nothing(_: Json) -> str:
    return ""


_TEXT_KINDS: Mapping[str, tuple[str, Callable[[Json], str]]] = {
    "checklist": ("checklist", _checklist),
    "contact": ("contact", _contact),
    "dice": ("dice", lambda dice: f"{text_of(dice, 'emoji')} {get(dice, 'value', int) or ''}".strip()),
    "game": ("game", _titled),
    "giveaway": ("giveaway", lambda giveaway: text_of(giveaway, "prize_description")),
    "invoice": ("invoice", _titled),
    "location": ("location", _location),
    "paid_media": ("paid media", _nothing),
    "poll": ("poll", _poll),
    "story": ("story", _nothing),
    "venue": ("venue", _venue),
}


def _with_list(title: str, items: list[str]) -> str:
    return _join(": ", title, "; ".join(items))


def _join(between: str, *parts: str) -> str:
    return between.join(part for part in parts if part)


def _line(text: str) -> str:
    return " ".join(text.split())
