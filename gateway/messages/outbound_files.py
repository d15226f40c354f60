"""Files on their way out, and long answers as documents.

Copies are in `state/outgoing`, out of reach of every conversation, so that later changes do not matter.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from agent.clock import Clock
from agent.fs import put_in_place
from agent.languages.sentences import Sentence, said
from agent.languages.system_errors import system_says
from agent.media.sniff import HEAD, Kind, sniffed
from agent.memory.files import copy_out, inside
from agent.memory.paths import FileError, make_private
from agent.memory.scope import Scope
from channels.message import Address, Channel, OutboundFile
from gateway.store import chat_rows
from gateway.store.database import Database

log = logging.getLogger(__name__)

_KEPT_S = 30 * 86_400
"""As long as the outbox remembers sent messages."""


class OutboundFiles:
    """All methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, scope: Scope, path: str, most: int) -> OutboundFile:
        """A copy of the file at `path`, relative to the scope's folder. Raises `FileError`, also over `most` bytes."""
        source = inside(scope, path)
        return self._kept(source.name, lambda file: copy_out(source, scope.folder, file, most))

    def keep_text(self, name: str, text: str) -> OutboundFile:
        """Raises `FileError`."""

        def write(file: BinaryIO) -> None:
            file.write(text.encode("utf-8", "replace"))

        return self._kept(name, write)

    def keep_speech(self, name: str, sound: Path) -> OutboundFile:
        """A copy of a sound that plays by itself. Raises `FileError`, `OSError`."""
        with sound.open("rb") as reader:
            return replace(self._kept(name, partial(shutil.copyfileobj, reader)), is_voice=True)

    def _kept(self, name: str, write: Callable[[BinaryIO], None]) -> OutboundFile:
        make_private(self._folder)
        scratch = self._folder / f"{secrets.token_hex(8)}.new"
        try:
            with os.fdopen(os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
                write(file)
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                file.seek(0)
                kind, _ = sniffed(file.read(HEAD))
            kept = self._folder / digest
            put_in_place(scratch, kept)
        except OSError as error:
            raise FileError(Sentence("{name} could not be copied: {why}", name=name, why=system_says(error))) from error
        finally:
            scratch.unlink(missing_ok=True)
        return OutboundFile(kept, name, is_image=kind is Kind.PICTURE)

    def prune(self, wanted: Collection[Path]) -> None:
        old = time.time() - _KEPT_S
        try:
            for file in self._folder.iterdir() if self._folder.is_dir() else ():
                if file not in wanted and file.stat().st_mtime < old:
                    file.unlink(missing_ok=True)
        except OSError as error:
            log.warning("old files in %s could not be deleted: %s", self._folder, error)


MOST_MESSAGES = 8
"""An answer of more messages is read better in a document."""
_SHORT = 1_000
"""Characters that are no flood on any platform, so that most answers are not cut twice to count their messages."""
_NOTE = Sentence("_(This is just the beginning. The whole answer is in the file below.)_")


@dataclass(frozen=True, slots=True)
class SplitAnswer:
    text: str
    files: tuple[OutboundFile, ...] = ()


class LongAnswers:
    def __init__(
        self, database: Database, clock: Clock, channels: Mapping[str, Channel], outgoing: OutboundFiles
    ) -> None:
        self._database = database
        self._clock = clock
        self._channels = channels
        self._outgoing = outgoing

    async def fitted(self, address: Address, text: str) -> SplitAnswer:
        """A long answer as its beginning and a document, on disk on return; else the answer as it is."""
        if len(text) <= _SHORT:
            return SplitAnswer(text)
        channel = self._channels[address.channel]
        pieces = await asyncio.to_thread(channel.split, text)
        size, largest = len(text.encode("utf-8", "replace")), channel.capabilities(address).largest_file
        if len(pieces) <= MOST_MESSAGES or size > largest:
            return SplitAnswer(text)
        language = await self._database.run(chat_rows.language, address)
        name = f"{said(language, 'answer')}-{self._clock.now():%Y-%m-%d-%H%M}.md"
        try:
            file = await asyncio.to_thread(self._outgoing.keep_text, name, text)
        except (FileError, OSError) as error:
            log.warning("a long answer to %s goes as %d messages: %s", address, len(pieces), error)
            return SplitAnswer(text)
        note = _NOTE.in_language(language)
        return SplitAnswer(await asyncio.to_thread(_beginning, channel, text, pieces, note), (file,))


def _beginning(channel: Channel, text: str, pieces: Sequence[str], note: str) -> str:
    first = channel.split(f"{note}\n\n{text}")[0]
    beginning = first.removeprefix(note).strip("\n")
    if beginning == first.strip("\n") or not beginning:  # a message hardly has room for the note itself
        beginning = pieces[0]
    return f"{beginning}\n\n{note}"
