"""`python -m tests.forking FD [LISTENING]`: has imported the gateway and its commands, and forks a process for each
request that comes over the socket FD, or over a connection to the socket LISTENING. `tests/forked.py` asks it.

A request is 4 bytes of length, with which the descriptors of stdin, stdout, stderr and of a socket for answers are
passed, and JSON as of `Request`. The answers are lines of JSON: {"pid"}, and once it has ended {"code", "seconds"} with
its processor time. Where a connection ends what was forked for it is killed; where FD does, everything, and the last
answer is the copy's own {"seconds"}.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import importlib
import json
import locale
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import termios
import threading
import time
import traceback
import types
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import agent.formats.network
import agent.model.prices
import channels.network
import gateway.cli
from agent.model.offline.intent import understand
from agent.tools.schema import Arguments
from gateway.scheduling.words import phrases

_DESCRIPTORS = 4
_CLONE_NEWUSER = 0x10000000
AS_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
"""Before a command: it is not root to itself."""
MODULES = (
    "gateway.__main__",
    "tests.flows.clocked",
    "tests.flows.fragile",
    "tests.gateway.turns.test_attachments_crash",
)
"""What `python -m` may name in a request."""
_LATE = (
    "aiohttp.web",
    "anyio._backends._asyncio",
    "anyio.from_thread",
    "apscheduler.executors.debug",
    "apscheduler.jobstores.memory",
    "apscheduler.schedulers.asyncio",
    "apscheduler.triggers.date",
    "click._textwrap",
    "concurrent.futures.process",
    "encodings.ascii",
    "encodings.cp437",
    "encodings.idna",
    "encodings.utf_16_le",
    "encodings.utf_8_sig",
    "h11",
    "httpcore2",
    "importlib.readers",
    "jinja2",
    "prompt_toolkit.input.vt100",
    "prompt_toolkit.key_binding.bindings.search",
    "prompt_toolkit.patch_stdout",
    "rich._unicode_data.unicode17-0-0",
    "truststore",
    "tzdata.zoneinfo",
    "workspace_template",
)
"""What a gateway imports of others once it runs."""


@dataclass(frozen=True, slots=True)
class Request:
    words: list[str]
    """What follows the interpreter: -m MODULE or -c CODE, and arguments."""
    cwd: str
    environ: dict[str, str]
    session: bool
    """Whether it leads a session of its own."""
    terminal: bool
    """Whether its stdin is the terminal that controls that session."""
    as_user: bool
    """Whether it runs as after `AS_USER`."""


def serve(control: socket.socket, listening: socket.socket | None) -> None:
    _read_ahead()
    gc.collect()
    gc.freeze()
    woken, wakes = socket.socketpair()
    for end in (woken, wakes):
        end.setblocking(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno())
    running: dict[socket.socket, dict[int, socket.socket]] = {control: {}}
    while control in running:
        ready, _, _ = select.select([*running, woken, *([listening] if listening else [])], [], [])
        for one in ready:
            if one is woken:
                woken.recv(4096)
                for forked in running.values():
                    _reap(forked)
            elif one is listening:
                running[listening.accept()[0]] = {}
            elif not _carried_out(one, running[one]):
                _kill(running.pop(one))
    for forked in running.values():
        _kill(forked)
    _answer(control, {"seconds": time.process_time()})


def _read_ahead() -> None:
    """Imports and reads what every gateway does."""
    own = [
        module.name
        for package in (agent, channels, gateway)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    for name in (*own, *MODULES, *_LATE):
        importlib.import_module(name)
    for name in MODULES:  # they run as `__main__`
        sys.modules.pop(name)
    for _ in range(2):  # 40 ms each to load certificates: those that the environment names, and without any
        for network in (agent.formats.network, channels.network):
            network.tls()
            network.tls(strict=False)
        for name in channels.network.CERTIFICATES:
            os.environ.pop(name, None)
    agent.model.prices.Prices().is_known("claude-sonnet-5-5")
    understand("daybook?")  # a second for the words of all languages
    phrases.says_time("daybook")
    for model in _all_under(Arguments):
        model.model_json_schema()


def _all_under(model: type[Arguments]) -> Iterator[type[Arguments]]:
    for one in model.__subclasses__():
        yield one
        yield from _all_under(one)


def _carried_out(control: socket.socket, running: dict[int, socket.socket]) -> bool:
    """False where the connection has ended."""
    head, descriptors, _, _ = socket.recv_fds(control, 4, _DESCRIPTORS)
    if not head:
        return False
    request = Request(**json.loads(_exactly(control, int.from_bytes(head, "big"))))
    pid = os.fork()
    if not pid:
        _become(request, descriptors)
    answers = socket.socket(fileno=descriptors.pop())
    for one in descriptors:
        os.close(one)
    running[pid] = answers
    _answer(answers, {"pid": pid})
    return True


def _reap(running: dict[int, socket.socket]) -> None:
    for pid in list(running):
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            with running.pop(pid) as answers:
                code = os.waitstatus_to_exitcode(status)
                _answer(answers, {"code": code, "seconds": used.ru_utime + used.ru_stime})


def _kill(running: dict[int, socket.socket]) -> None:
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _answer(answers: socket.socket, answer: dict[str, object]) -> None:
    try:
        answers.sendall(json.dumps(answer).encode() + b"\n")
    except OSError:  # nobody waits for it any more
        pass


def _exactly(control: socket.socket, size: int) -> bytes:
    body = b""
    while len(body) < size:
        more = control.recv(size - len(body))
        assert more, "a request was cut off"
        body += more
    return body


def _become(request: Request, descriptors: list[int]) -> NoReturn:
    """The process that was asked for, as the interpreter itself would begin and end it."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request.session:
        os.setsid()
    for target, one in enumerate(descriptors[:3]):
        os.dup2(one, target)
    if request.terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    if request.as_user:
        _unshare()
    os.chdir(request.cwd)
    os.environ.clear()
    os.environ.update(request.environ)
    given = os.environ.get
    if not given("LC_ALL") and (given("LC_CTYPE") or given("LANG") or "C") in ("C", "POSIX"):
        os.environ["LC_CTYPE"] = "C.UTF-8"  # as PEP 538 has it
    time.tzset()
    with suppress(locale.Error):  # a plain start takes a locale that is not installed for none, too
        locale.setlocale(locale.LC_CTYPE, "")
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.orig_argv[:] = [sys.executable, *request.words]
    code = _run(*request.words)
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            code = code or 120
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


def _unshare() -> None:
    """As `AS_USER` does it."""
    maps = {"setgroups": "deny", "uid_map": f"1000 {os.geteuid()} 1", "gid_map": f"1000 {os.getegid()} 1"}
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in maps.items():
        Path("/proc/self", name).write_text(text)


def _run(kind: str, what: str, *arguments: str) -> int:
    """The exit code; -SIGINT where it was interrupted."""
    sys.argv[:] = ["-c" if kind == "-c" else what, *arguments]
    try:
        if kind == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = ""
            module = types.ModuleType("__main__")
            sys.modules["__main__"] = module
            exec(compile(what, "<string>", "exec"), module.__dict__)
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        traceback.print_exc()
        return -signal.SIGINT
    except BaseException as error:
        traceback.print_exception(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))
        return 1
    return 0


if __name__ == "__main__":
    control, *listening = (socket.socket(fileno=int(one)) for one in sys.argv[1:])
    serve(control, next(iter(listening), None))
