"""The button under a new reminder takes it back: this one and no other, for those who may, and pressing it again does
nothing more."""

from __future__ import annotations

from datetime import timedelta

from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook
from tests.gateway.scheduling.test_reminders import file, press
from tests.gateway.scheduling.test_requests import ask

GONE = "That reminder isn't set any more. `/jobs` shows the ones that are."


def button(daybook: Daybook, text: str, chat: str = OWNER) -> str:
    """What the button under the newest message with these words says when it is pressed."""
    [[found]] = [one.buttons for one in daybook.chat.standing(chat).values() if text in one.text][-1]
    assert found.label == "Cancel"
    assert len(found.data.encode()) <= 64
    return found.data


async def test_cancel_takes_a_reminder_back_also_after_a_restart(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        assert await ask(daybook, "/remind tomorrow 15:00 drink tea") == (
            "I'll remind you here tomorrow (Sun 22 Nov) at 15:00."
        )
        again = button(daybook, "I'll remind you")
        await gateway.kill()
    async with daybook.running():
        assert await press(daybook, "I'll remind you", "Cancel") == "Cancelled: drink tea"
        assert "id: drink-tea" not in file(daybook)
        assert await ask(daybook, again) == GONE
        assert not any(one.buttons for one in daybook.chat.standing(OWNER).values())


async def test_cancel_takes_back_a_recurring_one_also_while_it_is_paused(daybook: Daybook) -> None:
    async with daybook.running():
        said = await ask(daybook, "/remind every day 09:00 tea")
        assert said == "I'll remind you here every day at 09:00. Next: today at 09:00."
        await ask(daybook, "/jobs pause tea")
        assert await press(daybook, "I'll remind you", "Cancel") == "Cancelled: tea"
        assert "id: tea" not in file(daybook)


async def test_a_later_reminder_of_the_same_name_is_not_taken_back(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        await ask(daybook, "/remind in 10 minutes tea")
        first = button(daybook, "I'll remind you")
        daybook.moment.pass_(timedelta(minutes=10))
        await daybook.chat.wait_until(lambda: "⏰ tea" in daybook.chat.heard(OWNER))
        while "id: tea" in file(daybook):
            await gateway.ticks()
        await ask(daybook, "/remind tomorrow 15:00 tea")
        assert "id: tea" in file(daybook)
        assert await ask(daybook, first) == GONE
        assert "id: tea" in file(daybook)


async def test_nobody_cancels_what_is_anothers(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE], "groups": {GROUP: {"mention": "optional"}}}}
    async with daybook.running():
        await ask(daybook, "/remind tomorrow 15:00 tea")
        mine = button(daybook, "I'll remind you")
        assert await ask(daybook, mine, chat=ALICE, sender=ALICE) == GONE
        assert await ask(daybook, mine, chat=GROUP, group=True) == GONE
        assert "id: tea" in file(daybook)
