"""Long polling that loses nothing: an update is confirmed once it is on disk.

The library's `Updater` confirms first and stops for ever at an update that it cannot parse. The next request's offset
is the acknowledgement.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from telegram import Bot
from telegram.error import Conflict, EndPointNotFound, InvalidToken, RetryAfter, TelegramError

from channels.json_fields import get
from channels.message import ChannelStatus, Health, SourceFailed
from channels.tasks import Pause, backoff
from channels.telegram.api import BotConnection
from channels.telegram.errors import ODD_ANSWER, redacted, seconds

log = logging.getLogger(__name__)

LONG_POLL = 50
"""Seconds that Telegram holds a request without updates; the maximum."""
ANSWER_SLACK = 15.0
"""Seconds beyond the long poll after which a silent connection counts as dead."""
LIMIT = 100
BREATH = 0.02
"""Seconds before the next poll, so that new messages are handled first."""

_FIRST_DELAY, _LONGEST_DELAY = 1.0, 30.0
_CONFLICT_TOLERANCE, _CONFLICT_DELAY = 60.0, 5.0
_DOWN_AFTER = 120.0
_REBUILD_AFTER = 3
_REJECTIONS_BEFORE_FATAL = 5
_TOO_FAST, _BETWEEN = 0.2, 0.4
"""Seconds: an empty answer within the first was not held; the next poll waits for the second."""
FORGET_AFTER = 86_400.0
"""Seconds without an update after which the offset is dropped: after a week ids start anywhere (Bot API, Update)."""

BAD_TOKEN = (
    "Telegram does not accept the bot's token: check channels.telegram.token (TELEGRAM_BOT_TOKEN); "
    "@BotFather shows the right one"
)
CONFLICT = (
    "another process reads this bot's messages: stop the other program that uses the same token, "
    "or give this one a bot of its own"
)
WEBHOOK = "a webhook is set for this bot, so its messages go elsewhere: call deleteWebhook for it, or use another bot"

Deliver = Callable[[Sequence[object]], Awaitable[None]]
"""Called with the raw updates of one answer; they are confirmed when it returns, and offered again if it raises."""


@dataclass(slots=True)
class PollFailures:
    """Failed polls in a row; a successful poll begins a new row."""

    known_good: bool = False
    waited: float = 0.0
    failures: int = 0
    rejections: int = 0
    status: ChannelStatus = field(default_factory=lambda: ChannelStatus(Health.OK))

    def met(self, error: Exception) -> float:
        """Counts a failure and returns the seconds to wait. Raises `SourceFailed` if waiting cannot help."""
        self.failures += 1
        delay = self._delay(error)
        self.waited += delay
        return delay

    def _delay(self, error: Exception) -> float:
        match error:
            case InvalidToken() | EndPointNotFound():
                self._rejected()
            case Conflict() if "webhook" in str(error).casefold():
                self.status = ChannelStatus(Health.DOWN, WEBHOOK)
                return _LONGEST_DELAY
            case Conflict() if self.waited < _CONFLICT_TOLERANCE:
                return _CONFLICT_DELAY  # a process that is just stopping, as at every restart
            case Conflict():
                self.status = ChannelStatus(Health.DEGRADED, CONFLICT)
                return _LONGEST_DELAY
            case RetryAfter():
                wait = seconds(error)
                self.status = ChannelStatus(Health.DEGRADED, f"Telegram asks to wait {wait:g} s")
                return wait + 0.5
            case _:
                text = f"Telegram does not answer as it should: {redacted(error)}"
                state = Health.DOWN if self.waited >= _DOWN_AFTER else Health.DEGRADED
                self.status = ChannelStatus(state, text)
        return backoff(self.failures, _FIRST_DELAY, _LONGEST_DELAY)

    def _rejected(self) -> None:
        """A token that worked before is tolerated: restarting servers answer 404 too."""
        self.rejections += 1
        if not self.known_good or self.rejections > _REJECTIONS_BEFORE_FATAL:
            raise SourceFailed(BAD_TOKEN, fatal=True) from None  # the library's error may hold the token
        self.status = ChannelStatus(Health.DEGRADED, BAD_TOKEN)


class Poller:
    def __init__(
        self,
        connect: Callable[[], BotConnection],
        *,
        allowed_updates: Sequence[str],
        report: Callable[[ChannelStatus], None],
        pause: Pause = asyncio.sleep,
        long_poll: int = LONG_POLL,
        slack: float = ANSWER_SLACK,
        forget_after: float = FORGET_AFTER,
    ) -> None:
        """`connect` opens a connection of its own."""
        self._connect = connect
        self._allowed_updates = list(allowed_updates)
        self._report = report
        self._pause = pause
        self._long_poll = long_poll
        self._slack = slack
        self._forget_after = forget_after

    async def run(self, deliver: Deliver) -> None:
        """Raises `SourceFailed`, and errors of `deliver`."""
        offset: int | None = None
        moment = asyncio.get_running_loop().time
        heard_at = moment()
        trouble = PollFailures(known_good=True)
        connection = self._connect()
        try:
            while True:
                try:
                    # After a failure without long polling, so that a recovery shows at once.
                    updates = await self._fetch(connection.bot, offset, 0 if trouble.failures else self._long_poll)
                    offset_after = _offset_after(updates, offset)
                except (TelegramError, TimeoutError, _Junk) as error:
                    delay = trouble.met(error)
                    self._report(trouble.status)
                    log.warning("getUpdates failed %d times in a row: %s", trouble.failures, redacted(error))
                    await self._pause(delay)
                    if trouble.failures % _REBUILD_AFTER == 0:
                        await connection.aclose()
                        connection = self._connect()
                    continue
                trouble = PollFailures(known_good=True)
                self._report(trouble.status)
                if not updates and moment() - heard_at > self._forget_after:
                    offset = None
                if updates:
                    await deliver(updates)
                    offset, heard_at = offset_after, moment()
                    if len(updates) < LIMIT:
                        await asyncio.sleep(BREATH)
        finally:
            await connection.aclose()

    async def _fetch(self, bot: Bot, offset: int | None, long_poll: int) -> list[object]:
        """Raises errors of the library, `TimeoutError` for silence, `_Junk`."""
        parameters = {
            "offset": offset or 0,
            "timeout": long_poll,
            "limit": LIMIT,
            "allowed_updates": self._allowed_updates,
        }
        silence = long_poll + self._slack
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(silence):
                result: object = await bot.do_api_request("getUpdates", parameters, read_timeout=silence)
        except ODD_ANSWER as error:
            raise _Junk("the answer is none of the Bot API's") from error
        if not isinstance(result, list):
            raise _Junk(f"the result is of the type {type(result).__name__}")
        if long_poll and not result and asyncio.get_running_loop().time() - started < _TOO_FAST:
            await self._pause(_BETWEEN)  # a server that does not hold requests must not be asked without a break
        return result


class _Junk(Exception):
    pass


def _offset_after(updates: Sequence[object], offset: int | None) -> int | None:
    """Raises `_Junk` if no update has an id."""
    ids = [
        number
        for update in updates
        if isinstance(update, dict) and (number := get(update, "update_id", int)) is not None
    ]
    if updates and not ids:
        raise _Junk("the updates have no ids")
    return max(ids) + 1 if ids else offset
