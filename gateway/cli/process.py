"""Operations of the process that a gateway runs in, for the page: restart it, run the doctor, read its log."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from agent.languages.sentences import Sentence
from agent.languages.system_reasons import reason_of
from agent.model.base import Json
from gateway.config import ConfigError, load
from gateway.doctor.examine import examine
from gateway.home import Home
from gateway.log_setup import last_lines
from gateway.operations import OperationGroup, operation
from gateway.rpc.protocol import OperationError
from gateway.spoken_time import parts

_USUAL_LINES = 200
_MOST_LINES = 2_000


class ProcessOperations(OperationGroup):
    """`restart` ends the gateway in order and starts it again."""

    def __init__(self, home: Home, restart: Callable[[], None]) -> None:
        self._home = home
        self._restart = restart
        self._examining = asyncio.Lock()
        self._started = datetime.now(UTC).isoformat()

    @operation("gateway.restart", on_page=True)
    async def restart(self) -> Json:
        """Restarts once the answers in progress are complete; answers as `gateway.started` does. A configuration with
        a mistake is refused, because no gateway would start with it."""
        try:
            await asyncio.to_thread(load, self._home, os.environ)
        except ConfigError as error:
            raise OperationError(
                Sentence("Not restarted, because the configuration has a mistake: {why}", why=error)
            ) from error
        self._restart()
        return await self.started()

    @operation("gateway.started", on_page=True)
    async def started(self) -> Json:
        """`{started}`: the moment of this start. A restart is over once it differs."""
        return {"started": self._started}

    @operation("doctor.run", on_page=True)
    async def examine(self) -> Json:
        """Runs `daybook doctor`: `[{check, ok, message, fix}]`, texts as of `parts`. Takes some seconds."""
        async with self._examining:
            found = await asyncio.to_thread(examine, self._home, os.environ)
        return [
            {"check": finding.check, "ok": finding.ok, "message": parts(finding.message), "fix": parts(finding.fix)}
            for finding in found
        ]

    @operation("log.tail", on_page=True)
    async def log(self, lines: Annotated[int, Field(ge=1)] = _USUAL_LINES) -> Json:
        """The newest lines of the log, as `[text]`; there are no secrets in it."""
        try:
            found, _ = await asyncio.to_thread(last_lines, self._home.log_file, min(lines, _MOST_LINES))
        except OSError as error:
            raise OperationError(Sentence("The log can't be read: {why}.", why=reason_of(error))) from error
        return [line.decode("utf-8", "replace").rstrip("\n") for line in found]
