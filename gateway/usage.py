"""The ledger of model calls: nothing is called that is not written here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from agent.clock import Clock, utc_stamp
from agent.model.base import UsageRecord
from gateway.store import usage_rows
from gateway.store.database import Database
from gateway.store.usage_rows import UsageSum


class UsageLedger:
    """`spent_today` is kept in memory too, for the daily budget must be known before each call."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._day = ""
        self._spent = 0.0

    async def load(self) -> None:
        sums = await self.sums(1)
        self._day, self._spent = self._clock.today().isoformat(), sum(one.cost for one in sums)

    def record(self, entry: UsageRecord) -> None:
        now, day = utc_stamp(self._clock.now()), self._clock.today().isoformat()
        self._spent = self.spent_today + (entry.cost or 0.0)
        self._day = day
        self._database.note(usage_rows.record, entry, now, day)

    @property
    def spent_today(self) -> float:
        """USD since the user's midnight."""
        return self._spent if self._day == self._clock.today().isoformat() else 0.0

    async def sums(self, days: int) -> Sequence[UsageSum]:
        """Of the last `days` days, today included."""
        since = (self._clock.today() - timedelta(days=days - 1)).isoformat()
        return await self._database.run(usage_rows.sums, since)
