"""Without a model, a reminder is moved by its name and a time alone, and what came last is taken back."""

from __future__ import annotations

import pytest

from agent.model.offline.model import OfflineModel
from tests.gateway.commands.test_plain_commands import notes
from tests.gateway.commands.test_plain_orders import reminders
from tests.gateway.conftest import OWNER, Daybook
from tests.gateway.scheduling.test_requests import ask

pytestmark = pytest.mark.usefixtures("offline")


@pytest.fixture(autouse=True)
def offline_model(daybook: Daybook) -> None:
    daybook.model = OfflineModel(daybook.moment.clock, ".env")  # type: ignore[assignment]


async def texts(daybook: Daybook) -> list[str]:
    return [text for text, _ in await reminders(daybook)]


async def test_a_name_and_a_time_are_asked_about_and_moved_on_a_press(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me tomorrow at 16:00 to see the dentist")
        answer = await ask(daybook, "dentist tomorrow 5pm")
        assert answer == "Shall I remind you tomorrow at 17:00 instead? “see the dentist”"
        assert [when[-5:] for _, when in await reminders(daybook)] == ["16:00"]
        (id, shown) = list(daybook.chat.standing(OWNER).items())[-1]
        assert [button.label for row in shown.buttons for button in row] == ["Move it", "Note it"]
        daybook.chat.press(id, "Move it", OWNER)
        await daybook.chat.wait_until(lambda: "⏰ see the dentist" in daybook.chat.standing(OWNER)[id].text)
        assert [when[-5:] for _, when in await reminders(daybook)] == ["17:00"]
    assert notes(daybook) == ""


async def test_who_asks_whether_to_move_notes_it_on_a_press(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me tomorrow at 16:00 to see the dentist")
        await ask(daybook, "dentist tomorrow 5pm")
        (id, _) = list(daybook.chat.standing(OWNER).items())[-1]
        daybook.chat.press(id, "Note it", OWNER)
        await daybook.chat.wait_until(lambda: "Noted" in daybook.chat.standing(OWNER)[id].text)
        assert [when[-5:] for _, when in await reminders(daybook)] == ["16:00"]
    assert "dentist tomorrow 5pm" in notes(daybook)


async def test_a_time_that_the_reminder_has_is_a_note(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me tomorrow at 16:00 to see the dentist")
        assert (await ask(daybook, "dentist tomorrow 4pm")).startswith("Noted")


async def test_a_reminder_moved_to_where_it_is_stays_there(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me tomorrow at 16:00 to see the dentist")
        answer = await ask(daybook, "move the dentist to 16:00")
        assert answer == "I'll remind you tomorrow at 16:00.\n⏰ see the dentist"


@pytest.mark.parametrize("said", ["delete that", "cancel that", "lösch das wieder", "undo", "supprime ça"])
async def test_what_takes_back_cancels_a_reminder_that_was_just_set(daybook: Daybook, said: str) -> None:
    async with daybook.running():
        await ask(daybook, "The bike is in the cellar")
        await ask(daybook, "Remind me tomorrow at 16:00 to see the dentist")
        await ask(daybook, said)
        assert await texts(daybook) == []
    assert "bike" in notes(daybook)


async def test_after_a_note_the_note_is_undone_and_the_reminder_stays(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me tomorrow at 16:00 to see the dentist")
        await ask(daybook, "The bike is in the cellar")
        await ask(daybook, "cancel that")
        assert await texts(daybook) == ["see the dentist"]
    assert "bike" not in notes(daybook)


async def test_undo_moves_back_and_delete_that_cancels(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me tomorrow at 16:00 to see the dentist")
        await ask(daybook, "move the dentist to 5pm")
        assert await ask(daybook, "undo") == "I'll remind you tomorrow at 16:00.\n⏰ see the dentist"
        await ask(daybook, "move the dentist to 5pm")
        await ask(daybook, "delete that")
        assert await texts(daybook) == []


async def test_words_that_name_two_reminders_by_halves_cancel_neither(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me tomorrow at 9 to buy milk")
        await ask(daybook, "Remind me tomorrow at 10 to sell bread")
        await ask(daybook, "cancel buy bread")
        assert len(await texts(daybook)) == 2


async def test_a_misspelt_word_never_wins_over_the_right_one(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "Remind me tomorrow at 9 to fetch bread")
        await ask(daybook, "Remind me tomorrow at 10 to take a break")
        assert await ask(daybook, "cancel the break") == "Cancelled: take a break"
