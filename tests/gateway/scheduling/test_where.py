"""A reminder rings where it was asked for, says so, and looks like one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.model.scripted import Call
from tests.gateway.conftest import GROUP, OWNER, Daybook
from tests.gateway.scheduling.test_reminders import press
from tests.gateway.scheduling.test_requests import ask, result

AT_WORK = "44"


async def test_it_rings_where_it_was_asked_for_also_where_its_owner_wrote_elsewhere_since(daybook: Daybook) -> None:
    daybook.settings["people"] = {"alice": [f"telegram:{OWNER}", f"telegram:{AT_WORK}"]}
    async with daybook.running():
        said = await ask(daybook, "/remind tomorrow 15:00 call mum", chat=AT_WORK, sender=AT_WORK)
        assert said == "I'll remind you here tomorrow (Sun 22 Nov) at 15:00."
        assert f"to: telegram:{AT_WORK}" in (daybook.workspace / "schedule.yaml").read_text("utf-8")
        await ask(daybook, "/whoami")
        daybook.moment.pass_(timedelta(days=1, hours=6, minutes=30))
        await daybook.chat.wait_until(lambda: "⏰ call mum" in daybook.chat.heard(AT_WORK))
        assert not any("call mum" in text for text in daybook.chat.heard(OWNER))
        assert (await press(daybook, "call mum", "In 10 minutes", AT_WORK, AT_WORK)).startswith(
            "⏰ call mum\n\n_⏰ I'll remind you again today at 15:10"
        )
        await ask(daybook, "/whoami")
        daybook.moment.pass_(timedelta(minutes=10))
        await daybook.chat.wait_until(lambda: "⏰ call mum" in daybook.chat.heard(AT_WORK)[2:])


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("today 15:00", "here today at 15:00."),
        ("in 20 minutes", "here today at 08:50."),
        ("2026-12-24 18:00", "here on Thu 24 Dec at 18:00."),
        ("every day 09:00", "here every day at 09:00. Next: today at 09:00."),
    ],
)
async def test_it_says_where_and_when(daybook: Daybook, when: str, told: str) -> None:
    async with daybook.running():
        assert f"I'll remind you {told}" in await ask(daybook, f"/remind {when} tea")


async def test_the_model_is_told_where_and_so_it_is_for_a_group(daybook: Daybook) -> None:
    daybook.group()
    tea = {"kind": "message", "text": "Tea", "when": {"at": "2026-11-22T15:00"}}
    async with daybook.running():
        for to, where in (({}, "in this chat"), ({"to": f"telegram:{OWNER}"}, "in this chat")):
            daybook.model.then(Call("schedule_add", tea | to), "Good.")
            await ask(daybook, "tea tomorrow at three")
            assert f"{where}. Next: tomorrow (Sun 22 Nov) at 15:00, 2026-11-22 Sun 15:00" in result(
                daybook.model.requests[-1]
            )
        daybook.model.then(Call("schedule_add", tea | {"to": f"telegram:{GROUP}"}), "Good.")
        await ask(daybook, "tea for all")
        assert f"to telegram:{GROUP}. Next: tomorrow (Sun 22 Nov) at 15:00" in result(daybook.model.requests[-1])
        said = await ask(daybook, "/remind tomorrow 15:00 cake", chat=GROUP, group=True)
        assert "here tomorrow (Sun 22 Nov) at 15:00" in said
        daybook.moment.pass_(timedelta(days=1, hours=6, minutes=30))
        await daybook.chat.wait_until(lambda: {"⏰ Tea", "⏰ cake"} <= set(daybook.chat.heard(GROUP)))
