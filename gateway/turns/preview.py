"""Shows a reply in the chat while it is written, and a reaction until its end.

A preview may be late, skipped or lost. The reply goes through the outbox, as the last edit of the preview's message if
there is one.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress

from agent.formats.sqlite import StorageUnavailable
from agent.silence import SilentFilter, deliverable_text
from agent.values import ReplyText, StepCompleted, TextReset, TurnEvent
from channels.message import (
    Address,
    AnswerLost,
    Channel,
    InboundMessage,
    NotSent,
    Origin,
    OutboundMessage,
    PreviewStyle,
    Refused,
    SendError,
)
from gateway.messages.lanes import KeyedLocks
from gateway.messages.outbox import CUT_AT_ONCE
from gateway.store import outbox_rows
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow

log = logging.getLogger(__name__)

_BEFORE_FIRST_EDIT = 0.6
"""Seconds of writing before a message is made of it: short answers come whole, without a preview that flickers."""
_BEFORE_FIRST_DRAFT = 0.2
"""The same for a draft, which disturbs less. An answer that is there by then costs one call, not two."""
_DRAFT_LIFE = 20.0
"""A draft that has not changed is shown again after so many seconds; Telegram forgets drafts after 30."""
_LOOK_AGAIN = 0.2
"""Seconds between looks whether what waits for the chat has been sent."""
_CLOSING = 10.0
_CLOSING_DRAFT = 1.0
"""The same for a draft, which has no id: it should only not arrive after the reply."""
_BETWEEN_ASKS = 0.5
"""Seconds between two questions for the id of a preview's message."""


def _always() -> bool:
    return True


def _newest(channel: Channel, text: str) -> str:
    """As much of a text's end as fits into one message."""
    pieces = channel.split(text)
    return channel.split("… " + pieces[-1])[0] if len(pieces) > 1 else "".join(pieces)


class StreamedReply:
    """The reply so far: finished steps, the one that streams, and a note on a long wait."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self._partial = ""
        self._filter = SilentFilter()
        self._is_dropped = False
        self.note = ""

    def feed(self, event: TurnEvent) -> None:
        match event:
            case ReplyText() if self._is_dropped:
                pass
            case ReplyText(text):
                self.note = ""
                self._partial += self._filter.feed(text)
            case TextReset(note):
                self.note = note
                self._next_step()
            case StepCompleted():
                step = deliverable_text(self._partial + self._filter.finish())
                self._steps += [step] if step else []
                self._next_step()

    def drop(self) -> None:
        """Drops all text, also what still comes of the step that streams: something was forgotten since."""
        self._steps.clear()
        self._next_step()
        self._is_dropped = True

    def _next_step(self) -> None:
        self._partial, self._filter, self._is_dropped = "", SilentFilter(), False

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in (*self._steps, self._partial.strip()) if part)

    @property
    def last_step(self) -> str:
        return self._steps[-1] if self._steps else ""

    @property
    def shown(self) -> str:
        return "\n\n".join(part for part in (self.text, f"_{self.note}_" if self.note else "") if part)


class LivePreview:
    """Shows a reply inside `open`, at the platform's pace.

    message     platform id of the preview's message, if it can be edited
    uncertain   there may be a message whose id is not known
    """

    _draft_ids = itertools.count(1)

    def __init__(
        self,
        database: Database,
        channel: Channel,
        address: Address,
        turn: str,
        reply_to: str,
        stood: str | None,
        is_clear: Callable[[], bool] = _always,
        closing: float = _CLOSING,
    ) -> None:
        """`stood`: `outbox_rows.preview_of` an earlier process. `is_clear`: no earlier message waits for the chat;
        until then no preview opens. `closing`: seconds for which a preview in flight may delay the reply, whose edit
        needs its id."""
        self._database = database
        self._channel = channel
        self._address = address
        self._turn = turn
        self._reply_to = reply_to
        self._is_clear = is_clear
        self._closing_wait = closing
        self._changed = asyncio.Event()
        self._shown = ""
        self._draft_id = zlib.crc32(turn.encode()) % 2_000_000_000 + next(self._draft_ids)
        self._closing = asyncio.Event()
        self.message = stood or ""
        self.uncertain = stood == ""

    @asynccontextmanager
    async def open(self, reply: StreamedReply) -> AsyncIterator[LivePreview]:
        if self.uncertain:
            await self._ask_again()
        task = asyncio.create_task(self._follow(reply), name=f"preview {self._address}")
        try:
            yield self
        finally:
            self._closing.set()
            self._changed.set()
            await self._finish(task, self._closing_wait if self._makes_messages() else _CLOSING_DRAFT)
            await self._ask_until_known()

    def changed(self) -> None:
        self._changed.set()

    def _makes_messages(self) -> bool:
        return bool(self.message) or self._channel.capabilities(self._address).preview is not PreviewStyle.DRAFT

    @staticmethod
    async def _finish(task: asyncio.Task[None], patience: float) -> None:
        """Waits for a call in flight and its id; then cancels it."""
        try:
            await asyncio.wait({task}, timeout=patience)
        finally:
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled() and (bug := task.exception()):
            log.error("a preview failed", exc_info=bug)

    async def _follow(self, reply: StreamedReply) -> None:
        wait: float | None = None
        while await self._next_change():
            style = self._channel.capabilities(self._address).preview
            if self.uncertain:
                await self._ask_again()
            if style is PreviewStyle.NONE or self.uncertain:
                continue
            if wait is None:
                wait = _BEFORE_FIRST_EDIT if style is PreviewStyle.EDIT else _BEFORE_FIRST_DRAFT
            if await self._pause(wait):
                return
            text = reply.shown
            if text and text != self._shown:
                wait = await self._show(style, text)

    async def _next_change(self) -> bool:
        """Waits for new text or a draft's refresh; False when the preview closes."""
        if self._closing.is_set():
            return False
        is_draft = self._shown and self._channel.capabilities(self._address).preview is PreviewStyle.DRAFT
        try:
            async with asyncio.timeout(_DRAFT_LIFE if is_draft else None):
                await self._changed.wait()
        except TimeoutError:
            self._shown = ""
        self._changed.clear()
        return not self._closing.is_set()

    async def _pause(self, seconds: float) -> bool:
        """True if the preview closed meanwhile."""
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._closing.wait()
            self._changed.clear()
        return self._closing.is_set()

    async def _show(self, style: PreviewStyle, text: str) -> float:
        """Returns the seconds to wait before the next update."""
        interval = self._channel.capabilities(self._address).interval
        piece = (
            _newest(self._channel, text)
            if len(text) <= CUT_AT_ONCE
            else await asyncio.to_thread(_newest, self._channel, text)
        )
        if not piece:
            return interval
        out = self._out(piece)
        try:
            if style is PreviewStyle.DRAFT:
                await self._channel.draft(self._draft_id, out)
            elif self.message:
                await self._channel.edit(self.message, out)
            elif self._is_clear():
                await self._open_message(out)
            else:
                self._changed.set()
                return max(interval, _LOOK_AGAIN)
        except NotSent as error:
            self._changed.set()  # what could not be shown is shown later, though nothing is added to it
            return max(interval, error.retry_after)
        except Refused as error:
            log.debug("no preview in %s: %s", self._address, error)
            if style is not self._channel.capabilities(self._address).preview:
                self._changed.set()
            return interval
        except (SendError, StorageUnavailable) as error:
            log.info("a preview in %s was lost: %s", self._address, error)
            return interval
        self._shown = text
        return interval

    async def _open_message(self, out: OutboundMessage) -> None:
        """Sends the preview's first message; it is noted before, its id after."""
        await self._database.run(outbox_rows.open_preview, self._turn, self._address.channel)
        try:
            platform_id = await self._channel.send(out)
        except AnswerLost:
            self.uncertain = True
            raise
        except (NotSent, Refused):
            await self._database.run(outbox_rows.preview_lost, self._turn)
            raise
        except BaseException:  # of unknown outcome, cut off or broken: it may stand there
            self.uncertain = True
            raise
        self.message = platform_id
        await self._database.run(outbox_rows.preview_shown, self._turn, platform_id)

    async def _ask_until_known(self) -> None:
        """Asks for the id until it is known; a platform that fails here would not take the reply sooner."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._closing_wait):
                while self.uncertain and await self._ask_again():  # noqa: ASYNC110  the platform rings no bell
                    await asyncio.sleep(_BETWEEN_ASKS)

    async def _ask_again(self) -> bool:
        """Sends again with the same idempotency key to learn the message id; True to ask once more."""
        out = self._out("…")
        window = self._channel.repeat_window(out)
        if not window:
            return False
        age = await self._database.run(outbox_rows.preview_age, self._turn)
        if age is None or age >= window:
            return False
        try:
            async with asyncio.timeout(self._closing_wait):
                platform_id = await self._channel.send(out)
            await self._database.run(outbox_rows.preview_shown, self._turn, platform_id)
        except (SendError, TimeoutError) as error:
            log.info("it is not known whether %s shows a preview: %s", self._address, error)
            return not isinstance(error, Refused)
        self.message, self.uncertain = platform_id, False
        return False

    def _out(self, text: str) -> OutboundMessage:
        return OutboundMessage(self._address, text, key=f"{self._turn}:preview", reply_to=self._reply_to, preview=True)


class Acknowledgement:
    """`signs`: an emoji for each channel. Reactions are optional and never waited for."""

    def __init__(
        self, channels: Mapping[str, Channel], signs: Mapping[str, str], spawn: Callable[[Awaitable[None], str], None]
    ) -> None:
        self._channels = channels
        self._signs = signs
        self._spawn = spawn
        self._under_way: KeyedLocks[str] = KeyedLocks()

    def kept(self, row: InboxRow) -> None:
        self._put(row, self._signs.get(row.message.address.channel, ""))

    def ended(self, rows: Iterable[InboxRow]) -> None:
        for row in rows:
            if row.message.address.channel in self._signs and not row.overheard:
                self._put(row, "")

    def _put(self, row: InboxRow, sign: str) -> None:
        message = row.message
        channel = self._channels.get(message.address.channel)
        if message.address.channel in self._signs and channel and message.platform_id and message.origin is Origin.CHAT:
            self._spawn(self._in_order(channel, message, sign), f"sign in {message.address}")

    async def _in_order(self, channel: Channel, message: InboundMessage, sign: str) -> None:
        """Sets and removes reactions in order: no removal overtakes its mark."""
        async with self._under_way.alone(message.id):
            await channel.react(message.address, message.platform_id, sign)
