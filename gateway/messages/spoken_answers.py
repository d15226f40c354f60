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
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from agent.clock import Clock, utc_stamp
from agent.formats.plain_text import repair_surrogates
from agent.formats.sqlite import StorageUnavailable
from agent.media.speak import Speaker, SpeechFailed, record
from agent.memory.paths import FileError
from channels.message import Address, Channel
from gateway.messages.lanes import Lane, Lanes
from gateway.messages.outbound_files import OutboundFiles
from gateway.messages.outbox import Begin, Outbox
from gateway.store import outbox_rows
from gateway.store.claims import SOLE, Claims
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.outbox_rows import SpeechRow

log = logging.getLogger(__name__)

When = Literal["voice", "always", "never"]

_TOO_OLD = timedelta(hours=1)
"""An answer is not said aloud so long after its text."""
_AT_ONCE = 2
"""A program that speaks uses the whole machine."""


class SpokenAnswers:
    """`folder` is for files in the making. Without a `speaker` nothing is spoken."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        channels: Mapping[str, Channel],
        outbox: Outbox,
        outgoing: OutboundFiles,
        folder: Path,
        speaker: Speaker | None,
        when: When,
        claims: Claims = SOLE,
    ) -> None:
        self._database = database
        self._clock = clock
        self._channels = channels
        self._outbox = outbox
        self._outgoing = outgoing
        self._folder = folder
        self._speaker = speaker
        self._when = when
        self._claims = claims
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._posted: set[str] = set()
        self._chats: Lanes[Address, SpeechRow] = Lanes(self._serve)

    def wanted(self, turn: str, address: Address, text: str, *, was_recording: bool) -> SpeechRow | None:
        """The speech of a turn's answer, if it is to be said aloud. `was_recording`: it answers a recording."""
        if self._speaker is None or self._when == "never" or not (was_recording or self._when == "always"):
            return None
        channel = self._channels.get(address.channel)
        if channel is None or not channel.capabilities(address).plays_sound:
            return None
        at = utc_stamp(self._clock.now())
        return SpeechRow(f"{turn}:voice", address, repair_surrogates(text), at)

    @staticmethod
    def beside(speech: SpeechRow | None, begin: Begin) -> Begin:
        """Adds the speech to the commit of its answer, `begin`. Call `post` after it."""
        if speech is None:
            return begin

        def write(connection: Connection) -> None:
            outbox_rows.add_speech(connection, speech)
            begin(connection)

        return write

    def post(self, speech: SpeechRow | None) -> None:
        if speech is not None and speech.key not in self._posted:  # `run` reads what a first turn has just posted
            self._posted.add(speech.key)
            self._chats.post(speech.address, speech)

    async def run(self) -> None:
        """Speaks until cancelled, first answers of the last process, unless others share the home."""
        await asyncio.to_thread(self._remove_leftovers)
        if not self._claims.is_shared:
            try:
                for row in await self._database.run(outbox_rows.to_speak):
                    self.post(row)
            except StorageUnavailable as error:
                log.error("answers of the last process are not said aloud: %s", error)
        await self._chats.run()

    def _remove_leftovers(self) -> None:
        """Removes recordings of processes that died. Others that share the home may be recording."""
        newest = time.time() - _TOO_OLD.total_seconds() if self._claims.is_shared else math.inf
        for folder in self._folder.glob("*"):
            with contextlib.suppress(OSError):  # another removes it, too
                if folder.stat().st_mtime < newest:
                    shutil.rmtree(folder, ignore_errors=True)

    async def _serve(self, lane: Lane[Address, SpeechRow]) -> None:
        row = lane.take()
        try:
            if not await self._speak(row):
                await self._database.run(outbox_rows.drop_speech, row.key)
        except (SpeechFailed, FileError, OSError) as error:
            log.error("an answer to %s is not said aloud: %s; `daybook doctor` tests media.speak", row.address, error)
            await self._database.run(outbox_rows.drop_speech, row.key)
        finally:
            self._posted.discard(row.key)

    async def _speak(self, row: SpeechRow) -> bool:
        """False for a text that is not to be said aloud. Raises `SpeechFailed`, `FileError`, `OSError`."""
        from channels.spoken import speakable  # noqa: PLC0415 (a parser; only where something is spoken)

        is_old = self._clock.instant() - datetime.fromisoformat(row.created_at) > _TOO_OLD
        text = await asyncio.to_thread(speakable, row.text)
        if self._speaker is None or is_old or not text:
            return False
        async with self._slots:
            folder = await asyncio.to_thread(self._new_folder)
            try:
                recording = await record(self._speaker, text, folder)
                name = f"answer-{self._clock.now():%Y-%m-%d-%H%M}.{recording.ending}"
                kept = await asyncio.to_thread(self._outgoing.keep_speech, name, recording.path)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if await self._database.run(outbox_rows.spoken, row, kept):
            self._outbox.wake_chat(row.address)
        return True

    def _new_folder(self) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=self._folder))
