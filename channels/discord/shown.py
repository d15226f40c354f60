"""What a message shows beside its text: files, polls, embeds, components. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from channels.json_fields import Json, counted, get, object_of, objects_of, text_of
from channels.message import Attachment

_VOICE_FLAG = 1 << 13
_KINDS = {"image": "photo", "video": "video", "audio": "audio"}
_OF_ADDRESSES = frozenset({"link", "article", "video", "image", "gifv"})
"""Types of embeds that Discord makes of an address in the text; a bot may write a `rich` embed itself."""


def attachments(data: Json, where: str = "") -> Iterator[Attachment]:
    """The files, stickers and polls. A handle is channel, message, file and address (which expires). `where`: channel
    and message of a forwarded `data`."""
    where = where or f"{text_of(data, 'channel_id')}/{text_of(data, 'id')}"
    is_voice = bool((get(data, "flags", int) or 0) & _VOICE_FLAG)
    for file in objects_of(data, "attachments"):
        media_type = text_of(file, "content_type").partition(";")[0].strip()
        kind = "voice" if is_voice else _KINDS.get(media_type.partition("/")[0], "document")
        file_id = get(file, "id", str) or ""
        handle = "/".join(filter(None, (where, file_id, text_of(file, "url")))) if file_id else ""
        words = _join(", ", *(" ".join(text_of(file, field).split()) for field in ("title", "description")))
        yield Attachment(kind, text_of(file, "filename"), get(file, "size", int), media_type, handle, words)
    for sticker in objects_of(data, "sticker_items"):
        yield Attachment("sticker", text_of(sticker, "name"), words=text_of(sticker, "name"))
    if (poll := object_of(data, "poll")) and object_of(poll, "question"):
        yield Attachment("poll", _poll_words(poll, "question"), words=_poll(poll))
    for snapshot in snapshots(data):
        yield from (attachment.passed_on("forwarded") for attachment in attachments(snapshot, where))


def snapshots(data: Json) -> Iterator[Json]:
    """The messages that a message forwards."""
    for forward in objects_of(data, "message_snapshots"):
        if snapshot := object_of(forward, "message"):
            yield snapshot


def beside(data: Json) -> str:
    """The words of embeds and components, in Discord's markup."""
    content = text_of(data, "content")
    author = object_of(data, "author")
    writes_none = author is not None and author.get("bot") is not True and "webhook_id" not in data
    embeds = (embed for embed in objects_of(data, "embeds") if not _is_preview(embed, content, writes_none=writes_none))
    return _join("\n", *map(_embed, embeds), *_components(data))


def reactions(data: Json) -> str:
    """The reactions as `[👍 5, :wave: 1]`: people vote with them."""
    found = []
    for reaction in objects_of(data, "reactions"):
        emoji = object_of(reaction, "emoji") or {}
        name = f":{text_of(emoji, 'name')}:" if emoji.get("id") else text_of(emoji, "name")
        found.append(f"{name} {get(reaction, 'count', int) or 0}")
    return f"[{', '.join(found)}]" if found else ""


def _poll(poll: Json) -> str:
    results = object_of(poll, "results") or {}
    closed = results.get("is_finalized") is True
    votes = {get(tally, "id", int): get(tally, "count", int) or 0 for tally in objects_of(results, "answer_counts")}
    has_votes = closed or any(votes.values())
    answers = [
        _join(
            ", ",
            _poll_words(answer, "poll_media"),
            counted(votes.get(get(answer, "answer_id", int), 0), "vote") if has_votes else "",
        )
        for answer in objects_of(poll, "answers")
    ]
    return _join(": ", _poll_words(poll, "question"), "; ".join(answers)) + (" (closed)" if closed else "")


def _poll_words(parent: Json, field: str) -> str:
    media = object_of(parent, field) or {}
    return _join(" ", text_of(object_of(media, "emoji") or {}, "name"), text_of(media, "text"))


def _is_preview(embed: Json, content: str, *, writes_none: bool) -> bool:
    """True for an embed that Discord made of an address in the text. `writes_none`: a person's message, which has no
    others."""
    if writes_none or text_of(embed, "type") in _OF_ADDRESSES:
        return "://" in content
    url = text_of(embed, "url").partition("://")[2].rstrip("/")
    return bool(url) and url in content


def _embed(embed: Json) -> str:
    author, footer, image = (object_of(embed, field) or {} for field in ("author", "footer", "image"))
    fields = (_join(": ", text_of(field, "name"), text_of(field, "value")) for field in objects_of(embed, "fields"))
    return _join(
        "\n",
        text_of(object_of(embed, "provider") or {}, "name"),
        _link(text_of(author, "name"), text_of(author, "url")),
        _link(text_of(embed, "title"), text_of(embed, "url")),
        text_of(embed, "description"),
        *fields,
        _link("picture", text_of(image, "url")) if image else "",
        _join(" · ", text_of(footer, "text"), text_of(embed, "timestamp")),
    )


def _components(parent: Json) -> Iterator[str]:
    """The words of buttons, texts, pictures and files, however they are nested."""
    for field in ("components", "items"):
        for component in objects_of(parent, field):
            yield from _component(component)
    for field in ("accessory", "component"):
        if (inner := object_of(parent, field)) is not None:
            yield from _component(inner)


def _component(component: Json) -> Iterator[str]:
    file = next((found for field in ("media", "file") if (found := object_of(component, field))), {})
    chosen = (text_of(option, "label") for option in objects_of(component, "options"))
    yield from filter(
        None,
        (
            text_of(component, "content"),
            _link(text_of(component, "label"), text_of(component, "url")),
            text_of(component, "placeholder"),
            ", ".join(filter(None, chosen)),
            _link(text_of(component, "description") or text_of(component, "name"), text_of(file, "url")),
        ),
    )
    yield from _components(component)


def _link(label: str, url: str) -> str:
    return f"[{label}]({url})" if label and url else label or url


def _join(between: str, *parts: str) -> str:
    return between.join(part for part in parts if part)
