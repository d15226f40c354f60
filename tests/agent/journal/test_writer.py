"""The journal is written once, whatever comes in between."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import date, datetime, timedelta
from functools import partial

import pytest

from agent.journal.progress import for_reading
from agent.journal.writer import MOST_TOKENS_A_DAY
from agent.languages.days_meant import with_days
from agent.memory.log_writer import append_log
from agent.memory.scope import ScopeBusy
from agent.model.base import InvalidRequest, Json, ModelRequest, TryLater
from agent.model.offline.model import NAME as OFFLINE
from agent.model.scripted import Call, ScriptedAnswer, ScriptedModel, Step
from agent.values import SessionKey
from tests.agent.journal.diary import BERLIN, DAY, Diary, shown, told

LONG = "and so on " * 800
"""About two thousand tokens."""


class Killed(BaseException):
    """The process ends here."""


async def test_a_day_is_written_once(diary: Diary) -> None:
    diary.says("one", "two")
    assert (await diary.write()).told == 1
    first = diary.log()
    assert (await diary.write()).told == 0
    assert diary.log() == first
    diary.says("three")
    await diary.write()
    assert diary.log().startswith(first)
    assert [diary.log().count(f"told {word}") for word in ("one", "two", "three")] == [1, 1, 1]
    assert "Alice: one" not in shown(diary.asked[1])


async def test_an_extract_repeats_no_note_and_nothing_of_the_offline_assistant(diary: Diary) -> None:
    """Without a model every message is noted as it is said: the day's end has nothing to add to that."""
    diary.model = ScriptedModel(behind=lambda _: TryLater("no model"))
    diary.says("The bike is in the cellar")
    diary.says("Noted in memory/2026-11-21.md:\n\n> The bike is in the cellar", who="", model=OFFLINE)
    append_log(diary.scope, diary.clock, "The bike is in the cellar")
    noted = diary.log()
    await diary.write()
    assert diary.log() == noted
    diary.says("And the key by the door")
    await diary.write()
    assert diary.log().startswith(noted)
    assert diary.log().count("cellar") == 1 and diary.log().count("key by the door") == 1
    diary.model = ScriptedModel(behind=told)
    await diary.write()
    assert "told cellar" in diary.log() and "told door" in diary.log()


async def test_talks_of_the_same_day_have_a_section_each(diary: Diary) -> None:
    diary.says("one")
    diary.new_talk()
    diary.says("two")
    assert (await diary.write()).told == 2
    assert diary.log().index("told one") < diary.log().index("told two")


async def test_who_is_in_use_elsewhere_is_left_out_and_written_the_next_time(diary: Diary) -> None:
    diary.says("one")
    tries: list[str] = []

    @asynccontextmanager
    async def begins(key: SessionKey) -> AsyncIterator[None]:
        tries.append(key.path)
        if len(tries) == 1:
            raise ScopeBusy("An answer for owner is being written. Try again in a moment.")
        yield

    diary.now += timedelta(days=1)
    diary.says("two")
    write = partial(diary.journal().write, lambda _: diary.scope, DAY, DAY + timedelta(days=1), begins)
    report = await write()
    assert report.problems == ("An answer for owner is being written. Try again in a moment.",)
    assert tries == [diary.key.path], "one wait for a scope is enough"
    assert not diary.log() and not (await write()).problems
    assert "told one" in diary.log() and "told two" in diary.log(DAY + timedelta(days=1))


async def test_a_talk_over_midnight_stands_in_both_logs(diary: Diary) -> None:
    diary.now = datetime(2026, 11, 21, 23, 59, tzinfo=BERLIN)
    diary.says("late", "early")
    await diary.write(until=DAY + timedelta(days=1))
    assert "told late" in diary.log() and "early" not in diary.log()
    assert "told early" in diary.log(DAY + timedelta(days=1))


async def test_killed_between_two_pieces_the_first_is_not_asked_for_again(diary: Diary) -> None:
    diary.says(*(f"{LONG}{number}" for number in range(20)))

    def dies(request: ModelRequest) -> Step:
        if len(diary.model.silent) > 1:
            raise Killed
        return told(request)

    diary.model = ScriptedModel(behind=dies)
    with pytest.raises(Killed):
        await diary.write()
    assert diary.log() == ""
    diary.model = ScriptedModel(behind=told)
    await diary.write()
    assert f"{LONG}0\n" not in shown(diary.asked[0])
    assert [diary.log().count(f"told {number}\n") for number in range(20)] == [1] * 20


async def test_killed_between_section_and_mark_it_is_not_written_again(diary: Diary) -> None:
    diary.says("one")
    await diary.write()
    diary.marks.unlink()
    before = diary.log()
    assert (await diary.write()).told == 0
    assert diary.log() == before


async def test_a_section_that_somebody_took_out_stays_out(diary: Diary) -> None:
    diary.says("one")
    await diary.write()
    (diary.workspace / "memory" / f"{DAY}.md").write_text("# 2026-11-21\n\nNothing of that.\n", "utf-8")
    await diary.write()
    assert "told one" not in diary.log()


async def test_an_extract_is_followed_by_the_proper_section(diary: Diary) -> None:
    diary.says("one", "two")
    diary.model = ScriptedModel(behind=TryLater("It is down."))
    assert (await diary.write()).extracts == 1
    assert "- 09:00 Alice: one\n" in diary.log() and "(extract)" in diary.log()
    assert (await diary.write()).extracts == 0
    diary.says("three")
    assert (await diary.write()).extracts == 1
    before = diary.log()
    diary.model = ScriptedModel(behind=told)
    assert (await diary.write()).told == 1
    assert diary.log().startswith(before)
    after = diary.log().removeprefix(before)
    assert "in place of the extract above" in after
    assert [after.count(f"told {word}") for word in ("one", "two", "three")] == [1, 1, 1]
    assert (await diary.write()).told == 0


@pytest.mark.parametrize(
    "answer",
    [
        "NO_REPLY",
        ScriptedAnswer(stop_reason="refusal"),
        InvalidRequest("No."),
        ScriptedAnswer(calls=(Call("write_journal"),)),
    ],
)
async def test_what_a_model_does_not_tell_is_an_extract_for_good(diary: Diary, answer: Step) -> None:
    diary.says("one")
    diary.model = ScriptedModel(behind=answer)
    assert (await diary.write()).told == 1
    assert "- 09:00 Alice: one\n" in diary.log()
    await diary.write()
    assert len(diary.asked) == 1


async def test_bullets_in_plain_words_are_taken_too(diary: Diary) -> None:
    diary.says("one")
    diary.model = ScriptedModel(behind="Here it is:\n- 09:00 Alice said one.\nThat was all.")
    await diary.write()
    assert "\n\n- 09:00 Alice said one.\n\n<!--" in diary.log()


async def test_a_day_that_a_model_left_relative_is_written_out(diary: Diary) -> None:
    """21 November 2026 is a Saturday; the model is shown the days around it, and resolves them or not."""
    diary.says("I'll bring the ladder on Tuesday. The dentist was yesterday.")
    entries: list[Json] = [
        {"time": "09:00", "text": "Alice brings the ladder on Tuesday 2026-11-24."},
        {"time": "09:00", "text": "Alice was at the dentist yesterday."},
    ]
    made: list[Json] = [{"who": "Alice", "what": "bring the ladder on Tuesday", "due": ""}]
    diary.model = ScriptedModel(behind=Call("write_journal", {"entries": entries, "promises": made, "closed": []}))
    await diary.write()
    assert "The day is Sat 2026-11-21." in shown(diary.asked[0]) and "Tue 2026-11-24" in shown(diary.asked[0])
    assert "- 09:00 Alice brings the ladder on Tuesday 2026-11-24.\n" in diary.log()
    assert "- 09:00 Alice was at the dentist yesterday. (2026-11-20)\n" in diary.log()
    listed = (diary.workspace / "memory/open.md").read_text("utf-8")
    assert "- [ ] 2026-11-24 Alice: bring the ladder on Tuesday (said 2026-11-21)\n" in listed


async def test_an_extract_repeats_no_note_that_got_its_day(diary: Diary) -> None:
    diary.model = ScriptedModel(behind=lambda _: TryLater("no model"))
    diary.says("The plumber comes tomorrow")
    append_log(diary.scope, diary.clock, with_days("The plumber comes tomorrow", DAY))
    noted = diary.log()
    assert "tomorrow (2026-11-22)" in noted
    await diary.write()
    assert diary.log() == noted


async def test_a_gap_is_said(diary: Diary) -> None:
    diary.says("one")
    diary.breaks()
    diary.says("two")
    await diary.write()
    assert "(A gap: 1 line of this conversation can't be read.)" in diary.log()
    diary.says("three")
    await diary.write()
    assert diary.log().count("A gap") == 1


async def test_a_talk_that_is_too_long_for_a_day_is_cut_and_says_so(diary: Diary) -> None:
    diary.says(*(f"{LONG}{number}" for number in range(70)))
    await diary.write()
    assert f"reads at most {MOST_TOKENS_A_DAY:,} tokens" in diary.log()
    read = sum(len(shown(request)) for request in diary.asked) // 4
    assert read < MOST_TOKENS_A_DAY * 1.1
    diary.says("more")
    count = len(diary.asked)
    await diary.write()
    assert len(diary.asked) <= count + 1 and "more" in diary.log()


async def test_a_small_window_gets_small_pieces(diary: Diary) -> None:
    diary.says(*(f"{LONG}{number}" for number in range(4)))
    diary.model = ScriptedModel(behind=told, window=9_000)
    await diary.write()
    assert len(diary.asked) >= 4
    assert [diary.log().count(f"told {number}\n") for number in range(4)] == [1] * 4


async def test_nothing_that_is_said_passes_for_a_mark(diary: Diary) -> None:
    other = diary.talk
    diary.new_talk()
    mark = f"<!-- journal {other} 0-999 model -->"
    diary.says(f"x\n{mark}\n{mark}")
    diary.model = ScriptedModel(behind=TryLater("It is down."))
    await diary.write()
    diary.talk = other
    diary.says("one")
    diary.marks.unlink()
    diary.model = ScriptedModel(behind=told)
    await diary.write()
    assert "told one" in diary.log()


async def test_promises_are_kept_once_and_closed(diary: Diary) -> None:
    diary.says("I'll send it on Friday")
    promise = {"who": "Alice", "what": "send\n# it", "due": "2026-11-27"}
    past = {"who": "Bob: the", "what": "go", "due": "2020-01-01"}
    entry = {"time": "9 o'clock", "text": "a\nb"}
    diary.model = ScriptedModel(
        behind=Call("write_journal", {"entries": [entry, 7], "promises": [promise, past, "x"], "closed": ["nope", 3]})
    )
    await diary.write()
    listed = (diary.workspace / "memory/open.md").read_text("utf-8")
    assert listed == (
        "# Open\n\n- [ ] 2026-11-27 Alice: send # it (said 2026-11-21)\n- [ ] Bob the: go (said 2026-11-21)\n"
    )
    assert "- 09:00 a b\n" in diary.log()
    diary.says("Don't forget")
    await diary.write()
    assert (diary.workspace / "memory/open.md").read_text("utf-8") == listed


async def test_what_was_promised_in_an_earlier_piece_of_the_day_is_closed_by_a_later_one(diary: Diary) -> None:
    diary.says(f"I'll send it {LONG}", *(LONG for _ in range(12)), "It is sent")
    promise = {"who": "Alice", "what": "send it", "due": ""}

    def tells(request: ModelRequest) -> Step:
        known = re.search(r"^([a-z2-7]{5}) Alice: send it$", shown(request), re.MULTILINE)
        closed: list[Json] = [known[1]] if known and "It is sent" in shown(request) else []
        made: list[Json] = [promise] if "I'll send it" in shown(request) else []
        entry = {"time": "09:00", "text": "something"}
        return ScriptedAnswer(calls=(Call("write_journal", {"entries": [entry], "promises": made, "closed": closed}),))

    diary.model = ScriptedModel(behind=tells)
    await diary.write()
    assert len(diary.asked) > 1
    listed = (diary.workspace / "memory/open.md").read_text("utf-8")
    assert "- [x] Alice: send it (said 2026-11-21) (done 2026-11-21)\n" in listed and "[ ]" not in listed


async def test_after_a_long_absence_the_last_evening_is_written(diary: Diary) -> None:
    """Said after that day's summary; then nothing ran for three weeks. By then somebody else's talk is written up."""
    diary.says("one")
    await diary.write()
    diary.says("two")
    evening = diary.talk
    diary.new_talk()
    diary.says("three")
    diary.now += timedelta(days=21)
    diary.new_talk()
    diary.says("four")
    later = DAY + timedelta(days=21)
    await diary.write(since=later - timedelta(days=7), until=later)
    assert [diary.log().count(f"told {word}") for word in ("one", "two", "three")] == [1, 1, 1]
    assert "told four" in diary.log(later) and evening in diary.log()
    assert (await diary.write(since=later - timedelta(days=7), until=later)).told == 0


async def test_what_was_said_before_there_was_a_journal_is_left(diary: Diary) -> None:
    diary.says("one")
    diary.now += timedelta(days=21)
    diary.says("two")
    later = DAY + timedelta(days=21)
    await diary.write(since=later - timedelta(days=7), until=later)
    await diary.write(since=later - timedelta(days=7), until=later)
    assert diary.log() == "" and "told two" in diary.log(later)


async def test_a_log_that_is_read_only_is_a_problem_and_no_end(diary: Diary) -> None:
    diary.says("one")
    file = diary.workspace / "memory" / f"{DAY}.md"
    file.parent.mkdir()
    file.write_text("# 2026-11-21\n", "utf-8")
    file.chmod(0o400)
    done = await diary.write()
    assert done.told == 0 and "read-only" in done.problems[0]
    file.chmod(0o600)
    assert (await diary.write()).told == 1
    assert len(diary.asked) == 1  # what was told is kept


async def test_old_marks_are_forgotten(diary: Diary) -> None:
    diary.says("one")
    await diary.write()
    diary.now += timedelta(days=200)
    diary.says("two")
    later = date(2027, 6, 9)
    await diary.write(since=later, until=later)
    with closing(sqlite3.connect(diary.marks)) as db:
        assert db.execute("SELECT day FROM section").fetchall() == [(later.isoformat(),)]


async def test_the_progress_is_for_its_owner_alone(diary: Diary) -> None:
    diary.says("one")
    await diary.write()
    assert diary.marks.stat().st_mode & 0o777 == 0o600


def test_a_note_behind_an_extract_outlives_it() -> None:
    log = (
        "# 2026-11-21\n\n## Journal · owner · 09:00-09:00 (extract)\n\n- 09:00 Alice: One\n\n"
        "<!-- journal s 1-2 extract -->\n\n- 10:00 The bike is in the cellar\n\n"
        "## Journal · owner · 09:00-09:00\n\n- 09:00 Alice said One\n\n<!-- journal s 1-2 model -->\n"
    )
    assert for_reading(log) == ["- 10:00 The bike is in the cellar", "- 09:00 Alice said One"]
