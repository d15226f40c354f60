"""Every field that the library knows of a message is decided: read, or left out for a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import discord
import pytest

from channels.discord.directory import Directory, DiscordChat
from channels.discord.inbound import DiscordIdentity, read
from channels.message import InboundMessage

BOT = DiscordIdentity("900", "Daybook")
APP = {"id": "33", "username": "News", "bot": True}
Json = dict[str, Any]


def heard(**fields: Any) -> InboundMessage:
    directory = Directory("900")
    directory.server_seen({"id": "1", "name": "Home", "channels": [{"id": "10", "type": 0, "name": "general"}]})
    message = {
        "id": "500",
        "channel_id": "10",
        "type": 0,
        "author": {"id": "22", "username": "ann", "global_name": "Ann"},
        "content": "",
        "timestamp": "2026-11-21T08:30:00.123000+00:00",
    } | fields
    event = read(message, BOT, DiscordChat("10"), directory)
    assert isinstance(event, InboundMessage), event
    return event


def answering(**fields: Any) -> str:
    """What is read of a message that is answered."""
    replied = {"id": "400", "channel_id": "10", "author": APP, "content": ""} | fields
    event = heard(type=19, content="true?", referenced_message=replied)
    return event.quote.text if event.quote else ""


def forwarding(**fields: Any) -> str:
    snapshot = {"message": {"content": ""} | fields}
    event = heard(message_reference={"type": 1, "channel_id": "10"}, message_snapshots=[snapshot])
    return event.quote.text if event.quote else ""


def of_a_webhook(**fields: Any) -> str:
    return heard(webhook_id="5", **fields).text


EMBED: Json = {
    "type": "rich",
    "provider": {"name": "Weather Service"},
    "author": {"name": "Desk", "url": "https://a.org/desk"},
    "title": "Storm",
    "url": "https://a.org/storm",
    "description": "From <t:0> on",
    "fields": [{"name": "Wind", "value": "9"}, {"name": "Rain", "value": "2"}],
    "image": {"url": "https://a.org/map.png"},
    "footer": {"text": "No warranty"},
    "timestamp": "2026-11-21",
}
READ_OF_EMBED = {
    "title": "[Storm](https://a.org/storm)",
    "url": "[Storm](https://a.org/storm)",
    "description": "From 1970-01-01 00:00 UTC on",
    "_provider": "Weather Service",
    "_author": "[Desk](https://a.org/desk)",
    "_fields": "Wind: 9\nRain: 2",
    "_image": "[picture](https://a.org/map.png)",
    "_footer": "No warranty · 2026-11-21",
    "_timestamp": "No warranty · 2026-11-21",
}
NOT_READ_OF_EMBED = {
    "type": "tells previews apart",
    "_colour": "decoration",
    "_thumbnail": "the picture, small",
    "_video": "plays what the address leads to",
    "_flags": "says whether it is a preview of the site's own",
}


@pytest.mark.parametrize("place", [answering, forwarding, of_a_webhook])
def test_the_words_of_an_embed(place: Any) -> None:
    text = place(embeds=[EMBED])
    for part in READ_OF_EMBED.values():
        assert part in text
    assert READ_OF_EMBED.keys() | NOT_READ_OF_EMBED.keys() == fields_of(discord.Embed)
    assert place(content="Look:", embeds=[EMBED]).startswith("Look:\nWeather Service\n")


@pytest.mark.parametrize("kind", ["rich", "link", "article", "video", "image", "gifv"])
def test_a_preview_of_an_address_in_the_text_is_not_read(kind: str) -> None:
    preview = {"type": kind, "url": "https://a.org/storm/", "title": "Storm", "description": "Long"}
    for place in (answering, forwarding, of_a_webhook):
        assert place(content="See https://a.org/storm", embeds=[preview]) == "See https://a.org/storm"
    moved = preview | {"url": "https://www.a.org/watch"}
    assert heard(content="See https://short.org/x", embeds=[moved]).text == "See https://short.org/x"


TEXTS = {"type": 17, "components": [{"type": 10, "content": "Tonight <t:0>"}]}
SECTION = {
    "type": 9,
    "components": [{"type": 10, "content": "A section"}],
    "accessory": {"type": 11, "media": {"url": "https://a.org/p.png"}, "description": "a red door"},
}
COMPONENTS: dict[str, tuple[Json, str]] = {
    "container": (TEXTS, "Tonight 1970-01-01 00:00 UTC"),
    "text_display": (TEXTS["components"][0], "Tonight 1970-01-01 00:00 UTC"),  # type: ignore[index]
    "section": (SECTION, "A section\n[a red door](https://a.org/p.png)"),
    "thumbnail": (SECTION["accessory"], "[a red door](https://a.org/p.png)"),  # type: ignore[dict-item]
    "action_row": ({"type": 1, "components": [{"type": 2, "label": "Yes"}]}, "Yes"),
    "button": ({"type": 2, "label": "Tickets", "url": "https://b.org"}, "[Tickets](https://b.org)"),
    "select": ({"type": 3, "placeholder": "Size", "options": [{"label": "S"}, {"label": "L"}]}, "Size\nS, L"),
    "media_gallery": ({"type": 12, "items": [{"media": {"url": "x"}, "description": "two cats"}]}, "[two cats](x)"),
    "file": ({"type": 13, "file": {"url": "https://a.org/a"}, "name": "a.pdf"}, "[a.pdf](https://a.org/a)"),
    "label": ({"type": 18, "label": "Name", "component": {"type": 4, "placeholder": "yours"}}, "Name\nyours"),
    **{
        f"{who}_select": ({"type": 5, "placeholder": "Who"}, "Who")
        for who in ("user", "role", "mentionable", "channel")
    },
}
NO_WORDS = {"separator"}
ONLY_IN_FORMS = {"text_input", "file_upload", "radio_group", "checkbox_group", "checkbox"}


def test_every_component_is_decided() -> None:
    assert COMPONENTS.keys() | NO_WORDS | ONLY_IN_FORMS == {one.name for one in discord.ComponentType}
    for component, words in COMPONENTS.values():
        for place in (answering, forwarding, of_a_webhook):
            assert place(components=[component]) == words


ANSWERS = [
    {"answer_id": 1, "poll_media": {"text": "Rome", "emoji": {"name": "🍕"}}},
    {"answer_id": 2, "poll_media": {"text": "Bonn"}},
]
POLL: Json = {"question": {"text": "Where to?"}, "answers": ANSWERS}
RESULTS = {"is_finalized": True, "answer_counts": [{"id": 1, "count": 1}, {"id": 2, "count": 3}]}


def test_a_poll_with_its_answers_and_votes() -> None:
    (poll,) = heard(poll=POLL).attachments
    assert poll.words == "Where to?: 🍕 Rome; Bonn"
    (poll,) = heard(poll=POLL | {"results": RESULTS}).attachments
    assert poll.words == "Where to?: 🍕 Rome, 1 vote; Bonn, 3 votes (closed)"
    running = RESULTS | {"is_finalized": False}
    assert answering(poll=POLL | {"results": running}) == "[poll Where to?: 🍕 Rome, 1 vote; Bonn, 3 votes]"


PICTURE = {"id": "1", "filename": "a.png", "size": 9, "content_type": "image/png", "description": "a\nred door"}


def test_the_description_of_a_picture() -> None:
    (picture,) = heard(attachments=[PICTURE | {"title": "The Door"}]).attachments
    assert (picture.name, picture.words) == ("a.png", "The Door, a red door")
    assert answering(attachments=[PICTURE]) == "[photo a.png a red door]"
    assert forwarding(attachments=[PICTURE]) == "[photo a.png a red door]"


def test_marks_are_read_in_forwards_too() -> None:
    assert forwarding(content="<@900> at <t:0> <:wave:5>") == "at 1970-01-01 00:00 UTC :wave:"
    event = heard(message_reference={"type": 1, "channel_id": "10"}, message_snapshots=[{"message": {"content": "x"}}])
    assert event.quote is not None and event.quote.author == "#general"
    assert answering(message_snapshots=[{"message": {"content": "Passed on", "embeds": [EMBED]}}]).startswith(
        "Passed on\n"
    )


READ: dict[str, str] = {
    "content": heard(content="seen").text,
    "embeds": of_a_webhook(embeds=[{"title": "seen"}]),
    "components": of_a_webhook(components=[{"type": 10, "content": "seen"}]),
    "attachments": heard(attachments=[{"id": "1", "filename": "seen"}]).attachments[0].name,
    "stickers": heard(sticker_items=[{"id": "1", "name": "seen"}]).attachments[0].words,
    "poll": heard(poll={"question": {"text": "seen"}}).attachments[0].words,
    "message_snapshots": forwarding(content="seen"),
    "reference": answering(content="seen"),
    "reactions": answering(content="seen", reactions=[{"count": 5, "emoji": {"name": "👍"}}]),
    "author": heard(content="x", author={"id": "22", "username": "seen"}).sender.name,
    "mentions": heard(content="<@7>", mentions=[{"id": "7", "username": "seen"}]).text,
}
DECIDES = {"type", "webhook_id", "role_mentions", "flags", "_edited_timestamp"}
"""Who is called, and whether there is something to read."""
NOT_READ = {
    "activity": "an invitation to a game",
    "application": "of that game",
    "application_id": "of the bot that answered",
    "call": "a notice",
    "interaction_metadata": "whose command a bot answered: bots are not read",
    "_interaction": "likewise",
    "mention_everyone": "stands in the text",
    "nonce": "a key of the client",
    "pinned": "is set later",
    "_pinned_at": "likewise",
    "position": "a number in the thread",
    "purchase_notification": "a notice",
    "role_subscription": "a notice",
    "_thread": "what was begun at it, later",
    "tts": "how it was sent",
}


def test_every_field_of_a_message_is_decided() -> None:
    known = {name for name in fields_of(discord.Message) if not name.startswith("_cs_")}
    assert READ.keys() | DECIDES | NOT_READ.keys() == known - {"id", "channel", "guild", "_state"}
    assert all("seen" in shown for shown in READ.values())
    assert READ["reactions"] == "seen [👍 5]"


def test_every_field_of_what_comes_with_it_is_decided() -> None:
    read_or_used = {"id", "size", "filename", "url", "content_type", "description", "title", "_flags"}
    not_on_the_screen = {"height", "width", "proxy_url", "_http", "ephemeral", "duration", "waveform"}
    assert read_or_used | not_on_the_screen == fields_of(discord.Attachment)
    of_polls = {"_answers", "_question_media", "_finalized"}
    of_the_library = {"_message", "_state", "_total_votes", "_victor_answer_id"}
    assert of_polls | of_the_library | {"multiple", "duration", "layout_type", "_expiry"} == fields_of(discord.Poll)
    assert {"text", "emoji"} == fields_of(discord.PollMedia)


def fields_of(kind: type) -> set[str]:
    def slots() -> Iterator[str]:
        for one in kind.__mro__:
            yield from getattr(one, "__slots__", ())

    return set(slots())
