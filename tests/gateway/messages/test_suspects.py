"""Messages during whose turns the process dies again and again: tried alone, blamed for their own deaths only."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from agent.languages.codes import Language
from agent.model.base import ModelRequest
from agent.model.scripted import Call, Hold, ScriptedAnswer, ScriptedModel
from channels.message import PreviewStyle
from channels.scripted import ScriptedChannel
from gateway.messages.suspects import SKIPPED, TRIED_ALONE_AFTER
from gateway.server import Timeouts
from gateway.store.schema import STEPS
from tests.english import english_in
from tests.gateway.conftest import ALICE, OWNER, Daybook, Running, asked, full_disk
from tests.gateway.turns.test_turns import settled, taken_in

BOB = "33333"
GERMAN = Language("de")
AT_ONCE = Timeouts(tick=0.02, trial=0.0)
NEVER = Timeouts(tick=0.02, trial=3600.0)


@pytest.fixture
def daybook(daybook: Daybook) -> Daybook:
    daybook.timeouts = AT_ONCE
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE, BOB]}}
    return daybook


def on_disk(daybook: Daybook, columns: str) -> list[tuple[int, ...]]:
    with closing(sqlite3.connect(daybook.home.database)) as connection:
        return list(connection.execute(f"SELECT {columns} FROM inbox WHERE state = 'waiting' ORDER BY seq"))


async def die(daybook: Daybook, *, asked: str = "") -> None:
    """One life that ends by a kill, as soon as the model is asked."""
    hold = Hold()
    before = len(daybook.model.requests)
    daybook.model.then(ScriptedAnswer("never said", hold=hold))
    async with daybook.running() as gateway:
        await hold.reached.wait()
        assert len(daybook.model.requests) == before + 1
        assert asked in daybook.asked()
        await gateway.kill()


def size_of_wal(daybook: Daybook) -> int:
    """Bytes at which the inbox takes nothing more, and smaller files still grow."""
    return Path(f"{daybook.home.database}-wal").stat().st_size


async def make_suspect(daybook: Daybook) -> None:
    for _ in range(TRIED_ALONE_AFTER):
        await die(daybook)


# blame -------------------------------------------------------------------------------------------------------------


async def test_a_message_that_kills_the_process_is_skipped_after_three_deaths_alone(daybook: Daybook) -> None:
    daybook.chat.say("Hello", sender=OWNER)
    daybook.model.then("Hello.")
    async with daybook.running() as gateway:
        await settled(gateway)
    daybook.chat.say("Deadly", chat="2", sender=ALICE)
    for _ in range(TRIED_ALONE_AFTER + 3):
        await die(daybook, asked="Deadly")
    requests = len(daybook.model.requests)
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard(chat="2") == [SKIPPED]
        hello, told = await daybook.chat.wait_heard(2)
        await settled(gateway)
        assert len(daybook.model.requests) == requests
        daybook.model.then("Fine.")
        daybook.chat.say("In other words", chat="2", sender=ALICE)
        assert await daybook.chat.wait_heard(2, chat="2") == [SKIPPED, "Fine."]
    assert hello == "Hello." and told.startswith("I crashed several times on a message from")
    assert "Deadly" not in told


async def test_the_owner_reads_of_an_own_message_once(daybook: Daybook) -> None:
    daybook.chat.say("Deadly")
    for _ in range(TRIED_ALONE_AFTER + 3):
        await die(daybook)
    async with daybook.running() as gateway:
        await settled(gateway)
    assert daybook.chat.heard() == [SKIPPED]


async def test_graceful_ends_count_as_nothing(daybook: Daybook) -> None:
    daybook.timeouts = Timeouts(turn=0.0, trial=3600.0)
    daybook.chat.say("Hello")
    for _ in range(TRIED_ALONE_AFTER + 1):
        hold = Hold()
        daybook.model.then(ScriptedAnswer("never said", hold=hold))
        async with daybook.running() as gateway:
            await hold.reached.wait()
            await gateway.end()
        assert on_disk(daybook, "attempts, trying_alone") == [(0, 0)]
    daybook.model.then("Hello to you.")
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard() == ["Hello to you."]


async def test_a_graceful_end_of_a_trial_counts_as_nothing(daybook: Daybook) -> None:
    daybook.chat.say("Hello")
    await make_suspect(daybook)
    daybook.timeouts = Timeouts(turn=0.0, trial=0.0)
    for _ in range(5):
        hold = Hold()
        daybook.model.then(ScriptedAnswer("never said", hold=hold))
        async with daybook.running() as gateway:
            await hold.reached.wait()
            assert on_disk(daybook, "trying_alone") == [(1,)]
            await gateway.end()
        assert on_disk(daybook, "trying_alone, died_alone") == [(0, 0)]
    daybook.model.then("Hello to you.")
    async with daybook.running():
        assert await daybook.chat.wait_heard() == ["Hello to you."]


async def test_a_death_outside_a_trial_acquits_for_those_inside(daybook: Daybook) -> None:
    """Who kills the process while no suspect is in hand may have killed it in the trials, too."""
    daybook.chat.say("Hello")
    await make_suspect(daybook)
    for _ in range(3):
        daybook.timeouts = AT_ONCE
        for _ in range(2):
            await die(daybook, asked="Hello")
        daybook.timeouts = NEVER
        async with daybook.running() as gateway:
            daybook.chat.say("/whoami", chat="elsewhere")
            heard = len(daybook.chat.heard("elsewhere"))
            await daybook.chat.wait_heard(heard + 1, chat="elsewhere")
            assert on_disk(daybook, "died_alone") == [(2,)]
            await gateway.kill()
    daybook.timeouts = AT_ONCE
    daybook.model.then("Hello to you.")
    async with daybook.running():
        assert await daybook.chat.wait_heard() == ["Hello to you."]


async def test_no_trial_begins_in_a_young_process_and_kills_then_blame_nobody(daybook: Daybook) -> None:
    daybook.chat.say("Hello")
    await make_suspect(daybook)
    daybook.timeouts = NEVER
    for number in range(5):
        daybook.model.then(f"Hello, number {number}.")
        async with daybook.running() as gateway:
            daybook.chat.say("Hello", chat="2", sender=ALICE)
            await daybook.chat.wait_heard(number + 1, chat="2")
            await settled_but_one(gateway)
            await gateway.kill()
    assert on_disk(daybook, "attempts, died_alone") == [(TRIED_ALONE_AFTER, 0)]
    assert daybook.chat.heard() == []
    daybook.timeouts = AT_ONCE
    daybook.model.then("Hello to you.")
    async with daybook.running():
        assert await daybook.chat.wait_heard() == ["Hello to you."]


async def settled_but_one(gateway: Running) -> None:
    while await gateway.status("inbox", "waiting") != 1 or await gateway.status("outbox", "waiting"):
        pass


# alone -------------------------------------------------------------------------------------------------------------


async def test_nothing_runs_beside_a_trial_and_commands_are_answered(daybook: Daybook) -> None:
    """A turn that runs already is waited for; one that would begin waits; a command does not."""
    daybook.chat.say("Suspect")
    await make_suspect(daybook)
    holds = {name: Hold() for name in ("Suspect", "Runs before", "Waits", "Waits, too")}
    daybook.model = ScriptedModel(otherwise=partial(held_answer, holds))
    daybook.timeouts = NEVER
    async with daybook.running() as gateway:  # so that it stands in the inbox as the trial begins
        daybook.chat.say("Runs before", chat="2", sender=ALICE)
        await holds["Runs before"].reached.wait()
        await gateway.kill()
    daybook.timeouts = AT_ONCE
    holds["Runs before"] = Hold()
    async with daybook.running() as gateway:
        await holds["Runs before"].reached.wait()
        await taken_in(daybook, "Waits", chat="3", sender=BOB)
        assert not holds["Suspect"].reached.is_set()
        assert not holds["Waits"].reached.is_set()
        holds["Runs before"].released.set()
        await holds["Suspect"].reached.wait()
        await taken_in(daybook, "Waits, too", chat="2", sender=ALICE)
        assert not holds["Waits"].reached.is_set()
        assert not holds["Waits, too"].reached.is_set()
        for hold in holds.values():
            hold.released.set()
        await settled(gateway)
    for chat in "123":
        assert "Well." in daybook.chat.heard(chat)


async def test_suspects_are_tried_one_after_another_and_only_the_guilty_is_skipped(daybook: Daybook) -> None:
    """All that was in hand at five deaths is suspect; the innocent ones are answered at their first trial."""
    daybook.chat.say("Innocent")
    daybook.chat.say("Deadly", chat="2", sender=ALICE)
    daybook.chat.say("Innocent, too", chat="3", sender=BOB)
    deaths = asked_alone = 0
    while deaths < 20 and SKIPPED not in daybook.chat.heard("2"):
        holds = {name: Hold() for name in ("Innocent", "Deadly", "Innocent, too")}
        daybook.model = ScriptedModel(otherwise=partial(held_answer, holds))
        async with daybook.running() as gateway:
            if deaths < TRIED_ALONE_AFTER:
                for hold in holds.values():
                    await hold.reached.wait()
                await gateway.kill()
                deaths += 1
                continue
            holds["Innocent"].released.set()
            holds["Innocent, too"].released.set()
            died = asyncio.ensure_future(holds["Deadly"].reached.wait())
            done = asyncio.ensure_future(daybook.chat.wait_until(lambda: SKIPPED in daybook.chat.heard("2")))
            await asyncio.wait({died, done}, return_when=asyncio.FIRST_COMPLETED)
            if died.done():
                done.cancel()
                asked_alone += 1
                assert not holds["Innocent, too"].reached.is_set() or "Well." in daybook.chat.heard("3")
                deaths += 1
                await gateway.kill()
            else:
                await settled(gateway)
    assert (deaths, asked_alone) == (TRIED_ALONE_AFTER + 3, 3)
    assert daybook.chat.heard()[0] == "Well." and daybook.chat.heard("3") == ["Well."]


def said_last(request: ModelRequest) -> str:
    return asked(request).splitlines()[-1]


def held_answer(holds: Mapping[str, Hold], request: ModelRequest) -> ScriptedAnswer:
    return ScriptedAnswer("Well.", hold=holds[said_last(request)])


async def test_messages_of_one_turn_are_tried_one_by_one(daybook: Daybook) -> None:
    daybook.queue("collect")
    first = Hold()
    daybook.model.then(ScriptedAnswer("Well.", hold=first))
    async with daybook.running() as gateway:
        daybook.chat.say("Begin", chat="2", sender=ALICE)
        await first.reached.wait()
        await taken_in(daybook, "One", "Deadly", "Three", chat="2", sender=ALICE)
        hold = Hold()
        daybook.model.then(ScriptedAnswer("never said", hold=hold))
        first.released.set()
        await hold.reached.wait()
        await gateway.kill()
    together = daybook.asked()
    assert "One" in together and "Deadly" in together and "Three" in together
    for _ in range(TRIED_ALONE_AFTER - 1):
        await die(daybook, asked="Three")
    for tries in range(3):
        daybook.model.then(*["One by itself."] * (not tries))
        hold = Hold()
        daybook.model.then(ScriptedAnswer("never said", hold=hold))
        async with daybook.running() as gateway:
            await hold.reached.wait()
            assert said_last(daybook.model.requests[-1]) == "Deadly"
            await gateway.kill()
    daybook.model.then("Three by itself.")
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard(4, chat="2") == ["Well.", "One by itself.", SKIPPED, "Three by itself."]
        await settled(gateway)


async def test_what_joined_as_the_process_died_is_answered_though_its_turn_is_taken_apart(daybook: Daybook) -> None:
    """The talk knows of it and the inbox takes nothing, as in a death between the two."""
    first, step = Hold(), Hold()
    daybook.model.then(ScriptedAnswer(calls=(Call("memory_search", {"query": "tea"}),), hold=first))
    daybook.model.then(ScriptedAnswer("never said", hold=step))
    async with daybook.running() as gateway:
        daybook.chat.say("One")
        await first.reached.wait()
        await taken_in(daybook, "Two")
        first.released.set()
        await step.reached.wait()
        await gateway.kill()
    for _ in range(TRIED_ALONE_AFTER - 2):
        await die(daybook, asked="Two")
    last = Hold()
    daybook.model.then(ScriptedAnswer(calls=(Call("memory_search", {"query": "tea"}),), hold=last))
    async with daybook.running() as gateway:
        await last.reached.wait()
        await taken_in(daybook, "Three")
        with full_disk(size_of_wal(daybook)):
            last.released.set()
            (notice,) = await daybook.chat.wait_heard()
            await gateway.kill()
    assert (
        "I can't work on your message now: I can't read or write what I need: the disk fails to read or write."
        in notice
    )  # all that SQLite says of it
    daybook.model.then("One.", "Two.", "Three.")
    async with daybook.running() as gateway:
        assert (await daybook.chat.wait_heard(4))[1:] == ["One.", "Two.", "Three."]
        await settled(gateway)


async def test_a_preview_of_several_becomes_the_answer_to_the_first_of_them(daybook: Daybook) -> None:
    daybook.chat = ScriptedChannel("telegram", preview=PreviewStyle.EDIT)
    daybook.queue("collect")
    first = Hold()
    daybook.model.then(ScriptedAnswer("Well.", hold=first))
    async with daybook.running() as gateway:
        daybook.chat.say("Begin")
        await first.reached.wait()
        await taken_in(daybook, "One", "Two")
        hold = Hold()
        daybook.model.then(ScriptedAnswer(("Both ", "never said"), hold=hold, hold_at=1))
        first.released.set()
        await daybook.chat.wait_heard(2)
        await hold.reached.wait()
        await gateway.kill()
    for _ in range(TRIED_ALONE_AFTER - 1):
        await die(daybook)
    daybook.model.then("One.", "Two.")
    async with daybook.running() as gateway:
        await daybook.chat.wait_until(lambda: daybook.chat.heard() == ["Well.", "One.", "Two."])
        await settled(gateway)


async def test_what_a_suspect_has_done_is_not_done_again(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(Call("memory_append", {"text": "Tea at four"}), ScriptedAnswer("never said", hold=hold))
    daybook.chat.say("Note: tea at four")
    async with daybook.running() as gateway:
        await hold.reached.wait()
        await gateway.kill()
    await make_suspect(daybook)
    daybook.model.then("Noted.")
    async with daybook.running():
        assert await daybook.chat.wait_heard() == ["Noted."]
    (log,) = (daybook.workspace / "memory").glob("2*.md")
    assert log.read_text().count("Tea at four") == 1


async def test_stop_sets_a_suspect_aside_that_waits_for_its_trial(daybook: Daybook) -> None:
    daybook.chat.say("Hello")
    await make_suspect(daybook)
    daybook.timeouts = NEVER
    async with daybook.running() as gateway:
        daybook.chat.say("/stop")
        assert await daybook.chat.wait_heard() == ["I skipped one waiting message."]
        await settled(gateway)


async def test_a_gateway_that_is_asked_to_end_waits_for_no_trial(daybook: Daybook) -> None:
    daybook.chat.say("Hello")
    await make_suspect(daybook)
    daybook.timeouts = Timeouts(turn=600.0, send=600.0, trial=3600.0)
    async with daybook.running() as gateway:
        await gateway.end()
    assert on_disk(daybook, "attempts, died_alone") == [(TRIED_ALONE_AFTER, 0)]


async def test_without_a_file_of_what_is_in_hand_all_is_answered(daybook: Daybook) -> None:
    daybook.home.create()
    for name in "0.json", "0.txt":
        (daybook.home.active_work / name).mkdir(parents=True)
    daybook.model.then("Hello to you.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hello")
        assert await daybook.chat.wait_heard() == ["Hello to you."]
        await settled(gateway)


# others than messages ----------------------------------------------------------------------------------------------


async def test_a_job_that_kills_the_process_is_skipped_and_not_tried_again(daybook: Daybook) -> None:
    daybook.chat.say("Hallo", language=GERMAN)
    daybook.model.then("Hello.")
    async with daybook.running() as gateway:
        await settled(gateway)
    daybook.workspace.joinpath("schedule.yaml").write_text(
        'jobs:\n- {id: deadly, kind: prompt, text: Deadly, when: {at: "2026-11-21T08:31"}, to: owner}\n'
    )
    async with daybook.running() as gateway:
        await gateway.ticks()
    daybook.moment.pass_(timedelta(minutes=2))
    for _ in range(TRIED_ALONE_AFTER + 3):
        await die(daybook, asked="Deadly")
    requests = len(daybook.model.requests)
    async with daybook.running() as gateway:
        await daybook.chat.wait_heard(3)
        await settled(gateway)
        daybook.moment.pass_(timedelta(hours=2))
        await gateway.ticks()
    heard = daybook.chat.heard()[1:]
    assert any("Ich bin an der Aufgabe `deadly`" in text for text in heard)
    assert all(english_in(text, GERMAN) == [] for text in heard)
    assert len(heard) == 2 and len(daybook.model.requests) == requests


async def test_a_command_that_kills_the_process_is_skipped_in_the_end(daybook: Daybook) -> None:
    deaths = 0
    daybook.settings["session"] = {"keep_recent_tokens": 500}
    daybook.model = ScriptedModel(otherwise="An answer.")
    async with daybook.running() as gateway:
        for number in range(5):
            daybook.chat.say(f"Fact {number}:{' filler' * 260}")
            await daybook.chat.wait_heard(number + 1)
        await settled(gateway)
    daybook.chat.say("/compact")
    while deaths < 20:
        hold = Hold()
        daybook.model = ScriptedModel(behind=ScriptedAnswer("never said", hold=hold))
        async with daybook.running() as gateway:
            skipped = asyncio.ensure_future(daybook.chat.wait_until(lambda: SKIPPED in daybook.chat.heard()))
            reached = asyncio.ensure_future(hold.reached.wait())
            await asyncio.wait({skipped, reached}, return_when=asyncio.FIRST_COMPLETED)
            if skipped.done():
                break
            deaths += 1
            skipped.cancel()
            await gateway.kill()
    assert deaths == TRIED_ALONE_AFTER + 3


# homes of before ---------------------------------------------------------------------------------------------------


async def test_a_message_with_many_attempts_in_a_home_of_before_is_tried_alone(daybook: Daybook) -> None:
    daybook.chat.say("Hello")
    await die(daybook)
    before = next(number for number, step in enumerate(STEPS) if "trying_alone" in step)
    new = daybook.home.database.rename(daybook.home.state / "new.db")
    with closing(sqlite3.connect(daybook.home.database)) as connection:
        connection.executescript(";".join((*STEPS[:before], f"PRAGMA user_version = {before}")))
        columns = ", ".join(name for (name,) in connection.execute("SELECT name FROM pragma_table_info('inbox')"))
        connection.execute("ATTACH ? AS new", (str(new),))
        connection.execute(f"INSERT INTO inbox ({columns}) SELECT {columns} FROM new.inbox")
        connection.execute("UPDATE inbox SET attempts = 20")
        connection.commit()
    shutil.rmtree(daybook.home.active_work)
    daybook.model.then("Hello to you.")
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard() == ["Hello to you."]
        await settled(gateway)
