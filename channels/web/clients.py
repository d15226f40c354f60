"""The open pages: the queue of frames of each, and the previews and busy states of their chats (in memory only)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import ParamSpec

from agent.languages.codes import Language
from channels.message import CommandInfo
from channels.web import frames
from channels.web.record import ChatEntry, ChatRecord, NotRecorded

_MOST_FRAMES = 500
_MOST_WAITING = 16_000_000
"""Frames and characters that may wait for a page; a slower one is disconnected."""


class PageConnection:
    def __init__(self, chat: str, language: Language = Language.ENGLISH) -> None:
        self.chat = chat
        self.language = language
        self._waiting: deque[tuple[str, str]] = deque()
        self._size = 0
        self._changed = asyncio.Event()
        self._too_slow = asyncio.Event()

    def show(self, frame: str, draft: str = "") -> None:
        """Queues a frame; never waits. `draft` replaces a waiting frame of that name."""
        if draft and self._waiting and self._waiting[-1][0] == draft:
            self._size -= len(self._waiting.pop()[1])
        self._waiting.append((draft, frame))
        self._size += len(frame)
        if len(self._waiting) > _MOST_FRAMES or self._size > _MOST_WAITING:
            self._too_slow.set()
        self._changed.set()

    async def pump(self, send: Callable[[str], Awaitable[None]]) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            while self._waiting:
                _, frame = self._waiting.popleft()
                self._size -= len(frame)
                await send(frame)

    async def cut_off(self) -> None:
        await self._too_slow.wait()


log = logging.getLogger(__name__)

P = ParamSpec("P")

_RECENT = 50
"""Messages shown when a page is opened."""
_OLDER = 100
"""Messages for each request for older ones."""
_THREAD_FROM = 2_000
"""Characters from which a text is rendered in a thread: it takes milliseconds."""


class OpenPages:
    def __init__(self, record: ChatRecord, commands: Sequence[CommandInfo], largest_upload: int) -> None:
        self._record = record
        self._commands = commands
        self._largest_upload = largest_upload
        self._open: defaultdict[str, list[PageConnection]] = defaultdict(list)
        self._drafts: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._busy: Counter[str] = Counter()
        self._showing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        record.watch(self.show)

    # One page

    @contextmanager
    def attached(self, page: PageConnection) -> Iterator[None]:
        self._open[page.chat].append(page)
        try:
            yield
        finally:
            self._open[page.chat].remove(page)

    async def begin(self, page: PageConnection) -> None:
        """Raises `NotRecorded`."""
        async with self._showing[page.chat]:
            entries = await self._record.recent(page.chat, _RECENT + 1)
            busy = self._busy[page.chat] > 0
            frame = await asyncio.to_thread(
                frames.opened,
                page.chat,
                entries[-_RECENT:],
                tuple(self._drafts[page.chat].items()),
                self._commands,
                page.language,
                more=len(entries) > _RECENT,
                busy=busy,
                largest_file=self._largest_upload,
            )
            page.show(frame)
            if (self._busy[page.chat] > 0) != busy:  # it changed while the frame was made, and that was told too early
                page.show(frames.busy(not busy))

    async def older(self, page: PageConnection, before: int) -> None:
        """Raises `NotRecorded`."""
        async with self._showing[page.chat]:
            entries = await self._record.recent(page.chat, _OLDER + 1, before)
            page.show(await asyncio.to_thread(frames.older, entries[-_OLDER:], more=len(entries) > _OLDER))

    async def earlier(self, page: PageConnection, message: str) -> None:
        """Raises `NotRecorded`."""
        entries = [entry for entry in await self._record.earlier(message) if entry.chat == page.chat]
        page.show(await asyncio.to_thread(frames.earlier, message, entries))

    # All pages of a chat

    async def show(self, id: str) -> None:
        """Shows a message as it is now. One at a time for each chat, so that the last frame is the newest state."""
        try:
            entry = await self._record.find(id)
            if entry is None or not self._open[entry.chat]:
                return
            async with self._showing[entry.chat]:
                if entry := await self._record.find(id):
                    await self._show(entry)
        except NotRecorded as error:
            log.warning("updating open pages failed; they show it when opened again: %s", error)

    async def _show(self, entry: ChatEntry) -> None:
        if entry.replaced_by:
            return self._broadcast(entry.chat, frames.replaced([entry]))
        if entry.replaces and (earlier := await self._record.earlier(entry.id)):
            self._broadcast(entry.chat, frames.replaced(earlier))
        return self._broadcast(entry.chat, await _render(entry.text, frames.message, entry))

    async def draft(self, chat: str, turn: str, text: str) -> None:
        self._drafts[chat][turn] = text
        if self._open[chat]:
            self._broadcast(chat, await _render(text, frames.draft, turn, text), draft=turn)

    def drop_draft(self, chat: str, turn: str) -> None:
        self._drafts[chat].pop(turn, None)

    @asynccontextmanager
    async def typing(self, chat: str) -> AsyncIterator[None]:
        self._busy[chat] += 1
        self._broadcast_busy(chat)
        try:
            yield
        finally:
            self._busy[chat] -= 1
            if not self._busy[chat]:
                self._drafts[chat].clear()
            self._broadcast_busy(chat)

    def _broadcast_busy(self, chat: str) -> None:
        self._broadcast(chat, frames.busy(self._busy[chat] > 0))

    def _broadcast(self, chat: str, frame: str, draft: str = "") -> None:
        for page in self._open[chat]:
            page.show(frame, draft)


async def _render(text: str, draw: Callable[P, str], *args: P.args, **kwargs: P.kwargs) -> str:
    if len(text) < _THREAD_FROM:
        return draw(*args, **kwargs)
    return await asyncio.to_thread(draw, *args, **kwargs)
