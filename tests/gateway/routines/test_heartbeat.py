"""Where the heartbeat speaks, and from whose memory."""

from __future__ import annotations

from tests.gateway.conftest import GROUP, OWNER, Daybook


async def test_it_speaks_in_a_group_from_the_memory_of_that_group(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {"mention": "required", "allow": []}}}}
    daybook.settings["schedule"] = {"heartbeat": {"every": "2h", "to": ["owner", f"telegram:{GROUP}"]}}
    daybook.workspace.mkdir(parents=True, exist_ok=True)
    (daybook.workspace / "HEARTBEAT.md").write_text("- my doctor's appointment\n")
    (daybook.workspace / "MEMORY.md").write_text("- The safe's code is 4711\n")
    async with daybook.running() as gateway:
        daybook.model.then("Noted.")
        daybook.chat.say("We meet on Friday", GROUP, OWNER, group=True)
        await daybook.chat.wait_heard(1, chat=GROUP)
        group = daybook.workspace / "groups" / f"telegram-{GROUP}"
        group.mkdir(parents=True, exist_ok=True)
        (group / "HEARTBEAT.md").write_text("- who brings the cake\n")
        daybook.model.then("Your appointment is at 10.")
        daybook.model.then("Who brings the cake?")
        await gateway.ask("schedule.run", id="heartbeat")
        assert (await daybook.chat.wait_heard(2, chat=GROUP))[-1] == "Who brings the cake?"
    mine, theirs = daybook.asked(-2), daybook.asked(-1)
    assert "doctor" in mine and "cake" not in mine
    assert "cake" in theirs and "doctor" not in theirs and "4711" not in theirs
    assert daybook.chat.heard(OWNER) == ["Your appointment is at 10."]
