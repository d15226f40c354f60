"""Sends whose answer was lost. Discord recognizes a repeat by its nonce, but only for some minutes."""

from __future__ import annotations

import asyncio

from channels.message import AnswerLost, OutcomeUnknown, Refused, SendError


class UnconfirmedSends:
    def __init__(self, lasts: float) -> None:
        self._lasts = lasts
        self._since: dict[str, float] = {}

    def check(self, key: str) -> None:
        """Raises `OutcomeUnknown` once if Discord may have forgotten the first attempt."""
        since = self._since.get(key)
        if since is not None and asyncio.get_running_loop().time() - since > self._lasts:
            del self._since[key]
            raise OutcomeUnknown("the answer of Discord was lost, and it is too long ago to ask again")

    def after(self, key: str, error: SendError) -> None:
        if isinstance(error, AnswerLost):
            self._since.setdefault(key, asyncio.get_running_loop().time())
        elif isinstance(error, Refused):
            self._since.pop(key, None)

    def settled(self, key: str) -> None:
        self._since.pop(key, None)
