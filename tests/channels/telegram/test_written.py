"""Texts whose meaning is in their entities, in each place where a person can read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from channels.message import InboundMessage
from channels.telegram.inbound import TelegramIdentity, read
from channels.telegram.written import worded

BOT = TelegramIdentity(42, "my_bot")
PERSON = {"id": 11111, "is_bot": False, "first_name": "Alice"}
ORIGIN = {"type": "hidden_user", "sender_user_name": "Bob", "date": 1}
BOB = {"id": 5, "first_name": "Bob"}
Entities = list[dict[str, Any]]


def heard(**fields: Any) -> InboundMessage:
    private = {"id": 11111, "type": "private", "first_name": "Alice"}
    message = {"message_id": 7, "date": 1_763_000_000, "chat": private, "from": PERSON} | fields
    event = read({"update_id": 900, "message": message}, BOT)
    assert isinstance(event, InboundMessage), event
    return event


def quote(event: InboundMessage) -> str:
    assert event.quote is not None
    return event.quote.text


def words(event: InboundMessage) -> str:
    (attachment,) = event.attachments
    return attachment.words


PLACES: dict[str, Callable[[str, Entities], str]] = {
    "text": lambda text, marks: heard(text=text, entities=marks).text,
    "caption": lambda text, marks: heard(photo=[{"file_id": "p"}], caption=text, caption_entities=marks).text,
    "forward": lambda text, marks: quote(heard(text=text, entities=marks, forward_origin=ORIGIN)),
    "answered": lambda text, marks: quote(
        heard(text="why?", reply_to_message={"message_id": 3, "from": BOB, "text": text, "entities": marks})
    ),
    "answered elsewhere": lambda text, marks: quote(
        heard(text="why?", external_reply={"origin": ORIGIN}, quote={"text": text, "entities": marks, "position": 0})
    ),
    "quoted part": lambda text, marks: quote(
        heard(
            text="why?",
            reply_to_message={"message_id": 3, "from": BOB, "text": f"Before. {text}"},
            quote={"text": text, "entities": marks, "position": 8},
        )
    ),
}
IN_LISTS: dict[str, Callable[[str, Entities], str]] = {
    "poll's question": lambda text, marks: words(
        heard(poll={"question": text, "question_entities": marks, "options": []})
    ),
    "poll's answer": lambda text, marks: words(
        heard(poll={"question": "", "options": [{"text": text, "text_entities": marks}]})
    ),
    "checklist's title": lambda text, marks: words(
        heard(checklist={"title": text, "title_entities": marks, "tasks": []})
    ),
    "checklist's task": lambda text, marks: words(
        heard(checklist={"title": "", "tasks": [{"id": 1, "text": text, "text_entities": marks}]})
    ).removeprefix("[ ] "),
    "game": lambda text, marks: words(heard(game={"title": "", "text": text, "text_entities": marks})),
    "gift": lambda text, marks: words(heard(gift={"gift": {}, "text": text, "entities": marks})),
}


def mark(text: str, part: str, kind: str, **more: Any) -> dict[str, Any]:
    offset = len(text[: text.index(part)].encode("utf-16-le")) // 2
    return {"type": kind, "offset": offset, "length": len(part.encode("utf-16-le")) // 2} | more


@pytest.mark.parametrize("place", [*PLACES, *IN_LISTS])
@pytest.mark.parametrize(
    ("text", "part", "kind", "more", "read_as"),
    [
        (
            "🙂 read the article",
            "the article",
            "text_link",
            {"url": "https://a.org/b"},
            "🙂 read [the article](https://a.org/b)",
        ),
        ("see a.org now", "a.org", "text_link", {"url": "http://a.org/"}, "see a.org now"),
        ("see a.org now", "a.org", "text_link", {"url": "http://b.org/"}, "see [a.org](http://b.org/) now"),
        ("milk 🥛 bread", "milk 🥛", "strikethrough", {}, "~~milk 🥛~~ bread"),
        ("run ls -l here", "ls -l", "code", {}, "run `ls -l` here"),
        ("a ` b", "a ` b", "code", {}, "`` a ` b ``"),
        ("he did it", "he", "spoiler", {}, "||he|| did it"),
        ("ask him", "him", "text_mention", {"user": BOB}, "ask him (Bob)"),
        ("ask Bob", "Bob", "text_mention", {"user": BOB}, "ask Bob"),
        ("at five", "five", "date_time", {"unix_time": 1_763_000_000}, "at five (2025-11-13 02:13 UTC)"),
        ("very much", "very", "bold", {}, "very much"),
        ("very much", "very", "italic", {}, "very much"),
        ("😎 yes", "😎", "custom_emoji", {"custom_emoji_id": "5"}, "😎 yes"),
        ("mail a@b.org", "a@b.org", "email", {}, "mail a@b.org"),
    ],
)
def test_what_stands_on_words(place: str, text: str, part: str, kind: str, more: dict[str, Any], read_as: str) -> None:
    assert (PLACES | IN_LISTS)[place](text, [mark(text, part, kind, **more)]) == read_as


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize(
    ("text", "part", "kind", "more", "read_as"),
    [
        ("Run:\nx = 1\ny = 2", "x = 1\ny = 2", "pre", {"language": "python"}, "Run:\n```python\nx = 1\ny = 2\n```"),
        ("Run: x = 1 now", "x = 1", "pre", {}, "Run: \n```\nx = 1\n```\n now"),
        ("a\nb", "a\nb", "code", {}, "```\na\nb\n```"),
        ("say ``` here", "say ``` here", "pre", {}, "````\nsay ``` here\n````"),
        ("No way.\nI disagree", "No way.", "blockquote", {}, "> No way.\n\nI disagree"),
        ("One\nTwo", "One\nTwo", "expandable_blockquote", {}, "> One\n> Two"),
        ("milk\n\nbread", "milk\n\nbread", "strikethrough", {}, "~~milk~~\n\n~~bread~~"),
    ],
)
def test_what_stands_on_lines(place: str, text: str, part: str, kind: str, more: dict[str, Any], read_as: str) -> None:
    assert PLACES[place](text, [mark(text, part, kind, **more)]) == read_as


def test_marks_in_marks() -> None:
    text = "He said: buy the 🥛 milk here"
    marks = [
        mark(text, "buy the 🥛 milk", "blockquote"),
        mark(text, "the 🥛 milk", "text_link", url="https://a.org/(x"),
        mark(text, "🥛", "strikethrough"),
        mark(text, "milk here", "strikethrough"),
    ]
    for order in (marks, marks[::-1]):
        assert heard(text=text, entities=order).text == (
            "He said: \n> buy [the ~~🥛~~ ~~milk~~](<https://a.org/(x>)\n\n ~~here~~"
        )


@pytest.mark.parametrize("more", [(), ("bold",), ("italic", "underline")])
def test_the_bots_own_name_goes_and_the_rest_stays_marked(more: tuple[str, ...]) -> None:
    text = "@my_bot, 🙂 read this"
    styles = [mark(text, "@my_bot", kind) for kind in more]
    marks = [*styles, mark(text, "@my_bot", "mention"), mark(text, "this", "text_link", url="https://a.org")]
    assert heard(text=text, entities=marks).text == "🙂 read [this](https://a.org)"
    named = [mark(text, "@my_bot", "text_mention", user={"id": 42}), marks[-1]]
    assert heard(text=text, entities=named).text == "🙂 read [this](https://a.org)"
    text = "/note@my_bot buy milk"
    marks = [mark(text, "/note@my_bot", "bot_command"), mark(text, "milk", "strikethrough")]
    assert heard(text=text, entities=marks).text == "/note buy ~~milk~~"


def test_addresses_beside_the_words() -> None:
    shown = {"text": "News", "link_preview_options": {"url": "https://a.org"}}
    button = {"reply_markup": {"inline_keyboard": [[{"text": "Tickets", "url": "https://b.org"}, {"text": "Like"}]]}}
    assert heard(**shown, **button).text == "News\nhttps://a.org\n[Tickets](https://b.org)"
    assert heard(text="See https://a.org", link_preview_options={"url": "https://a.org"}).text == "See https://a.org"


def test_rich_messages_keep_what_stands_on_words() -> None:
    link = {"type": "url", "text": ["the ", {"type": "bold", "text": "article"}], "url": "https://a.org"}
    blocks: list[dict[str, Any]] = [
        {"type": "heading", "text": "Plan", "size": 1},
        {"type": "paragraph", "text": ["Read ", link, {"type": "strikethrough", "text": " now"}]},
        {"type": "pre", "text": "x = 1", "language": "python"},
        {"type": "blockquote", "blocks": [{"type": "paragraph", "text": "No."}], "credit": "Bob"},
        {
            "type": "list",
            "items": [{"label": "•", "has_checkbox": True, "blocks": [{"type": "paragraph", "text": "a"}]}],
        },
        {"type": "table", "cells": [[{"text": "k"}, {"text": "v"}]]},
        {"type": "mathematical_expression", "expression": "x_1"},
        {"type": "details", "summary": "More", "blocks": [{"type": "paragraph", "text": "b"}]},
    ]
    assert heard(rich_message={"blocks": blocks}).text == (
        "Plan\nRead [the article](https://a.org)~~ now~~\n```python\nx = 1\n```\n"
        "> No.\n> Bob\n• [ ] a\nk | v\n$$x_1$$\nMore\nb"
    )


kinds = st.sampled_from(
    ["blockquote", "pre", "text_link", "text_mention", "date_time", "spoiler", "strikethrough", "code", "bold", "new"]
)
entities = st.lists(
    st.fixed_dictionaries(
        {"type": kinds, "offset": st.integers(-1, 30), "length": st.integers(0, 30)},
        optional={"url": st.just("https://a.org"), "user": st.just(BOB), "unix_time": st.integers()},
    ),
    max_size=6,
)
texts = st.text(st.sampled_from("ab 🙂𐍈é\n`~>|\u200d👩\ufe0f"), max_size=20) | st.text(max_size=12)


@settings(max_examples=500)
@given(texts, entities)
@example("🙂", [{"type": "strikethrough", "offset": 1, "length": 1}])
def test_no_letter_is_lost_and_no_pair_cut(text: str, marks: Entities) -> None:
    """Whatever stands on it: the letters come in their order, and each is whole."""
    shown = worded({"text": text, "marks": marks}, "text", "marks")
    shown.encode("utf-8")
    plain = worded({"text": text}, "text", "marks")
    rest = iter(shown)
    assert all(letter in rest for letter in plain if not letter.isspace())
    assert shown.count("\ufffd") == plain.count("\ufffd")
    if not any(one.get("type") not in ("bold", "new") for one in marks):
        assert shown == plain
