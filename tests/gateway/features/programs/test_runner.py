"""What programs do to a machine, with and without a sandbox: each ends, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock
from agent.memory import files
from agent.memory.consents import Consents
from agent.memory.history import Author, History
from agent.memory.scope import Audience, Scope
from gateway.config import Config
from gateway.config.whole import whole
from gateway.features.programs.output import MOST_SHOWN, ProgramOutput
from gateway.features.programs.runner import HowEnded, ProgramCall, ProgramEnd, ProgramLimits, ProgramRunner
from gateway.features.programs.sandbox import Sandbox, find_sandbox, works
from gateway.features.programs.workspace import Workspaces, Written, remove_left_names
from gateway.home import Home
from gateway.processes import launch
from gateway.processes.started import launch as launch_program
from tests.fakes import started_again
from tests.strength import requires

PYTHON = "/usr/bin/python3"
CLOCK = Clock(ZoneInfo("Europe/Berlin"))
LIMITS = ProgramLimits(processes=20, memory=300_000_000, file_size=10_000_000)
MARK = f"daybook-test-{os.getpid()}-"
"""In the command line of what must not be left; other runs of these tests have others."""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")


class World:
    def __init__(self, home: Home, sandbox: Sandbox, workspace: Path | None = None) -> None:
        self.home = home
        self.workspace = workspace or home.path / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.scope = Scope(Audience.OWNER, self.workspace)
        history, consents = History(home.state / "history.db", CLOCK), Consents(home.state / "consents.db", CLOCK)
        self.workspaces = Workspaces([Written(self.workspace, history, consents)])
        self.runner = ProgramRunner(sandbox, self.workspaces, home.programs, LIMITS)
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
    if request.param == "sandbox":
        requires("bubblewrap")
    return World(home, find_sandbox(home, Config()) if request.param == "sandbox" else Sandbox())


@pytest.fixture
def boxed(tmp_path: Path) -> World:
    requires("bubblewrap")
    home = Home(tmp_path / "home")
    home.create()
    return World(home, find_sandbox(home, Config()))


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


def until(happened: Callable[[], bool], seconds: float = 120.0) -> None:
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
    end = await world.runs("sh", "-c", "echo first; head -c 1000000000 /dev/zero; echo last", seconds=600)
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
    own = {one for one in names if one.startswith(("GIT_", "PYTHONDONTWRITEBYTECODE"))}
    assert names - own <= {"PATH", "HOME", "TMPDIR", "TERM", "LANG", "LC_ALL", "TZ", "PWD"}


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
    stack = contextlib.ExitStack()
    arguments, _ = world.runner.prepare(ProgramCall(program, "", False, 60), world.scope, stack)
    gateway = await asyncio.create_subprocess_exec(
        sys.executable, "-c", body, *arguments, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[4]
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


async def test_it_sees_what_is_listed_and_nothing_else(boxed: World, tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "canary.tar.gz").write_text("canary")
    await boxed.runs("sh", "-c", f"ls -A / /etc; ls -A {tmp_path} {tmp_path}/backups; ls -A /srv /mnt /var /root /work")
    root, _, rest = boxed.printed.partition("/etc:\n")
    shown = set(root.split()) - {"/:"}
    above = {tmp_path.parts[1]}
    assert (
        shown <= {"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "sbin", "tmp", "usr"} | above
    )
    etc = rest.partition("\n\n")[0].split("\n")
    assert "shadow" not in etc and "hosts" not in etc and "resolv.conf" not in etc and "passwd" in etc
    assert "canary" not in boxed.printed


async def test_names_of_the_network_are_there_with_a_network_only(boxed: World) -> None:
    await boxed.runs("sh", "-c", "cat /etc/hosts", network=True)
    assert "localhost" in boxed.printed
    await boxed.runs("sh", "-c", "cat /etc/hosts")
    assert "localhost" not in boxed.printed


@pytest.mark.parametrize("name", ["kernel/core_pattern", "kernel/hostname", "vm/drop_caches", "net/ipv4/ip_forward"])
async def test_the_system_s_settings_are_read_only_even_to_root(boxed: World, name: str) -> None:
    there = f"/proc/sys/{name}"
    await boxed.runs(PYTHON, "-c", f"import os; os.open({there!r}, os.O_WRONLY)")
    assert "Read-only file system" in boxed.printed or "Permission denied" in boxed.printed


def listed(workspace: Path) -> set[str]:
    return {one.name for one in workspace.iterdir()}


async def test_rules_that_are_not_there_cannot_be_made(boxed: World) -> None:
    names = "AGENTS.md CLAUDE.md SOUL.md IDENTITY.md TOOLS.md HEARTBEAT.md schedule.yaml"
    names = f"{names} skills/x/SKILL.md groups/x/GROUP.md people/x/PERSON.md"
    evil = f"mkdir -p skills/x groups/x people/x; for at in {names}; do echo evil > $at && echo wrote $at; "
    evil += "mv fine.txt $at && echo moved $at; rm -rf $at; ln -s fine.txt $at && echo linked $at; done"
    (boxed.workspace / "fine.txt").write_text("fine")
    await boxed.runs("bash", "-c", f"{evil}; rm -rf skills groups; mkdir skills/y; echo fine > made.txt")
    for word in ("wrote", "moved", "linked"):
        assert word not in boxed.printed
    assert listed(boxed.workspace) == {"fine.txt", "made.txt"}, "what was made for it is gone again"


async def test_what_is_made_for_two_programs_stays_for_the_longer_one(boxed: World) -> None:
    os.mkfifo(boxed.workspace / "go")
    long = ("sh", "-c", "echo begun > begun; read word < go; mkdir -p skills/x; echo evil > CLAUDE.md; echo $word")
    other = ProgramOutput()
    task = asyncio.create_task(boxed.runner.run(ProgramCall(long, "", False, 60), boxed.scope, other))
    await asyncio.to_thread(until, lambda: (boxed.workspace / "begun").exists())
    await boxed.runs("sh", "-c", "echo short")
    assert {"CLAUDE.md", "skills"} <= listed(boxed.workspace)
    await asyncio.to_thread((boxed.workspace / "go").write_text, "on\n")
    await task
    assert "on" in other.shown() and "Read-only" in other.shown()
    assert listed(boxed.workspace) == {"go", "begun"}


async def test_a_name_that_got_a_text_meanwhile_stays(boxed: World) -> None:
    os.mkfifo(boxed.workspace / "go")
    task = asyncio.create_task(boxed.runs("sh", "-c", "echo begun > begun; read word < go"))
    await asyncio.to_thread(until, lambda: (boxed.workspace / "begun").exists())
    (boxed.workspace / "schedule.yaml").write_text("jobs: []\n")
    (boxed.workspace / "skills" / "mine").mkdir()
    await asyncio.to_thread((boxed.workspace / "go").write_text, "on\n")
    await task
    assert listed(boxed.workspace) == {"go", "begun", "schedule.yaml", "skills"}


def test_what_a_killed_gateway_has_made_is_removed(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("")
    for name in ("CLAUDE.md", "AGENTS.md"):
        (tmp_path / name).write_text("" if name == "CLAUDE.md" else "mine")
        os.utime(tmp_path / name, ns=(0, 0))
    remove_left_names(tmp_path)
    assert listed(tmp_path) == {"SOUL.md", "AGENTS.md"}


@pytest.mark.parametrize("target", ["rules/deep/AGENTS.md", "notes.md"])
async def test_rules_that_are_links_stay_what_they_are(boxed: World, target: str) -> None:
    (boxed.workspace / target).parent.mkdir(parents=True, exist_ok=True)
    (boxed.workspace / target).write_text("mine")
    (boxed.workspace / "free").mkdir()
    (boxed.workspace / "free.txt").write_text("x")
    (boxed.workspace / "AGENTS.md").symlink_to(target)
    top = target.partition("/")[0]
    script = f"echo evil > AGENTS.md; echo evil > {target}; mv {top} old; rm AGENTS.md; echo evil > AGENTS.md; "
    script += f"mkdir -p {Path(target).parent}; echo evil > {target}; echo y > free/y; echo z > free.txt"
    await boxed.runs("sh", "-c", script)
    assert (boxed.workspace / "AGENTS.md").is_symlink() and (boxed.workspace / "AGENTS.md").read_text() == "mine"
    assert (boxed.workspace / "free" / "y").exists() and (boxed.workspace / "free.txt").read_text() == "z\n"


@pytest.fixture
def opt() -> Iterator[Path]:
    """A folder below /opt, which programs see."""
    if not os.access("/opt", os.W_OK):
        pytest.skip("/opt cannot be written")
    with tempfile.TemporaryDirectory(dir="/opt") as folder:
        yield Path(folder)


@pytest.mark.requires("bubblewrap")
async def test_nothing_that_the_configuration_names_is_shown(opt: Path) -> None:
    for name in ("backups", "other", "home"):
        (opt / name).mkdir()
        (opt / name / "canary").write_text("canary")
    config = whole().model_validate(
        {"backup": {"to": f"{opt}/backups"}, "agents": {"main": {}, "kid": {"workspace": f"{opt}/other"}}}
    )
    home = Home(opt / "home")
    home.create()
    (home.path / ".env").write_text("canary")
    world = World(home, find_sandbox(home, config))
    script = f"cat {opt}/*/* {opt}/*/.env; ls -A {opt}/*; echo x > {opt}/home/made; echo x > made"
    await world.runs("sh", "-c", script)
    assert "cat: " in world.printed and "canary" not in world.printed and "state" not in world.printed
    assert (world.workspace / "made").exists() and not (home.path / "made").exists()


@pytest.mark.requires("bubblewrap")
async def test_a_home_that_is_the_workspace_shows_none_of_its_keys(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    for name in (".env", "config.yaml", "state/canary"):
        (tmp_path / name).write_text("canary")
    sandbox = find_sandbox(home, whole().model_validate({"agents": {"main": {"workspace": "."}}}))
    world = World(home, sandbox, tmp_path)
    await world.runs("sh", "-c", "cat .env config.yaml state/*; echo x > made; rm -r state .env config.yaml")
    assert "canary" not in world.printed and (tmp_path / "made").exists()
    assert (tmp_path / "state" / "canary").exists() and (tmp_path / ".env").read_text() == "canary"


async def test_git_takes_no_command_from_a_folder_that_looks_like_a_repository(world: World) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    bare = world.workspace / "proj"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(f"[core]\n bare = false\n worktree = {bare}\n fsmonitor = touch {bare}/FSMON\n")
    await world.runs("git", "status", folder="proj")
    assert not (bare / "FSMON").exists() and "safe.bareRepository" in world.printed


# what was written since ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "is_another"),
    [
        ("cat fine.txt", False),
        ("echo x > helper.py", True),
        ("echo x > fine.txt", True),
        ("touch -d 2020-01-01 fine.txt", True),
        ("rm fine.txt", True),
        ("mkdir -p a/b && echo x > a/b/c", True),
        ("mkdir -p memory && echo x > memory/x.md", False),
        ("mkdir -p received && echo x > received/x.pdf", False),
        ("mkdir -p .git && echo x > .git/config", True),
        ("git status; python3 -c 'import json'", False),
    ],
)
async def test_the_mark_changes_where_a_program_has_written(world: World, script: str, is_another: bool) -> None:
    (world.workspace / "fine.txt").write_text("fine")
    before = world.workspaces.mark(world.scope, "", ("other",))
    await world.runs("sh", "-c", script)
    assert (world.workspaces.mark(world.scope, "", ("other",)) != before) is is_another
    assert world.workspaces.mark(world.scope, "", ("sh", "-c")) == before, "what it does itself is allowed with it"
    (world.workspace / "own.txt").write_text("the owner's own")
    assert (world.workspaces.mark(world.scope, "", ("other",)) != before) is is_another


async def test_the_mark_changes_while_a_program_still_runs(world: World) -> None:
    os.mkfifo(world.workspace / "go")
    before = world.workspaces.mark(world.scope, "", ("other",))
    task = asyncio.create_task(world.runs("sh", "-c", "echo x > helper.py; echo begun > memory.begun; read word < go"))
    await asyncio.to_thread(until, lambda: (world.workspace / "memory.begun").exists())
    assert world.workspaces.mark(world.scope, "", ("other",)) != before
    await asyncio.to_thread((world.workspace / "go").write_text, "on\n")
    await task


@pytest.mark.parametrize(
    ("path", "folder", "is_another"),
    [
        ("helper.py", "", True),
        ("groups/x/HEAD", "", True),
        ("memory/x.md", "", False),
        ("memory/config", "memory", True),
        ("MEMORY.md", "", False),
        ("groups/x/memory/x.md", "", False),
        ("received/x.py", "", False),
        ("received/x.py", "received", True),
        ("Memory/x.md", "", False),
        ("proj/memory/x.py", "", True),
    ],
)
def test_the_mark_changes_where_a_tool_has_written(world: World, path: str, folder: str, is_another: bool) -> None:
    before = world.workspaces.mark(world.scope, folder, ("other",))
    author = Author(History(world.home.state / "history.db", CLOCK), world.scope, "main/owner")
    with author.writes("write_file"):
        files.rewrite(world.workspace / path, world.workspace, CLOCK.today(), lambda _: b"x")
    assert (world.workspaces.mark(world.scope, folder, ("other",)) != before) is is_another


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
