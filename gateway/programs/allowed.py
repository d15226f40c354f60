"""Leading words for which the owner has said "always", or which the configuration allows.

A lasting yes holds only for what programs find as it was then: the named files, the sandbox, and nothing written since
by anybody but the owner.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from agent.clock import Clock, utc_stamp
from agent.formats.exact import exactly
from agent.memory.scope import Scope
from gateway.programs.leading import is_shell_line, leading_words, state_of
from gateway.programs.runner import ProgramRunner
from gateway.store import program_rows
from gateway.store.database import Database
from gateway.store.program_rows import AllowedWords

MOST_OFFERED = 80
"""Characters, so that the question shows all of the words."""


class AllowedPrograms:
    def __init__(self, database: Database, clock: Clock, runner: ProgramRunner) -> None:
        self._database = database
        self._clock = clock
        self._runner = runner

    async def covers(
        self, argv: Sequence[str], folder: str, scope: Scope, configured: Sequence[Sequence[str]] = ()
    ) -> bool:
        """True where the command line needs no yes. Raises `StorageUnavailable`."""
        if is_shell_line(argv):
            return False
        if any(words and list(argv[: len(words)]) == list(words) for words in configured):
            return True
        if not self._runner.sandbox.is_tight:
            return False
        stored = [
            entry for entry in await self.listed() if entry.words and tuple(argv[: len(entry.words)]) == entry.words
        ]
        return any([entry.state == await self.state(entry.words, folder, scope) for entry in stored])

    async def offer(self, argv: Sequence[str], at: Path) -> tuple[str, ...]:
        """The words that "always" would hold for; empty if for none."""
        if not self._runner.sandbox.is_tight:
            return ()
        words = await asyncio.to_thread(leading_words, argv, at)
        line = shlex.join(words)
        return words if len(line) <= MOST_OFFERED and exactly(line) == line and "`" not in line else ()

    async def state(self, argv: Sequence[str], folder: str, scope: Scope) -> str:
        """Names all that a yes to these words is bound to, as it is now. Raises `StorageUnavailable`."""
        return await asyncio.to_thread(self._state, argv, folder, scope)

    async def allow(self, words: tuple[str, ...], state: str) -> None:
        """Keeps a lasting yes. Raises `StorageUnavailable`."""
        id = hashlib.sha256(json.dumps([words, state]).encode()).hexdigest()[:8].upper()
        now = utc_stamp(self._clock.now())
        await self._database.run(program_rows.allow, AllowedWords(id, words, state), now)

    async def listed(self) -> Sequence[AllowedWords]:
        return await self._database.run(program_rows.allowed_words)

    async def take_back(self, id: str) -> bool:
        """Takes a lasting yes back; False for an unknown id. Raises `StorageUnavailable`."""
        return await self._database.run(program_rows.take_back, id.upper())

    def _state(self, argv: Sequence[str], folder: str, scope: Scope) -> str:
        at, sandbox = scope.folder / folder, self._runner.sandbox
        named = state_of(argv, at, scope.folder, sandbox.find(argv[0], at))
        return (
            f"{named} {self._runner.workspaces.mark(scope, folder, argv)} {'in' if sandbox.is_tight else 'no'} sandbox"
        )
