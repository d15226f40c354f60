"""A process killed for real at each step of a flush, a compaction and a consolidation, and the next one."""

from __future__ import annotations

import json
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
    from pathlib import Path

    from agent.model.scripted import ScriptedAnswer, Call
    from tests.agent.long_conversation import SUMMARY, LongTalk

    root, die_at = Path(sys.argv[1]), sys.argv[2]

    def die(moment):
        if moment == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    rounds = 0

    def flush(request):
        global rounds
        rounds += 1
        die(f"flush {rounds}")
        calls = Call("memory_append", {"text": "Alice sails."}), Call("memory_list")
        return ScriptedAnswer(calls=calls) if rounds == 1 else "NO_REPLY"

    def summary(request):
        die("compaction")
        return SUMMARY

    def consolidation(request):
        die("consolidation")
        return "They spoke of boats."

    async def main() -> None:
        talk = LongTalk(root, first=100 * len(list(root.glob("run*"))))
        (root / f"run {die_at}").touch()
        talk.behind |= {"flush": flush, "compaction": summary, "consolidation": consolidation}
        async with talk.behind_it():
            await talk.until("compaction")
            await talk.say("and on")
        print("done")

    asyncio.run(main())
    """
)


def run(root: Path, die_at: str) -> subprocess.CompletedProcess[str]:
    return forked.run([sys.executable, "-c", SCRIPT, str(root), die_at], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.parametrize("moment", ["flush 1", "flush 2", "compaction", "consolidation"])
def test_killed_at_any_step_the_talk_goes_on_whole(tmp_path: Path, moment: str) -> None:
    killed = run(tmp_path, moment)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    after = run(tmp_path, "never")
    assert after.stdout == "done\n", after.stderr
    (path,) = (tmp_path / "sessions").rglob("*.jsonl")
    entries = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
    compactions = [entry for entry in entries if entry["type"] == "compaction"]
    ids = [entry["id"] for entry in entries]
    assert len(compactions) == 1 and compactions[0]["first_kept"] in ids and len(set(ids)) == len(ids)
    assert len([entry for entry in entries if entry.get("state") == "done"]) == 1
    history = (tmp_path / "workspace/memory/HISTORY.md").read_text()
    assert history.count("They spoke of boats.") == 1
    assert not list((tmp_path / "sessions").rglob("*.owed"))
    assert "Alice sails." in next((tmp_path / "workspace/memory").glob("2026-*.md")).read_text()
