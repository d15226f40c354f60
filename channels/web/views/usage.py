"""Usage: tokens and cost of the last days, by day, purpose and model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from channels.web.views.view import Call, JsonValue, Values, View

PERIODS = (7, 30, 90)
"""Days to choose from; the second is shown first."""


@dataclass(slots=True)
class UsedByCalls:
    """The use of some calls; a prompt's tokens are new to the model, or were in its cache."""

    calls: int = 0
    new: int = 0
    cached: int = 0
    output: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def add(self, row: JsonValue) -> None:
        self.calls += row["calls"]
        self.new += row["input"] + row["cache_write"]
        self.cached += row["cache_read"]
        self.output += row["output"]
        self.cost += row["cost_usd"]
        self.unpriced += row["unpriced_calls"]

    @property
    def tokens(self) -> int:
        return self.new + self.cached + self.output

    @property
    def cache_share(self) -> float:
        """The cached part of what the model was sent, in percent."""
        return 100 * self.cached / max(1, self.new + self.cached)


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A piece of a chart, in percent of its width and height, from its upper left corner."""

    kind: str
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Chart:
    bars: Sequence[ChartBar]
    most: float
    """What a bar of the full height stands for."""


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    """`days`: one of `PERIODS`."""
    asked = query.get("days", "")
    days = next((period for period in PERIODS if str(period) == asked), PERIODS[1])
    rows = await call("usage", {"days": days})
    total = UsedByCalls()
    for row in rows:
        total.add(row)
    today = date.fromisoformat((await call("status", {}))["usage"]["day"])
    dates = [(today - timedelta(days=back)).isoformat() for back in reversed(range(days))]
    by_day = dict(sorted(({day: UsedByCalls() for day in dates} | _sums(rows, "day")).items()))
    return {
        "periods": PERIODS,
        "days": days,
        "today": today.isoformat(),
        "total": total,
        "by_day": by_day,
        "by_purpose": _greatest_first(_sums(rows, "purpose")),
        "by_model": _greatest_first(_sums(rows, "model")),
        "cost": chart([[("cost", used.cost)] for used in by_day.values()]),
        "tokens_chart": chart(
            [[("cached", used.cached), ("new", used.new), ("output", used.output)] for used in by_day.values()]
        ),
    }


def _sums(rows: Iterable[JsonValue], field: str) -> dict[str, UsedByCalls]:
    found: defaultdict[str, UsedByCalls] = defaultdict(UsedByCalls)
    for row in rows:
        found[row[field]].add(row)
    return dict(found)


def _greatest_first(sums: Mapping[str, UsedByCalls]) -> Sequence[tuple[str, UsedByCalls]]:
    return sorted(sums.items(), key=lambda it: (-it[1].cost, -it[1].tokens, it[0]))


def chart(columns: Sequence[Sequence[tuple[str, float]]]) -> Chart:
    """Columns of parts that stand upon each other, the first at the bottom."""
    most = max((sum(amount for _, amount in parts) for parts in columns), default=0)
    room = 100 / max(1, len(columns))
    bars: list[ChartBar] = []
    for place, parts in enumerate(columns):
        top = 100.0
        for kind, amount in parts:
            if amount > 0:
                height = 100 * amount / most
                top -= height
                bars.append(ChartBar(kind, (place + 0.12) * room, top, 0.76 * room, height))
    return Chart(bars, most)


VIEW = View("usage", "Usage", _read, has_script=True)
