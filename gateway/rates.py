"""How often one member of a group may call the bot: what is over it is only overheard, and said once."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta

_WINDOW = timedelta(minutes=1)
_KEPT = 1_000
"""Members remembered at once; who has been silent for a window is forgotten first."""


class SenderRate:
    """`per_minute` calls within any minute, of one sender in one chat. Moments are instants, in UTC."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], deque[datetime]] = {}
        self._told: dict[tuple[str, str], datetime] = {}

    def allows(self, chat: str, sender: str, now: datetime, per_minute: int) -> bool:
        """Whether a call may be answered; one that may is counted."""
        if len(self._calls) >= _KEPT:
            self._calls = {key: calls for key, calls in self._calls.items() if calls and _is_recent(calls[-1], now)}
        calls = self._calls.setdefault((chat, sender), deque())
        while calls and not _is_recent(calls[0], now):
            calls.popleft()
        if len(calls) >= per_minute:
            return False
        calls.append(now)
        return True

    def should_tell(self, chat: str, sender: str, now: datetime) -> bool:
        """Whether somebody who calls too often hears so: once a minute."""
        self._told = {key: at for key, at in self._told.items() if _is_recent(at, now)}
        if (chat, sender) in self._told:
            return False
        self._told[chat, sender] = now
        return True


def _is_recent(call: datetime, now: datetime) -> bool:
    """A call that is still to come was counted before the clock was put back, and counts no more."""
    return timedelta() <= now - call < _WINDOW
