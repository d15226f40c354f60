"""Attachments of a message: files to fetch, others as text. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from channels.json_fields import Json, counted, get, moment_in_utc, object_of, objects_of, text_of
from channels.message import Attachment
from channels.telegram.written import name_of, worded

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


def named(message: Json) -> str:
    """The attachments as `[document a.pdf] [location 48.1, 11.6]`."""
    return " ".join(attachment.shown for attachment in attachments(message))


def _photo(message: Json) -> Iterator[Attachment]:
    live = object_of(message, "live_photo")  # its photo is repeated beside it for old clients
    sizes = message.get("photo") or (live or {}).get("photo")
    pictures = [picture for picture in sizes if isinstance(picture, Mapping)] if isinstance(sizes, list) else []
    if pictures:
        largest = sorted(
            pictures, key=lambda picture: (get(picture, "width", int) or 0) * (get(picture, "height", int) or 0)
        )[-1]
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
        f"{number:g}" if isinstance(number, int) else f"{number:.6f}"
        for number in position
        if isinstance(number, (int, float))
    ]
    return ", ".join(numbers) + (" (live)" if "live_period" in location else "")


def _venue(venue: Json) -> str:
    where = _location(object_of(venue, "location") or {})
    return _join(", ", text_of(venue, "title"), text_of(venue, "address"), where)


def _contact(contact: Json) -> str:
    name = _join(" ", text_of(contact, "first_name"), text_of(contact, "last_name"))
    return _join(", ", name, text_of(contact, "phone_number"))


def _poll(poll: Json) -> str:
    """The poll, with its votes if there are any: a closed poll is forwarded to ask who won."""
    has_votes = bool(get(poll, "total_voter_count", int)) or poll.get("is_closed") is True
    right = poll.get("correct_option_ids")
    rights = right if isinstance(right, list) else [poll.get("correct_option_id")]
    answers = [
        _join(
            ", ",
            worded(option, "text", "text_entities"),
            counted(get(option, "voter_count", int) or 0, "vote") if has_votes else "",
            "right" if number in rights else "",
        )
        for number, option in enumerate(objects_of(poll, "options"))
    ]
    words = _with_list(worded(poll, "question", "question_entities"), answers)
    more = (worded(poll, field, f"{field}_entities") for field in ("description", "explanation"))
    return _join(" - ", words, *more) + (" (closed)" if poll.get("is_closed") is True else "")


def _changed_poll(what: str) -> Callable[[Json], str]:
    def words(change: Json) -> str:
        poll = object_of(object_of(change, "poll_message") or {}, "poll") or {}
        option = worded(change, "option_text", "option_text_entities")
        return _with_list(worded(poll, "question", "question_entities"), [f"{what}: {option}"])

    return words


def _checklist(checklist: Json) -> str:
    lines = [
        ("[x] " if get(task, "completion_date", int) else "[ ] ") + worded(task, "text", "text_entities")
        for task in objects_of(checklist, "tasks")
    ]
    return _with_list(worded(checklist, "title", "title_entities"), lines)


def _changed_checklist(change: Json) -> str:
    checklist = object_of(object_of(change, "checklist_message") or {}, "checklist") or {}
    names = {get(task, "id", int): worded(task, "text", "text_entities") for task in objects_of(checklist, "tasks")}
    lines = [f"added: {worded(task, 'text', 'text_entities')}" for task in objects_of(change, "tasks")]
    for field, what in (("marked_as_done_task_ids", "done"), ("marked_as_not_done_task_ids", "not done")):
        ids = change.get(field)
        lines += [f"{what}: {names.get(id) or f'task {id}'}" for id in ids] if isinstance(ids, list) else []
    return _with_list(worded(checklist, "title", "title_entities"), lines)


def _titled(thing: Json) -> str:
    return _join(": ", text_of(thing, "title"), text_of(thing, "description"))


def _game(game: Json) -> str:
    return _join(" - ", _titled(game), worded(game, "text", "text_entities"))


def _invoice(invoice: Json) -> str:
    amount, currency = get(invoice, "total_amount", int), text_of(invoice, "currency")
    price = ""
    if amount is not None and currency:
        price = f"{amount} {currency}" if currency in _WITHOUT_CENTS else f"{amount / 100:.2f} {currency}"
    return _join(", ", _titled(invoice), price)


def _paid_media(info: Json) -> str:
    stars = get(info, "star_count", int)
    kinds = ", ".join(text_of(medium, "type") for medium in objects_of(info, "paid_media"))
    return _join(": ", counted(stars, "star") if stars else "", kinds)


def _gift(info: Json) -> str:
    gift = object_of(info, "gift") or {}
    stars = get(gift, "star_count", int)
    named = _join(" #", text_of(gift, "base_name"), str(get(gift, "number", int) or ""))
    emoji = text_of(object_of(gift, "sticker") or {}, "emoji")
    return _join(", ", emoji, named, counted(stars, "star") if stars else "", worded(info, "text", "entities"))


def _giveaway(giveaway: Json) -> str:
    stars, winners = get(giveaway, "prize_star_count", int), get(giveaway, "winner_count", int)
    drawn = get(giveaway, "winners_selection_date", int)
    return _join(
        ", ",
        text_of(giveaway, "prize_description"),
        counted(stars, "star") if stars else "",
        counted(winners, "winner") if winners else "",
        *(name_of(winner) for winner in objects_of(giveaway, "winners")),
        f"drawn {moment_in_utc(drawn)}" if drawn else "",
    )


def _story(story: Json) -> str:
    chat = object_of(story, "chat")
    return f"of {name_of(chat)}" if chat else ""


_TEXT_KINDS: Mapping[str, tuple[str, Callable[[Json], str]]] = {
    "checklist": ("checklist", _checklist),
    "checklist_tasks_added": ("checklist", _changed_checklist),
    "checklist_tasks_done": ("checklist", _changed_checklist),
    "contact": ("contact", _contact),
    "dice": ("dice", lambda dice: f"{text_of(dice, 'emoji')} {get(dice, 'value', int) or ''}".strip()),
    "game": ("game", _game),
    "gift": ("gift", _gift),
    "giveaway": ("giveaway", _giveaway),
    "giveaway_winners": ("giveaway", _giveaway),
    "invoice": ("invoice", _invoice),
    "location": ("location", _location),
    "paid_media": ("paid media", _paid_media),
    "poll": ("poll", _poll),
    "poll_option_added": ("poll", _changed_poll("added")),
    "poll_option_deleted": ("poll", _changed_poll("removed")),
    "story": ("story", _story),
    "unique_gift": ("gift", _gift),
    "venue": ("venue", _venue),
}
_WITHOUT_CENTS = frozenset({"CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XTR"})
"""Currencies whose smallest unit is the whole (https://core.telegram.org/bots/payments/currencies.json)."""


def _with_list(title: str, items: list[str]) -> str:
    return _join(": ", title, "; ".join(items))


def _join(between: str, *parts: str) -> str:
    return between.join(part for part in parts if part)


def _line(text: str) -> str:
    return " ".join(text.split())
