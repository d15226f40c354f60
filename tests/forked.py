"""Starts Python processes for tests as `subprocess` and asyncio do, from a copy that has imported the gateway: a start
costs 30 ms instead of a second. What is forked is a process of its own in all else, and `kill -9` ends it.

A plain start is made where forking is impossible, where the command is another one, and with `--full` for some tests,
which so try the starts themselves. A test of imports or of the interpreter's own beginning uses `subprocess`.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tests.forking import AS_USER, MODULES

ROOT = Path(__file__).parents[1]
_HEEDED = ("PYTHONPATH", "PYTHONUTF8")
"""Variables of the interpreter that the copy has as most tests want them: ROOT is in its path, and it writes UTF-8."""


class _Server:
    """The copy, begun with the first start: of this process alone, or of all that run tests together."""

    def __init__(self, listening: socket.socket | None = None) -> None:
        """`listening`: where others may ask it as well."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        if listening is None and (shared := os.environ.get(_SHARED)):
            self._control = socket.socket(socket.AF_UNIX)
            self._control.connect(shared)
            return
        self._control, theirs = socket.socketpair()
        with theirs:
            given = [str(one.fileno()) for one in (theirs, listening) if one is not None]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forking", *given],
                cwd=ROOT,
                env={**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT)},
                pass_fds=[*map(int, given)],
                stdin=subprocess.DEVNULL,
            )

    def start(self, request: Mapping[str, object], descriptors: Sequence[int]) -> socket.socket:
        """Where the answers come."""
        ours, theirs = socket.socketpair()
        body = json.dumps(request).encode()
        with theirs, self._lock:
            head = len(body).to_bytes(4, "big")
            socket.send_fds(self._control, [head], [*descriptors, theirs.fileno()])
            self._control.sendall(body)
        return ours

    def stop(self) -> float:
        """Ends the copy, if it is this process's own; its own processor seconds."""
        with self._control:
            if self._process is None:
                return 0.0
            self._control.shutdown(socket.SHUT_WR)
            seconds: float = json.loads(self._control.makefile().readline())["seconds"]
            self._process.wait()
            return seconds


_SHARED = "DAYBOOK_TESTS_FORK_AT"
_server: _Server | None = None
CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")
plainly = False
"""Every start is the system's."""
seconds_of_forked = 0.0
"""Processor seconds of all that has ended."""


def share() -> Callable[[], float]:
    """One copy for all processes that are begun from here on. Returns what ends it, and tells its processor seconds."""
    if _SHARED in os.environ:  # tests that run tests
        return float
    folder = Path(tempfile.mkdtemp())
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "fork"))
    listening.listen()
    os.environ[_SHARED] = str(folder / "fork")
    ended, ends = socket.socketpair()
    servers: list[_Server] = []

    def wait_for_first() -> None:
        if ended not in select.select([listening, ended], [], [])[0]:
            servers.append(_Server(listening))

    waiting = threading.Thread(target=wait_for_first, daemon=True)
    waiting.start()

    def stop() -> float:
        del os.environ[_SHARED]
        ends.close()
        waiting.join()
        ended.close()
        listening.close()
        shutil.rmtree(folder)
        return sum(one.stop() for one in servers)

    return stop


def stop() -> None:
    """Ends this process's own copy, whose processor time then is that of a child."""
    global _server, seconds_of_forked
    if _server is not None:
        if _server.stop():
            seconds_of_forked = 0.0
        _server = None


atexit.register(stop)


def _without_user(command: Sequence[str | os.PathLike[str]]) -> Sequence[str | os.PathLike[str]]:
    return command[len(AS_USER) :] if tuple(command[: len(AS_USER)]) == AS_USER else command


def _is_forked(command: Sequence[str | os.PathLike[str]], environ: Mapping[str, str]) -> bool:
    command = _without_user(command)
    if plainly or not CAN_FORK or len(command) < 3 or command[0] != sys.executable:
        return False
    about = {name for name in (*environ, *os.environ) if name.startswith("PYTHON")} - {*_HEEDED}
    odd = any(environ.get(name, "") not in ("", os.environ.get(name)) for name in about)
    is_ours = command[1] == "-c" or (command[1] == "-m" and command[2] in ("gateway", *MODULES))
    return is_ours and not odd and environ.get("PYTHONPATH", str(ROOT)) == str(ROOT)


class Forked:
    """As `subprocess.Popen`, as far as tests use it."""

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        stdin: int | IO[Any] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        text: bool = False,
        start_new_session: bool = False,
        terminal: bool = False,
    ) -> None:
        global _server
        _server = _server or _Server()
        self.args = command
        self.returncode: int | None = None
        ours: list[int | None] = []
        with contextlib.ExitStack() as theirs:
            given: list[int] = []
            for number, end in enumerate((stdin, stdout, stderr)):
                mine: int | None = None
                if end == subprocess.PIPE:
                    reading, writing = os.pipe()
                    other, mine = (reading, writing) if number == 0 else (writing, reading)
                    theirs.callback(os.close, other)
                elif end == subprocess.DEVNULL:
                    other = os.open(os.devnull, os.O_RDWR)
                    theirs.callback(os.close, other)
                elif end == subprocess.STDOUT:
                    other = given[1]
                else:
                    other = number if end is None else end if isinstance(end, int) else end.fileno()
                given.append(other)
                ours.append(mine)
            request = {
                "words": [os.fspath(word) for word in _without_user(command)[1:]],
                "as_user": len(_without_user(command)) < len(command),
                "cwd": os.fspath(cwd or Path.cwd()),
                "environ": dict(os.environ if env is None else env),
                "session": start_new_session,
                "terminal": terminal,
            }
            self._answers = _server.start(request, given)
        self._read = b""
        self.pid: int = self._next_answer(None)["pid"]
        self.stdin, self.stdout, self.stderr = (
            None if one is None else os.fdopen(one, f"{'w' if number == 0 else 'r'}{'' if text else 'b'}")
            for number, one in enumerate(ours)
        )

    def fileno(self) -> int:
        """Can be read once it has ended."""
        return self._answers.fileno()

    def _next_answer(self, timeout: float | None) -> Any:
        """None where none comes in time."""
        until = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._read:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._answers], [], [], left)[0]:
                return None
            more = self._answers.recv(4096)
            assert more, "the copy that forks has ended"
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return json.loads(line)

    def poll(self) -> int | None:
        return self._waited(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._waited(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def _waited(self, timeout: float | None) -> int | None:
        global seconds_of_forked
        if self.returncode is None and (answer := self._next_answer(timeout)) is not None:
            self.returncode = answer["code"]
            seconds_of_forked += answer["seconds"]
            self._answers.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        until = None if timeout is None else time.monotonic() + timeout
        read: dict[str, Any] = {"out": None, "err": None}

        def write() -> None:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                if input:
                    self.stdin.write(input)

        def take(name: str, stream: IO[Any]) -> None:
            with stream:
                read[name] = stream.read()

        threads = [threading.Thread(target=write, daemon=True)] if self.stdin and not self.stdin.closed else []
        for name, stream in (("out", self.stdout), ("err", self.stderr)):
            if stream is not None:
                threads.append(threading.Thread(target=take, args=(name, stream), daemon=True))
        for one in threads:
            one.start()
        for one in threads:
            one.join(None if until is None else max(0.0, until - time.monotonic()))
            if one.is_alive():
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
        self.wait(None if until is None else max(0.0, until - time.monotonic()))
        return read["out"], read["err"]

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.wait()


def Popen(command: Sequence[str], **options: Any) -> Any:
    """As `subprocess.Popen`. `terminal=True`: the session's controlling terminal is its stdin."""
    if _is_forked(command, options.get("env") or os.environ):
        return Forked(command, **options)
    if options.pop("terminal", False):
        options["preexec_fn"] = lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    return subprocess.Popen(command, **options)


def run(
    command: Sequence[str],
    *,
    input: Any = None,
    capture_output: bool = False,
    check: bool = False,
    timeout: float | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


class AsyncForked:
    """As `asyncio.subprocess.Process`."""

    def __init__(self, forked: Forked) -> None:
        self._forked = forked
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._watched = forked.fileno()
        self.pid = forked.pid
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._loop.add_reader(self._watched, self._look)

    async def connect(self) -> None:
        if self._forked.stdin is not None:
            transport, protocol = await self._loop.connect_write_pipe(
                lambda: asyncio.streams.FlowControlMixin(self._loop), self._forked.stdin
            )
            self.stdin = asyncio.StreamWriter(transport, protocol, None, self._loop)
        self.stdout = await self._reader(self._forked.stdout)
        self.stderr = await self._reader(self._forked.stderr)

    async def _reader(self, pipe: IO[bytes] | None) -> asyncio.StreamReader | None:
        if pipe is None:
            return None
        reader = asyncio.StreamReader()
        await self._loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        return reader

    def _look(self) -> None:
        if not self._ended.done() and self._forked.poll() is not None:
            self._loop.remove_reader(self._watched)
            self._ended.set_result(self._forked.wait())

    @property
    def returncode(self) -> int | None:
        if not self._loop.is_closed():
            self._look()
        return self._forked.returncode

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    async def communicate(self, input: bytes | None = None) -> tuple[bytes | None, bytes | None]:
        async def write() -> None:
            if self.stdin is not None:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.stdin.write(input or b"")
                    await self.stdin.drain()
                self.stdin.close()

        async def read(stream: asyncio.StreamReader | None) -> bytes | None:
            return None if stream is None else await stream.read()

        _, out, err = await asyncio.gather(write(), read(self.stdout), read(self.stderr))
        await self.wait()
        return out, err

    def send_signal(self, number: int) -> None:
        if self._forked.returncode is not None:  # as it was last seen: who saw it alive may send to it
            raise ProcessLookupError
        self._forked.send_signal(number)
        self._look()

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


async def create_subprocess_exec(*command: str, **options: Any) -> Any:
    """As `asyncio.create_subprocess_exec`."""
    if not _is_forked(command, options.get("env") or os.environ):
        return await asyncio.create_subprocess_exec(*command, **options)
    process = AsyncForked(Forked(command, **options))
    await process.connect()
    return process
