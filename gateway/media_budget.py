"""How many bytes of files each chat has brought today, over restarts."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from pathlib import Path

from agent.clock import Clock
from agent.io.parsing import load_json


class MediaBudget:
    """`a_day`: bytes that a chat may bring on one of the user's days. `file` keeps what was brought; one that is
    missing, or of another day, counts as nothing brought."""

    def __init__(self, file: Path, clock: Clock, a_day: int) -> None:
        self.a_day = a_day
        self._file = file
        self._clock = clock
        self._day = ""
        self._taken: defaultdict[str, int] = defaultdict(int)
        self._writing = asyncio.Lock()

    async def take(self, chat: str, size: int) -> bool:
        """Count bytes before they are fetched, as several files may be at once. False: there is no room for them."""
        taken = await self._today()
        if taken[chat] + size > self.a_day:
            return False
        taken[chat] += size
        return True

    async def settle(self, chat: str, expected: int, kept: int) -> None:
        """Count what was kept in place of what was expected. Raises `OSError`."""
        taken = await self._today()
        taken[chat] = max(0, taken[chat] + kept - expected)
        async with self._writing:
            await asyncio.to_thread(self._write, json.dumps({"day": self._day, "taken": taken}))

    async def _today(self) -> defaultdict[str, int]:
        today = self._clock.today().isoformat()
        if self._day != today:
            known = await asyncio.to_thread(self._read, today)
            if self._day != today:  # nobody else has read it meanwhile
                self._day, self._taken = today, defaultdict(int, known)
        return self._taken

    def _read(self, day: str) -> dict[str, int]:
        try:
            known = load_json(self._file.read_bytes())
            return {str(chat): int(size) for chat, size in known["taken"].items()} if known["day"] == day else {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}

    def _write(self, text: str) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self._file.with_suffix(".new")
        fresh.touch(0o600)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(self._file)
