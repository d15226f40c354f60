"""Which pictures of a talk are shown, and which are words."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.context.replay import context, id_of, in_context
from agent.media.store import Store
from agent.model.base import Message
from agent.session.entries import Entry, MessageEntry, Meta
from agent.session.jsonl import entry_line, read_entry
from agent.session.pictures import MOST_SHOWN, hide_entry, in_words, path_of, picture_block, suspects, with_bytes

TEXT = {"type": "text", "text": "[header]\nLook"}


def path(number: int) -> str:
    return f"media/{number:02x}/{number:064x}.png"


def said(turn: int, *pictures: int) -> MessageEntry:
    blocks = (picture_block(f"photo {number}", path(number), path(number)) for number in pictures)
    return MessageEntry(f"e{turn:06d}", "t", "user", (TEXT, *blocks), Meta(f"t{turn}", said=(f"m{turn}",)))


def shown(entries: list[Entry], *, pictures: bool = True) -> list[str]:
    messages = context(entries, "", pictures=pictures).messages
    return [name for message in messages for block in message.content if (name := path_of(block))]


def test_three_turns_and_then_words() -> None:
    talk: list[Entry] = [said(0, 1)]
    for turn in range(1, 5):
        assert shown(talk) == ([path(1)] if turn <= 3 else [])
        talk.append(said(turn))
    assert f"[photo 1 was shown here; kept at {path(1)}]" in str(context(talk, "").messages)


def test_what_is_hidden_stays_so_unless_it_is_sent_again() -> None:
    talk: list[Entry] = [said(0, 1, 2), hide_entry("e000001", "t", [path(1)])]
    assert shown(talk) == [path(2)]
    talk.append(said(2, 1))
    assert shown(talk) == [path(2), path(1)]


def test_of_too_many_the_newest_are_shown_and_in_other_requests_none() -> None:
    talk: list[Entry] = [said(0, *range(15)), said(1, *range(15, 30))]
    assert shown(talk) == [path(number) for number in range(30 - MOST_SHOWN, 30)]
    assert shown(talk, pictures=False) == []
    assert path_of(in_words(said(0, 1).content[1])) == ""


def test_the_refused_picture_is_the_one_that_is_named_else_the_newest() -> None:
    messages = [Message("user", said(0, 1, 2).content), Message("assistant", (TEXT,)), Message("user", (TEXT,))]
    assert suspects(messages, (0, 1)) == (path(1),)
    for nowhere in ((0, 0), (1, 5), (9, 9), None):
        assert suspects(messages, nowhere) == (path(1), path(2))
    assert suspects(messages[1:], None) == ()


def test_a_picture_of_another_kind_is_sent_as_what_it_was_kept_as(tmp_path: Path) -> None:
    """Kept by a later version, or written by hand: it must lock no turn."""
    kept = Store(tmp_path).place("media/00/" + "0" * 64 + ".webp")
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"RIFF")
    source = {"type": "kept", "path": kept.relative_to(tmp_path).as_posix(), "media_type": "image/webp"}
    (sent,) = with_bytes([Message("user", (TEXT, {"type": "image", "source": source}))], Store(tmp_path))
    assert sent.content[1]["source"] == {"type": "base64", "media_type": "image/webp", "data": "UklGRg=="}


@given(st.lists(st.lists(st.integers(0, 5), max_size=3) | st.integers(0, 5), max_size=12))
def test_a_restart_shows_the_very_same(talk: list[list[int] | int]) -> None:
    """A list is a message with pictures, a number a picture that is hidden."""
    entries: list[Entry] = []
    for at, one in enumerate(talk):
        entries.append(said(at, *one) if isinstance(one, list) else hide_entry(f"e{at:06d}", "t", [path(one)]))
    again = [read_entry(entry_line(entry)) for entry in entries]
    assert context(again, "") == context(entries, "")
    assert [id_of(one) for one in in_context(entries)] == [one.id for one in entries if isinstance(one, MessageEntry)]
    hidden_last = {one for one in talk[-1:] if isinstance(one, int)}
    assert not {path(one) for one in hidden_last} & set(shown(entries))
