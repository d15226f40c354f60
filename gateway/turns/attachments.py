"""Fetches, keeps and reads attachments when a turn begins: pictures for the model, documents and speech as text.

Each step is noted beside the files, so that a turn that goes on after a crash fetches and transcribes nothing twice.
Slots keep a stranger's slow files from delaying the owner's; a budget limits the bytes a day of each chat.
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

from agent.clock import Clock
from agent.formats.parsing import load_json
from agent.media.reader import AT_ONCE, Reader
from agent.media.sniff import HEAD, Kind, sniffed
from agent.media.store import FOLDER, Store
from agent.media.transcribe import Transcriber
from agent.media.unreadable import Unreadable
from channels.message import Attachment, Channel, InboundMessage, NotFetched
from gateway.messages.lanes import KeyedLocks
from gateway.messages.suspects import ActiveWork
from gateway.turns.user_message import AttachmentKind, AttachmentResult, read_note, user_message_id, write_note


class Slots:
    """`shared` slots, one at a time for each session, and one more for the owner's private chats only."""

    def __init__(self, shared: int) -> None:
        self._shared = asyncio.Semaphore(shared)
        self._owners = asyncio.Semaphore(1)
        self._sessions: KeyedLocks[str] = KeyedLocks()

    @asynccontextmanager
    async def one(self, session: str, *, is_owners: bool) -> AsyncIterator[None]:
        """Waits for a slot. `is_owners`: the session is a private one of the owner."""
        if is_owners:
            may_share = self._owners.locked() and not self._shared.locked()
            async with self._shared if may_share else self._owners:
                yield
        else:
            async with self._sessions.alone(session), self._shared:
                yield


class MediaBudget:
    """`a_day`: bytes for each chat and day of the user. `file` keeps the counts over restarts; a missing one, or one of
    another day, counts as empty."""

    def __init__(self, file: Path, clock: Clock, a_day: int) -> None:
        self.a_day = a_day
        self._file = file
        self._clock = clock
        self._day = ""
        self._taken: defaultdict[str, int] = defaultdict(int)
        self._writing = asyncio.Lock()

    async def take(self, chat: str, size: int) -> bool:
        """Counts bytes before they are fetched, as several files may come at once. False: over the budget."""
        taken = await self._today()
        if taken[chat] + size > self.a_day:
            return False
        taken[chat] += size
        return True

    async def settle(self, chat: str, expected: int, kept: int) -> None:
        """Counts what was kept in place of what was expected. Raises `OSError`."""
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


log = logging.getLogger(__name__)

TRIES = 3
_FETCH_SECONDS = 60.0
"""For one try at one file."""
_FETCHES_AT_ONCE = 4
"""Of one message."""
_HEARD_AT_ONCE = 2
"""Besides the owner's: a program that transcribes takes what the machine has."""
_NOTES = "arrived"
_BUDGET = "today.json"
_KEPT_DAYS = 30
_SPOKEN = ("voice", "video note")
"""Ends of kinds whose videos are somebody speaking."""


@dataclass(frozen=True, slots=True)
class MediaLimits:
    """`a_day`: bytes for each chat that is not a private one of the owner, as long as `least_free` stay free on the
    disk; `free` returns how many are, and blocks."""

    a_day: int = 200_000_000
    least_free: int = 1_000_000_000
    free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free


class AttachmentIntake:
    """`most_bytes`: larger files are not fetched; `wait`: seconds before a failed fetch is tried again, then twice
    that."""

    def __init__(
        self,
        channels: Mapping[str, Channel],
        store: Store,
        reader: Reader,
        transcriber: Transcriber | None,
        most_bytes: int,
        in_hand: ActiveWork,
        clock: Clock,
        wait: float = 1.0,
        space: MediaLimits = MediaLimits(),
    ) -> None:
        self._channels = channels
        self._store = store
        self._reader = reader
        self._transcriber = transcriber
        self._most_bytes = most_bytes
        self._in_hand = in_hand
        self._wait = wait
        self._space = space
        self._budget = MediaBudget(store.root / FOLDER / _NOTES / _BUDGET, clock, space.a_day)
        self._hearing = Slots(_HEARD_AT_ONCE)
        self._reading = Slots(AT_ONCE - 1)

    async def opened(self, message: InboundMessage, session: str, *, is_owners: bool) -> Mapping[int, AttachmentResult]:
        """Every attachment with bytes, by its place in the message. `session`: where it was sent; `is_owners`: whether
        that is a private one of the owner. Raises `OSError` where the disk fails; then, and where it is cancelled, a
        later call continues."""
        fetches = asyncio.Semaphore(_FETCHES_AT_ONCE)
        places = [at for at, one in enumerate(message.attachments) if one.handle]
        whose = _Whose(session, is_owners)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {at: group.create_task(self._opened(message, at, fetches, whose)) for at in places}
        except BaseExceptionGroup as several:  # a disk that takes nothing: the others would say the same
            raise several.exceptions[0] from several
        return {at: task.result() for at, task in tasks.items()}

    async def clean(self, sessions: Path) -> None:
        """Deletes files that are old and named by no transcript in that folder."""
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
        note = self._note(message, at)
        known = await asyncio.to_thread(read_note, note, self._store)
        if known is not None and known.found is not AttachmentKind.FETCHED:
            return known
        try:
            with self._in_hand.working(
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
        """Fetches a file and returns where it is kept. Raises `NotFetched`."""
        if attachment.size is not None and attachment.size > self._most_bytes:
            raise NotFetched(
                f"it has {_megabytes(attachment.size)} MB, and at most {_megabytes(self._most_bytes)} MB are read "
                "(media.max_mb in config.yaml)"
            )
        size = self._most_bytes if attachment.size is None else attachment.size
        if await asyncio.to_thread(self._space.free, self._store.root) - size < self._space.least_free:
            log.error(
                "a file of %s is not kept: less than %d MB are free", message.address, self._space.least_free / 1e6
            )
            raise NotFetched("there is too little room on my disk to keep files; the words of the message are answered")
        channel = self._channels[message.address.channel]
        if whose.is_owners:
            return await self._fetched_from(channel, message, attachment)
        chat, kept = _chat(message), 0
        if not await self._budget.take(chat, size):
            raise NotFetched(
                f"the files of this chat have {_megabytes(self._space.a_day)} MB today already, and more are kept "
                "tomorrow"
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
            await asyncio.sleep(self._wait * 2 ** (tried - 1))
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
                raise NotFetched("something broke while it was fetched; the log has the details") from bug
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
        """Makes a picture fit for the model. Raises `Unreadable`."""
        with self._store.scratch() as scratch:
            async with self._reading.one(whose.session, is_owners=whose.is_owners):
                ending = await self._reader.picture(picture, scratch)
            return await asyncio.to_thread(self._store.keep, scratch, ending)

    def _note(self, message: InboundMessage, at: int) -> Path:
        key = hashlib.sha256(f"{user_message_id(message)}\n{at}\n{message.attachments[at].handle}".encode()).hexdigest()
        return self._store.root / FOLDER / _NOTES / f"{key}.json"


@dataclass(frozen=True, slots=True)
class _Whose:
    """The session of a message; `is_owners`: in private, by the owner."""

    session: str
    is_owners: bool


def _chat(message: InboundMessage) -> str:
    """The chat whose budget counts: threads share that of their group."""
    return f"{message.address.channel}:{message.parent_chat or message.address.chat_id}"


def _sniffed(path: Path, attachment: Attachment) -> tuple[Kind, str]:
    """The kind of a file by its bytes, and its media type. Blocks."""
    with path.open("rb") as file:
        return sniffed(file.read(HEAD), attachment.name, attachment.media_type)


def _megabytes(size: int) -> int:
    return -(-size // 1_000_000)
