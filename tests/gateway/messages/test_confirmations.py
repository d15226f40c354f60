"""What is asked back: by button, by word, after a restart, and by nobody but who was asked."""

from __future__ import annotations

from datetime import timedelta

from agent.model.scripted import Hold, ScriptedAnswer
from channels.message import NotSent
from channels.scripted import Reacted
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook


def write_memory(daybook: Daybook, text: str) -> None:
    daybook.workspace.mkdir(parents=True, exist_ok=True)
    (daybook.workspace / "MEMORY.md").write_text(text)


def memory(daybook: Daybook) -> str:
    return (daybook.workspace / "MEMORY.md").read_text()


async def asked_to_forget(daybook: Daybook, chat: str = "1", group: bool = False) -> str:
    """The platform id of the question."""
    before = set(daybook.chat.standing(chat))
    daybook.chat.say("/forget Luna", chat=chat, group=group)
    await daybook.chat.wait_heard(len(before) + 1, chat=chat)
    (id,) = set(daybook.chat.standing(chat)) - before
    return id


async def test_a_button_answers_and_its_question_becomes_the_outcome(daybook: Daybook) -> None:
    write_memory(daybook, "- The cat is Luna\n- The dog is Rex\n")
    async with daybook.running():
        question = await asked_to_forget(daybook)
        assert [button.label for row in daybook.chat.standing()[question].buttons for button in row] == [
            "Delete",
            "Keep",
        ]
        daybook.chat.press(question, "Delete")
        await daybook.chat.wait_until(lambda: "Deleted from" in daybook.chat.standing()[question].text)
    assert daybook.chat.standing()[question].buttons == ()
    assert len(daybook.chat.heard()) == 1
    assert memory(daybook) == "- The dog is Rex\n"


async def test_what_was_written_of_it_since_the_question_is_forgotten_too(daybook: Daybook) -> None:
    """The journal or a flush may write it down once more before the yes."""
    write_memory(daybook, "- The cat is Luna\n- The dog is Rex\n")
    async with daybook.running():
        question = await asked_to_forget(daybook)
        log = daybook.workspace / "memory" / "2026-11-21.md"
        log.parent.mkdir(exist_ok=True)
        log.write_text("# 2026-11-21\n\n- 08:30 Luna has had her kittens\n- 08:31 Rain\n")
        daybook.chat.press(question, "Delete")
        await daybook.chat.wait_until(lambda: "Deleted from" in daybook.chat.standing()[question].text)
    assert "Luna" not in memory(daybook) + log.read_text()
    assert "Rex" in memory(daybook) and "Rain" in log.read_text()


async def test_a_button_lives_over_a_restart(daybook: Daybook) -> None:
    write_memory(daybook, "- The cat is Luna\n")
    async with daybook.running() as gateway:
        question = await asked_to_forget(daybook)
        await gateway.kill()
    async with daybook.running():
        daybook.chat.press(question, "Delete")
        await daybook.chat.wait_until(lambda: "Deleted from" in daybook.chat.standing()[question].text)
    assert "Luna" not in memory(daybook)


async def test_a_second_press_finds_the_question_closed(daybook: Daybook) -> None:
    write_memory(daybook, "- The cat is Luna\n")
    async with daybook.running():
        question = await asked_to_forget(daybook)
        with daybook.chat.hold():
            daybook.chat.press(question, "Keep")
            daybook.chat.press(question, "Delete")
        await daybook.chat.wait_until(lambda: len(daybook.chat.heard()) == 2)
    assert sorted(daybook.chat.heard()) == [
        "OK, I kept it.",
        "That question is closed: it was answered, has expired, or was meant for someone else.",
    ]
    assert "Luna" in memory(daybook)


async def test_an_answer_that_could_not_be_acted_on_may_be_given_again(daybook: Daybook) -> None:
    write_memory(daybook, "- The cat is Luna\n")
    async with daybook.running():
        question = await asked_to_forget(daybook)
        file, aside = daybook.workspace / "MEMORY.md", daybook.workspace / "aside"
        file.rename(aside)
        file.mkdir()
        daybook.chat.press(question, "Delete")
        await daybook.chat.wait_until(lambda: "I couldn't delete that" in daybook.chat.heard()[-1])
        file.rmdir()
        aside.rename(file)
        daybook.chat.press(question, "Delete")
        await daybook.chat.wait_until(lambda: "Deleted from" in daybook.chat.standing()[question].text)
    assert "Luna" not in memory(daybook)


async def test_nobody_else_answers_a_question(daybook: Daybook) -> None:
    daybook.group()
    write_memory(daybook, "")
    async with daybook.running():
        await daybook.chat.wait_until(lambda: True)
        (daybook.workspace / "groups" / f"telegram-{GROUP}" / "memory").mkdir(parents=True)
        note = daybook.workspace / "groups" / f"telegram-{GROUP}" / "memory" / "2026-11-20.md"
        note.write_text("# 2026-11-20\n\n- 08:00 Luna is the cat\n")
        question = await asked_to_forget(daybook, GROUP, group=True)
        daybook.chat.press(question, "Delete", sender=ALICE)
        await daybook.chat.wait_heard(2, chat=GROUP)
        assert "That question is closed" in daybook.chat.heard(GROUP)[-1]
        assert "Luna" in note.read_text()
        daybook.chat.press(question, "Delete", sender=OWNER)
        await daybook.chat.wait_until(lambda: "Deleted from" in daybook.chat.standing(GROUP)[question].text)
    assert "Luna" not in note.read_text()


# A message that is changed after it was read -----------------------------------------------------------------------


async def test_a_new_wording_of_an_answered_message_is_offered_once_and_answered(daybook: Daybook) -> None:
    daybook.model.then("Milk is noted.", "Wine is noted.")
    async with daybook.running():
        message = daybook.chat.say("Milk for me")
        await daybook.chat.wait_heard(1)
        daybook.chat.say("Wine for me", edit_of=message.platform_id)
        await daybook.chat.wait_heard(2)
        daybook.chat.say("Red wine for me", edit_of=message.platform_id)
        (offer,) = [id for id, message in daybook.chat.standing().items() if message.buttons]
        daybook.chat.press(offer, "Answer")
        await daybook.chat.wait_heard(3)
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard(4)
    assert daybook.chat.heard()[:3] == ["Milk is noted.", "Here's my answer to the new version:", "Wine is noted."]
    assert len(daybook.model.requests) == 2
    assert "Red wine for me" in daybook.asked() and "Wine for me" not in daybook.asked()


async def test_a_message_that_is_changed_into_a_command_is_one_once_it_is_wanted(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    async with daybook.running() as gateway:
        message = daybook.chat.say("hello")
        await daybook.chat.wait_heard(1)
        daybook.chat.say("/remember cheese", edit_of=message.platform_id)
        await daybook.chat.wait_heard(2)
        daybook.chat.say("/remember milk", edit_of=message.platform_id)
        daybook.chat.say("/whoami")  # what comes behind the edit is answered behind it
        await daybook.chat.wait_heard(3)
        await gateway.kill()
    async with daybook.running():
        (offer,) = [id for id, message in daybook.chat.standing().items() if message.buttons]
        daybook.chat.press(offer, "Answer")
        assert "Noted in" in (await daybook.chat.wait_heard(4))[-1]
    logs = "".join(file.read_text() for file in daybook.workspace.glob("memory/*.md"))
    assert "milk" in logs and "cheese" not in logs
    assert len(daybook.model.requests) == 1


async def test_invariant_08_what_was_asked_in_private_is_not_answered_in_a_group(daybook: Daybook) -> None:
    daybook.group()
    daybook.model.then("Milk is noted.")
    async with daybook.running():
        message = daybook.chat.say("Milk for me")
        await daybook.chat.wait_heard(1)
        daybook.chat.say("Buy a ring for Ann", edit_of=message.platform_id)
        await daybook.chat.wait_heard(2)
        (offer,) = [message for message in daybook.chat.standing().values() if message.buttons]
        daybook.chat.say(offer.buttons[0][0].data, chat=GROUP, group=True)
        assert "That question is closed" in (await daybook.chat.wait_heard(1, chat=GROUP))[0]
    assert len(daybook.model.requests) == 1


async def test_an_edit_that_changes_no_word_is_no_new_wording(daybook: Daybook) -> None:
    """Telegram tells of an edit also when a link's preview appears."""
    daybook.model.then("Milk is noted.")
    async with daybook.running():
        message = daybook.chat.say("Milk for me")
        await daybook.chat.wait_heard(1)
        daybook.chat.say("Milk for me", edit_of=message.platform_id)
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard(2)
    assert not any(message.buttons for message in daybook.chat.standing().values())


async def test_a_bare_no_leaves_the_answer_as_it_is(daybook: Daybook) -> None:
    daybook.model.then("Milk is noted.")
    async with daybook.running():
        message = daybook.chat.say("Milk for me")
        await daybook.chat.wait_heard(1)
        daybook.chat.say("Wine for me", edit_of=message.platform_id)
        await daybook.chat.wait_heard(2)
        daybook.chat.say("No")
        assert (await daybook.chat.wait_heard(3))[-1] == "OK, my answer stays as it is."
    assert len(daybook.model.requests) == 1


async def test_who_may_not_speak_is_not_asked_about_their_edit(daybook: Daybook) -> None:
    async with daybook.running():
        daybook.chat.say("Hello", chat="9", sender="99999")
        await daybook.chat.wait_heard(1, chat="9")
        daybook.chat.say("Hello there", chat="9", sender="99999", edit_of="1")
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard(1)
    assert len(daybook.chat.heard("9")) == 1


# Signs -------------------------------------------------------------------------------------------------------------


async def test_a_configured_sign_stands_on_a_message_until_it_is_answered(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"reaction": "👀"}}
    daybook.model.then("Hello.")
    async with daybook.running():
        message = daybook.chat.say("Hi")
        await daybook.chat.wait_until(lambda: Reacted(message.platform_id, "") in daybook.chat.history)
    signs = [act for act in daybook.chat.history if isinstance(act, Reacted)]
    assert signs == [Reacted(message.platform_id, "👀"), Reacted(message.platform_id, "")]


async def test_a_message_that_a_stop_sets_aside_loses_its_sign(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"reaction": "👀"}}
    daybook.queue("collect")
    hold = Hold()
    daybook.model.then(ScriptedAnswer("never said", hold=hold))
    async with daybook.running():
        daybook.chat.say("one")
        await hold.reached.wait()
        waiting = daybook.chat.say("two")
        await daybook.chat.wait_until(lambda: Reacted(waiting.platform_id, "👀") in daybook.chat.history)
        daybook.chat.say("/stop")
        await daybook.chat.wait_until(lambda: Reacted(waiting.platform_id, "") in daybook.chat.history)


async def test_without_configuration_there_are_no_signs(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    daybook.chat.fail_next(NotSent("later"))
    async with daybook.running():
        daybook.chat.say("Hi")
        await daybook.chat.wait_heard(1)
    assert not any(isinstance(act, Reacted) for act in daybook.chat.history)


# Groups ------------------------------------------------------------------------------------------------------------


async def test_activation_is_changed_by_who_may_and_outlives_a_restart(daybook: Daybook) -> None:
    daybook.group(allow=(OWNER, ALICE))
    daybook.model.then("I am here.", "Called.")
    async with daybook.running():
        daybook.chat.say("/activation always", chat=GROUP, sender=ALICE, group=True)
        await daybook.chat.wait_heard(1, chat=GROUP)
    async with daybook.running():
        daybook.chat.say("Anybody?", chat=GROUP, sender=ALICE, group=True, calls_bot=False)
        assert (await daybook.chat.wait_heard(2, chat=GROUP))[-1] == "I am here."
        daybook.chat.say("/activation default", chat=GROUP, sender=ALICE, group=True)
        await daybook.chat.wait_heard(3, chat=GROUP)
        daybook.chat.say("Still?", chat=GROUP, sender=ALICE, group=True, calls_bot=False)
        daybook.chat.say("You?", chat=GROUP, sender=ALICE, group=True)
        assert (await daybook.chat.wait_heard(4, chat=GROUP))[-1] == "Called."
    assert len(daybook.model.requests) == 2


async def test_activation_is_not_changed_by_any_member(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running():
        daybook.chat.say("/activation always", chat=GROUP, sender=ALICE, group=True)
        assert (await daybook.chat.wait_heard(1, chat=GROUP))[-1].startswith("Only my owner")
        daybook.chat.say("Anybody?", chat=GROUP, sender=ALICE, group=True, calls_bot=False)
        daybook.chat.say("/activation", chat=GROUP, sender=ALICE, group=True)
        assert "when I'm mentioned" in (await daybook.chat.wait_heard(2, chat=GROUP))[-1]
    assert daybook.model.requests == []


async def test_who_calls_too_often_is_told_once_overheard_and_answered_again_later(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {"per_minute": 2}}}}
    daybook.settings["session"] = {"queue": "collect"}
    daybook.model.then("One.", "Two.", "For the owner.", "Later.")
    async with daybook.running():
        for count, text in enumerate(("a", "b"), start=1):
            daybook.chat.say(text, chat=GROUP, sender=ALICE, group=True)
            await daybook.chat.wait_heard(count, chat=GROUP)
        daybook.chat.say("c", chat=GROUP, sender=ALICE, group=True)
        daybook.chat.say("d", chat=GROUP, sender=ALICE, group=True)
        assert "more than I can" in (await daybook.chat.wait_heard(3, chat=GROUP))[-1]
        daybook.chat.say("mine", chat=GROUP, sender=OWNER, group=True)
        await daybook.chat.wait_heard(4, chat=GROUP)
        assert len(daybook.chat.heard(GROUP)) == 4
        assert "c" in daybook.asked() and "d" in daybook.asked()
        daybook.moment.pass_(timedelta(minutes=1))
        daybook.chat.say("e", chat=GROUP, sender=ALICE, group=True)
        assert (await daybook.chat.wait_heard(5, chat=GROUP))[-1] == "Later."
