"""Leading words for which the owner has said "always", or which the configuration allows."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from agent.clock import Clock, utc_stamp
from agent.memory.scope import Scope
from gateway.programs.leading import is_shell_line, leading_words, state_of
from gateway.programs.sandbox import Sandbox
from gateway.store import program_rows
from gateway.store.database import Database
from gateway.store.program_rows import AllowedWords

MOST_OFFERED = 80
"""Characters, so that the question shows all of them."""


class AllowedPrograms:
    def __init__(self, database: Database, clock: Clock, sandbox: Sandbox) -> None:
        self._database = database
        self._clock = clock
        self._sandbox = sandbox

    async def covers(
        self, argv: Sequence[str], at: Path, scope: Scope, configured: Sequence[Sequence[str]] = ()
    ) -> bool:
        if is_shell_line(argv):
            return False
        if any(list(argv[: len(words)]) == list(words) for words in configured):
            return True
        stored = [one for one in await self.listed() if tuple(argv[: len(one.words)]) == one.words]
        states = [await asyncio.to_thread(self._state, one.words, at, scope) for one in stored]
        return any(one.state == now for one, now in zip(stored, states, strict=True))

    async def offer(self, argv: Sequence[str], at: Path) -> tuple[str, ...]:
        """The words that "always" would hold for; empty if for none."""
        words = await asyncio.to_thread(leading_words, argv, at)
        return words if len(shlex.join(words)) <= MOST_OFFERED and "".join(words).isprintable() else ()

    async def allow(self, words: tuple[str, ...], at: Path, scope: Scope) -> None:
        """Raises `StorageUnavailable`."""
        state = await asyncio.to_thread(self._state, words, at, scope)
        id = hashlib.sha256(json.dumps([words, state]).encode()).hexdigest()[:8].upper()
        now = utc_stamp(self._clock.now())
        await self._database.run(program_rows.allow, AllowedWords(id, words, state), now)

    async def listed(self) -> Sequence[AllowedWords]:
        return await self._database.run(program_rows.allowed_words)

    async def take_back(self, id: str) -> bool:
        """False for an unknown one. Raises `StorageUnavailable`."""
        return await self._database.run(program_rows.take_back, id.upper())

    def _state(self, words: tuple[str, ...], at: Path, scope: Scope) -> str:
        return state_of(words, at, scope.folder, self._sandbox.find(words[0], at))
