"""Shows a reply in the chat while it is written, without silent tokens.

A preview is not guaranteed: it may be late, skipped or lost. The reply itself goes through the outbox, as the last edit
of the preview's message where there is one, else as a message of its own.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from agent.silence import SilentFilter, deliverable_text
from agent.values import ReplyText, StepCompleted, TextReset, TurnEvent
from channels.message import (
    Address,
    AnswerLost,
    Channel,
    NotSent,
    OutboundMessage,
    PreviewStyle,
    Refused,
    SendError,
)
from gateway.store import outbox_rows
from gateway.store.database import Database, StoreUnavailable

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
"""As `closing`, for a draft: it has no id, and should only not come behind the reply."""
_BETWEEN_ASKS = 0.5
"""Seconds between two questions for the id of a preview's message."""


_CUT_AT_ONCE = 1_000
"""Characters up to which a text is cut on the loop; a longer one takes milliseconds, again each time it is shown."""


def _always() -> bool:
    return True


def _newest(channel: Channel, text: str) -> str:
    """As much of the end of a text as fits into one message."""
    pieces = channel.split(text)
    return channel.split("… " + pieces[-1])[0] if len(pieces) > 1 else "".join(pieces)


class StreamedReply:
    """The reply as it is written: finished steps, the step that streams, and a note on a long wait."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self._partial = ""
        self._filter = SilentFilter()
        self.note = ""

    def feed(self, event: TurnEvent) -> None:
        match event:
            case ReplyText(text):
                self.note = ""
                self._partial += self._filter.feed(text)
            case TextReset(note):
                self.note = note
                self._partial, self._filter = "", SilentFilter()
            case StepCompleted():
                step = deliverable_text(self._partial + self._filter.finish())
                self._steps += [step] if step else []
                self._partial, self._filter = "", SilentFilter()

    @property
    def text(self) -> str:
        """The part that a person may see now."""
        return "\n\n".join(part for part in (*self._steps, self._partial.strip()) if part)

    @property
    def last_step(self) -> str:
        """The text of the newest finished step."""
        return self._steps[-1] if self._steps else ""

    @property
    def shown(self) -> str:
        return "\n\n".join(part for part in (self.text, f"_{self.note}_" if self.note else "") if part)


class LivePreview:
    """Keeps a chat up to date with a reply inside `open`, at the platform's pace.

    message     platform id of the preview's message where one can be edited
    uncertain   there may be a message in the chat whose id is not known
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
        """`stood`: what an earlier process had shown of the turn, as `outbox_rows.preview_of`. `is_clear`: no earlier
        message still waits to be sent to the chat; until then no preview opens, so that the order holds. `closing`:
        seconds for which a preview in flight may delay the reply, for the last edit needs its id."""
        self._database = database
        self._channel = channel
        self._address = address
        self._turn = turn
        self._reply_to = reply_to
        self._is_clear = is_clear
        self._timeouts = closing
        self._changed = asyncio.Event()
        self._shown = ""
        self._draft_id = zlib.crc32(turn.encode()) % 2_000_000_000 + next(self._draft_ids)
        self._closing = False
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
            self._closing = True
            self._changed.set()
            await self._finish(task, self._timeouts if self._makes_messages() else _CLOSING_DRAFT)
            await self._ask_until_known()

    def changed(self) -> None:
        """There is more to show."""
        self._changed.set()

    def _makes_messages(self) -> bool:
        return bool(self.message) or self._channel.pace(self._address).preview is not PreviewStyle.DRAFT

    @staticmethod
    async def _finish(task: asyncio.Task[None], patience: float) -> None:
        """Waits for a call in flight, for the id it returns; then stops. A failed preview harms nothing else."""
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
            style = self._channel.pace(self._address).preview
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
        """Waits for news, and refreshes a draft that does not change. False when the preview closes."""
        if self._closing:
            return False
        is_draft = self._shown and self._channel.pace(self._address).preview is PreviewStyle.DRAFT
        try:
            async with asyncio.timeout(_DRAFT_LIFE if is_draft else None):
                await self._changed.wait()
        except TimeoutError:
            self._shown = ""
        self._changed.clear()
        return not self._closing

    async def _pause(self, seconds: float) -> bool:
        """Keeps the pace; True when the preview closed meanwhile."""
        if seconds > 0 and not self._closing:
            loop = asyncio.get_running_loop()
            until = loop.time() + seconds
            while not self._closing and (left := until - loop.time()) > 0:
                try:
                    async with asyncio.timeout(left):
                        await self._changed.wait()
                except TimeoutError:
                    break
                self._changed.clear()
        return self._closing

    async def _show(self, style: PreviewStyle, text: str) -> float:
        """Updates the chat; returns the seconds to wait before the next update."""
        interval = self._channel.pace(self._address).interval
        piece = (
            _newest(self._channel, text)
            if len(text) <= _CUT_AT_ONCE
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
            if style is not self._channel.pace(self._address).preview:
                self._changed.set()
            return interval
        except (SendError, StoreUnavailable) as error:
            log.info("a preview in %s was lost: %s", self._address, error)
            return interval
        self._shown = text
        return interval

    async def _open_message(self, out: OutboundMessage) -> None:
        """Sends the preview's first message. It is noted before, its id after, so that a restart finds and edits it."""
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
        """Asks for the id until it is known. A platform that fails here would not take the reply any sooner."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timeouts):
                while self.uncertain and await self._ask_again():  # noqa: ASYNC110  the platform rings no bell
                    await asyncio.sleep(_BETWEEN_ASKS)

    async def _ask_again(self) -> bool:
        """Sends again with the same idempotency key to learn the message id; returns whether to ask once more."""
        out = self._out("…")
        window = self._channel.repeat_window(out)
        if not window:
            return False
        age = await self._database.run(outbox_rows.preview_age, self._turn)
        if age is None or age >= window:
            return False
        try:
            async with asyncio.timeout(self._timeouts):
                platform_id = await self._channel.send(out)
            await self._database.run(outbox_rows.preview_shown, self._turn, platform_id)
        except (SendError, TimeoutError) as error:
            log.info("it is not known whether %s shows a preview: %s", self._address, error)
            return not isinstance(error, Refused)
        self.message, self.uncertain = platform_id, False
        return False

    def _out(self, text: str) -> OutboundMessage:
        return OutboundMessage(self._address, text, key=f"{self._turn}:preview", reply_to=self._reply_to, preview=True)
