"""Where the heartbeat speaks, and from whose memory."""

from __future__ import annotations

from agent.model.base import ModelRequest
from agent.model.scripted import ScriptedModel
from tests.gateway.conftest import GROUP, OWNER, Daybook


def looked(request: ModelRequest) -> str:
    return "Who brings the cake?" if "cake" in str(request.messages) else "Your appointment is at 10."


async def test_it_speaks_in_a_group_from_the_memory_of_that_group(daybook: Daybook) -> None:
    daybook.model = ScriptedModel("Noted.", behind=looked)
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {"mention": "required", "allow": []}}}}
    daybook.settings["model"] = {"provider": "anthropic", "api_key": "sk-ant-0123456789abcdef"}
    daybook.settings["schedule"] = {"heartbeat": {"every": "2h", "to": ["owner", f"telegram:{GROUP}"]}}
    group = daybook.workspace / "groups" / f"telegram-{GROUP}"
    group.mkdir(parents=True)
    (daybook.workspace / "HEARTBEAT.md").write_text("- my doctor's appointment\n")
    (daybook.workspace / "MEMORY.md").write_text("- The safe's code is 4711\n")
    (group / "HEARTBEAT.md").write_text("- who brings the cake\n")
    async with daybook.running() as gateway:
        daybook.chat.say("We meet on Friday", GROUP, OWNER, group=True)
        await daybook.chat.wait_heard(1, chat=GROUP)
        await gateway.ask("schedule.run", id="heartbeat")
        assert (await daybook.chat.wait_heard(2, chat=GROUP))[-1] == "Who brings the cake?"
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["Your appointment is at 10."]
    mine, theirs = (str(one.messages) for one in daybook.model.silent if one.purpose == "heartbeat")
    assert "doctor" in mine and "cake" not in mine
    assert "cake" in theirs and "doctor" not in theirs and "4711" not in theirs
