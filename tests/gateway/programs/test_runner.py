"""What programs do to a machine, with and without a sandbox: each ends, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.memory.scope import Audience, Scope
from gateway.home import Home
from gateway.processes import launch
from gateway.processes.started import launch as launch_program
from gateway.programs.output import MOST_SHOWN, ProgramOutput
from gateway.programs.runner import HowEnded, ProgramCall, ProgramEnd, ProgramLimits, ProgramRunner
from gateway.programs.sandbox import Sandbox, find_sandbox, works
from tests.fakes import started_again
from tests.strength import requires

PYTHON = "/usr/bin/python3"
LIMITS = ProgramLimits(processes=20, memory=300_000_000, file_size=10_000_000)
MARK = f"daybook-test-{os.getpid()}-"
"""In the command line of what must not be left; other runs of these tests have others."""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")


class World:
    def __init__(self, home: Home, sandbox: Sandbox) -> None:
        self.home = home
        self.workspace = home.path / "workspace"
        self.workspace.mkdir(parents=True)
        self.scope = Scope(Audience.OWNER, self.workspace)
        self.runner = ProgramRunner(sandbox, home.programs, LIMITS)
        self.output = ProgramOutput()

    async def runs(self, *argv: str, seconds: int = 60, folder: str = "", network: bool = False) -> ProgramEnd:
        self.output = ProgramOutput()
        return await self.runner.run(ProgramCall(argv, folder, network, seconds), self.scope, self.output)

    @property
    def printed(self) -> str:
        return self.output.shown()


@pytest.fixture(params=["sandbox", "none"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    home = Home(tmp_path / "home")
    home.create()
    sandbox = find_sandbox(home) if request.param == "sandbox" else Sandbox()
    if request.param == "sandbox" and not sandbox.bwrap:
        requires("bubblewrap")
        pytest.skip("bubblewrap may make no sandbox here: allow user namespaces, or run as root")
    return World(home, sandbox)


@pytest.fixture
def boxed(tmp_path: Path) -> World:
    home = Home(tmp_path / "home")
    home.create()
    sandbox = find_sandbox(home)
    if not sandbox.bwrap:
        requires("bubblewrap")
        pytest.skip("bubblewrap may make no sandbox here: allow user namespaces, or run as root")
    return World(home, sandbox)


def left(*besides: int) -> list[str]:
    """Command lines that have the mark, without ours and those `besides`."""
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdigit() and int(one.name) not in (os.getpid(), *besides):
            try:
                words = (one / "cmdline").read_bytes()
            except OSError:
                continue
            if MARK.encode() in words:
                found.append(words.decode().replace("\0", " "))
    return found


def until(happened: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)


def holders(inode: int) -> set[int]:
    """Who has this socket open."""
    found = set()
    for process in (one for one in Path("/proc").iterdir() if one.name.isdigit()):
        with contextlib.suppress(OSError):  # it has ended
            for descriptor in (process / "fd").iterdir():
                with contextlib.suppress(OSError):  # that is closed
                    if str(descriptor.readlink()) == f"socket:[{inode}]":
                        found.add(int(process.name))
    return found


async def test_exit_codes_and_both_outputs_in_order(world: World) -> None:
    assert await world.runs("sh", "-c", "echo one; echo two >&2; exit 3") == ProgramEnd(HowEnded.EXITED, 3)
    assert world.printed == "one\ntwo\n"
    assert not list(world.home.programs.iterdir()), "its /tmp is gone"


async def test_it_has_no_terminal_and_nothing_to_read(world: World) -> None:
    await world.runs(PYTHON, "-c", "import sys; print(repr(sys.stdin.read()), sys.stdin.isatty()); open('/dev/tty')")
    assert "'' False" in world.printed and "No such device or address" in world.printed


async def test_what_ignores_sigterm_is_killed_when_its_time_is_over(world: World) -> None:
    end = await world.runs("sh", "-c", f"trap '' TERM; echo begun; while :; do sleep 1; done # {MARK}", seconds=1)
    assert end.how is HowEnded.TIMEOUT and world.printed == "begun\n"
    assert left() == []


async def test_what_heeds_sigterm_may_end_by_itself(world: World) -> None:
    end = await world.runs("sh", "-c", "trap 'echo saved; exit 0' TERM; while :; do sleep 0.05; done", seconds=1)
    assert end.how is HowEnded.TIMEOUT and "saved" in world.printed


async def test_what_has_left_its_group_ends_too(world: World) -> None:
    code = f"import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(300)  # {MARK}\n"
    assert await world.runs(PYTHON, "-c", code) == ProgramEnd(HowEnded.EXITED)
    assert left() == []


async def test_what_hops_from_process_to_process_ends_too(world: World) -> None:
    """A list of processes may show neither the one that has just ended nor the one that it has started."""
    hops = "for _ in range(400):\n  if os.fork() != 0: os._exit(0)\n"
    assert await world.runs(PYTHON, "-c", f"import os, time\n{hops}time.sleep(300)  # {MARK}") == ProgramEnd(
        HowEnded.EXITED
    )
    assert left() == []


async def test_one_that_gives_its_output_to_somebody_else_ends_all_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    world = World(home, Sandbox())
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as keeper:
        keeper.bind(f"{short}/keeper")
        keeper.listen()
        code = (
            "import socket\nprint('given', flush=True)\none = socket.socket(socket.AF_UNIX)\n"
            f"one.connect('{short}/keeper')\nsocket.send_fds(one, [b'x'], [1])\n"
        )
        async with asyncio.timeout(60):
            assert await world.runs(PYTHON, "-c", code) == ProgramEnd(HowEnded.EXITED)
        assert world.printed == "given\n"
        taken, _ = keeper.accept()
        with taken:
            _, descriptors, _, _ = socket.recv_fds(taken, 1, 1)
        os.close(descriptors[0])


async def test_too_many_processes_end_it(world: World) -> None:
    code = f"import os, time\nfor _ in range(60):\n  if os.fork() == 0: time.sleep(300)\ntime.sleep(300)  # {MARK}"
    assert (await world.runs(PYTHON, "-c", code)).how is HowEnded.PROCESSES
    assert left() == []


async def test_a_process_gets_so_much_memory_and_all_together_too(world: World) -> None:
    await world.runs(PYTHON, "-c", "bytearray(400_000_000)")
    assert "MemoryError" in world.printed
    code = "import os, time\nfor _ in range(3): os.fork()\nx = b'x' * 100_000_000\ntime.sleep(300)"
    assert (await world.runs(PYTHON, "-c", code)).how is HowEnded.MEMORY


async def test_no_file_grows_beyond_its_limit(world: World) -> None:
    assert (await world.runs("sh", "-c", "head -c 10000000000 /dev/zero > big")).how is HowEnded.FILE_SIZE
    assert (world.workspace / "big").stat().st_size == LIMITS.file_size


async def test_a_gigabyte_is_read_and_both_ends_are_shown(world: World) -> None:
    end = await world.runs("sh", "-c", "echo first; head -c 1000000000 /dev/zero; echo last")
    assert end == ProgramEnd(HowEnded.EXITED)
    assert world.printed.startswith("first\n") and world.printed.endswith("last\n")
    assert len(world.printed) < MOST_SHOWN + 200 and "1,000,000,011 bytes in all" in world.printed
    assert len(world.output.whole) == 4_000_000


async def test_what_cannot_be_started_says_why(world: World) -> None:
    (world.workspace / "broken").write_bytes(b"\x7fELF no program")
    (world.workspace / "broken").chmod(0o755)
    end = await world.runs("./broken")
    assert end == ProgramEnd(HowEnded.REFUSED, why="Exec format error") or end.code == 127


async def test_no_key_of_ours_is_in_its_environment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_KEY", "canary")
    await world.runs("env")
    names = {line.partition("=")[0] for line in world.printed.splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "TERM", "LANG", "LC_ALL", "TZ", "PWD"}


async def test_cancelled_it_ends_the_program(world: World) -> None:
    task = asyncio.create_task(world.runs("sh", "-c", f"echo begun > begun; while :; do sleep 1; done # {MARK}"))
    await asyncio.to_thread(until, lambda: (world.workspace / "begun").exists())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left() == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGCONT])
async def test_it_ends_with_its_gateway(world: World, how: signal.Signals) -> None:
    """One that is killed, or starts itself again under its number."""
    program = ("sh", "-c", f"trap '' TERM; setsid sh -c 'sleep 300 # {MARK}' & echo begun > begun; wait # {MARK}")
    body = f"""
import asyncio, os, sys
from pathlib import Path
from gateway.processes.started import launch
from tests.fakes import started_again

async def main():
    started_again.at_sigcont()
    folder = Path({str(world.workspace)!r})
    launched = await launch(sys.argv[1:], stdin=asyncio.subprocess.DEVNULL, env=os.environ, cwd=folder)
    await launched.process.wait()

asyncio.run(main())
"""
    arguments = world.runner._prepare(ProgramCall(program, "", False, 60), world.scope, world.home.programs / "own")[0]
    gateway = await asyncio.create_subprocess_exec(
        sys.executable, "-c", body, *arguments, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    await asyncio.to_thread(until, lambda: (world.workspace / "begun").exists())
    gateway.send_signal(how)
    if how is signal.SIGCONT:
        assert gateway.stdout is not None and await gateway.stdout.readline() == started_again.SAID
    await asyncio.to_thread(until, lambda: left(gateway.pid) == [])
    if how is signal.SIGCONT:
        gateway.kill()
    await gateway.wait()


@pytest.mark.parametrize("kind", [("program", "9", "9", "9"), ("server", "2")])
async def test_the_launcher_starts_nothing_for_a_dead_starter(tmp_path: Path, kind: tuple[str, ...]) -> None:
    held, starter = socket.socketpair()
    held.close()
    with starter:
        words = (str(starter.fileno()), *kind, "touch", str(tmp_path / "made"))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", launch.__file__, *words), pass_fds=(starter.fileno(),)
        )
    assert await process.wait() == 1 and not (tmp_path / "made").exists()


async def test_what_tells_a_launcher_that_we_live_is_held_by_nobody_else() -> None:
    """Neither by launchers that are started at the same time, nor by what they start."""
    no_limits = tuple(["9000000000000000000"] * 3)
    several = await asyncio.gather(
        *(
            launch_program(words, stdin=asyncio.subprocess.DEVNULL, env=os.environ, cwd=Path("/"))
            for words in [("program", *no_limits, "sh", "-c", "echo begun; sleep 300")] * 2
            + [("server", "2", "sh", "-c", "echo begun; sleep 300")] * 2
        )
    )
    for one in several:
        assert one.process.stdout is not None and await one.process.stdout.readline() == b"begun\n"
    for one in several:
        assert await asyncio.to_thread(holders, os.fstat(one.held.fileno()).st_ino) == {os.getpid()}
    for one in several:
        one.held.close()
        await one.process.wait()
        one.close()


# the sandbox ---------------------------------------------------------------------------------------------------------


async def test_it_sees_neither_homes_nor_ours(boxed: World) -> None:
    (boxed.home.path / ".env").write_text("KEY=canary\n")
    await boxed.runs("sh", "-c", f"cat {boxed.home.path}/.env; ls -A {boxed.home.path}; ls -A /home; echo $HOME")
    assert "canary" not in boxed.printed and "state" not in boxed.printed
    await boxed.runs("sh", "-c", "cat /proc/*/environ | tr '\\0' '\\n'; ls -d /proc/[0-9]*")
    assert "PYTEST" not in boxed.printed and "/proc/1\n" in boxed.printed
    assert boxed.printed.count("/proc/") <= 4, "it sees no process but its own"


async def test_it_writes_nothing_but_its_folder_and_its_tmp(boxed: World) -> None:
    await boxed.runs(
        "sh", "-c", "for at in /usr /etc /dev /home /root .. ; do echo x > $at/made && echo wrote $at; done"
    )
    assert "wrote" not in boxed.printed
    await boxed.runs("sh", "-c", "echo x > /tmp/made-by-a-test; echo x > /dev/shm/made; echo x > made; ls /tmp")
    assert "made-by-a-test" in boxed.printed and (boxed.workspace / "made").exists()
    assert not await asyncio.to_thread(Path("/tmp/made-by-a-test").exists)


@pytest.mark.parametrize(("network", "found"), [(False, "Network is unreachable"), (True, "connected")])
async def test_it_has_a_network_only_if_that_was_asked_for(boxed: World, network: bool, found: str) -> None:
    async with await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('connected')"
        await boxed.runs(PYTHON, "-c", code, network=network)
        code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"
        assert ("connected" in boxed.printed) is network
        await boxed.runs(PYTHON, "-c", code, network=network)
        assert ("Network is unreachable" in boxed.printed) is not network


async def test_rules_skills_and_folders_of_others_are_read_only(boxed: World) -> None:
    for name in ("skills", "groups", "people"):
        (boxed.workspace / name).mkdir()
    for name in ("AGENTS.md", "Schedule.yaml", "notes.md"):
        (boxed.workspace / name).write_text("mine\n")
    files = "AGENTS.md Schedule.yaml notes.md skills/a groups/a people/a"
    script = f"for at in {files}; do echo x >> $at && echo wrote $at; done"
    await boxed.runs("sh", "-c", f"{script}; mv AGENTS.md gone; rm -r skills")
    assert [line for line in boxed.printed.splitlines() if line.startswith("wrote")] == ["wrote notes.md"]
    assert (boxed.workspace / "AGENTS.md").read_text() == "mine\n" and (boxed.workspace / "skills").is_dir()


def test_a_bubblewrap_that_does_not_work_is_none(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert works(str(broken)) == "" and works(str(tmp_path / "none")) == "" and works(None) == ""
