"""How large a model's window is: as configured, as its server says, or as a refusal showed."""

from __future__ import annotations

from datetime import datetime, timedelta

from agent.clock import Clock
from agent.context.budget import DEFAULT_WINDOW, Budget, budget
from agent.model.base import Model
from agent.settings import AgentSettings

_ASK_AGAIN = timedelta(minutes=10)


_LEAST_SHARE = 8
"""A window is not taken for smaller than this part of what was said of it: one odd refusal must not lock a talk."""


class ModelWindows:
    def __init__(self, settings: AgentSettings, model: Model, clock: Clock) -> None:
        self._settings = settings
        self._model = model
        self._clock = clock
        self._said: dict[str, tuple[int | None, datetime]] = {}
        self._overflowed: dict[str, int] = {}
        self._named: dict[str, int] = {}

    async def budget(self, model: str) -> Budget:
        window = self._settings.model.context_window or await self._asked(model)
        smaller = self._overflowed.get(model)
        if smaller is not None:
            stated = window or DEFAULT_WINDOW
            window = min(stated, max(smaller, stated // _LEAST_SHARE))
        if (named := self._named.get(model)) is not None:
            window = min(window or named, named)
        session = self._settings.session
        return budget(
            window, session.reserve_tokens, session.flush_soft_threshold_tokens, self._settings.model.max_tokens
        )

    async def overflowed(self, model: str, tokens: int, named: int | None = None) -> Budget:
        """Notes that the server refused so many tokens: the window is smaller than believed, or `named` where the
        refusal says so. Kept until the process ends. Returns the new budget."""
        if named is not None:
            self._named[model] = named
        else:
            self._overflowed[model] = min(tokens, self._overflowed.get(model, tokens))
        return await self.budget(model)

    async def _asked(self, model: str) -> int | None:
        """The server's answer; without one it is asked again only after a while."""
        window, ask_again = self._said.get(model, (None, None))
        if window is None and (ask_again is None or self._clock.instant() >= ask_again):
            window = await self._model.context_window(model)
            self._said[model] = (window, self._clock.instant() + _ASK_AGAIN)
        return window
