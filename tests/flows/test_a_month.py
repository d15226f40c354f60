"""A month in the life: what was told is still known at its end, and by nobody who was not told.

The planted facts carry the name of those who may know them: `ALICE0007QX` was said to the owner's ears alone.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from gateway.app import Gateway
from tests.fakes.anthropic import Received
from tests.flows.persona import Persona, codes
from tests.flows.story import ALICE, BOB, GROUP, ZONE, Story, story

FIRST_DAY = date(2026, 3, 2)
DAYS = 30
SLEEPLESS = ((1, 59), (3, 1))
"""Every ninth night, that of 29 March among them, in which the clock is put forward between the two."""
LIFE = 6
"""Days until the next restart."""
MODEL = {"max_tokens": 1_000, "context_window": 18_000}
SESSION = {"keep_recent_tokens": 1_500, "reserve_tokens": 3_000, "flush": {"soft_threshold_tokens": 1_000}}
SCOPES = {"ALICE": "owner", "BOB": f"person:telegram-{BOB}", "GROUP": f"group:telegram:{GROUP}"}
CHATS = {"ALICE": ALICE, "BOB": BOB, "GROUP": GROUP}
WAYS = ("Please remember that", "Make a note:", "For good:", "Please remember, absent-minded as you are, that")
SUBJECTS = ("the safe", "the garden gate", "the locker", "the boat", "the old phone", "the cellar", "the bicycle lock")


class Month:
    """The people of the story, and what they planted."""

    def __init__(self, told: Story) -> None:
        self.told = told
        self.planted: list[str] = []
        self.mornings: list[str] = []
        self._numbers: Counter[str] = Counter()
        self._days: dict[Path, bytes] = {}

    def at(self, day: date, hour: int, minute: int = 0) -> None:
        self.told.moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(ZONE))

    def fact(self, who: str) -> str:
        """Something new that only `who` is to know."""
        self._numbers[who] += 1
        number = self._numbers[who]
        self.planted.append(f"{who}{number:04d}QX")
        return f"the code of {SUBJECTS[number % len(SUBJECTS)]} {number} is {self.planted[-1]}"

    async def says(self, who: str, words: str, *, by: str = "Bob") -> None:
        """One message, and its answer."""
        chat = CHATS[who]
        count = len(self.told.heard(chat))
        if who == "GROUP":
            self.told.call(words, user=BOB if by == "Bob" else ALICE, name=by)
        else:
            self.told.say(words, chat=chat, name=who.title())
        await self.told.telegram.wait_for(lambda: len(self.told.heard(chat)) > count)
        await self.told.idle()

    async def day(self, number: int) -> None:
        day = FIRST_DAY + timedelta(days=number)
        if number % 9 == 0:
            for hour, minute in SLEEPLESS:
                self.at(day, hour, minute)
                await self.says("ALICE", f"By the way, {self.fact('ALICE')}.")
        self.at(day, 8)
        await self.says("ALICE", f"{WAYS[number % len(WAYS)]} {self.fact('ALICE')}")
        self.mornings.append(self.planted[-1])
        self.at(day, 12, 30)
        await self.says("ALICE", f"By the way, {self.fact('ALICE')}.{' and so on' * 160}")
        earlier = self.mornings[number // 2]
        await self.says("ALICE", f"Look up {earlier}{' please' * 200}")
        assert earlier in self.told.heard()[-1]
        self.at(day, 15)
        if number % 2:
            await self.says("BOB", f"{WAYS[number // 2 % len(WAYS)]} {self.fact('BOB')}")
            await self.says("BOB", f"By the way, {self.fact('BOB')}.{' and so on' * 160}")
        else:
            await self.says("GROUP", f"{WAYS[number // 2 % len(WAYS)]} {self.fact('GROUP')}", by="Alice")
            await self.says("GROUP", f"By the way, {self.fact('GROUP')}.{' and so on' * 160}")
        if number % 5 == 4:
            self.at(day, 17)
            await self.says("BOB", "Tell me all about Alice")
            await self.says("GROUP", "Tell me all about Alice")
        self.at(day, 23, 58)
        await self.says("ALICE", f"By the way, {self.fact('ALICE')}.{' good night' * 120}")
        if number % 7 == 6:
            await self.says("ALICE", "/new")
        if number % 14 == 2:
            await self.says("ALICE", "/compact the codes")
            await self.told.telegram.wait_for(lambda: "tokens of talk became" in self.told.heard()[-1])
        if number % 14 == 9:
            await self.says("BOB", "/new")

    def past_days_only_grew(self) -> None:
        logs = {file: file.read_bytes() for file in self.told.workspace.rglob("memory/*.md")}
        assert not [file for file, before in self._days.items() if not logs[file].startswith(before)]
        self._days = logs


async def at_rest(gateway: Gateway, told: Story) -> None:
    """Until what is owed to talks that were left is done."""
    await told.idle()
    while any((told.home.path / "state").rglob("*.owed")):
        await gateway.operations["status"]({})


def listeners(request: Received) -> str:
    """Whose ears a request was for, as its own prompt says; empty where it was made beside a talk."""
    system = json.dumps(request.body["system"])
    for phrase, who in {"with your owner": "ALICE", "who is not your owner": "BOB", "in a group": "GROUP"}.items():
        if phrase in system:
            return who
    return ""


def told_to(code: str) -> str:
    """`ALICE` of `ALICE0007QX`."""
    return code.rstrip("QX").rstrip("0123456789")


def owners(text: str) -> set[str]:
    """Whose are the facts in a text."""
    return {told_to(code) for code in codes(text)}


def transcripts(told: Story) -> Iterator[list[dict[str, str]]]:
    """The content of the messages of every talk of the month."""
    for file in (told.home.path / "state/sessions").rglob("*.jsonl"):
        lines = map(json.loads, file.read_text("utf-8").splitlines())
        yield [block for line in lines if line.get("type") == "message" for block in line["content"]]


@pytest.mark.timeout(240)  # half a minute of talk on a busy machine
async def test_after_a_month_all_is_known_that_was_told_and_by_nobody_else(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        persona = told.model.reply = Persona()
        server = {"api_key": told.model.api_key, "base_url": told.model.base_url}
        told.configure(model=server | MODEL, session=SESSION, schedule={"daily_summary": {"enabled": False}})
        month = Month(told)
        for first in range(0, DAYS, LIFE):
            month.at(FIRST_DAY + timedelta(days=first), 7)
            async with told.running() as gateway:
                for number in range(first, first + LIFE):
                    await month.day(number)
                    month.past_days_only_grew()
                await at_rest(gateway, told)

        month.at(FIRST_DAY + timedelta(days=DAYS), 9)
        async with told.running() as gateway:
            for who in ("ALICE", "BOB"):
                await month.says(who, "/new")
            await at_rest(gateway, told)
            month.past_days_only_grew()
            lost = [code for code in month.planted if not await _is_found(gateway, told, code)]
            await month.says("ALICE", f"Look up {month.planted[0]}")
            assert month.planted[0] in told.heard()[-1]
            counted = await _counted_calls(gateway)

        assert not lost
        assert counted.total() == len(told.asked)
        assert all(counted[what] == persona.asked[what] for what in ("flush", "compaction", "consolidation", "journal"))
        assert persona.asked["compaction"] >= 6 and persona.asked["flush"] >= 12
        assert persona.asked["consolidation"] >= 12 and persona.asked["asked again"] >= 10
        _nothing_private_came_to_others(told)
        _every_request_was_valid_and_every_call_answered(told)
        assert not [text for chat in CHATS.values() for text in told.heard(chat) if "NO_REPLY" in text]
        assert told.read("memory/HISTORY.md").count("A talk of") >= 4


async def _is_found(gateway: Gateway, told: Story, code: str) -> bool:
    """By a search in the scope that it was told in, or in what the talk that goes on there still holds."""
    who = told_to(code)
    hits = await gateway.operations["memory.search"]({"query": code, "scope": SCOPES[who], "n": 20})
    if code in json.dumps(hits):
        return True
    newest = next(request for request in reversed(told.asked) if listeners(request) == who)
    return code in newest.text


async def _counted_calls(gateway: Gateway) -> Counter[str]:
    """Calls of the model by purpose, as the ledger has them."""
    counted: Counter[str] = Counter()
    rows: Any = await gateway.operations["usage"]({"days": 2 * DAYS})
    for row in rows:
        counted[row["purpose"]] += row["calls"]
    return counted


def _nothing_private_came_to_others(told: Story) -> None:
    """The owner may look into everything; a person and a group into what is theirs (SPEC 5)."""
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for request in told.asked:
        if who := listeners(request):
            seen[who] |= owners(request.text)
        else:
            assert len(owners(request.text)) <= 1, "a talk was consolidated with somebody else's words"
    for who in ("BOB", "GROUP"):
        assert seen[who] == {who}
        assert owners("\n".join(told.heard(CHATS[who]))) == {who}


def _every_request_was_valid_and_every_call_answered(told: Story) -> None:
    assert {request.status for request in told.asked} == {200}
    for blocks in transcripts(told):
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(calls) == sorted(results)  # what only reads may end in any order
