"""The open list: for people to read and to edit."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.journal import open_items
from agent.journal.open_items import NoSuchItem, OpenItem
from tests.agent.journal.diary import BERLIN, Diary

INVOICE = OpenItem("Alice", "send the invoice", date(2026, 11, 27), date(2026, 11, 21))
LADDER = OpenItem("Bob", "bring the ladder", None, date(2026, 11, 21))

words = st.text(min_size=1).map(open_items.tidy).filter(bool)
names = words.map(lambda text: text.replace(":", "")[:60].strip()).filter(bool)
days = st.one_of(st.none(), st.dates())


def listed(diary: Diary) -> Path:
    return open_items.path(diary.scope)


@given(names, words, days, days)
def test_what_is_written_is_read(who: str, what: str, due: date | None, said: date | None) -> None:
    promise = OpenItem(who, what, due, said)
    read = open_items.read(promise.line)
    assert read is not None and read.id == promise.id


@given(st.text())
def test_any_line_can_be_read(line: str) -> None:
    read = open_items.read(line)
    assert read is None or open_items.read(read.line) is not None


def test_what_is_promised_twice_is_kept_once(diary: Diary) -> None:
    open_items.keep(diary.scope, diary.clock, [INVOICE, LADDER])
    again = OpenItem("alice", "Send the  invoice.", None, date(2026, 11, 22))
    open_items.keep(diary.scope, diary.clock, [again, LADDER])
    assert open_items.still_open(diary.scope) == (INVOICE, LADDER)


def test_a_new_day_moves_it(diary: Diary) -> None:
    open_items.keep(diary.scope, diary.clock, [INVOICE])
    later = OpenItem("Alice", "send the invoice", date(2026, 12, 1), date(2026, 11, 22))
    open_items.keep(diary.scope, diary.clock, [later])
    assert [one.due for one in open_items.still_open(diary.scope)] == [date(2026, 12, 1)]


def test_what_somebody_wrote_by_hand_stays(diary: Diary) -> None:
    listed(diary).parent.mkdir(parents=True)
    mine = "My list\n\n* a line of mine\n- [ ] call the bank\n- [ ] 2026-13-45 X: never\n- [X] done long ago"
    listed(diary).write_text(mine, "utf-8")
    open_items.keep(diary.scope, diary.clock, [INVOICE])
    assert listed(diary).read_text("utf-8") == f"{mine}\n{INVOICE.line}\n"
    assert [one.text for one in open_items.still_open(diary.scope)] == [INVOICE.text, "X: never", "call the bank"]
    open_items.close(diary.scope, diary.clock, [open_items.find(diary.scope, "bank").id])
    assert "- [x] call the bank (done 2026-11-21)\n" in listed(diary).read_text("utf-8")
    assert "- [X] done long ago\n" in listed(diary).read_text("utf-8")


def test_what_is_done_stays_done(diary: Diary) -> None:
    open_items.keep(diary.scope, diary.clock, [INVOICE])
    open_items.close(diary.scope, diary.clock, [INVOICE.id, "nope"])
    open_items.keep(diary.scope, diary.clock, [INVOICE])
    assert open_items.still_open(diary.scope) == ()


def test_what_was_done_may_be_promised_again_on_a_later_day(diary: Diary) -> None:
    """Every Friday the same words, and every Friday a promise."""
    for week in range(3):
        day = date(2026, 11, 21) + timedelta(weeks=week)
        diary.now = datetime.combine(day, time(9), tzinfo=BERLIN)
        report = OpenItem("Alice", "send the report", day, day)
        for _ in range(2):
            open_items.keep(diary.scope, diary.clock, [report])
            assert open_items.still_open(diary.scope) == (report,)
        open_items.close(diary.scope, diary.clock, [report.id])
        open_items.keep(diary.scope, diary.clock, [report])
        assert open_items.still_open(diary.scope) == ()
    assert listed(diary).read_text("utf-8").count("send the report") == 3


def test_what_somebody_ticked_or_opened_by_hand_counts(diary: Diary) -> None:
    open_items.keep(diary.scope, diary.clock, [INVOICE, LADDER])
    listed(diary).write_text(listed(diary).read_text("utf-8").replace("- [ ] Bob", "- [x] Bob"), "utf-8")
    open_items.keep(diary.scope, diary.clock, [INVOICE, LADDER])
    assert open_items.still_open(diary.scope) == (INVOICE,)
    open_items.close(diary.scope, diary.clock, [INVOICE.id])
    listed(diary).write_text(listed(diary).read_text("utf-8").replace("[x]", "[ ]"), "utf-8")
    assert {one.id for one in open_items.still_open(diary.scope)} == {INVOICE.id, LADDER.id}
    open_items.close(diary.scope, diary.clock, [INVOICE.id, LADDER.id])
    open_items.keep(diary.scope, diary.clock, [INVOICE, LADDER])
    assert open_items.still_open(diary.scope) == ()


@pytest.mark.parametrize("line", ["* [ ] call the bank", "+ [ ] call the bank", "  - [ ] call the bank\r"])
def test_a_list_as_people_write_lists(diary: Diary, line: str) -> None:
    listed(diary).parent.mkdir(parents=True)
    listed(diary).write_text(f"{line}\n", "utf-8", newline="")
    open_items.close(diary.scope, diary.clock, [open_items.find(diary.scope, "bank").id])
    ticked = line.replace("[ ]", "[x]").rstrip()
    assert listed(diary).read_text("utf-8").rstrip() == f"{ticked} (done 2026-11-21)"
    assert open_items.still_open(diary.scope) == ()


def test_found_by_id_or_words(diary: Diary) -> None:
    open_items.keep(diary.scope, diary.clock, [INVOICE, LADDER])
    assert open_items.find(diary.scope, INVOICE.id) == INVOICE
    assert open_items.find(diary.scope, "LADDER bring") == LADDER
    for words in ("the", "nothing like it", " "):
        with pytest.raises(NoSuchItem):
            open_items.find(diary.scope, words)
