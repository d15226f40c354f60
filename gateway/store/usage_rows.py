"""The SQL of the usage ledger."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from agent.model.base import UsageRecord


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Tokens and USD of one day, purpose, session and model. `unpriced`: calls whose price is not known."""

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


def record(connection: sqlite3.Connection, entry: UsageRecord, at: str, day: str) -> None:
    used = entry.usage
    connection.execute(
        "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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


def sums(connection: sqlite3.Connection, since_day: str) -> tuple[UsageSum, ...]:
    rows = connection.execute(
        "SELECT day, purpose, session, model, count(*) AS calls, sum(input) AS input, sum(output) AS output,"
        " sum(cache_read) AS cache_read, sum(cache_write) AS cache_write, coalesce(sum(cost), 0) AS cost,"
        " sum(cost IS NULL) AS unpriced FROM usage WHERE day >= ?"
        " GROUP BY day, purpose, session, model ORDER BY day, purpose, session, model",
        (since_day,),
    )
    return tuple(UsageSum(**dict(row)) for row in rows)
