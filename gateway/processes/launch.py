"""Runs one program: `launch.py STARTER program PROCESSES MEMORY FILE_SIZE COMMAND…`, or a server: `launch.py STARTER
server WORDS COMMAND…`.

Whatever it starts ends with it: on Linux also what left its process group. All of it ends at SIGTERM, and when nobody
holds the other end of the descriptor STARTER any more: whoever started us has died, or runs another program.
A program has limits; its output goes to our stdout, our word on its end to our stderr, as JSON. A server has our stdin,
stdout and stderr; the descriptor WORDS is told why it cannot be started, and closed where it begins.
Run by its path, without imports of ours: it starts in milliseconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

_DEATH_SIGNAL, _SUBREAPER = 1, 36
"""PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER (prctl(2))."""
_EVERY_S = 0.1
"""The longest time between two looks at what has limits, or has been asked to end."""
_GRACE_S = 2.0
"""From SIGTERM to SIGKILL."""
_GRACE_OF_SERVERS_S = 1.0
_OPEN_FILES = 512
_NICER = 5
"""So that a program that eats all processors leaves enough to end it."""

Limits = tuple[int, int, int]
"""Processes, bytes of memory, bytes of a file; none for a server."""


class _Asked:
    is_set = False


def main(arguments: list[str]) -> int:
    kind, starter = arguments[1], os.dup(int(arguments[0]))  # which no child inherits
    os.close(int(arguments[0]))
    bell = _begin(starter)
    if kind == "server":
        _serve(starter, bell, int(arguments[2]), arguments[3:])
    else:
        processes, memory, file_size = (int(limit) for limit in arguments[2:5])
        _run(starter, bell, (processes, memory, file_size), arguments[5:])
    return 0


def _begin(starter: int) -> int:
    """Returns a descriptor that has something to read after a signal that is handled. Exits if the starter has gone."""
    bell, rung = os.pipe()
    for descriptor in (bell, rung):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(rung, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, _ask)
    _prctl(_SUBREAPER, 1)
    if _ready([starter], 0):
        sys.exit(1)
    return bell


def _run(starter: int, bell: int, limits: Limits, command: list[str]) -> None:
    words = os.dup(2)  # which no child inherits
    program = os.fork()
    if program == 0:
        os.dup2(1, 2)
        _become(command, words, limits)
    _let_go(1)  # its readers wait for the end of all that writes
    spared = program if Path(command[0]).name == "bwrap" else 0  # those below it would have no time to end
    end = _wait(program, starter, bell, lambda: [pid for pid in _descendants() if pid != spared], _GRACE_S, limits)
    _kill_rest(program)
    _say(words, end)


def _serve(starter: int, bell: int, words: int, command: list[str]) -> None:
    """Below two of us: if the outer one is killed, the inner one ends all; on Linux also the other way round."""
    os.set_inheritable(words, False)
    signal.signal(signal.SIGCHLD, _hear)
    outer, held = os.pipe()
    inner = os.fork()
    if inner != 0:
        os.close(words)
        os.close(outer)
        _let_go(0, 1, 2)
        _wait(inner, starter, bell, lambda: [inner], 2 * _GRACE_OF_SERVERS_S)
        return _kill_rest(inner)
    os.close(starter)
    os.close(held)
    bell = _begin(outer)
    server = os.fork()
    if server == 0:
        _become(command, words, None)
    os.close(words)
    _let_go(0, 1, 2)
    _wait(server, outer, bell, _descendants, _GRACE_OF_SERVERS_S)
    return _kill_rest(server)


def _let_go(*descriptors: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(null, descriptor)


def _say(words: int, said: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(words, f"{json.dumps(said)}\n".encode())


def _ask(_number: int, _frame: object) -> None:
    _Asked.is_set = True


def _hear(_number: int, _frame: object) -> None:
    """Rings the bell, as any handler does."""


def _become(command: list[str], words: int, limits: Limits | None) -> None:
    try:
        os.setsid()
        _prctl(_DEATH_SIGNAL, signal.SIGKILL)
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores some, and that is inherited
            signal.signal(number, signal.SIG_DFL)
        if limits is not None:
            _limit(limits)
        os.execvp(command[0], command)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        reason = reason or "it cannot be started"
        with contextlib.suppress(OSError):
            os.write(words, (reason if limits is None else json.dumps({"refused": reason}) + "\n").encode())
    finally:
        os._exit(127)


def _limit(limits: Limits) -> None:
    _, memory, file_size = limits
    for limit, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))
    os.nice(_NICER)


def _wait(
    program: int, starter: int, bell: int, asked: Callable[[], list[int]], grace: float, limits: Limits | None = None
) -> dict[str, object]:
    """Waits for the end of the program, and brings it about where that is wanted, the starter has gone, or a limit is
    passed. `asked`: those that get SIGTERM, `grace` seconds before SIGKILL; if there are none, the process group."""
    asked_at, limit, pause = 0.0, "", 0.001
    watched = [bell, starter]
    while True:
        with contextlib.suppress(ChildProcessError):
            done, status = os.waitpid(-1, os.WNOHANG)  # also orphans of the program, which are ours now
            if done == program:
                code = os.waitstatus_to_exitcode(status)
                return {"code": code, "limit": limit, "stopped": bool(asked_at) and not limit}
            if done:
                continue
        if not asked_at and _Asked.is_set:
            asked_at, pause, watched = time.monotonic(), 0.001, [bell]
            _signal(asked() or [-program], signal.SIGTERM)
        if limits is not None and not limit and (limit := _passed(_descendants(), limits)):
            _kill_all(program)
        if asked_at and time.monotonic() - asked_at > grace:
            _kill_all(program)
        ready = _ready(watched, pause if asked_at or limits is not None else None)
        _Asked.is_set |= starter in ready
        with contextlib.suppress(BlockingIOError):
            os.read(bell, 4096)
        pause = min(_EVERY_S, 2 * pause)


def _ready(descriptors: list[int], seconds: float | None) -> list[int]:
    """The descriptors at their end, or with something to read, within so many seconds; None: once there is one."""
    return select.select(descriptors, [], [], seconds)[0]


def _passed(pids: list[int], limits: Limits) -> str:
    processes, memory, _ = limits
    if len(pids) > processes:
        return "processes"
    page, used = resource.getpagesize(), 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            used += page * int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return "memory" if used > memory else ""


def _descendants() -> list[int]:
    """All that comes from us and runs, as far as the system shows it."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 (ten times a second)
            with contextlib.suppress(OSError, ValueError):
                pid, stat = int(name), Path(f"/proc/{name}/stat").read_text(errors="replace")
                state, parent = stat.rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    children.setdefault(int(parent), []).append(pid)
    found, new = [], [os.getpid()]
    while new:
        new = [child for pid in new for child in children.get(pid, ())]
        found += new
    return found


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _kill_all(program: int) -> None:
    """Stops all before any is killed, so that none can start another meanwhile."""
    with contextlib.suppress(OSError):
        os.killpg(program, signal.SIGKILL)
    until = time.monotonic() + _GRACE_S
    while (pids := _descendants()) and time.monotonic() < until:
        _signal(pids, signal.SIGSTOP)
        _signal(pids, signal.SIGKILL)
        time.sleep(0.002)


def _kill_rest(program: int) -> None:
    """Until the system knows none below us: a list of processes may miss one that was just being started."""
    with contextlib.suppress(OSError):
        os.killpg(program, signal.SIGKILL)
    until = time.monotonic() + _GRACE_S
    while time.monotonic() < until:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        _kill_all(program)
        time.sleep(0.002)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
