"""What a test makes go wrong, and the budgets that a flood runs into."""

from __future__ import annotations

import enum
import math
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field

from tests.fakes.parking import Parking
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


@dataclass(slots=True, kw_only=True)
class Hold(Parking):
    """Parks calls of `method` (`*`: any), in `chat` if given. `after_effect`: they are carried out, and their answers
    wait."""

    method: str
    chat: int | None
    after_effect: bool

    def matches(self, method: str, params: Params) -> bool:
        return not self.is_over and _meant(self.method, self.chat, method, params)


def _meant(pattern: str, chat: int | None, method: str, params: Params) -> bool:
    same_method = pattern == "*" or pattern.casefold() == method.casefold()
    return same_method and chat in (None, params.get("chat_id"))


SENDS = frozenset(
    ("sendMessage", "sendPhoto", "sendDocument", "sendVoice", "sendAudio", "editMessageText", "editMessageReplyMarkup")
)
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
