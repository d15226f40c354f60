"""`/timezone`, and the clock of a home whose zone nobody chose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.model.scripted import Call
from gateway.config import Config, load
from gateway.config.whole import whole
from gateway.home import Home
from tests.gateway.commands.test_commands import ask
from tests.gateway.conftest import ALICE, Daybook, asked

HINT = "(By my clock it is 08:30; if that's wrong, say /timezone.)"


@dataclass
class Unset(Daybook):
    """On a machine in Berlin, where it is 8:30; nobody said where its person is."""

    @property
    def config(self) -> Config:
        return whole().model_validate(self.settings)


@pytest.fixture
def daybook(tmp_path: Path) -> Unset:
    return Unset(Home(tmp_path / "home"))


async def test_only_the_first_reminder_says_what_time_it_is(daybook: Unset) -> None:
    async with daybook.running():
        assert (await ask(daybook, "/remind in 20 minutes tea")).endswith(HINT)
    async with daybook.running():
        assert HINT not in await ask(daybook, "/remind in 30 minutes coffee"), "once, also over a restart"


async def test_a_zone_that_was_chosen_is_not_asked_about(tmp_path: Path) -> None:
    daybook = Daybook(Home(tmp_path / "chosen"))
    async with daybook.running():
        assert "By my clock" not in await ask(daybook, "/remind in 20 minutes tea")


async def test_who_cannot_change_the_clock_is_not_told(daybook: Unset) -> None:
    daybook.settings["people"] = {"alice": [f"telegram:{ALICE}"]}
    async with daybook.running():
        assert "By my clock" not in await ask(daybook, "/remind in 20 minutes tea", chat="2", sender=ALICE)
        assert "only for my owner" in await ask(daybook, "/timezone Tokyo", chat="2", sender=ALICE)
        assert HINT in await ask(daybook, "/remind in 20 minutes tea")


async def test_a_city_moves_the_clock_at_once_and_stays(daybook: Unset) -> None:
    async with daybook.running() as gateway:
        await ask(daybook, "/remind in 20 minutes tea", "/remind 9:30 standup", "/remind every day at 7 vitamins")
        assert await ask(daybook, "/timezone") == (
            "My clock is on Berlin: it is 08:30. If you are somewhere else, say where: `/timezone Tokyo`, "
            "or what time it is: `/timezone 14:30`."
        )
        said = await ask(daybook, "/timezone new york")
        assert said == "My clock is on New York now: it is 02:30. Reminders follow it."
        assert "at 09:45" in await ask(daybook, "/remind 9:45 bread")
        listed = await gateway.ask("schedule.list")
        assert isinstance(listed, list)
        due = {one["id"]: one["next_run"] for one in listed}
        assert due["bread"] == "2026-11-21T09:45:00-05:00", "set after it"
        assert due["standup"] == "2026-11-21T09:30:00-05:00", "an hour is that of the clock"
        assert due["vitamins"] == "2026-11-21T07:00:00-05:00"
        assert due["tea"] == "2026-11-21T02:50:00-05:00", "in 20 minutes is in 20 minutes"
    assert load(daybook.home, {}).config.timezone == "America/New_York"


async def test_what_may_be_several_is_asked_with_buttons(daybook: Unset) -> None:
    async with daybook.running():
        assert await ask(daybook, "/timezone Berln") == "I don't know a place called Berln. Is it one of these?"
        shown = list(daybook.chat.standing().values())[-1]
        assert shown.buttons[0][0].label == "Berlin (08:30)" and len(shown.buttons) == 3
        assert await ask(daybook, "/timezone 16:30") == "Where are you?"
        shown = list(daybook.chat.standing().values())[-1]
        labels = {row[0].label: row[0].data for row in shown.buttons}
        assert "Tokyo (16:30)" in labels
        assert await ask(daybook, labels["Tokyo (16:30)"]) == (
            "My clock is on Tokyo now: it is 16:30. Reminders follow it."
        )


async def test_a_model_that_sets_the_first_reminder_is_told_to_say_so(daybook: Unset) -> None:
    add = Call("schedule_add", {"kind": "message", "text": "tea", "when": {"at": "2026-11-21T15:00"}})
    daybook.model.then(add, "Done.", add, "Done.")
    async with daybook.running():
        await ask(daybook, "Take care of the tea at three, please", "And again")
    assert "it is 08:30 by my clock" in asked(daybook.model.requests[1])
    assert "by my clock" not in asked(daybook.model.requests[3])
