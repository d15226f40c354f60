"""The last shown state of messages: Telegram refuses an edit that changes nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from channels.message import Button
from channels.telegram.drafts import WITHOUT
from channels.telegram.outbound import Attempt

log = logging.getLogger(__name__)

MessageId = tuple[int, int]
"""The ids of a chat and of a message in it."""
Shown = tuple[object, ...]

_MOST_KEPT = 256
_MOST_FAILURES = 3
"""Failed edits in a row, after which another call is tried."""


class EditCache:
    def __init__(self) -> None:
        self._shown: dict[MessageId, Shown] = {}
        self._failures = 0
        self._none_until = 0.0

    @property
    def exist(self) -> bool:
        return asyncio.get_running_loop().time() >= self._none_until

    def do_without(self, why: str) -> None:
        self._none_until = asyncio.get_running_loop().time() + WITHOUT
        log.warning("Telegram rejects edits; no previews for %.0f minutes: %s", WITHOUT / 60, why)

    def is_current(self, message_id: MessageId, attempt: Attempt, buttons: Sequence[Sequence[Button]]) -> bool:
        return self._shown.get(message_id) == _looks(attempt, buttons)

    def note_shown(self, message_id: MessageId, attempt: Attempt, buttons: Sequence[Sequence[Button]]) -> None:
        self._shown.pop(message_id, None)
        self._shown[message_id] = _looks(attempt, buttons)
        if len(self._shown) > _MOST_KEPT:
            del self._shown[next(iter(self._shown))]

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self, message_id: MessageId, *, at_once: bool) -> bool:
        """Counts a failed edit. True if edits should stop (`at_once`: immediately)."""
        self._shown.pop(message_id, None)
        self._failures += 1
        if self._failures < _MOST_FAILURES and not at_once:
            return False
        self._failures = 0
        return True


def _looks(attempt: Attempt, buttons: Sequence[Sequence[Button]]) -> Shown:
    return attempt.text.strip(), attempt.entities, tuple(tuple(row) for row in buttons)
