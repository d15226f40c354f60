"""The figures of `status` and the times of answers, as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily

from agent.model.base import Json
from channels.message import Health
from gateway.home import version

_ANSWER_SECONDS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120)


class Metrics:
    """Metrics of this process. What `status` lacks is left out."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._gauges: tuple[GaugeMetricFamily, ...] = ()
        self._registry.register(self)
        self._answers = Histogram(
            "daybook_answer_seconds",
            "From a message's arrival until the first part of its answer is delivered.",
            buckets=_ANSWER_SECONDS,
            registry=self._registry,
        )
        self._counted: frozenset[int] = frozenset()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield from self._gauges

    def count(self, answers: Mapping[int, float]) -> None:
        """Counts the seconds of answers by their numbers; those of the last call are known."""
        for number in answers.keys() - self._counted:
            self._answers.observe(answers[number])
        self._counted = frozenset(answers)

    def text(self, status: Json, now: datetime) -> str:
        self._gauges = tuple(gauge for gauge in _gauges(_part(status), now) if gauge.samples)
        return generate_latest(self._registry).decode()


def _gauges(status: Mapping[str, Json], now: datetime) -> Iterator[GaugeMetricFamily]:
    inbox, outbox, usage = (_part(status.get(name)) for name in ("inbox", "outbox", "usage"))
    info = GaugeMetricFamily("daybook_info", "The version that runs.", labels=["version"])
    info.add_metric([version()], 1)
    yield info
    states = GaugeMetricFamily(
        "daybook_channel_state", "1 for the state that a channel is in.", labels=["channel", "state"]
    )
    for name, known in _part(status.get("channels")).items():
        for state in Health:
            states.add_metric([name, str(state)], _part(known).get("state") == state)
    yield states
    for name, what, queue in (
        ("inbox", "Messages that wait for their answer", inbox),
        ("outbox", "Messages that wait to be sent", outbox),
    ):
        yield _gauge(f"daybook_{name}_waiting", f"{what}.", queue.get("waiting"))
        oldest = str(queue.get("oldest") or "")
        age = max(0.0, (now - datetime.fromisoformat(oldest)).total_seconds()) if oldest else 0.0
        yield _gauge(f"daybook_{name}_oldest_seconds", f"{what}: age of the oldest.", round(age, 3))
    yield _gauge("daybook_inbox_unreadable", "Events that could not be read.", inbox.get("unreadable"))
    yield _gauge("daybook_outbox_failed", "Messages given up.", outbox.get("failed"))
    yield _gauge("daybook_outbox_repeated", "Messages that may stand twice.", outbox.get("repeated"))
    yield _gauge("daybook_turns_running", "Sessions that are being answered.", status.get("running"))
    yield _gauge("daybook_sessions", "Sessions on disk.", status.get("sessions"))
    yield _gauge("daybook_model_calls_today", "Calls of the model since the user's midnight.", usage.get("calls"))
    tokens = GaugeMetricFamily("daybook_tokens_today", "Tokens since the user's midnight.", labels=["kind"])
    for kind in ("input", "output", "cache_read", "cache_write"):
        if isinstance(value := usage.get(kind), int | float):
            tokens.add_metric([kind], value)
    yield tokens
    gateways = GaugeMetricFamily(
        "daybook_gateway_people",
        "People and groups that a gateway of the home answers.",
        labels=["host", "pid", "leads"],
    )
    for gateway in _rows(status.get("gateways")):
        if isinstance(people := gateway.get("people_and_groups"), int | float):
            gateways.add_metric(
                [str(gateway.get("host")), str(gateway.get("pid")), str(gateway.get("leads")).lower()], people
            )
    yield gateways
    yield _gauge("daybook_cost_usd_today", "US dollars since the user's midnight.", usage.get("cost_usd"))


def _gauge(name: str, what: str, value: Json) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, what, value=value if isinstance(value, int | float) else None)


def _part(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: Json) -> Sequence[Mapping[str, Json]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, Sequence) else []
