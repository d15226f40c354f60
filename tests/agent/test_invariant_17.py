"""Invariant 17: no file is written by who no longer owns it. Two writers; one stands still at any step of its write."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from agent.fs import rewrite
from agent.memory import files
from agent.session.entries import Header, MessageEntry
from agent.session.transcript import Transcript

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be stopped here")

HEADER = Header("i", "owner", "main", "2026-11-21T08:30:00.000Z")
TODAY = date(2026, 11, 21)
STEPS = 40
"""More than any of these writes takes."""
WRITERS = """
import asyncio, fcntl, os, signal, sys
from datetime import date
from pathlib import Path
from agent.fs import guarded, rewrite
from agent.memory import files
from agent.session.entries import MessageEntry
from agent.session.transcript import Transcript

top, kind, leased, steps = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "leased", int(sys.argv[4])

def write(folder, step):
    done = 0

    def stands_still():
        nonlocal done
        done += 1
        if done == step:
            os.kill(os.getpid(), signal.SIGSTOP)

    def stepwise(owner, name):
        real = getattr(owner, name)

        def one(*args, **named):
            if name == "write" and done + 1 == step:  # in the middle of the bytes
                written = real(args[0], args[1][: len(args[1]) // 2])
                stands_still()
                return written
            stands_still()
            return real(*args, **named)

        setattr(owner, name, one)

    def may_write():
        if leased and (folder / "taken").exists():
            raise OSError(116, "another has taken over")

    transcript = Transcript.read(folder / "talk.jsonl")
    said = MessageEntry(transcript.new_id(), "t", "user", ({"type": "text", "text": "stale"},))
    for name in ("open", "write", "fsync", "replace", "unlink", "fstat"):
        stepwise(os, name)
    stepwise(fcntl, "flock")
    try:
        with guarded(may_write):
            match kind:
                case "talk.jsonl":
                    asyncio.run(transcript.append(said))
                case "log.md":
                    files.append(folder / kind, folder, lambda _: "- stale\\n", "")
                case "MEMORY.md":
                    files.rewrite(folder / kind, folder, date(2026, 11, 21), lambda before: before + b"stale\\n")
                case "state.json":
                    rewrite(folder / kind, lambda before: (before or b"") + b"stale\\n")
    except Exception as error:
        done = 10_000
        (folder / "why").write_text(repr(error))

pids = []
for step in range(1, steps + 1):
    if not (pid := os.fork()):
        try:
            write(top / str(step), step)
        finally:
            os._exit(0)
    pids.append(pid)
stopped = [pid for pid in pids if os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])]
print(len(stopped), flush=True)
sys.stdin.readline()
for pid in stopped:
    os.kill(pid, signal.SIGCONT)
for pid in stopped:
    os.waitpid(pid, 0)
"""
"""Forks one writer for each step, which stands still there, and lets all go on when it is told so."""


def entry(transcript: Transcript, text: str) -> MessageEntry:
    return MessageEntry(transcript.new_id(), "t", "user", ({"type": "text", "text": text},))


def prepared(folder: Path) -> None:
    folder.mkdir()
    Transcript.create(folder / "talk.jsonl", HEADER)
    (folder / "MEMORY.md").write_bytes(b"first\n")
    (folder / "log.md").write_bytes(b"first\n")
    (folder / "state.json").write_bytes(b"first\n")


def take_over(folder: Path, kind: str) -> bytes:
    """What the next owner does: reads, and writes twice. Returns what stands there then."""

    async def talk() -> None:
        transcript = Transcript.read(folder / kind)
        for text in ("second", "third"):
            await transcript.append(entry(transcript, text))

    def more(text: str) -> Callable[[bytes | None], bytes]:
        return lambda before: (before or b"") + f"{text}\n".encode()

    (folder / "taken").touch()
    if kind == "talk.jsonl":
        asyncio.run(talk())
    for text in ("second", "third"):
        match kind:
            case "log.md":
                files.append(folder / kind, folder, lambda _, text=text: f"- {text}\n", "")  # type: ignore[misc]
            case "MEMORY.md":
                files.rewrite(folder / kind, folder, TODAY, more(text))
            case "state.json":
                rewrite(folder / kind, more(text))
    return (folder / kind).read_bytes()


@pytest.mark.parametrize(
    ("kind", "leased"),
    [
        ("talk.jsonl", "leased"),
        ("talk.jsonl", "unaware"),
        ("log.md", "leased"),
        ("MEMORY.md", "leased"),
        ("state.json", "leased"),
    ],
)
@pytest.mark.timeout(300)  # many processes; some hold a lock for which the other waits
def test_invariant_17_who_stood_still_writes_nothing_after_the_next_owner(
    tmp_path: Path, kind: str, leased: str
) -> None:
    """`unaware`: it has not noticed that its lease is over, and only the file's size tells."""
    folders = [tmp_path / str(step) for step in range(1, STEPS + 1)]
    for folder in folders:
        prepared(folder)
    argv = [sys.executable, "-c", WRITERS, str(tmp_path), kind, leased, str(STEPS)]
    writers = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writers.stdout is not None
    assert 5 < int(writers.stdout.readline()) < STEPS, "every step was tried"
    with ThreadPoolExecutor(STEPS) as threads:
        taken = list(threads.map(lambda folder: take_over(folder, kind), folders))
    writers.communicate("go on\n")
    for folder, content in zip(folders, taken, strict=True):
        now = (folder / kind).read_bytes()
        assert now == content, f"{folder.name}: {now[-200:]!r} after {content[-200:]!r}"
        assert now.count(b"second") == now.count(b"third") == 1 and now.index(b"second") < now.index(b"third")
        assert b"stale" not in now or now.index(b"stale") < now.index(b"second"), folder.name
        if kind == "talk.jsonl":
            read = Transcript.read(folder / kind)
            ids = [found.id for found in read.entries]
            assert len(ids) == len(set(ids)) and not read.damage
