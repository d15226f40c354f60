"""The corpus of ordinary sentences: the world in which each is said, and what came of it on disk and in the answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path

import yaml

from agent.journal import open_items
from agent.journal.open_items import OpenItem
from agent.languages.codes import Language
from agent.languages.moments import day_in
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import said, sentences_of
from agent.languages.terms import fold
from agent.memory import daily_log, notes
from agent.memory.scope import Audience, Scope
from agent.model.offline.model import OfflineModel
from channels.message import OutboundMessage
from channels.scripted import ScriptedChannel
from gateway.home import Home
from gateway.recurrence import At, When, next_after
from gateway.scheduling import jobs_file
from gateway.store import chat_rows
from gateway.store.database import SqliteEngine
from tests.gateway.conftest import BERLIN, OWNER, Daybook, Moment

_HERE = Path(__file__).parent
NOW = datetime(2026, 11, 25, 9, 0, tzinfo=UTC)
_TODAY = date(2026, 11, 25)
_WHENS = {
    "dentist": '{at: "2026-11-26T16:00"}',
    "bread": '{at: "2026-11-25T18:00"}',
    "mum": '{at: "2026-11-27T17:00"}',
    "vitamins": '{cron: "0 8 * * *"}',
}
_YES = "/yes"
_WAIT = 20.0
_SAYS_WHY = (
    *("is not a time of day", "is already past", "does not exist", "never comes", "isn't a day", "too far"),
    "is not between a minute and ten years",
)
ORDERS = frozenset(
    [
        "set",
        "hour",
        "timer",
        "move",
        "cancel",
        "several",
        "due",
        "promised",
        "day",
        "list",
        "forget",
        "undo",
        "day_sum",
        "stop",
        "help",
        "model",
        "cannot",
        "ask",
        "bad",
    ]
)
"""Kinds of which nothing may be filed as a note."""


@dataclass(frozen=True, slots=True)
class World:
    """The same facts in each language."""

    language: Language
    reminders: Mapping[str, str]
    today: Sequence[str]
    yesterday: Sequence[str]
    monday: Sequence[str]
    promises: Sequence[str]
    list_name: str
    items: Sequence[str]
    memory: Sequence[str]


@dataclass(frozen=True, slots=True)
class Saying:
    number: int
    kind: str
    say: str
    before: Sequence[str]
    effects: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`wrong`: the effects that don't hold."""

    saying: Saying
    answer: str
    wrong: Sequence[str] = ()
    has_asked: bool = False
    """It did nothing but ask."""
    is_wrong_time: bool = False
    is_filed_order: bool = False

    @property
    def result(self) -> str:
        return "right" if not self.wrong else "asked" if self.has_asked else "wrong"


@dataclass(frozen=True, slots=True)
class _Disk:
    """What is on disk of one home."""

    jobs: Mapping[str, datetime | None]
    """The next run, by text."""
    repeating: frozenset[str]
    log: str
    notes: Mapping[str, str]
    memory: str = field(repr=False)


@cache
def corpus(language: Language) -> tuple[World, Sequence[Saying]]:
    text = yaml.safe_load((_HERE / f"{language}.yaml").read_text(encoding="utf-8"))
    world = text["world"]
    known = World(
        Language(text["language"]),
        world["reminders"],
        world["today"],
        world["yesterday"],
        world["monday"],
        world["promises"],
        world["list"]["name"],
        world["list"]["items"],
        world["memory"],
    )
    sayings = [
        Saying(number, one["kind"], one["say"], one.get("before", ()), one["effects"])
        for number, one in enumerate(text["sentences"])
    ]
    return known, sayings


def languages() -> list[Language]:
    """Those with a corpus and a file of words."""
    return [language for language in LANGUAGES if (_HERE / f"{language}.yaml").exists()]


async def outcome(world: World, saying: Saying, root: Path) -> Outcome:
    """Says it in a fresh copy of that world, below an empty folder."""
    moment = Moment(NOW)
    daybook = Daybook(Home(root), moment=moment)
    daybook.settings["model"] = {"provider": "offline"}
    daybook.model = OfflineModel(moment.clock, ".env")  # type: ignore[assignment]
    _furnish(world, daybook)
    async with daybook.running():
        for text in saying.before:
            await _say(daybook, text)
        before = await asyncio.to_thread(_read, daybook)
        shown = await _say(daybook, saying.say)
        after = await asyncio.to_thread(_read, daybook)
        if "gone" in saying.effects and shown.buttons:
            await _say(daybook, _YES)
            after = await asyncio.to_thread(_read, daybook)
    return _judged(world, saying, shown, before, after)


async def in_turn(
    world: World, lines: Sequence[str], root: Path
) -> list[tuple[OutboundMessage, Mapping[str, datetime | None]]]:
    """The answer to each line, said one after another in one copy of that world, with the reminders then."""
    moment = Moment(NOW)
    daybook = Daybook(Home(root), moment=moment)
    daybook.settings["model"] = {"provider": "offline"}
    daybook.model = OfflineModel(moment.clock, ".env")  # type: ignore[assignment]
    _furnish(world, daybook)
    answers = []
    async with daybook.running():
        for line in lines:
            shown = await _say(daybook, line)
            answers.append((shown, (await asyncio.to_thread(_read, daybook)).jobs))
    return answers


def _furnish(world: World, daybook: Daybook) -> None:
    workspace, clock = daybook.workspace, daybook.moment.clock
    (workspace / "memory").mkdir(parents=True)
    jobs = [
        f"  - id: {name}\n    kind: message\n    text: {yaml.safe_dump(text, allow_unicode=True).splitlines()[0]}\n"
        f"    when: {_WHENS[name]}\n    to: telegram:{OWNER}\n"
        for name, text in world.reminders.items()
    ]
    (workspace / "schedule.yaml").write_text("jobs:\n" + "".join(jobs), encoding="utf-8")
    days = ((_TODAY, world.today), (_TODAY - timedelta(1), world.yesterday), (_TODAY - timedelta(2), world.monday))
    for day, facts in days:
        at = datetime(day.year, day.month, day.day, 9, 10, tzinfo=BERLIN)
        entries = [daily_log.entry(at + timedelta(minutes=10 * number), fact) for number, fact in enumerate(facts)]
        text = daily_log.new_log(day) + "".join(entries)
        (workspace / "memory" / f"{day.isoformat()}.md").write_text(text, encoding="utf-8")
    facts = "".join(f"- {fact}\n" for fact in world.memory)
    (workspace / "MEMORY.md").write_text(f"# Memory\n\n{facts}", encoding="utf-8")
    scope = Scope(Audience.OWNER, workspace)
    bullets = "\n".join(f"- {item}" for item in world.items)
    notes.save(scope, clock, world.list_name, "", "reference", bullets)
    dues = (date(2026, 11, 27), None)
    promised = [OpenItem("", text, due, date(2026, 11, 23)) for text, due in zip(world.promises, dues, strict=True)]
    open_items.keep(scope, clock, promised)
    _settle(daybook.home.database, world.language)


def _settle(database: Path, language: Language) -> None:
    """The chat is known, and its people write that language."""
    database.parent.mkdir(parents=True)
    with closing(SqliteEngine(database)) as engine:
        chat_rows.spoke(engine.connection, ScriptedChannel("telegram").say("", OWNER), NOW.isoformat(), "2026-11-24")
        engine.connection.execute("UPDATE chat SET language = ?", (str(language),))


async def _say(daybook: Daybook, text: str) -> OutboundMessage:
    """The newest message after the answer, with its buttons; `/yes` presses the first button of the last."""
    chat = daybook.chat
    acts = len(_spoken(daybook))
    standing = chat.standing(OWNER)
    if text == _YES and standing:
        id, shown = list(standing.items())[-1]
        chat.press(id, shown.buttons[0][0].label, OWNER, sent_at=daybook.moment.now)
    else:
        chat.say(text, chat=OWNER, sender=OWNER, sent_at=daybook.moment.now)
    async with asyncio.timeout(_WAIT):
        await chat.wait_until(lambda: len(_spoken(daybook)) > acts)
    return list(chat.standing(OWNER).values())[-1]


def _spoken(daybook: Daybook) -> list[object]:
    return [act for act in daybook.chat.history if type(act).__name__ in ("Sent", "Edited")]


def _read(daybook: Daybook) -> _Disk:
    workspace = daybook.workspace
    jobs = jobs_file.read((workspace / "schedule.yaml").read_text("utf-8")).jobs
    now = daybook.moment.clock.now()

    def text_of(pattern: str) -> str:
        return "\n".join(file.read_text("utf-8") for file in sorted(workspace.glob(pattern)))

    return _Disk(
        {job.text: _next(job.when, now) for job in jobs},
        frozenset(job.text for job in jobs if not isinstance(job.when, At)),
        text_of(f"memory/{_TODAY}.md"),
        {file.name: file.read_text("utf-8") for file in workspace.glob("memory/notes/*.md")},
        text_of("*EMORY.md") + text_of("memory/**/*.md"),
    )


def _next(when: When, now: datetime) -> datetime | None:
    return next_after(when, BERLIN, now)


def _judged(world: World, saying: Saying, shown: OutboundMessage, before: _Disk, after: _Disk) -> Outcome:
    effects, answer = saying.effects, shown.text
    new = {text: at for text, at in after.jobs.items() if before.jobs.get(text) != at}
    lost = before.jobs.keys() - after.jobs.keys()
    is_filed = after.log.count("\n- ") > before.log.count("\n- ")
    wrong: list[str] = []
    expected_new: set[str] = set()
    expected_lost: set[str] = set()
    for name, value in effects.items():
        match name, value:
            case "reminder", dict():
                found = [text for text, at in new.items() if _shows(at, value["at"])]
                about = [fold(str(word)) for word in value.get("about", ())]
                named = [text for text in found if all(word in fold(text) for word in about)]
                is_right = any(not value.get("repeats") or text in after.repeating for text in named)
                expected_new |= set(named)
                wrong += [] if is_right else [f"reminder {value}"]
            case "moved", dict():
                for key, at in value.items():
                    text = world.reminders[key]
                    expected_new.add(text)
                    wrong += [] if _shows(after.jobs.get(text), at) else [f"{key} at {at}"]
            case "cancelled", list():
                expected_lost |= {world.reminders[key] for key in value}
            case "says", list():
                wrong += [f"says {word}" for word in map(str, value) if fold(word) not in fold(answer)]
            case "says_not", list():
                wrong += [f"says not {word}" for word in map(str, value) if fold(word) in fold(answer)]
            case "list_has" | "list_lacks", list():
                items = fold("\n".join(after.notes.values()).partition("\n---\n")[2])
                wrong += [
                    f"{name} {word}" for word in map(str, value) if (fold(word) in items) is (name == "list_lacks")
                ]
            case "filed", bool():
                wrong += [] if is_filed is value else [f"filed {value}"]
            case "gone", list():
                wrong += [f"gone {word}" for word in map(str, value) if fold(word) in fold(after.memory)]
            case "undone", _:
                wrong += [] if fold(saying.before[-1]) not in fold(after.memory) else ["undone"]
            case "needs_model", _:
                wrong += [] if LANGUAGES[world.language].offline.needs_model[:20] in answer else [name]
            case "cannot", _:
                wrong += [] if said(world.language, "I can't do that in words yet.") in answer else [name]
            case "no_log", _:
                days = [day_in(world.language, _TODAY - timedelta(ago), _TODAY) for ago in range(1, 9)]
                sentences = [said(world.language, "I have no log of that day ({day}).", day=day) for day in days]
                wrong += [] if any(sentence in answer for sentence in sentences) else [name]
            case "asks", _:
                wrong += ["asks"] if is_filed or not _asks(world.language, shown) else []
            case "says_not_error" | "no_reminder", _:
                pass
    if new.keys() - expected_new or (saying.kind != "move" and lost ^ expected_lost):
        wrong.append("other reminders are as they were")
    at_fault = wrong and bool(new)
    has_done = bool(new or lost or is_filed or before.notes != after.notes)
    return Outcome(
        saying,
        answer,
        wrong,
        has_asked=not has_done and _asks(world.language, shown),
        is_wrong_time=bool(at_fault) and saying.kind not in ("cancel",),
        is_filed_order=is_filed and saying.kind in ORDERS,
    )


def _shows(at: datetime | None, wanted: str) -> bool:
    return at is not None and f"{at.astimezone(BERLIN):%Y-%m-%d %H:%M}" == wanted


@cache
def _reasons(language: Language) -> Sequence[str]:
    """The longest words of each sentence that says why something is no time."""
    sentences = {**{english: english for english in sentences_of(Language("de"))}, **sentences_of(language)}
    named = [text for english, text in sentences.items() if any(part in english for part in _SAYS_WHY)]
    return [max(re.split(r"\{\w+\}", text), key=len).strip() for text in named]


def _asks(language: Language, shown: OutboundMessage) -> bool:
    """A question, or a sentence that says what is unclear or past."""
    reminders, offline = LANGUAGES[language].reminders, LANGUAGES[language].offline
    others = (offline.nothing, offline.noted, offline.needs_model)
    if any(max(re.split(r"\{\w+\}", text), key=len).strip() in shown.text for text in others):
        return False
    if any(text in shown.text for text in _reasons(language)):
        return True
    said_so = (reminders.unclear, reminders.past.partition("}")[2], reminders.none_about.partition("{")[0])
    return "?" in shown.text or "？" in shown.text or any(text[:30] in shown.text for text in said_so)
