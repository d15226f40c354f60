"""`kill -9` while a file is fetched, while another is read, and while the model answers: nothing that was done is done
again, and the turn goes on."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.model.base import ModelRequest
from agent.model.scripted import Hold, ScriptedAnswer
from channels.message import Attachment
from channels.scripted import ScriptedChannel
from gateway.home import Home
from tests import files, forked
from tests.gateway.conftest import Daybook
from tests.gateway.turns.test_turns import until

_FETCH, _READ, _MODEL = "fetch", "read", "model"


class Telling(ScriptedChannel):
    """Tells on stdout what is fetched; the second file, where that is the stage, never arrives."""

    def __init__(self, stage: str, home: Home) -> None:
        super().__init__("telegram")
        self._stage = stage
        self._home = home

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        if attachment.name == "b" and self._stage == _FETCH:
            notes = self._home.media / "arrived"
            await until(lambda: any('"document"' in note.read_text() for note in notes.glob("*.json")))
        print("fetch", attachment.name, flush=True)
        if attachment.name == "b" and self._stage == _FETCH:
            await asyncio.Event().wait()
        await super().fetch(attachment, to, most)


async def gateway(home: Home, stage: str) -> None:
    """One life of the gateway, in a process of its own."""
    daybook = Daybook(home)
    daybook.chat = chat = Telling(stage, home)
    # Where it is killed when the recording is heard, the document is read by then.
    read = (
        f"""until grep -qs '"document"' '{home.media}'/arrived/*.json; do sleep 0.01; done;""" if stage == _READ else ""
    )
    script = f"{read} echo heard >&3; {'sleep 600;' if stage == _READ else ''} echo buy milk # $1"
    daybook.settings["media"] = {
        "transcribe": {"command": ["sh", "-c", f"exec 3>>{home.path}.heard; {script}", "{file}"]}
    }

    def answer(request: ModelRequest) -> ScriptedAnswer:
        print("asked", flush=True)
        assert "the text" in str(request.messages) and "buy milk" in str(request.messages)
        return ScriptedAnswer("Hello.", hold=Hold() if stage == _MODEL else None)

    daybook.model.then(answer)
    async with daybook.running():
        came = [chat.attach(b"the text", "a"), chat.attach(files.OGG, "b", "voice")]
        chat.say("Here", id="m1", attachments=came)
        await chat.wait_heard()
        print("replied", *chat.heard(), flush=True)


def recordings(home: Home) -> list[str]:
    """A line for each time that the transcriber was started."""
    file = Path(f"{home.path}.heard")
    return file.read_text().split() if file.exists() else []


async def lived(home: Home, stage: str, end: str) -> list[str]:
    """What a life tells until it is killed at a line, or ends."""
    environment: Mapping[str, str] = {**os.environ, "PYTHONUTF8": "1"}
    process = await forked.create_subprocess_exec(
        *(sys.executable, "-m", "tests.gateway.turns.test_attachments_crash", str(home.path), stage),
        stdout=asyncio.subprocess.PIPE,
        env=environment,
    )
    told: list[str] = []
    assert process.stdout is not None
    try:
        async with asyncio.timeout(120):
            if end == "heard":
                await until(lambda: bool(recordings(home)))
                process.kill()
            async for line in process.stdout:
                told.append(line.decode().strip())
                if told[-1] == end:
                    process.kill()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    return told


@pytest.mark.parametrize(
    ("stage", "end", "fetched_b", "heard"),
    [(_FETCH, "fetch b", 2, 1), (_READ, "heard", 1, 2), (_MODEL, "asked", 1, 1)],
)
async def test_killed_at_any_stage(tmp_path: Path, stage: str, end: str, fetched_b: int, heard: int) -> None:
    home = Home(tmp_path / "home")
    told = await lived(home, stage, end)
    assert "replied Hello." not in told
    told += await lived(home, "", "")
    counted = Counter(told)
    assert (counted["fetch a"], counted["fetch b"]) == (1, fetched_b)
    assert counted["replied Hello."] == 1
    assert len(recordings(home)) == heard
    journal = "".join(path.read_text() for path in home.sessions.rglob("*.jsonl"))
    assert journal.count('"said":') == 1


if __name__ == "__main__":
    asyncio.run(gateway(Home(Path(sys.argv[1])), sys.argv[2]))
