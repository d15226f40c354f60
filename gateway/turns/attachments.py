"""Fetches, keeps and reads attachments when a turn begins: pictures for the model, documents and speech as text.

Each step is noted beside the files, so that none is repeated after a crash. Slots keep a stranger's slow files from
delaying the owner's; a budget limits each chat's bytes a day.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import shutil
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent.clock import Clock
from agent.formats.parsing import load_json
from agent.fs import atomic_write
from agent.media.reader import AT_ONCE, Reader
from agent.media.sniff import HEAD, Kind, Unreadable, sniffed
from agent.media.store import FOLDER, Store
from channels.ids import Address
from channels.message import Attachment, Channel, InboundMessage, NotFetched
from channels.tasks import backoff
from gateway.messages.active_work import ActiveWork
from gateway.messages.lanes import KeyedLocks
from gateway.turns.user_message import AttachmentKind, AttachmentResult, read_note, user_message_id, write_note


class Slots:
    """`shared` slots, one at a time for each session, and one more for the owner's private chats."""

    def __init__(self, shared: int) -> None:
        self._shared = asyncio.Semaphore(shared)
        self._owners = asyncio.Semaphore(1)
        self._sessions: KeyedLocks[str] = KeyedLocks()

    @asynccontextmanager
    async def one(self, session: str, *, is_owners: bool) -> AsyncIterator[None]:
        """Holds a slot inside. `is_owners`: the session is a private one of the owner."""
        if is_owners:
            may_share = self._owners.locked() and not self._shared.locked()
            async with self._shared if may_share else self._owners:
                yield
        else:
            async with self._sessions.alone(session), self._shared:
                yield


class MediaBudget:
    """`a_day`: bytes for each chat and day of the user. `file` keeps the counts."""

    def __init__(self, file: Path, clock: Clock, a_day: int) -> None:
        self.a_day = a_day
        self._file = file
        self._clock = clock
        self._day = ""
        self._taken: defaultdict[str, int] = defaultdict(int)
        self._writing = asyncio.Lock()

    async def take(self, chat: str, size: int) -> bool:
        taken = await self._today()
        if taken[chat] + size > self.a_day:
            return False
        taken[chat] += size
        return True

    async def settle(self, chat: str, expected: int, kept: int) -> None:
        """Raises `OSError`."""
        taken = await self._today()
        taken[chat] = max(0, taken[chat] + kept - expected)
        async with self._writing:
            await asyncio.to_thread(atomic_write, self._file, json.dumps({"day": self._day, "taken": taken}))

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


log = logging.getLogger(__name__)

TRIES = 3
_FETCH_SECONDS = 60.0
_LONGEST_WAIT = 60.0
"""For one try at one file."""
_FETCHES_AT_ONCE = 4
"""Of one message."""
_HEARD_AT_ONCE = 2
"""Besides the owner's: a program that transcribes uses the whole machine."""
_NOTES = "arrived"
_BUDGET = "today.json"
_KEPT_DAYS = 30
_SPOKEN = ("voice", "video note")
"""Ends of kinds whose videos are somebody speaking."""


@dataclass(frozen=True, slots=True)
class MediaLimits:
    """`free` blocks."""

    a_day: int = 200_000_000
    """Bytes for each chat that is not the owner's private one, as long as `least_free` bytes stay free."""
    least_free: int = 1_000_000_000
    free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free


class Transcriber(Protocol):
    async def transcribe(self, file: Path) -> str:
        """The words of a recording, whose ending says its format. Raises `Unreadable`, `OSError`."""


class AttachmentIntake:
    """`most_bytes`: larger files are not fetched; `wait`: seconds before a fetch is tried again."""

    def __init__(
        self,
        channels: Mapping[str, Channel],
        store: Store,
        reader: Reader,
        transcriber: Transcriber | None,
        most_bytes: int,
        active_work: ActiveWork,
        clock: Clock,
        wait: float = 1.0,
        space: MediaLimits = MediaLimits(),
    ) -> None:
        self._channels = channels
        self._store = store
        self._reader = reader
        self._transcriber = transcriber
        self._most_bytes = most_bytes
        self._active_work = active_work
        self._wait = wait
        self._space = space
        self._budget = MediaBudget(store.root / FOLDER / _NOTES / _BUDGET, clock, space.a_day)
        self._hearing = Slots(_HEARD_AT_ONCE)
        self._reading = Slots(AT_ONCE - 1)

    async def opened(self, message: InboundMessage, session: str, *, is_owners: bool) -> Mapping[int, AttachmentResult]:
        """Every attachment with bytes, by its index. `is_owners`: the session is a private one of the owner. Raises
        `OSError`; a later call continues."""
        fetches = asyncio.Semaphore(_FETCHES_AT_ONCE)
        places = [at for at, attachment in enumerate(message.attachments) if attachment.handle]
        whose = _Whose(session, is_owners)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {at: group.create_task(self._opened(message, at, fetches, whose)) for at in places}
        except BaseExceptionGroup as several:  # a disk that takes nothing: the others would say the same
            raise several.exceptions[0] from several
        return {at: task.result() for at, task in tasks.items()}

    async def clean(self, sessions: Path) -> None:
        """Deletes old files that no transcript there names."""
        try:
            gone = await asyncio.to_thread(self._store.clean, sessions, time.time() - _KEPT_DAYS * 86_400)
        except OSError as problem:
            log.warning("old media could not be deleted: %s", problem)
            return
        if gone:
            log.info("%d old attachments deleted: no transcript names them", gone)

    async def _opened(
        self, message: InboundMessage, at: int, fetches: asyncio.Semaphore, whose: _Whose
    ) -> AttachmentResult:
        attachment = message.attachments[at]
        key = hashlib.sha256(f"{user_message_id(message)}\n{at}\n{attachment.handle}".encode()).hexdigest()
        note = self._store.root / FOLDER / _NOTES / f"{key}.json"
        known = await asyncio.to_thread(read_note, note, self._store)
        if known is not None and known.found is not AttachmentKind.FETCHED:
            return known
        try:
            with self._active_work.working(
                f"{attachment.kind} {attachment.name!r} ({at}) of message {user_message_id(message)}"
            ):
                if known is None:
                    async with fetches:
                        file = await self._fetched(message, attachment, whose)
                else:
                    file = known.file
                await asyncio.to_thread(write_note, note, AttachmentResult(AttachmentKind.FETCHED, file))
                opened = await self._read(attachment, file, whose)
        except NotFetched as problem:
            opened = AttachmentResult(AttachmentKind.CLOSED, remark=str(problem))
        await asyncio.to_thread(write_note, note, opened)
        return opened

    async def _fetched(self, message: InboundMessage, attachment: Attachment, whose: _Whose) -> str:
        """Returns the path. Raises `NotFetched`."""
        if attachment.size is not None and attachment.size > self._most_bytes:
            raise NotFetched(
                f"it has {_megabytes(attachment.size)} MB, and I read at most {_megabytes(self._most_bytes)} MB "
                "(media.max_mb in config.yaml)"
            )
        size = self._most_bytes if attachment.size is None else attachment.size
        if await asyncio.to_thread(self._space.free, self._store.root) - size < self._space.least_free:
            log.error(
                "a file of %s is not kept: less than %d MB are free", message.address, self._space.least_free / 1e6
            )
            raise NotFetched("the disk is almost full, so I can't save files; I only answer the text of the message")
        channel = self._channels[message.address.channel]
        if whose.is_owners:
            return await self._fetched_from(channel, message, attachment)
        chat, kept = _chat(message), 0
        if not await self._budget.take(chat, size):
            raise NotFetched(
                f"this chat has sent {_megabytes(self._space.a_day)} MB of files today; I can save more tomorrow"
            )
        try:
            file = await self._fetched_from(channel, message, attachment)
            kept = (await asyncio.to_thread(self._store.place(file).stat)).st_size
        finally:
            await self._budget.settle(chat, size, kept)
        return file

    async def _fetched_from(self, channel: Channel, message: InboundMessage, attachment: Attachment) -> str:
        for tried in range(1, TRIES + 1):
            try:
                return await self._fetch(channel, attachment)
            except NotFetched as problem:
                if not problem.passing or tried == TRIES:
                    raise
                log.info("%s of %s is fetched again: %s", attachment.kind, message.address, problem)
            await asyncio.sleep(backoff(tried, self._wait, _LONGEST_WAIT))
        raise AssertionError("unreachable")

    async def _fetch(self, channel: Channel, attachment: Attachment) -> str:
        with self._store.scratch() as scratch:
            try:
                async with asyncio.timeout(_FETCH_SECONDS):
                    await channel.fetch(attachment, scratch, self._most_bytes)
            except TimeoutError as slow:
                raise NotFetched("it did not arrive in time", passing=True) from slow
            except (NotFetched, OSError):
                raise
            except Exception as bug:
                log.exception("%s could not fetch a %s", channel.name, attachment.kind)
                raise NotFetched("something went wrong while I downloaded it; the log has the details") from bug
            return await asyncio.to_thread(self._kept, scratch, attachment)

    def _kept(self, fetched: Path, attachment: Attachment) -> str:
        """Blocks."""
        _, ending = _sniffed(fetched, attachment)
        return self._store.keep(fetched, ending)

    async def _read(self, attachment: Attachment, file: str, whose: _Whose) -> AttachmentResult:
        place = self._store.place(file)
        kind, _ = await asyncio.to_thread(_sniffed, place, attachment)
        try:
            if kind is Kind.PICTURE:
                return AttachmentResult(AttachmentKind.PICTURE, file, shown=await self._shrunk(place, whose))
            if kind is Kind.AUDIO or (kind is Kind.VIDEO and attachment.kind.endswith(_SPOKEN)):
                if self._transcriber is None:
                    return AttachmentResult(AttachmentKind.UNHEARD, file)
                async with self._hearing.one(whose.session, is_owners=whose.is_owners):
                    return AttachmentResult(AttachmentKind.SPEECH, file, text=await self._transcriber.transcribe(place))
            async with self._reading.one(whose.session, is_owners=whose.is_owners):
                reading = await self._reader.text(place, kind)
        except Unreadable as problem:
            return AttachmentResult(AttachmentKind.CLOSED, file, remark=str(problem))
        return AttachmentResult(AttachmentKind.DOCUMENT, file, text=reading.text, remark=reading.remark)

    async def _shrunk(self, picture: Path, whose: _Whose) -> str:
        """Raises `Unreadable`."""
        with self._store.scratch() as scratch:
            async with self._reading.one(whose.session, is_owners=whose.is_owners):
                ending = await self._reader.picture(picture, scratch)
            return await asyncio.to_thread(self._store.keep, scratch, ending)


@dataclass(frozen=True, slots=True)
class _Whose:
    session: str
    is_owners: bool


def _chat(message: InboundMessage) -> str:
    """The chat whose budget counts: a thread's group."""
    return str(Address(message.address.channel, message.parent_chat or message.address.chat_id))


def _sniffed(path: Path, attachment: Attachment) -> tuple[Kind, str]:
    with path.open("rb") as file:
        return sniffed(file.read(HEAD), attachment.name, attachment.media_type)


def _megabytes(size: int) -> int:
    return -(-size // 1_000_000)
