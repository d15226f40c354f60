"""The backup of every night, and how many of them are kept."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack
from pathlib import Path

from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from gateway.config import Config
from gateway.features.backup.archive import CopyDatabase, copy_of, write
from gateway.features.backup.config import WithBackup
from gateway.features.backup.errors import BackupError
from gateway.home import Home
from gateway.kernel import FeatureParts, Kernel
from gateway.recurrence import Cron
from gateway.scheduling.builtins import BuiltIn, DueTime, JobFailed, JobOutcome

_WHEN = Cron("20 3 * * *")
_NAME = re.compile(r"daybook-\d{4}-\d\d-\d\d\.tar\.gz")


async def opened(kernel: Kernel, _: AsyncExitStack) -> FeatureParts:
    return FeatureParts(jobs=[_configured(kernel.home, kernel.config).built_in])


def _configured(home: Home, config: Config) -> NightlyBackup:
    backup = WithBackup.of(config).backup
    if backup is None:
        return NightlyBackup(home, None, 1, None)
    folder = home.path / Path(backup.to).expanduser()
    return NightlyBackup(home, folder, backup.keep, copy_of(config.postgres_url))


class NightlyBackup:
    """`to` None: off."""

    def __init__(self, home: Home, to: Path | None, keep: int, copy: CopyDatabase | None) -> None:
        self._home = home
        self._to = to
        self._keep = keep
        self._copy = copy

    @property
    def built_in(self) -> BuiltIn:
        text = f"writes a backup of the home to {self._to}"
        on = self._to is not None
        return BuiltIn("backup", _WHEN, self._run, enabled=on, text=text, is_of_use=lambda: on, reports=False)

    async def _run(self, due: DueTime) -> JobOutcome:
        if self._to is None:
            raise JobFailed("no folder is set in `backup.to`")
        try:
            return JobOutcome(silent=True, note=await asyncio.to_thread(self._write, self._to, due))
        except (BackupError, OSError) as error:
            why = system_says(error) if isinstance(error, OSError) else error
            raise JobFailed(Sentence("The nightly backup failed. {why}", why=why)) from error

    def _write(self, folder: Path, due: DueTime) -> str:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / f"daybook-{due.moment:%Y-%m-%d}.tar.gz"
        for left in folder.glob(".daybook-*.tar.gz.*.new"):  # by a night that was cut off
            left.unlink()
        if due.by_hand:
            file.unlink(missing_ok=True)
        if not file.exists():  # else this night's was made before a crash
            write(self._home, file, copy=self._copy)
        kept = sorted(file for file in folder.iterdir() if _NAME.fullmatch(file.name))
        for old in kept[: -self._keep]:
            old.unlink(missing_ok=True)
        return f"{file.name}, {file.stat().st_size / 1e6:.1f} MB"
