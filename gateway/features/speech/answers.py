"""Answers said aloud: after an answer's text its recording, once, also over restarts. Speech that fails is logged, and
the text is there anyway.

Committed with the answer, as a row of the outbox that waits for its file; a recording does not delay other messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import shutil
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

from agent.clock import utc_stamp
from agent.formats.plain_text import repair_surrogates
from agent.formats.sqlite import StorageUnavailable
from agent.memory.paths import FileError
from channels.message import Address
from gateway.features.speech.speak import Speaker, SpeechFailed, record
from gateway.kernel import Kernel
from gateway.messages.lanes import Lane, Lanes
from gateway.store import outbox_rows
from gateway.store.outbox_rows import SpeechRow

log = logging.getLogger(__name__)

_TOO_OLD = timedelta(hours=1)
"""An answer is not said aloud so long after its text."""
_AT_ONCE = 2
"""A program that speaks uses the whole machine."""


class SpokenAnswers:
    """Implements `gateway.turns.services.Voice`."""

    def __init__(self, kernel: Kernel, speaker: Speaker, *, always: bool) -> None:
        self._kernel = kernel
        self._folder = kernel.home.speech
        self._speaker = speaker
        self._always = always
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._posted: set[str] = set()
        self._chats: Lanes[Address, SpeechRow] = Lanes(self._serve)

    def wanted(self, turn: str, address: Address, text: str, *, was_recording: bool) -> SpeechRow | None:
        """The speech of a turn's answer, if it is to be said aloud. `was_recording`: it answers a recording."""
        if not (was_recording or self._always):
            return None
        channel = self._kernel.channels.get(address.channel)
        if channel is None or not channel.capabilities(address).plays_sound:
            return None
        at = utc_stamp(self._kernel.clock.now())
        return SpeechRow(f"{turn}:voice", address, repair_surrogates(text), at)

    def post(self, speech: SpeechRow) -> None:
        if speech.key not in self._posted:  # `run` reads what a first turn has just posted
            self._posted.add(speech.key)
            self._chats.post(speech.address, speech)

    async def run(self) -> None:
        """Speaks until cancelled, first answers of the last process, unless others share the home."""
        await asyncio.to_thread(self._remove_leftovers)
        if not self._kernel.claims.is_shared:
            try:
                for row in await self._kernel.database.run(outbox_rows.to_speak):
                    self.post(row)
            except StorageUnavailable as error:
                log.error("answers of the last process are not said aloud: %s", error)
        await self._chats.run()

    def _remove_leftovers(self) -> None:
        """Removes recordings of processes that died. Others that share the home may be recording."""
        newest = time.time() - _TOO_OLD.total_seconds() if self._kernel.claims.is_shared else math.inf
        for folder in self._folder.glob("*"):
            with contextlib.suppress(OSError):  # another removes it, too
                if folder.stat().st_mtime < newest:
                    shutil.rmtree(folder, ignore_errors=True)

    async def _serve(self, lane: Lane[Address, SpeechRow]) -> None:
        row = lane.take()
        try:
            if not await self._speak(row):
                await self._kernel.database.run(outbox_rows.drop_speech, row.key)
        except (SpeechFailed, FileError, OSError) as error:
            log.error("an answer to %s is not said aloud: %s; `daybook doctor` tests media.speak", row.address, error)
            await self._kernel.database.run(outbox_rows.drop_speech, row.key)
        finally:
            self._posted.discard(row.key)

    async def _speak(self, row: SpeechRow) -> bool:
        """False for a text that is not to be said aloud. Raises `SpeechFailed`, `FileError`, `OSError`."""
        from channels.spoken import speakable  # noqa: PLC0415 (a parser; only where something is spoken)

        is_old = self._kernel.clock.instant() - datetime.fromisoformat(row.created_at) > _TOO_OLD
        text = await asyncio.to_thread(speakable, row.text)
        if is_old or not text:
            return False
        async with self._slots:
            folder = await asyncio.to_thread(self._new_folder)
            try:
                recording = await record(self._speaker, text, folder)
                name = f"answer-{self._kernel.clock.now():%Y-%m-%d-%H%M}.{recording.ending}"
                kept = await asyncio.to_thread(self._kernel.outgoing.keep_speech, name, recording.path)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if await self._kernel.database.run(outbox_rows.spoken, row, kept):
            self._kernel.outbox.wake_chat(row.address)
        return True

    def _new_folder(self) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=self._folder))
