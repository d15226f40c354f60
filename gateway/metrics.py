"""The figures of `status` in Prometheus' text format (exposition format 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from agent.model.base import Json
from channels.message import Health
from gateway.home import version

Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


def prometheus(status: Json, now: datetime) -> str:
    """`status`: the result of that operation. What it lacks is left out."""
    return "".join(f"{line}\n" for line in _lines(_part(status), now))


def _lines(status: Mapping[str, Json], now: datetime) -> Iterator[str]:
    yield from _gauge("daybook_info", "The version that runs.", [({"version": version()}, 1.0)])
    yield from _gauge(
        "daybook_channel_state",
        "1 for the state that a channel is in.",
        [
            ({"channel": name, "state": str(state)}, float(_part(known).get("state") == state))
            for name, known in _part(status.get("channels")).items()
            for state in Health
        ],
    )
    yield from _queue("inbox", "Messages that wait for their answer", _part(status.get("inbox")), now)
    yield from _queue("outbox", "Messages that wait to be sent", _part(status.get("outbox")), now)
    yield from _single(
        "daybook_inbox_unreadable", "Events that could not be read.", _part(status.get("inbox")), "unreadable"
    )
    yield from _single("daybook_outbox_failed", "Messages given up.", _part(status.get("outbox")), "failed")
    yield from _single(
        "daybook_outbox_repeated", "Messages that may stand twice.", _part(status.get("outbox")), "repeated"
    )
    yield from _single("daybook_turns_running", "Sessions that are being answered.", status, "running")
    yield from _single("daybook_sessions", "Talks on disk.", status, "sessions")
    usage = _part(status.get("usage"))
    yield from _single("daybook_model_calls_today", "Calls of the model since the user's midnight.", usage, "calls")
    kinds = ("input", "output", "cache_read", "cache_write")
    yield from _gauge(
        "daybook_tokens_today",
        "Tokens since the user's midnight.",
        [({"kind": kind}, value) for kind in kinds if (value := _number(usage.get(kind))) is not None],
    )
    yield from _single("daybook_cost_usd_today", "US dollars since the user's midnight.", usage, "cost_usd")


def _queue(name: str, what: str, queue: Mapping[str, Json], now: datetime) -> Iterator[str]:
    yield from _single(f"daybook_{name}_waiting", f"{what}.", queue, "waiting")
    oldest = str(queue.get("oldest") or "")
    age = max(0.0, (now - datetime.fromisoformat(oldest)).total_seconds()) if oldest else 0.0
    yield from _gauge(f"daybook_{name}_oldest_seconds", f"{what}: age of the oldest.", [({}, round(age, 3))])


def _single(name: str, what: str, part: Mapping[str, Json], field: str) -> Iterator[str]:
    value = _number(part.get(field))
    return _gauge(name, what, [({}, value)] if value is not None else [])


def _gauge(name: str, what: str, samples: Iterable[Sample]) -> Iterator[str]:
    lines = [f"{name}{_labels(labels)} {int(value) if value.is_integer() else value!r}" for labels, value in samples]
    if lines:
        yield f"# HELP {name} {what}"
        yield f"# TYPE {name} gauge"
        yield from lines


def _labels(labels: Mapping[str, str]) -> str:
    inner = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inner}}}" if inner else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _part(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
