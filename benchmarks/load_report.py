"""What a load test found, as tables for the documentation; the ratios are to SQLite with one gateway."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.figures import Cell, markdown
from benchmarks.people import JsonObject

_OTHER_PARTS = ("postgres", "people", "model", "others")


def told(measured: JsonObject) -> str:
    loads = measured["loads"]
    first, plan, sessions = loads[0], measured["plan"], measured["sessions"]
    rates = [[_name(one), *_carried(one, first)] for one in loads]
    shares = [[_name(one), *_shares(one, measured["cores"])] for one in loads]
    steps = [[_name(one), *_step(step)] for one in loads for step in (one["moderate"], *one["steps"])]
    memory: list[Sequence[Cell]] = [
        ["at the start, after a few messages", f"{sessions['before']:.0f}"],
        [f"after {sessions['sessions']:,} chats of two messages", f"{sessions['talked']:.0f}"],
        ["a moment later", f"{sessions['idle']:.0f}"],
        [f"with {sessions['turns']} turns at once", f"{sessions['at_once']:.0f}"],
        ["after them", f"{sessions['after']:.0f}"],
        ["for 1,000 sessions more", f"{_per_1000(sessions['idle'] - sessions['before'], sessions['sessions'])}"],
        ["for 1,000 turns at once more", f"{_per_1000(sessions['at_once'] - sessions['idle'], sessions['turns'])}"],
    ]
    rate = plan["moderate"]
    head = ["store, gateways", "messages/s kept up with", f"added at {rate:g}/s: median, p95, ms"]
    head += ["added at the top rate: median, p95, ms", "gateways, ms of a core per message", "PostgreSQL, the same"]
    head += ["messages/s per core of both"]
    return "\n\n".join(
        [
            f"{measured['machine']}; seed {measured['seed']}; {measured['minutes']} minutes",
            markdown(head, rates),
            "Processor time at the top rate, as a share of the whole machine:",
            markdown(["store, gateways", "gateways", "PostgreSQL", "Telegram and people", "model", "others"], shares),
            "Every step:",
            markdown(["store, gateways", "offered/s", "messages", "added, ms", "p95, ms", "kept up"], steps),
            "Memory of one gateway with SQLite (PSS), MB:",
            markdown(["", "MB"], memory),
            *(f"BROKEN: {what}" for what in measured["broken"]),
        ]
    )


def _name(one: JsonObject) -> str:
    return f"{one['store']}, {one['gateways']}"


def _carried(one: JsonObject, first: JsonObject) -> list[Cell]:
    """Rates and times with their ratios."""
    top, base = one["top"], first["top"]
    rate = "none" if top is None else f"{top['rate']:g}{_ratio(top['rate'], base['rate'] if base else None)}"
    gateway, postgres = _cpu_ms(top or one["moderate"])
    return [
        rate,
        _added(one["moderate"], first["moderate"]),
        _added(top, base),
        f"{gateway:.1f}",
        f"{postgres:.1f}" if postgres else "",
        f"{1000 / (gateway + postgres):.0f}",
    ]


def _added(step: JsonObject | None, base: JsonObject | None) -> str:
    if step is None:
        return ""
    names = ("added_ms", "added_p95_ms")
    return ", ".join(f"{step[name]:.0f}{_ratio(step[name], base[name] if base else None)}" for name in names)


def _ratio(value: float, base: float | None) -> str:
    return f" ({value / base:.2f})" if base else ""


def _cpu_ms(step: JsonObject) -> tuple[float, float]:
    """Per message, of all gateways and of PostgreSQL."""
    spent, count = step["spent"], max(1, step["messages"])
    return 1000 * (spent["leader"] + spent["helpers"]) / count, 1000 * spent["postgres"] / count


def _shares(one: JsonObject, cores: int) -> list[Cell]:
    spent = (one["top"] or one["moderate"])["spent"]
    whole = spent["wall"] * cores
    parts = (spent["leader"] + spent["helpers"], *(spent[name] for name in _OTHER_PARTS))
    return [f"{100 * part / whole:.0f} %" for part in parts]


def _step(step: JsonObject) -> list[Cell]:
    kept = "yes" if step["kept_up"] else "no"
    return [step["rate"], step["messages"], round(step["added_ms"]), round(step["added_p95_ms"]), kept]


def _per_1000(megabytes: float, count: int) -> str:
    return f"{1000 * megabytes / max(1, count):.0f}"
