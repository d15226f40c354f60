"""From when on the next daily summary tells: all before it stands in summaries that were sent, or is before the first.

Kept for each target as it is configured (`owner`, or a chat), so that an owner who changes platforms is told on from
where they were. A summary moves it in the commit that writes its messages; one that is never delivered moved nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, time, timedelta

from agent.clock import utc_stamp
from agent.formats.parsing import load_json
from gateway.store import chat_rows, outbox_rows

NOON = time(12)
_NAME = "daily-since"


@dataclass(frozen=True, slots=True)
class _Mark:
    """`since`: told up to here, in any case. `until`: up to here where the summary `key` was delivered. UTC stamps."""

    since: str
    key: str = ""
    until: str = ""


def begin(connection: sqlite3.Connection, targets: Mapping[str, datetime]) -> None:
    """Give a mark to every target that has none, and forget those of whoever is no target any more."""
    known = chat_rows.chosen(connection, _NAME)
    for target in known.keys() - targets.keys():
        chat_rows.choose(connection, target, _NAME, None)
    for target in targets.keys() - known.keys():
        _write(connection, target, _Mark(utc_stamp(targets[target])))


def inherit(connection: sqlite3.Connection, target: str, other: str, first: datetime) -> None:
    """Give a target that has no mark that of another; `first` where that has none either."""
    known = chat_rows.chosen(connection, _NAME)
    if target not in known:
        chat_rows.choose(connection, target, _NAME, known.get(other) or _text(_Mark(utc_stamp(first))))


def drop(connection: sqlite3.Connection, target: str) -> None:
    chat_rows.choose(connection, target, _NAME, None)


def since(connection: sqlite3.Connection, target: str) -> datetime | None:
    """None: it has no mark."""
    text = chat_rows.chosen(connection, _NAME).get(target)
    if text is None:
        return None
    mark = _Mark(**load_json(text))
    is_told = mark.key and not outbox_rows.delivery(connection, mark.key).failed
    return datetime.fromisoformat(mark.until if is_told else mark.since)


def told(connection: sqlite3.Connection, target: str, key: str, until: datetime) -> None:
    """A summary was written down, whose messages have `key` with a number behind it."""
    before = since(connection, target)
    _write(connection, target, _Mark(utc_stamp(before or until), key, utc_stamp(until)))


def first_since(now: datetime, at: time) -> datetime:
    """Where a target begins that gets its summary at this time of the user's clock from now on: where the one before
    would have ended."""
    due = datetime.combine(now.date(), at, now.tzinfo)
    if due > now:
        due = datetime.combine(now.date() - timedelta(days=1), at, now.tzinfo)
    return due if at >= NOON else datetime.combine(due.date(), time(), now.tzinfo)


def _write(connection: sqlite3.Connection, target: str, mark: _Mark) -> None:
    chat_rows.choose(connection, target, _NAME, _text(mark))


def _text(mark: _Mark) -> str:
    return json.dumps(asdict(mark))
