"""Leading words for which the owner has said "always", or which the configuration allows.

A lasting yes holds only for what programs find as it was then: the named files, the sandbox, and nothing written since
by anybody but the owner.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path

from agent.formats.exact import exactly
from agent.memory.scope import Scope
from gateway.features.programs.leading import is_shell_line, leading_words, state_of
from gateway.features.programs.runner import ProgramRunner
from gateway.store import question_rows
from gateway.store.database import Database

MOST_OFFERED = 80
"""Characters, so that the question shows all of the words."""


class AllowedPrograms:
    def __init__(self, database: Database, runner: ProgramRunner) -> None:
        self._database = database
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
        allowed = await self._database.run(question_rows.allowed_words)
        stored = [entry for entry in allowed if entry.words and tuple(argv[: len(entry.words)]) == entry.words]
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

    def _state(self, argv: Sequence[str], folder: str, scope: Scope) -> str:
        at, sandbox = scope.folder / folder, self._runner.sandbox
        named = state_of(argv, at, scope.folder, sandbox.find(argv[0], at))
        return (
            f"{named} {self._runner.workspaces.mark(scope, folder, argv)} {'in' if sandbox.is_tight else 'no'} sandbox"
        )
