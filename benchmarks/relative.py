"""Questions about days that were told by relative words: a quarter of a year of logs, as they are written without a
model (`agent.journal.fallback`), asked through the tool that a model has.

    when     "When do I see the optician?": told "on Friday", "tomorrow", "vor zwei Tagen", "下周五"; the answer counts
             where the line that says so stands in the tool's text with the right day on it
    day      "What did I do last Friday?": the line is in the text, whichever day it was told on
    advice   "What did you recommend for the damp cellar?": what the assistant said itself is in the text

Each is asked of the logs as they were said, and of the logs with the days that are meant.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from statistics import fmean
from zoneinfo import ZoneInfo

from agent import tools
from agent.clock import Clock
from agent.journal.day_messages import DayMessage
from agent.journal.fallback import extract
from agent.languages.days_meant import without_days
from agent.memory.scope import Audience, Scope
from agent.search.engine import MemoryIndex
from agent.session.export import Line
from agent.settings import MemorySettings

FIRST_DAY = date(2026, 3, 2)
DAYS = 90
ROOMS = (1_000, 4_000)
_ZONE = ZoneInfo("Europe/Berlin")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WOCHENTAGE = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")
_PEOPLE = (
    "the optician", "Ruth from the choir", "the plumber", "my cousin Igor", "the tax adviser", "Mrs Adeyemi", "the vet",
    "our landlord", "the piano tuner", "Uncle Theo", "the notary", "Selma", "the roofer", "the midwife", "Mr Okafor",
)  # fmt: skip
_ADVICE = (
    ("the damp cellar", "a dehumidifier and a window open at noon only"),
    ("the barking dog", "ten minutes of searching games before every walk"),
    ("my stiff neck", "a flatter pillow and a break every forty minutes"),
    ("the slow router", "channel eleven and the box away from the microwave"),
    ("the pale tomatoes", "less water and potash once a week"),
    ("the gift for Selma", "the atlas of trees with the linen cover"),
    ("the noisy fridge", "four felt pads and a hand's breadth to the wall"),
)
_SMALL = (
    "It rained all morning", "The bread was good", "The bus was late again", "I slept badly", "Work was dull",
    "We had soup", "The neighbours are painting their door", "I walked along the canal", "The radio is broken",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """Asked on a day. `line` is what was said; `meant` the day that has to stand with it, None where none has to."""

    kind: str
    text: str
    asked_on: date
    line: str
    meant: date | None = None


def measured(seed: int = 1) -> Mapping[str, Mapping[str, float]]:
    """The shares of questions that are answered, of each kind and room: as said, and with the days that are meant."""
    with tempfile.TemporaryDirectory() as place:
        logs, questions = _told(random.Random(seed))
        found: dict[str, Mapping[str, float]] = {}
        for name, shown in _KINDS_OF_LOG.items():
            workspace = Path(place) / name.replace(" ", "-")
            (workspace / "memory").mkdir(parents=True)
            for day, log in logs.items():
                (workspace / "memory" / f"{day}.md").write_text(f"# {day}\n\n{shown(log)}\n", encoding="utf-8")
            found[name] = _asked(workspace, questions)
        return found


_KINDS_OF_LOG: Mapping[str, Callable[[str], str]] = {"as said": without_days, "days meant": str}


def _told(chance: random.Random) -> tuple[Mapping[date, str], Sequence[Question]]:
    logs: dict[date, str] = {}
    questions: list[Question] = []
    for number in range(DAYS):
        said = FIRST_DAY + timedelta(days=number)
        lines = [("Alice", text) for text in chance.sample(_SMALL, 4)]
        if number % 2 == 0:
            who = f"{_PEOPLE[number // 2 % len(_PEOPLE)]}{'' if number < 2 * len(_PEOPLE) else f' ({number})'}"
            line, meant = chance.choice(_WAYS)(who, said)
            lines.insert(2, ("Alice", line))
            questions += _about(who, line, said, meant)
        if number % 13 == 5:
            about, advice = _ADVICE[number // 13 % len(_ADVICE)]
            line = f"For {about} I would take {advice}"
            lines[3:3] = [("Alice", f"What would you do about {about}?"), ("", line)]
            asked_on = said + timedelta(days=20)
            questions.append(Question("advice", f"What did you recommend for {about}?", asked_on, line))
        logs[said] = "\n".join(extract(_spoken(said, lines)))
    return logs, questions


def _about(who: str, line: str, said: date, meant: date) -> Iterator[Question]:
    yield Question("when", f"When do I see {who}?", max(said, meant) + timedelta(days=30), line, meant)
    asked_on = max(said, meant) + timedelta(days=1)
    asked_on += timedelta(days=1) * (asked_on.weekday() == meant.weekday())
    if (asked_on - meant).days <= 7:
        yield Question("day", f"What did I do last {_WEEKDAYS[meant.weekday()]}?", asked_on, line)


def _on(days: int, text: str) -> Callable[[str, date], tuple[str, date]]:
    """Said so many days before the day that is meant."""

    def way(who: str, said: date) -> tuple[str, date]:
        meant = said + timedelta(days=days)
        return text.format(who=who, en=_WEEKDAYS[meant.weekday()], de=_WOCHENTAGE[meant.weekday()]), meant

    return way


def _next_week(who: str, said: date) -> tuple[str, date]:
    meant = said + timedelta(days=7 - said.weekday() + (said.toordinal() % 7))
    return f"下周{'一二三四五六日'[meant.weekday()]}去见{who}", meant


_WAYS = (
    _on(3, "I see {who} on {en} at ten"),
    _on(1, "tomorrow I see {who}, do not let me forget"),
    _on(5, "next {en} I meet {who} for an hour"),
    _on(3, "in three days I see {who}"),
    _on(-1, "yesterday I saw {who} at last"),
    _on(-3, "last {en} I was with {who}"),
    _on(-2, "two days ago I met {who} by chance"),
    _on(4, "am {de} treffe ich {who}"),
    _on(-2, "vor zwei Tagen war ich bei {who}"),
    _next_week,
)


def _spoken(day: date, lines: Sequence[tuple[str, str]]) -> list[DayMessage]:
    start = datetime.combine(day, time(9), _ZONE)
    return [
        DayMessage(number, Line(start + timedelta(minutes=7 * number), who, text))
        for number, (who, text) in enumerate(lines)
    ]


def _asked(workspace: Path, questions: Sequence[Question]) -> Mapping[str, float]:
    scope = Scope(Audience.OWNER, workspace)
    with tempfile.TemporaryDirectory() as state:
        index = MemoryIndex(Path(state))
        index.refresh(scope, _at(FIRST_DAY + timedelta(days=DAYS)))
        answered: dict[str, list[bool]] = {}
        for question in questions:
            for room in ROOMS:
                text = _shown(index, scope, question, room)
                answered.setdefault(f"{question.kind} @{room}", []).append(_answers(text, question))
        index.close()
    return {name: fmean(found) for name, found in sorted(answered.items())}


def _shown(index: MemoryIndex, scope: Scope, question: Question, room: int) -> str:
    built = tools.build(scope, _at(question.asked_on), MemorySettings(), index.search, files=False)
    search = next(tool for tool in built if tool.name == "memory_search")
    until = question.asked_on.isoformat()

    async def found() -> str:
        return (await search.run({"query": question.text, "max_chars": room, "until": until}, "1")).text

    return asyncio.run(found())


def _answers(text: str, question: Question) -> bool:
    lines = [line for line in text.splitlines() if question.line in line]
    return any(question.meant is None or question.meant.isoformat() in line for line in lines)


def _at(day: date) -> Clock:
    moment = datetime.combine(day, time(20), UTC)
    return Clock(_ZONE, lambda: moment)
