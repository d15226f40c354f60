"""An edit changes the one passage it names, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.memory.replace import NoSuchEdit, replace_once


@given(before=st.binary(), old=st.text(min_size=1, max_size=10), new=st.text(max_size=10), after=st.binary())
def test_only_the_passage_changes(before: bytes, old: str, new: str, after: bytes) -> None:
    assume("\0" not in old + new and old != new)
    data = before + old.encode() + after
    try:
        result = replace_once(data, old, new, "MEMORY.md")
    except NoSuchEdit:
        assert data.find(old.encode()) != data.rfind(old.encode())
    else:
        assert result == before + new.encode() + after


def test_line_ends_of_the_file_are_kept() -> None:
    assert replace_once(b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", "f") == b"x\r\ny\r\nc\r\n"


def test_a_missing_passage_is_answered_with_the_nearest() -> None:
    text = "# Memory\n\n- Likes tea, green, no sugar\n- Works at the harbour\n- Sister: Anna, in Oslo\n"
    with pytest.raises(NoSuchEdit) as refusal:
        replace_once(text.encode(), "- Sister: Anne, from Oslo", "x", "MEMORY.md")
    assert "line 5" in str(refusal.value) and "- Sister: Anna, in Oslo" in str(refusal.value)
    with pytest.raises(NoSuchEdit, match="Nothing in it is like it"):
        replace_once(text.encode(), "zzzz qqqq", "x", "MEMORY.md")
    with pytest.raises(NoSuchEdit, match="Nothing in it is like it"):
        replace_once(b"", "zzzz qqqq", "x", "MEMORY.md")


def test_an_ambiguous_passage_is_answered_with_its_lines() -> None:
    with pytest.raises(NoSuchEdit, match="lines 1, 3"):
        replace_once(b"tea\nmilk\ntea\n", "tea", "x", "MEMORY.md")
    with pytest.raises(NoSuchEdit, match=r"more than once .*\n\d+: "):
        replace_once(b"aaa", "aa", "x", "MEMORY.md")


@pytest.mark.parametrize(("old", "new", "word"), [("", "x", "empty"), ("tea", "tea", "same")])
def test_an_edit_that_says_nothing_is_refused(old: str, new: str, word: str) -> None:
    with pytest.raises(NoSuchEdit, match=word):
        replace_once(b"tea", old, new, "MEMORY.md")


def test_a_long_passage_missing_from_a_long_file_is_answered() -> None:
    text = "\n".join(f"- line {number} of many about {number * 7919 % 1000}" for number in range(20_000))
    wanted = "\n".join(f"- line {number} of many about something" for number in range(500, 530))
    with pytest.raises(NoSuchEdit, match="nearest passage"):
        replace_once(text.encode(), wanted, "x", "MEMORY.md")
