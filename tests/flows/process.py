"""A gateway in a process of its own, between the fakes: started, killed, ended and asked as an operator does it.

async with FakeTelegram() as telegram, FakeAnthropic() as model, GatewayProcess(telegram, model) as gateway:
    telegram.say("hello")
    await telegram.next_message(11111)
    await gateway.kill()
    await gateway.start()
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import yaml

from tests import forked, strength
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram.server import BotApiServer
from tests.flows.stores import settings_of
from tests.forking import AS_USER

T = TypeVar("T")

OWNER = 11111
ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "gateway")
START_S = 120.0
"""Longest wait for the first getUpdates. As all such bounds it is reached by failures only, on a busy machine too."""
END_S = 120.0
"""Longest wait for an end. SPEC 10.6 allows a gateway 30 s, of which it may wait 25: a slow machine needs more."""


def as_user() -> tuple[str, ...]:
    """The command of a gateway that is not root to itself, wherever a sandbox can be made: none holds root."""
    return (*AS_USER, *COMMAND) if os.geteuid() == 0 and strength.is_there("bubblewrap") else COMMAND


class GatewayDied(Exception):
    """The process ended while something was expected of it. Carries its exit code and the end of its log."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command of the CLI that has ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """What a `--json` command printed."""
        return json.loads(self.out)


class GatewayProcess:
    """`daybook gateway` on a temporary home, configured for the fakes. As a context manager it is started on entering
    (`start_now` False: not), killed on leaving, and its log is added to an exception that passes through.

    settings    laid over the configuration, key by key: {"channels": {"telegram": {"dm_policy": "open"}}}
    command     what `daybook` is; another where an installed one is meant
    """

    def __init__(
        self,
        telegram: BotApiServer,
        model: FakeAnthropic,
        settings: Mapping[str, object] | None = None,
        *,
        start_now: bool = True,
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self.telegram = telegram
        self.model = model
        self.starts = 0
        self._settings = settings or {}
        self._start_now = start_now
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._started_at = 0.0
        self._folder = Path(tempfile.mkdtemp(prefix="daybook-"))
        self._log_file = self._folder / "gateway.log_setup"
        self.home = self._folder / "home"
        self.environ = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self._folder),
            "XDG_STATE_HOME": str(self._folder / "xdg"),
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
        }
        self.write_config(self._settings)

    # What an operator does

    def write_config(self, settings: Mapping[str, object]) -> None:
        """Replace config.yaml: the fakes' addresses with `settings` laid over."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        file = self.home / "config.yaml"
        config = _laid_over({**self._defaults(), **settings_of(self.home)}, settings)
        file.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        file.chmod(0o600)

    async def start(self, *, wait: bool = True) -> None:
        """Start, and wait until the platform sees it ask for updates. Raises `GatewayDied`, `TimeoutError`."""
        assert not self.is_running, "it runs already"
        self._started_at = time.monotonic()
        with self._log_file.open("ab") as log:
            self._process = await forked.create_subprocess_exec(
                *self._command,
                "--home",
                str(self.home),
                "gateway",
                cwd=self._folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.starts += 1
        if wait:
            await self.while_alive(self.telegram.bell.until(self._listens, START_S))

    async def kill(self) -> None:
        """`kill -9`; returns when the platform has noticed, so that a next start meets no poll of the dead one."""
        await self._end(signal.SIGKILL)

    async def terminate(self) -> int:
        """SIGTERM; returns the exit code. Raises `TimeoutError`."""
        return await self._end(signal.SIGTERM)

    async def restart(self) -> None:
        """`kill -9` and start again on the same home."""
        await self.kill()
        await self.start()

    async def ended(self, timeout: float = END_S) -> int:
        """The exit code of a process that ends by itself. Raises `TimeoutError`."""
        assert self._process is not None
        async with asyncio.timeout(timeout):
            return await self._process.wait()

    async def cli(self, *arguments: str, stdin: str = "", timeout: float = 120.0) -> Ran:
        """Run another command on the same home, while the gateway runs or not."""
        process = await forked.create_subprocess_exec(
            *self._command,
            "--home",
            str(self.home),
            *arguments,
            cwd=self._folder,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(timeout):
                out, err = await process.communicate(stdin.encode())
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        return Ran(process.returncode or 0, out.decode(), err.decode())

    # What can be seen of it

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was never started"
        return self._process.pid

    @property
    def workspace(self) -> Path:
        return self.home / "workspace"

    @property
    def log(self) -> str:
        """What every start has written to stdout and stderr so far."""
        return self._log_file.read_text(encoding="utf-8", errors="replace") if self._log_file.exists() else ""

    def transcripts(self) -> Iterator[Mapping[str, Any]]:
        """Every whole line of every transcript, as JSON."""
        for file in sorted((self.home / "state" / "sessions").rglob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
                if line.endswith("\n"):
                    yield json.loads(line)

    async def until_status(self, wanted: Callable[[Any], bool]) -> Any:
        """`status --json`, asked of the running gateway until it is as wanted. Raises `GatewayDied`, `TimeoutError`."""

        async def asked() -> Any:
            async with asyncio.timeout(START_S):
                while True:
                    ran = await self.cli("status", "--json")
                    if ran.code == 0 and wanted(status := ran.json()):
                        return status

        return await self.while_alive(asked())

    async def while_alive(self, expected: Awaitable[T]) -> T:
        """Wait for something that a running gateway brings about. Raises `GatewayDied` at once where it ends first."""
        assert self._process is not None
        wanted = asyncio.ensure_future(expected)
        death = asyncio.ensure_future(self._process.wait())
        try:
            await asyncio.wait({wanted, death}, return_when=asyncio.FIRST_COMPLETED)
            if wanted.done():
                return wanted.result()
            raise GatewayDied(f"exit code {death.result()}; its log ends:\n{self.log[-4000:]}")
        finally:
            for task in (wanted, death):
                task.cancel()
            await asyncio.wait({wanted, death})

    # As a context manager

    async def __aenter__(self) -> Self:
        if self._start_now:
            try:
                await self.start()
            except BaseException as error:
                await self.__aexit__(type(error), error, None)
                raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self.is_running:
            await self.kill()
        if error is not None:
            error.add_note(f"the gateway's log ends:\n{self.log[-4000:]}")
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _end(self, how: signal.Signals) -> int:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(how)
        code = await self.ended()
        await self.telegram.bell.until(lambda: not self.telegram.polling, END_S)
        return code

    def _listens(self) -> bool:
        """A getUpdates of this start waits, or was answered at once."""
        if self.telegram.polling:
            return True
        for call in reversed(self.telegram.calls):
            if call.at < self._started_at:
                return False
            if call.method == "getUpdates":
                return True
        return False

    def _defaults(self) -> Mapping[str, object]:
        return {
            "timezone": "Europe/Berlin",
            "owners": [f"telegram:{OWNER}"],
            "model": {"provider": "anthropic", "base_url": self.model.base_url, "api_key": self.model.api_key},
            "channels": {
                "telegram": {
                    "token": self.telegram.token,
                    "base_url": self.telegram.base_url,
                    "base_file_url": self.telegram.base_file_url,
                },
                "web": {"enabled": False},
            },
            "schedule": {"daily_summary": {"enabled": False}},
            "memory": {"auto_recall": {"timeout_ms": 60_000}},  # a slow machine recalls the same as a quick one
        }


def _laid_over(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        both = isinstance(under, Mapping) and isinstance(value, Mapping)
        merged[key] = _laid_over(under, value) if both else _plain(value)  # type: ignore[arg-type]
    return merged


def _plain(value: object) -> object:
    """As YAML's safe writer wants it."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
