"""Without a model, orders on reminders are carried out in any language, and none of them is filed as a note."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from agent.languages.codes import Language
from agent.model.offline.model import OfflineModel
from tests.gateway.commands.test_plain_commands import notes
from tests.gateway.commands.understood.world import corpus, languages, outcome
from tests.gateway.conftest import OWNER, Daybook
from tests.gateway.scheduling.test_requests import ask

pytestmark = pytest.mark.usefixtures("offline")


async def reminders(daybook: Daybook) -> list[tuple[str, str]]:
    """What is set: the text and the local time."""
    text = (daybook.workspace / "schedule.yaml").read_text("utf-8") if daybook.workspace.exists() else ""
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith("#")]
    texts = [line.partition(": ")[2] for line in lines if line.startswith("text: ")]
    whens = [
        line.partition(": {")[2].rstrip("}").partition(": ")[2].strip("'\"") for line in lines if "when: {" in line
    ]
    return [*zip(texts, whens, strict=True)]


@pytest.mark.parametrize(
    ("first", "moved", "asked", "cancelled"),
    [
        (
            "Remind me to call mum tomorrow at 3",
            ("actually make it 4 instead of 3", "I'll remind you tomorrow at 16:00.\n⏰ call mum"),
            ("What do I have to do tomorrow?", "- tomorrow at 16:00: call mum"),
            ("delete the call mum reminder", "Cancelled: call mum"),
        ),
        (
            "Erinnere mich morgen um 15 Uhr an den Zahnarzt",
            ("Verschieb den Zahnarzt auf 16 Uhr", "Ich erinnere dich morgen um 16:00.\n⏰ Zahnarzt"),
            ("Was steht morgen an?", "- morgen um 16:00: Zahnarzt"),
            ("Lösch die Erinnerung an den Zahnarzt", "Abgesagt: Zahnarzt"),
        ),
        (
            "Recuérdame mañana a las tres llamar a mamá, por favor",
            ("cambia la llamada a mamá a las 4", "Te lo recordaré mañana a las 16:00.\n⏰ llamar a mamá"),
            ("¿Qué tengo que hacer mañana?", "- mañana a las 16:00: llamar a mamá"),
            ("Borra el recordatorio de llamar a mamá", "Cancelado: llamar a mamá"),
        ),
        (
            "Ricordami domani alle tre di chiamare mamma, per favore",
            ("no, meglio alle 4", "Te lo ricordo domani alle 16:00.\n⏰ chiamare mamma"),
            ("Che cosa ho da fare domani?", "- domani alle 16:00: chiamare mamma"),
            ("Cancella il promemoria di chiamare mamma", "Annullato: chiamare mamma"),
        ),
        (
            "明天下午三点提醒我给妈妈打电话",
            ("改成下午四点", "我会在明天 16:00 提醒你。\n⏰ 给妈妈打电话"),
            ("我明天有什么安排？", "- 明天 16:00: 给妈妈打电话"),
            ("取消给妈妈打电话的提醒", "已取消：给妈妈打电话"),
        ),
    ],
)
async def test_a_reminder_is_moved_listed_and_cancelled_by_plain_words(
    daybook: Daybook, first: str, moved: tuple[str, str], asked: tuple[str, str], cancelled: tuple[str, str]
) -> None:
    async with daybook.running():
        await ask(daybook, first)
        assert [await ask(daybook, said) for said, _ in (moved, asked, cancelled)] == [moved[1], asked[1], cancelled[1]]
        assert await reminders(daybook) == []
    assert notes(daybook) == "" and not daybook.model.requests


async def test_where_several_fit_it_is_asked_with_a_button_for_each(daybook: Daybook) -> None:
    async with daybook.running():
        for said in ("Remind me tomorrow at 9 to call mum", "Remind me tomorrow at 10 to call dad"):
            await ask(daybook, said)
        assert await ask(daybook, "cancel the reminder") == "Which one?"
        (asked,) = [one for one in daybook.chat.standing(OWNER).values() if one.text == "Which one?"]
        labels = [button.label for row in asked.buttons for button in row]
        assert labels == ["Cancel: call mum", "Cancel: call dad"]
        assert await ask(daybook, asked.buttons[1][0].data) == "Cancelled: call dad"
        assert [text for text, _ in await reminders(daybook)] == ["call mum"]
        assert await ask(daybook, "delete the dentist reminder") == "I have no reminder about “dentist”."
        assert [text for text, _ in await reminders(daybook)] == ["call mum"]


async def test_a_bare_no_is_no_answer_to_which_or_when(daybook: Daybook) -> None:
    async with daybook.running():
        assert await ask(daybook, "Remind me tomorrow to call mum") == "At what time?"
        (asked,) = [one for one in daybook.chat.standing(OWNER).values() if one.text == "At what time?"]
        assert "failed" not in await ask(daybook, "no")
        assert "tomorrow" in await ask(daybook, asked.buttons[0][1].data)
        assert "isn't set" in await ask(daybook, asked.buttons[0][2].data)
        assert len(await reminders(daybook)) == 1


async def test_the_one_of_several_that_is_pressed_moves_and_keeps_its_last_day(daybook: Daybook) -> None:
    async with daybook.running():
        for task in ("water the plants", "feed the cat"):
            await ask(daybook, f"Remind me every Monday, Wednesday and Friday at 8 until 24 December to {task}")
        assert await ask(daybook, "move the reminder to 16:30") == "Which one?"
        (asked,) = [one for one in daybook.chat.standing(OWNER).values() if one.text == "Which one?"]
        assert "⏰ feed the cat" in await ask(daybook, asked.buttons[1][0].data)
    text = (daybook.workspace / "schedule.yaml").read_text("utf-8")
    assert text.count("30 16 * * 1,3,5") == 1 and text.count("2026-12-24") == 2


async def test_what_comes_again_keeps_its_days_where_only_the_hour_is_changed(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me every weekday at 8 to take vitamins")
        assert "at 09:00" in await ask(daybook, "make it 9")
        assert await reminders(daybook) == [("take vitamins", "0 9 * * 1-5")]


async def test_a_timer_rings_and_an_alarm_too(daybook: Daybook) -> None:
    async with daybook.running():
        assert await ask(daybook, "set a timer for 10 minutes") == "I'll remind you today at 08:40."
        assert await ask(daybook, "wake me up at 7") == "I'll remind you tomorrow at 07:00."
        daybook.moment.pass_(timedelta(minutes=10))
        assert (await daybook.chat.wait_heard(3, chat=OWNER))[2] == "⏰ Time is up"
    assert notes(daybook) == ""


@pytest.mark.parametrize("said", ["set a timer for the cake", "move the dentist to some day", "wake me up somehow"])
async def test_an_order_that_is_not_understood_is_no_note(daybook: Daybook, said: str) -> None:
    async with daybook.running():
        assert (await ask(daybook, said)).startswith("I don't understand when that is")
    assert notes(daybook) == ""


async def test_a_list_is_kept_by_words_and_undone(daybook: Daybook) -> None:
    async with daybook.running():
        assert await ask(daybook, "Add milk and eggs to the shopping list") == "shopping list: added milk, eggs."
        assert await ask(daybook, "take the eggs off the list") == "shopping list: took off eggs."
        assert await ask(daybook, "what's on the shopping list?") == "shopping list:\n\n- milk"
        assert "- [shopping list](memory/notes/shopping-list.md)" in (daybook.workspace / "MEMORY.md").read_text(
            "utf-8"
        )
        assert await ask(daybook, "Add nails to the hardware list") == "hardware list: added nails."
        assert await ask(daybook, "add screws") == "Which list?"
        asked = next(one for one in daybook.chat.standing(OWNER).values() if one.text == "Which list?")
        data = {button.label: button.data for row in asked.buttons for button in row}
        assert await ask(daybook, data["hardware list"]) == "hardware list: added screws."
        assert "That question is closed" in await ask(daybook, data["hardware list"])
        long = "stainless countersunk screws of 4 by 40 mm for the garden shed"
        assert await ask(daybook, f"add {long}") == "Which list?"
        asked = [one for one in daybook.chat.standing(OWNER).values() if one.text == "Which list?"][-1]
        assert all(len(button.data.encode()) <= 64 for row in asked.buttons for button in row)
        assert await ask(daybook, asked.buttons[-1][0].data) == f"{asked.buttons[-1][0].label}: added {long}."
    assert notes(daybook) == "" and not daybook.model.requests


async def test_the_log_of_a_day_and_promises_are_shown(daybook: Daybook) -> None:
    (daybook.workspace / "memory").mkdir(parents=True)
    (daybook.workspace / "memory/2026-11-20.md").write_text("# 2026-11-20\n\n- 09:10 Met Anna\n", "utf-8")
    (daybook.workspace / "memory/open.md").write_text("# Open\n\n- [ ] 2026-11-27 send Bob the invoice\n", "utf-8")
    async with daybook.running():
        assert await ask(daybook, "what happened yesterday?") == "Yesterday:\n\n- 09:10 Met Anna"
        assert await ask(daybook, "what did I do today?") == "I have no log of that day (today)."
        promised = "Still open:\n- send Bob the invoice (on Friday 27 November)"
        assert await ask(daybook, "what did I promise?") == promised
    assert notes(daybook).count("- ") == 1


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("book a table for two", "I can't do that in words yet."),
        ("how do reminders work?", "Say the day, the hour and what"),
        ("tell me a joke", "I can't do that without a language model."),
    ],
)
async def test_what_it_cannot_do_is_said_and_not_filed(daybook: Daybook, said: str, begins: str) -> None:
    async with daybook.running():
        assert (await ask(daybook, said)).startswith(begins)
    assert notes(daybook) == ""


@pytest.mark.parametrize(
    ("language", "said", "first", "label"),
    [
        ("en", "Buy milk", "Add milk to the shopping list", "Note it"),
        ("de", "Ruf den Zahnarzt an", "Erinnere mich morgen um 9 daran, beim Zahnarzt anzurufen.", "Notieren"),
        ("zh", "买牛奶", "把牛奶加到购物清单", "记下来"),
    ],
)
async def test_what_it_cannot_do_brings_the_nearest_three_and_may_be_noted(
    daybook: Daybook, language: str, said: str, first: str, label: str
) -> None:
    async with daybook.running():
        await ask(daybook, f"/language {language}")
        await ask(daybook, said)
        id, shown = list(daybook.chat.standing(OWNER).items())[1]
        offered = [button for row in shown.buttons for button in row]
        assert len(offered) == 4 and (offered[0].label, offered[-1].label) == (first, label)
        assert all(len(button.data.encode()) <= 64 for button in offered) and notes(daybook) == ""
        daybook.chat.press(id, label)
        await daybook.chat.wait_until(lambda: f"> {said}" in daybook.chat.heard(OWNER)[1])
        assert f" {said}\n" in notes(daybook)
        (undo,) = daybook.chat.standing(OWNER)[id].buttons[0]
        assert await ask(daybook, undo.data)
        assert said not in notes(daybook)


async def test_what_is_asked_of_it_is_never_offered_as_a_note(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Can you book a table for two?")
        (shown,) = daybook.chat.standing(OWNER).values()
        labels = [button.label for row in shown.buttons for button in row]
        assert len(labels) == 3 and "Note it" not in labels
        assert await ask(daybook, "Add milk to the shopping list") == "shopping list: added milk."


async def test_several_are_cancelled_in_one_and_several_that_fit_are_moved_by_button(daybook: Daybook) -> None:
    async with daybook.running():
        for said in ("Remind me tomorrow at 9 to call mum", "Remind me tomorrow at 10 to feed the cat"):
            await ask(daybook, said)
        assert await ask(daybook, "move my reminder to 11") == "Which one?"
        asked = next(one for one in daybook.chat.standing(OWNER).values() if one.text == "Which one?")
        data = {button.label: button.data for row in asked.buttons for button in row}
        assert "11:00" in await ask(daybook, data["call mum"])
        assert await ask(daybook, "cancel mum and the cat") == "Cancelled: call mum\nCancelled: feed the cat"
        assert await reminders(daybook) == []


async def test_what_no_reminder_is_about_is_forgotten_only_on_a_yes(daybook: Daybook) -> None:
    daybook.model = OfflineModel(daybook.moment.clock, ".env")  # type: ignore[assignment]
    async with daybook.running():
        await ask(daybook, "The spare key is under the mat")
        assert (await ask(daybook, "删除 spare key")).startswith("I found this about “spare key”")
        assert "mat" in notes(daybook)


async def test_what_was_noted_has_a_button_that_takes_back_that_note(daybook: Daybook) -> None:
    daybook.model = OfflineModel(daybook.moment.clock, ".env")  # type: ignore[assignment]
    async with daybook.running():
        assert (await ask(daybook, "The spare key is under the mat")).startswith("Noted:\n\n> The spare key")
        ((button,),) = next(iter(daybook.chat.standing(OWNER).values())).buttons
        await ask(daybook, "Tom drives a red Volvo")
        assert button.label == "Undo it" and await ask(daybook, button.data) == "It is undone."
        assert "mat" not in notes(daybook) and "Volvo" in notes(daybook)
        assert await ask(daybook, button.data) == "That is undone already."


@pytest.mark.parametrize("language", languages())
async def test_some_sentences_of_the_corpus_are_carried_out(language: Language, tmp_path: Path) -> None:
    """The first of each kind with an even number; `benchmarks/understood.py` says all of them."""
    world, sayings = corpus(language)
    first = list({one.kind: one for one in reversed(sayings) if one.number % 2 == 0}.values())
    found = [await outcome(world, one, tmp_path / str(one.number)) for one in first]
    assert [(one.saying.say, one.wrong, one.answer) for one in found if one.wrong] == []
