"""Work for a person or group beside their turns: done by the gateway that has their scope, after another has handed it
over."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from agent.languages.sentences import Sentence
from agent.memory.scope import ScopeBusy
from gateway.store.claims import ProcessClaims, scope_name
from gateway.store.database import Database

LONGEST_WAIT = 600.0
"""Seconds that a job waits for a turn, flush or task of another gateway. It is tried again later."""
SHORT_WAIT = 10.0
"""The same for somebody who looks at a screen."""
_LOOK = 1.0
"""Seconds between two tries, where nothing is heard of a scope."""


class ScopeWork:
    """`claims` None: one process serves the home, and nothing has to be taken."""

    def __init__(self, database: Database, claims: ProcessClaims | None = None) -> None:
        self.has_taken_over = False
        """True once another process has handed something over, until the one who looks resets it."""
        self._database = database
        self._claims = claims
        self._used: Counter[str] = Counter()
        self._woken = asyncio.Event()

    @property
    def scopes(self) -> frozenset[str]:
        """The scopes whose work goes on, or is about to."""
        return frozenset(self._used)

    def wake(self) -> None:
        """Tries again at once: another process may have handed over a scope."""
        self._woken.set()
        self._woken = asyncio.Event()

    @asynccontextmanager
    async def of(self, session: str, seconds: float = LONGEST_WAIT) -> AsyncIterator[None]:
        """Inside, no other process works for the scope of a session. Waits for what goes on there, at most so long.
        Raises `ScopeBusy`, `StorageUnavailable`."""
        if self._claims is None:
            yield
            return
        scope = scope_name(session)
        self._used[scope] += 1  # before it is taken, so that it is not given up at that moment
        try:
            await self._take(self._claims, session, seconds)
            yield
        finally:
            self._used[scope] -= 1
            if not self._used[scope]:
                del self._used[scope]

    async def _take(self, claims: ProcessClaims, session: str, seconds: float) -> None:
        has_waited = False
        try:
            async with asyncio.timeout(seconds):
                while True:
                    woken = self._woken
                    if await self._database.run(claims.take, session):
                        break
                    has_waited = True
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_LOOK):
                            await woken.wait()
        except BaseException as error:
            if await self._database.run(claims.want_no_more, session):  # handed over at that moment
                self._hold(claims, session, has_waited=True)
                if isinstance(error, TimeoutError):
                    return
            if isinstance(error, TimeoutError):
                raise ScopeBusy(
                    Sentence("I'm still writing an answer from the same memory. Try again in a moment.")
                ) from error
            raise
        self._hold(claims, session, has_waited=has_waited)

    def _hold(self, claims: ProcessClaims, session: str, *, has_waited: bool) -> None:
        claims.hold([session])
        self.has_taken_over = self.has_taken_over or has_waited
