"""Runs one program under limits: `python launch.py STARTER PROCESSES MEMORY FILE_SIZE COMMAND…`.

Whatever the program starts ends with it, also what left its process group, and all of it ends with whoever started us.
Its output goes to our stdout, our word on its end to our stderr, as JSON. Run by its path, without imports of ours: it
starts in milliseconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

_DEATH_SIGNAL, _SUBREAPER = 1, 36
"""PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER (prctl(2))."""
_EVERY_S = 0.1
_GRACE_S = 2.0
"""From SIGTERM to SIGKILL."""
_OPEN_FILES = 512
_NICER = 5
"""So that a program that eats all processors leaves enough to end it."""


class _Asked:
    is_set = False


def main(arguments: list[str]) -> int:
    starter, processes, memory, file_size = (int(one) for one in arguments[:4])
    signal.signal(signal.SIGTERM, _ask)
    _prctl(_DEATH_SIGNAL, signal.SIGTERM)
    _prctl(_SUBREAPER, 1)
    if os.getppid() != starter:
        return 1
    words = os.dup(2)
    os.set_inheritable(words, False)
    program = os.fork()
    if program == 0:
        _become(arguments[4:], words, memory, file_size)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)  # its readers wait for the end of all that writes
    end = _wait(program, processes, memory, spared=program if Path(arguments[4]).name == "bwrap" else 0)
    _kill_rest(program)
    _say(words, end)
    return 0


def _say(words: int, said: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(words, f"{json.dumps(said)}\n".encode())


def _ask(_number: int, _frame: object) -> None:
    _Asked.is_set = True


def _become(command: list[str], words: int, memory: int, file_size: int) -> None:
    try:
        os.setsid()
        _prctl(_DEATH_SIGNAL, signal.SIGKILL)
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores some, and that is inherited
            signal.signal(number, signal.SIG_DFL)
        for limit, most in (
            (resource.RLIMIT_DATA, memory),
            (resource.RLIMIT_FSIZE, file_size),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NOFILE, _OPEN_FILES),
        ):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(limit, (most, most))
        os.nice(_NICER)
        os.dup2(1, 2)
        os.execvp(command[0], command)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        _say(words, {"refused": reason or "it cannot be started"})
    finally:
        os._exit(127)


def _wait(program: int, processes: int, memory: int, *, spared: int) -> dict[str, object]:
    """Waits for the end of the program, and brings it about where it is asked for or a limit is passed. `spared`: gets
    no SIGTERM, for those below it would have no time to end."""
    asked_at, limit, pause = 0.0, "", 0.001
    while True:
        with contextlib.suppress(ChildProcessError):
            done, status = os.waitpid(-1, os.WNOHANG)  # also orphans of the program, which are ours now
            if done == program:
                code = os.waitstatus_to_exitcode(status)
                return {"code": code, "limit": limit, "stopped": bool(asked_at) and not limit}
            if done:
                continue
        if not asked_at and _Asked.is_set:
            asked_at = time.monotonic()
            _signal([pid for pid in _descendants() or [program] if pid != spared], signal.SIGTERM)
        if not limit and (limit := _passed(_descendants(), processes, memory)):
            _kill_all(program)
        if asked_at and time.monotonic() - asked_at > _GRACE_S:
            _kill_all(program)
        time.sleep(pause)
        pause = min(_EVERY_S, 2 * pause)


def _passed(pids: list[int], processes: int, memory: int) -> str:
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
    until = time.monotonic() + _GRACE_S
    while time.monotonic() < until:
        _kill_all(program)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
