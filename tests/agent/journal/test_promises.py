"""The open list: for people to read and to edit."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.journal import promises
from agent.journal.promises import NoSuchPromise, Promise
from tests.agent.journal.diary import Diary

INVOICE = Promise("Alice", "send the invoice", date(2026, 11, 27), date(2026, 11, 21))
LADDER = Promise("Bob", "bring the ladder", None, date(2026, 11, 21))

words = st.text(min_size=1).map(promises.tidy).filter(bool)
names = words.map(lambda text: text.replace(":", "")[:60].strip()).filter(bool)
days = st.one_of(st.none(), st.dates())


def listed(diary: Diary) -> Path:
    return promises.path(diary.scope)


@given(names, words, days, days)
def test_what_is_written_is_read(who: str, what: str, due: date | None, said: date | None) -> None:
    promise = Promise(who, what, due, said)
    read = promises.read(promise.line)
    assert read is not None and read.id == promise.id


@given(st.text())
def test_any_line_can_be_read(line: str) -> None:
    read = promises.read(line)
    assert read is None or promises.read(read.line) is not None


def test_what_is_promised_twice_is_kept_once(diary: Diary) -> None:
    promises.keep(diary.scope, diary.clock, [INVOICE, LADDER])
    again = Promise("alice", "Send the  invoice.", None, date(2026, 11, 22))
    promises.keep(diary.scope, diary.clock, [again, LADDER])
    assert promises.still_open(diary.scope) == (INVOICE, LADDER)


def test_a_new_day_moves_it(diary: Diary) -> None:
    promises.keep(diary.scope, diary.clock, [INVOICE])
    later = Promise("Alice", "send the invoice", date(2026, 12, 1), date(2026, 11, 22))
    promises.keep(diary.scope, diary.clock, [later])
    assert [one.due for one in promises.still_open(diary.scope)] == [date(2026, 12, 1)]


def test_what_somebody_wrote_by_hand_stays(diary: Diary) -> None:
    listed(diary).parent.mkdir(parents=True)
    mine = "My list\n\n* a line of mine\n- [ ] call the bank\n- [ ] 2026-13-45 X: never\n- [X] done long ago"
    listed(diary).write_text(mine, "utf-8")
    promises.keep(diary.scope, diary.clock, [INVOICE])
    assert listed(diary).read_text("utf-8") == f"{mine}\n{INVOICE.line}\n"
    assert [one.text for one in promises.still_open(diary.scope)] == [INVOICE.text, "X: never", "call the bank"]
    promises.close(diary.scope, diary.clock, [promises.find(diary.scope, "bank").id])
    assert "- [x] call the bank (done 2026-11-21)\n" in listed(diary).read_text("utf-8")
    assert "- [X] done long ago\n" in listed(diary).read_text("utf-8")


def test_what_is_done_stays_done(diary: Diary) -> None:
    promises.keep(diary.scope, diary.clock, [INVOICE])
    promises.close(diary.scope, diary.clock, [INVOICE.id, "nope"])
    promises.keep(diary.scope, diary.clock, [INVOICE])
    assert promises.still_open(diary.scope) == ()


def test_found_by_id_or_words(diary: Diary) -> None:
    promises.keep(diary.scope, diary.clock, [INVOICE, LADDER])
    assert promises.find(diary.scope, INVOICE.id) == INVOICE
    assert promises.find(diary.scope, "LADDER bring") == LADDER
    for words in ("the", "nothing like it", " "):
        with pytest.raises(NoSuchPromise):
            promises.find(diary.scope, words)
