"""Without a model, orders on reminders are carried out in any language, and none of them is filed as a note."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.gateway.commands.test_plain_commands import notes
from tests.gateway.conftest import OWNER, Daybook
from tests.gateway.scheduling.test_requests import ask


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
            ("cambia la llamada a mamá a las 4", "No tengo ningún recordatorio sobre «llamada a mamá»."),
            ("¿Qué tengo que hacer mañana?", "- mañana a las 15:00: llamar a mamá"),
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
