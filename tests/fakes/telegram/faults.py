"""What a test makes go wrong, and the budgets that a flood runs into."""

from __future__ import annotations

import enum
import math
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field

from tests.fakes.bell import Bell
from tests.fakes.telegram.wire import Params


class FaultKind(enum.Enum):
    ERROR = "error"  # an error as the Bot API words it
    JUNK = "junk"  # a body that is no JSON, as a proxy in between sends it
    ABORT = "abort"  # the connection is reset
    DELAY = "delay"  # the answer comes late


@dataclass(slots=True)
class Fault:
    """Waits for `times` calls of `method` (`*`: any), in `chat` if given. `after_effect`: the call is carried out and
    the fault meets its answer. `hits` counts the calls it met."""

    kind: FaultKind
    method: str
    times: int | None = 1
    chat: int | None = None
    after_effect: bool = False
    status: int = 500
    description: str = ""
    retry_after: int | None = None
    seconds: float = 0.0
    body: str = ""
    hits: int = 0

    def matches(self, method: str, params: Params) -> bool:
        alive = self.times is None or self.hits < self.times
        return alive and _meant(self.method, self.chat, method, params)

    def cancel(self) -> None:
        self.times = self.hits


@dataclass(slots=True)
class Hold:
    """Parks calls of `method` until released. `waiting` counts those parked now, `arrived` all so far."""

    bell: Bell
    method: str
    chat: int | None
    after_effect: bool
    waiting: int = 0
    arrived: int = 0
    _tickets: float = field(default=0)

    def matches(self, method: str, params: Params) -> bool:
        return self._tickets != math.inf and _meant(self.method, self.chat, method, params)

    def release(self, count: int | None = None) -> None:
        """Let `count` calls go, or all and every later one."""
        with self.bell.lock:
            self._tickets = math.inf if count is None else self._tickets + count
            self.bell.ring()

    async def wait(self, timeout: float = 10.0) -> None:
        """Until a call is parked."""
        await self.bell.until(lambda: self.waiting, timeout)

    async def park(self) -> None:
        with self.bell.lock:
            self.waiting += 1
            self.arrived += 1
            self.bell.ring()
        try:
            await self.bell.until(self._take_ticket, timeout=3600.0)
        finally:
            with self.bell.lock:
                self.waiting -= 1
                self.bell.ring()

    def _take_ticket(self) -> bool:
        if self._tickets < 1:
            return False
        self._tickets -= 1
        return True


def _meant(pattern: str, chat: int | None, method: str, params: Params) -> bool:
    same_method = pattern == "*" or pattern.casefold() == method.casefold()
    return same_method and chat in (None, params.get("chat_id"))


SENDS = frozenset(("sendMessage", "sendPhoto", "sendDocument", "editMessageText", "editMessageReplyMarkup"))
SIGNS = frozenset(("sendMessageDraft", "sendChatAction"))


@dataclass(slots=True)
class Flood:
    """Budgets per chat, as (calls, seconds): messages and edits, those in a group, and drafts with typing.

    Telegram asks for one message a second in a chat and 20 a minute in a group, short bursts allowed
    (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this), and counts drafts and
    typing together, 20 in 5 s (https://core.telegram.org/bots/ai).
    """

    private: tuple[int, float]
    group: tuple[int, float]
    signs: tuple[int, float]
    _spent: dict[tuple[str, int], deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def retry_after(self, method: str, params: Params) -> int:
        """Whole seconds until the call would be taken; 0 where it is, and then it counts."""
        chat = params.get("chat_id")
        if not isinstance(chat, int) or method not in SENDS | SIGNS:
            return 0
        name = "signs" if method in SIGNS else "group" if chat < 0 else "private"
        calls, seconds = {"signs": self.signs, "group": self.group, "private": self.private}[name]
        now, spent = time.monotonic(), self._spent[name, chat]
        while spent and spent[0] <= now - seconds:
            spent.popleft()
        if len(spent) >= calls:
            return max(1, math.ceil(spent[0] + seconds - now))
        spent.append(now)
        return 0
