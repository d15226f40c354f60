"""A process killed for real in the middle of a turn, and the next one that takes the turn up."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import forked

SCRIPT = textwrap.dedent(
    """
    import asyncio, os, signal, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from agent.agent import Agent
    from agent.clock import Clock
    from agent.memory.scope import Audience, Scope
    from agent.model.base import ModelRequest, ToolSpec
    from agent.model.scripted import ScriptedAnswer, Call, ScriptedModel
    from agent.settings import AgentSettings
    from agent.tools.base import Tool, ToolResult
    from agent.values import SessionKey, TurnRequest, UserMessage

    root, die_at = Path(sys.argv[1]), sys.argv[2]

    def die(moment):
        if moment == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def answer(request: ModelRequest) -> ScriptedAnswer:
        made = sum(message.role == "assistant" for message in request.messages)
        die(f"model {made}")
        first = ScriptedAnswer("Counting.", (Call("count", {}, "a"), Call("count", {}, "b")))
        return (first, ScriptedAnswer("Counted."))[made]

    async def count(_, call) -> str:
        with (root / "counted").open("a") as file:
            file.write("x")
        done = (root / "counted").stat().st_size
        die(f"tool {done}")
        return ToolResult(f"number {done}")

    async def ignored(event) -> None:
        pass

    async def main() -> None:
        agent = Agent(AgentSettings(), root / "workspace", root / "sessions", ScriptedModel(otherwise=answer),
                      Clock(ZoneInfo("UTC")))
        said = (UserMessage("m1", "count twice", "Alice", "Terminal", datetime.now(UTC)),)
        tool = Tool(ToolSpec("count", "Counts.", {"type": "object", "properties": {}}), count)
        scope = Scope(Audience.OWNER, root / "workspace")
        request = TurnRequest("t1", SessionKey("main", "owner"), scope, said, tools=(tool,))
        end = await agent.turn(request, ignored)
        die("end")
        print(end.kind, end.text.replace("\\n", " "))

    asyncio.run(main())
    """
)


def run(root: Path, die_at: str) -> subprocess.CompletedProcess[str]:
    return forked.run([sys.executable, "-c", SCRIPT, str(root), die_at], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.parametrize(
    ("moment", "counted", "interrupted"),
    [("model 0", 2, 0), ("tool 1", 1, 2), ("tool 2", 2, 1), ("model 1", 2, 0), ("end", 2, 0)],
)
def test_invariant_04_a_killed_turn_is_ended_by_the_next_process(
    tmp_path: Path, moment: str, counted: int, interrupted: int
) -> None:
    (tmp_path / "workspace").mkdir()
    killed = run(tmp_path, moment)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    after = run(tmp_path, "never")
    assert after.stdout == "reply Counting.  Counted.\n", after.stderr
    assert (tmp_path / "counted").stat().st_size == counted
    (path,) = (tmp_path / "sessions").rglob("*.jsonl")
    journal = path.read_text()
    assert journal.count("count twice") == 1
    assert journal.count("Interrupted by a restart") == interrupted
