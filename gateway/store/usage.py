"""The ledger of model calls, in which none is missing, and how long servers want no more of them."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.clock import Clock, utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.memory.scope import Audience
from agent.model.base import UsageRecord
from agent.model.client import LONGEST_WAIT
from gateway.store import chat_rows
from gateway.store.connection import Connection
from gateway.store.database import Database

log = logging.getLogger(__name__)

_WAIT = "model-wait"
"""The name under which a model's wait stands beside what people chose."""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Tokens and USD of one day, purpose, session and model."""

    day: str
    purpose: str
    session: str
    model: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cost: float
    unpriced: int
    """Calls of unknown price."""


def add_usage(connection: Connection, entry: UsageRecord, at: str, day: str) -> None:
    used = entry.usage
    connection.execute(
        "INSERT INTO usage (at, day, model, purpose, session, input, output, cache_read, cache_write, cost)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            at,
            day,
            entry.model,
            entry.purpose,
            entry.session,
            used.input,
            used.output,
            used.cache_read,
            used.cache_write,
            entry.cost,
        ),
    )


def usage_sums(connection: Connection, since_day: str) -> tuple[UsageSum, ...]:
    rows = connection.execute(
        "SELECT day, purpose, session, model, count(*) AS calls, CAST(sum(input) AS BIGINT) AS input,"
        " CAST(sum(output) AS BIGINT) AS output, CAST(sum(cache_read) AS BIGINT) AS cache_read,"
        " CAST(sum(cache_write) AS BIGINT) AS cache_write, coalesce(sum(cost), 0) AS cost,"
        " count(*) FILTER (WHERE cost IS NULL) AS unpriced FROM usage WHERE day >= ?"
        " GROUP BY day, purpose, session, model ORDER BY day, purpose, session, model",
        (since_day,),
    )
    return tuple(UsageSum(**dict(row)) for row in rows)


Account = tuple[str, str]
"""Whose budget a session's calls count for: the audience (owner, person, group), and the person's or group's id."""


def account_of(session: str) -> Account:
    """The person or group that a session's calls count for; a thread (`agent/group/telegram--100/7`) counts for its
    group."""
    _, audience, id = (*session.split("/", 3), "", "", "")[:3]
    return (audience, "" if audience == Audience.OWNER else id)


class StoredWaits:
    """`ServerWaits` to which the next process keeps, too. An end that lies farther away than anybody waits, because the
    clock was changed, counts as the farthest possible."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._until: dict[str, datetime] = {}

    async def load(self) -> None:
        self._until.update(await self._stored())

    async def _stored(self) -> dict[str, datetime]:
        stored = await self._database.run(chat_rows.chosen, _WAIT)
        return {model: datetime.fromisoformat(until) for model, until in stored.items()}

    def left(self, model: str) -> float:
        return self._left(self._until.get(model))

    def _left(self, until: datetime | None) -> float:
        return 0.0 if until is None else min(LONGEST_WAIT, max(0.0, (until - self._clock.instant()).total_seconds()))

    def standing(self, model: str) -> object:
        return self._until.get(model)

    async def begin(self, model: str, seconds: float) -> object:
        if seconds < self.left(model):
            return None
        self._until[model] = until = self._clock.instant() + timedelta(seconds=seconds)
        try:
            await self._database.run(chat_rows.choose, model, _WAIT, utc_stamp(until))
        except StorageUnavailable as error:
            log.error("a restart would not wait for %s: %s", model, error)
        return until

    def end(self, model: str, wait: object) -> None:
        if wait is not None and self._until.get(model) == wait:
            del self._until[model]
            self._database.post(chat_rows.choose, model, _WAIT, None)

    async def ends(self) -> Mapping[str, datetime]:
        """The end of each model's wait, of other processes too. Raises `StorageUnavailable`."""
        left = {model: self._left(until) for model, until in (await self._stored()).items()}
        now = self._clock.instant()
        return {model: now + timedelta(seconds=seconds) for model, seconds in sorted(left.items()) if seconds}


class UsageLedger:
    """Keeps today's sums in memory too: budgets must be known before each call."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.waits = StoredWaits(database, clock)
        self._database = database
        self._clock = clock
        self._day = ""
        self._spent: defaultdict[Account, float] = defaultdict(float)

    async def load(self) -> None:
        await self.waits.load()
        self._begin_day()
        day, before = self._day, self._spent.copy()
        sums = await self.sums(1)
        if day != self._day:  # nothing was spent before today
            return
        for account, spent in before.items():
            self._spent[account] -= spent  # what is left was recorded meanwhile
        for total in sums:
            self._spend(total.session, total.cost)

    def record(self, entry: UsageRecord) -> None:
        self._begin_day()
        now, day = utc_stamp(self._clock.now()), self._day
        self._spend(entry.session, entry.cost or 0.0)
        self._database.note(add_usage, entry, now, day)

    @property
    def spent_today(self) -> float:
        """USD since the user's midnight."""
        self._begin_day()
        return sum(self._spent.values())

    def spent_today_by(self, account: Account) -> float:
        self._begin_day()
        return self._spent.get(account, 0.0)

    def _begin_day(self) -> None:
        today = self._clock.today().isoformat()
        if today != self._day:
            self._day, self._spent = today, defaultdict(float)

    def _spend(self, session: str, cost: float) -> None:
        self._spent[account_of(session)] += cost

    async def sums(self, days: int) -> Sequence[UsageSum]:
        """The last `days` days, with today."""
        since = (self._clock.today() - timedelta(days=days - 1)).isoformat()
        return await self._database.run(usage_sums, since)
