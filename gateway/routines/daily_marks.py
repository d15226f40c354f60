"""Up to when each target's daily summaries have reported.

Targets are named as configured (`owner`, or a chat), so that an owner who changes platforms misses nothing. A summary
moves its mark in the commit that writes its messages, unless they are never delivered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, time, timedelta

from agent.clock import utc_stamp
from agent.formats.parsing import load_json
from gateway.store import chat_rows, outbox_rows
from gateway.store.connection import Connection

NOON = time(12)
_NAME = "daily-since"


@dataclass(frozen=True, slots=True)
class _Mark:
    """UTC stamps: reported up to `since`, and up to `until` if the summary `key` was delivered."""

    since: str
    key: str = ""
    until: str = ""


def begin(connection: Connection, targets: Mapping[str, datetime]) -> None:
    """Gives a mark to each new target, and drops those of former ones."""
    known = chat_rows.chosen(connection, _NAME)
    for target in known.keys() - targets.keys():
        chat_rows.choose(connection, target, _NAME, None)
    for target in targets.keys() - known.keys():
        _write(connection, target, _Mark(utc_stamp(targets[target])))


def inherit(connection: Connection, target: str, other: str, first: datetime) -> None:
    """Gives a target without a mark the mark of another, else `first`."""
    known = chat_rows.chosen(connection, _NAME)
    if target not in known:
        chat_rows.choose(connection, target, _NAME, known.get(other) or _text(_Mark(utc_stamp(first))))


def drop(connection: Connection, target: str) -> None:
    chat_rows.choose(connection, target, _NAME, None)


def since(connection: Connection, target: str) -> datetime | None:
    text = chat_rows.chosen(connection, _NAME).get(target)
    if text is None:
        return None
    mark = _Mark(**load_json(text))
    is_delivered = mark.key and not outbox_rows.delivery(connection, mark.key).failed
    return datetime.fromisoformat(mark.until if is_delivered else mark.since)


def note_sent(connection: Connection, target: str, key: str, until: datetime) -> None:
    """Records a summary; the ids of its messages are `key` and a number."""
    before = since(connection, target)
    _write(connection, target, _Mark(utc_stamp(before or until), key, utc_stamp(until)))


def first_since(now: datetime, at: time) -> datetime:
    """The mark of a new target whose summary comes at `at`: when the summary before would have ended."""
    due = datetime.combine(now.date(), at, now.tzinfo)
    if due > now:
        due = datetime.combine(now.date() - timedelta(days=1), at, now.tzinfo)
    return due if at >= NOON else datetime.combine(due.date(), time(), now.tzinfo)


def _write(connection: Connection, target: str, mark: _Mark) -> None:
    chat_rows.choose(connection, target, _NAME, _text(mark))


def _text(mark: _Mark) -> str:
    return json.dumps(asdict(mark))
