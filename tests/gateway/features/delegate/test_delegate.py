"""`delegate`: work aside, at most three at once, whose result is answered as a message of its own."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

from agent.model.base import TryLater
from agent.model.scripted import Call, Hold, ScriptedAnswer
from agent.silence import NO_REPLY
from gateway.server import Timeouts
from tests.gateway.conftest import ALICE, Daybook, asked
from tests.gateway.tools.approving import result_of
from tests.gateway.tools.aside import TASK, Aside
from tests.gateway.turns.test_turns import settled, until

WORKING = f"⏳ Working on: {TASK}"
STARTED = "I'm on it."


def has_result(daybook: Daybook) -> bool:
    """It is on disk, as another process would see it."""
    with sqlite3.connect(daybook.home.database) as db:
        return db.execute("SELECT 1 FROM inbox WHERE id LIKE 'task:%:result'").fetchone() is not None


async def test_a_task_is_worked_on_aside_and_its_result_is_answered(daybook: Daybook) -> None:
    aside, work = Aside(daybook), Hold()
    aside.works[TASK] = [ScriptedAnswer("The second one.", hold=work)]
    async with daybook.running() as gateway:
        daybook.chat.say("My sister is called Anna.")
        assert await daybook.chat.wait_heard(1) == ["Fine."]
        daybook.chat.say(f"delegate {TASK}")
        assert set(await daybook.chat.wait_heard(3)) == {"Fine.", WORKING, STARTED}
        await work.reached.wait()
        daybook.chat.say("What else?")
        assert (await daybook.chat.wait_heard(4))[-1] == "Fine.", "the conversation goes on meanwhile"
        daybook.chat.say("/status")
        assert f"Working on: {TASK} (begun " in (await daybook.chat.wait_heard(5))[-1]
        work.released.set()
        assert (await daybook.chat.wait_heard(6))[-1] == "It came to this: The second one."
        daybook.chat.say("/status")
        assert TASK not in (await daybook.chat.wait_heard(7))[-1]
        await settled(gateway)
    (request,) = aside.requests_of(TASK)
    assert "Anna" not in str(request.messages), "it knows nothing of the conversation"
    offered = {tool.name for tool in request.tools}
    assert not offered & {"delegate", "send_message", "schedule_add", "schedule_list", "schedule_remove"}
    assert "memory_search" in offered


async def test_three_at_once_and_a_fourth_is_refused(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    aside, work = Aside(daybook), Hold()
    tasks = [f"Look at flat {number}" for number in range(1, 5)]
    for task in tasks:
        aside.works[task] = [ScriptedAnswer(f"{task}: nice.", hold=work)]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {' + '.join(tasks)}")
        await daybook.chat.wait_heard(4)
        assert sorted(daybook.chat.heard()) == sorted([*(f"⏳ Working on: {task}" for task in tasks[:3]), STARTED])
        refused = next(str(one.messages[-1]) for one in daybook.model.requests if "Not begun" in str(one.messages[-1]))
        assert "3 tasks of this conversation are at work already" in refused and "; Look at flat 3)" in refused
        daybook.chat.say(f"delegate {tasks[3]}", chat=ALICE, sender=ALICE)
        await daybook.chat.wait_until(lambda: f"⏳ Working on: {tasks[3]}" in daybook.chat.heard(ALICE))
        work.released.set()
        await daybook.chat.wait_heard(7)
        await daybook.chat.wait_heard(3, chat=ALICE)
        await settled(gateway)
    assert len(aside.requests_of(tasks[3])) == 1, "of the other person's conversation"


async def test_stop_gives_up_the_tasks_and_the_conversation_knows(daybook: Daybook) -> None:
    aside = Aside(daybook)
    holds = {task: Hold() for task in (TASK, "Book a table")}
    for task, hold in holds.items():
        aside.works[task] = [ScriptedAnswer("Done.", hold=hold)]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {' + '.join(holds)}")
        for hold in holds.values():
            await hold.reached.wait()
        await daybook.chat.wait_heard(3)
        daybook.chat.say("/stop")
        assert (await daybook.chat.wait_heard(4))[-1] == "Stopped. I gave up the 2 tasks I was working on."
        with closing(sqlite3.connect(daybook.home.database)) as other:
            waiting = other.execute("SELECT id FROM inbox WHERE state = 'waiting'").fetchall()
        assert waiting == [], "a crash now would begin again what the person was told is stopped"
        await settled(gateway)
        daybook.chat.say("/stop")
        assert (await daybook.chat.wait_heard(5))[-1] == "Nothing is running."
        daybook.chat.say("And now?")
        assert (await daybook.chat.wait_heard(6))[-1] == "Fine."
        await settled(gateway)
    told = str(daybook.model.requests[-1].messages)
    assert f"The person stopped the task “{TASK}”: it has no result." in told and "“Book a table”" in told


async def test_a_stop_reaches_one_of_an_earlier_process(daybook: Daybook) -> None:
    aside, first, second = Aside(daybook), Hold(), Hold()
    aside.works[TASK] = [ScriptedAnswer("Never.", hold=first), ScriptedAnswer("Never.", hold=second)]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {TASK}")
        await daybook.chat.wait_heard(2)
        await first.reached.wait()
        await gateway.kill()
    async with daybook.running() as gateway:
        await second.reached.wait()
        daybook.chat.say("/stop")
        assert (await daybook.chat.wait_heard(3))[-1] == "Stopped. I gave up the task I was working on."
        await settled(gateway)


async def test_a_result_after_new_comes_in_the_new_session(daybook: Daybook) -> None:
    aside, work = Aside(daybook), Hold()
    aside.works[TASK] = [ScriptedAnswer("The second one.", hold=work)]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {TASK}")
        await daybook.chat.wait_heard(2)
        await work.reached.wait()
        daybook.chat.say("/new")
        assert "Started a new" in (await daybook.chat.wait_heard(3))[-1]
        work.released.set()
        assert (await daybook.chat.wait_heard(4))[-1] == "It came to this: The second one."
        await settled(gateway)
    last = daybook.model.requests[-1]
    assert len(last.messages) == 1, "the new session begins with it"
    assert f'note="{TASK}"' in asked(last), "and says what it is the result of"


async def test_what_is_forgotten_comes_back_by_no_task(daybook: Daybook) -> None:
    """Neither by its text nor by what it had read, although it goes on."""
    daybook.workspace.mkdir(parents=True)
    (daybook.workspace / "MEMORY.md").write_text("- The cat is Luna\n- The dog is Rex\n")
    task = "Find a vet for Luna"
    aside, work = Aside(daybook), Hold()
    aside.works[task] = [Call("read_file", {"path": "MEMORY.md"}), ScriptedAnswer("For Luna: Dr. Vet.", hold=work)]
    aside.works["[forgotten"] = [ScriptedAnswer("Dr. Vet.")]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {task}")
        await daybook.chat.wait_heard(2)
        await work.reached.wait()
        daybook.chat.say("/forget luna")
        await daybook.chat.wait_heard(3)
        daybook.chat.say("yes")
        await daybook.chat.wait_until(lambda: "Deleted from" in daybook.chat.heard()[-1])
        forgotten = len(daybook.model.requests)
        work.released.set()
        await daybook.chat.wait_until(lambda: daybook.chat.heard()[-1] == "It came to this: Dr. Vet.")
        await settled(gateway)
    assert "luna" not in str(daybook.model.requests[forgotten:]).lower()


async def test_a_failed_task_and_a_silent_one_are_told_of(daybook: Daybook) -> None:
    aside = Aside(daybook)
    aside.works[TASK] = [TryLater("The model is overloaded. Please try again.")]
    aside.works["Be quiet"] = [ScriptedAnswer(NO_REPLY)]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {TASK} + Be quiet")
        await daybook.chat.wait_until(lambda: sum("It came to this" in text for text in daybook.chat.heard()) == 2)
        await settled(gateway)
    assert {text for text in daybook.chat.heard() if "It came to this" in text} == {
        "It came to this: (It was not finished.) The model is overloaded. Please try again.",
        "It came to this: (It ended without a text.)",
    }


async def test_a_task_ends_with_its_time(daybook: Daybook) -> None:
    aside, work = Aside(daybook), Hold()
    daybook.timeouts = Timeouts(tick=0.02, task=0.3)
    aside.works[TASK] = [ScriptedAnswer("Never.", hold=work)]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {TASK}")
        ended = "It came to this: (It was not finished.) Its time was over."
        await daybook.chat.wait_until(lambda: ended in daybook.chat.heard())
        await settled(gateway)


async def test_the_result_of_a_task_begins_no_other(daybook: Daybook) -> None:
    """So that no text that a task reads keeps the assistant at work for ever."""
    aside, work = Aside(daybook), Hold()
    aside.works[TASK] = [ScriptedAnswer("The second one.", hold=work)]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {TASK}")
        await daybook.chat.wait_heard(2)
        aside.others = [Call("delegate", {"task": "More"}), ScriptedAnswer("No more.")]
        work.released.set()
        assert (await daybook.chat.wait_heard(3))[-1] == "No more."
        await settled(gateway)
    assert "the result of a task begins no other" in result_of(daybook.model.requests[-1])


async def test_a_task_of_nothing_is_refused(daybook: Daybook) -> None:
    aside = Aside(daybook)
    aside.others = [Call("delegate", {"task": " \n"})]
    async with daybook.running() as gateway:
        daybook.chat.say("Do nothing")
        assert await daybook.chat.wait_heard() == [STARTED]
        await settled(gateway)
    assert "'task' is empty" in result_of(daybook.model.requests[-1])


async def test_a_task_that_looks_like_a_command_is_none(daybook: Daybook) -> None:
    aside = Aside(daybook)
    aside.works["/new"] = [ScriptedAnswer("/stop")]
    async with daybook.running() as gateway:
        daybook.chat.say("delegate /new")
        await daybook.chat.wait_until(lambda: "It came to this: /stop" in daybook.chat.heard())
        await settled(gateway)


async def test_a_result_waits_its_turn_whatever_the_queue(daybook: Daybook) -> None:
    """It joins no running turn and interrupts none."""
    for mode in ("steer", "collect", "interrupt"):
        daybook.queue(mode)
        aside, work, chat = Aside(daybook), Hold(), Hold()
        aside.works[TASK] = [ScriptedAnswer("The second one.", hold=work)]
        so_far = len(daybook.chat.heard())
        async with daybook.running() as gateway:
            daybook.chat.say(f"delegate {TASK}")
            await daybook.chat.wait_heard(so_far + 2)
            await work.reached.wait()
            aside.others = [ScriptedAnswer(calls=(Call("memory_list"),), hold=chat), ScriptedAnswer("Nothing.")]
            daybook.chat.say("What do you know?")
            await chat.reached.wait()
            work.released.set()
            await until(lambda: has_result(daybook))
            chat.released.set()
            await daybook.chat.wait_heard(so_far + 4)
            await settled(gateway)
        assert daybook.chat.heard()[so_far + 2 :] == ["Nothing.", "It came to this: The second one."]
        with sqlite3.connect(daybook.home.database) as db:
            db.execute("DELETE FROM inbox")


async def test_no_message_joins_the_answer_to_a_result(daybook: Daybook) -> None:
    aside, answer = Aside(daybook), Hold()
    aside.works[TASK] = [ScriptedAnswer("The second one.")]
    async with daybook.running() as gateway:
        aside.results = [ScriptedAnswer(calls=(Call("memory_list"),), hold=answer)]
        daybook.chat.say(f"delegate {TASK}")
        await daybook.chat.wait_heard(2)
        await answer.reached.wait()
        daybook.chat.say("And the rent?")
        await until(lambda: daybook.chat.offered == 2)
        aside.others = [ScriptedAnswer("It is the second one.")]
        answer.released.set()
        assert (await daybook.chat.wait_heard(4))[2:] == ["It is the second one.", "Fine."]
        await settled(gateway)


async def test_its_model_is_the_conversations_and_its_cost_has_a_name(daybook: Daybook) -> None:
    aside = Aside(daybook)
    aside.works[TASK] = [ScriptedAnswer("The second one.")]
    async with daybook.running() as gateway:
        daybook.chat.say("/model scripted-large")
        await daybook.chat.wait_heard(1)
        daybook.chat.say(f"delegate {TASK}")
        await daybook.chat.wait_until(lambda: "It came to this: The second one." in daybook.chat.heard())
        await settled(gateway)
    (request,) = aside.requests_of(TASK)
    assert (request.model, request.purpose) == ("scripted-large", "task")


async def test_the_sign_is_in_the_language_of_the_chat(daybook: Daybook) -> None:
    aside = Aside(daybook)
    aside.works[TASK] = [ScriptedAnswer("Die zweite.")]
    async with daybook.running() as gateway:
        daybook.chat.say("Kannst du mir bitte bei der Wohnung helfen? Ich weiß nicht, welche ich nehmen soll.")
        await daybook.chat.wait_heard(1)
        daybook.chat.say(f"delegate {TASK}")
        await daybook.chat.wait_until(lambda: f"⏳ Ich arbeite an: {TASK}" in daybook.chat.heard())
        await settled(gateway)


async def test_the_tasks_of_a_process_that_is_asked_to_end_go_on_in_the_next(daybook: Daybook) -> None:
    aside, work = Aside(daybook), Hold()
    daybook.timeouts = Timeouts(tick=0.02, turn=0.05)
    aside.works[TASK] = [ScriptedAnswer("Never.", hold=work), ScriptedAnswer("The second one.")]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {TASK}")
        await daybook.chat.wait_heard(2)
        await work.reached.wait()
        await gateway.end()
    async with daybook.running() as gateway:
        assert (await daybook.chat.wait_heard(3))[-1] == "It came to this: The second one."
        await settled(gateway)


async def test_the_limit_holds_over_a_restart(daybook: Daybook) -> None:
    aside = Aside(daybook)
    tasks = [f"Look at flat {number}" for number in range(1, 5)]
    for task in tasks:
        aside.works[task] = [ScriptedAnswer(f"{task}: nice.", hold=Hold()) for _ in range(2)]
    async with daybook.running() as gateway:
        daybook.chat.say(f"delegate {' + '.join(tasks[:3])}")
        await daybook.chat.wait_heard(4)
        await asyncio.gather(*(aside.works_on(task) for task in tasks[:3]))
        await gateway.kill()
    async with daybook.running():
        daybook.chat.say(f"delegate {tasks[3]}")
        await daybook.chat.wait_heard(5)
        assert not aside.requests_of(tasks[3])
        daybook.chat.say("/stop")
        assert (await daybook.chat.wait_heard(6))[-1] == "Stopped. I gave up the 3 tasks I was working on."
