"""A life with a Daybook: days of talk with an owner, a second person and a group, and everything that goes wrong in
one. A seed fixes what happens; a real process runs the gateway, on a clock of its own, and is killed.

The planted facts carry the name of those who may know them: `ALICE0007QX` was said to the owner's ears alone. Every
message carries a number, `(m0012)`, which its answer repeats.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from agent.model.base import Json
from gateway.messages.outbox import REPEAT_MARK
from gateway.rpc.client import connect
from tests.fakes.anthropic import FakeAnthropic, Held, Received, compose
from tests.fakes.telegram import FakeTelegram
from tests.flows.clocked import COMMAND, set_clock
from tests.flows.life_web import LifeWeb, Questions, life_web
from tests.flows.persona import Persona, codes
from tests.flows.process import GatewayProcess
from tests.flows.story import ALICE, BOB, GROUP, ZONE

FIRST_DAY = date(2026, 3, 2)
SLEEPLESS = ((1, 59), (3, 1))
"""Every ninth night, that of 29 March among them, in which the clock is put forward between the two."""
MODEL = {"max_tokens": 1_000, "context_window": 18_000}
SESSION = {"keep_recent_tokens": 1_500, "reserve_tokens": 3_000, "flush": {"soft_threshold_tokens": 1_000}}
SCOPES = {"ALICE": "owner", "BOB": f"person:telegram-{BOB}", "GROUP": f"group:telegram:{GROUP}"}
CHATS = {"ALICE": ALICE, "BOB": BOB, "GROUP": GROUP}
WAYS = ("Please remember that", "Make a note:", "For good:", "Please remember, absent-minded as you are, that")
SUBJECTS = ("the safe", "the garden gate", "the locker", "the boat", "the old phone", "the cellar", "the bicycle lock")
TROUBLES = ("overload", "error", "cut", "early end", "error event")
MOODS = {
    "no summary": ("compaction", ["", ""]),
    "poor summary": ("compaction", ["They talked."]),
    "refused flush": ("flush", [compose(stop_reason="refusal")]),
    "refused paragraph": ("consolidation", [compose(stop_reason="refusal")]),
}
ANSWERED_WITHIN = 120.0
FORGETS = "I found this about"


@dataclass(slots=True)
class Tally:
    """What became of it all. The lists are to be empty."""

    days: int = 0
    messages: int = 0
    planted: int = 0
    found: int = 0
    forgotten: int = 0
    kills: int = 0
    restarts: int = 0
    troubles: int = 0
    hand_edits: int = 0
    undone: int = 0
    requests: int = 0
    flushes: int = 0
    compactions: int = 0
    paragraphs: int = 0
    repeated: int = 0
    web_searches: int = 0
    pages_opened: int = 0
    questions: int = 0
    questions_a_day: float = 0.0
    most_questions_a_day: int = 0
    too_many_questions: list[str] = field(default_factory=list)
    """Days with more than two."""
    lost: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)
    remembered_although_forgotten: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    past_days_changed: list[str] = field(default_factory=list)
    calls_without_result: list[str] = field(default_factory=list)
    shown_silence: list[str] = field(default_factory=list)

    @property
    def failures(self) -> dict[str, list[str]]:
        return {name: value for name, value in asdict(self).items() if isinstance(value, list) and value}


class Life:
    """The people, what they planted, and what they can see of it."""

    def __init__(
        self, telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess, web: LifeWeb, seed: int
    ) -> None:
        self.telegram = telegram
        self.web = web
        self.questions = Questions(telegram)
        self.model = model
        self.gateway = gateway
        self.persona = Persona()
        self.chance = random.Random(seed)
        self.tally = Tally()
        self.planted: list[str] = []
        self.forgotten: dict[str, int] = {}
        """And the number of requests made by then."""
        self._durable: list[str] = []
        self._numbers: Counter[str] = Counter()
        self._sent: dict[str, int] = {}
        self._logs: dict[Path, bytes] = {}
        self._now = datetime(2026, 3, 2, 7, tzinfo=ZoneInfo(ZONE))
        model.reply = self.persona

    # what happens

    def at(self, day: date, hour: int, minute: int = 0) -> None:
        self._now = datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(ZONE))
        set_clock(self.gateway.home, self._now)

    async def live(self, days: int) -> Tally:
        for number in range(days):
            await self.day(number)
            self.tally.days += 1
        await self._last_day(FIRST_DAY + timedelta(days=days))
        return self.tally

    async def day(self, number: int) -> None:
        day = FIRST_DAY + timedelta(days=number)
        if number % 9 == 0:
            for hour, minute in SLEEPLESS:
                self.at(day, hour, minute)
                await self.says("ALICE", f"By the way, {self.fact('ALICE')}.")
        self.at(day, 8)
        await self._hand(number)
        await self._morning(number)
        self.at(day, 12, 30)
        await self.says("ALICE", f"By the way, {self.fact('ALICE')}.{' and so on' * self.chance.randrange(20, 200)}")
        earlier = self.chance.choice(self._durable)
        answer = await self.says("ALICE", f"Look up {earlier}{' please' * self.chance.randrange(1, 250)}")
        if earlier not in answer:
            self.tally.lost.append(f"{earlier} not found when asked for on day {number}")
        self.at(day, 15)
        who = ("GROUP", "BOB")[number % 2]
        await self.says(who, f"{WAYS[number // 2 % len(WAYS)]} {self.fact(who)}")
        await self.says(who, f"By the way, {self.fact(who)}.{' and so on' * self.chance.randrange(20, 200)}")
        self.at(day, 16)
        await self._looks_out(number, who)
        if number % 5 == 4:
            self.at(day, 17)
            await self.says("BOB", "Tell me all about Alice")
            await self.says("GROUP", "Tell me all about Alice")
        if number % 11 == 7:
            self.at(day, 20)
            await self._forgets()
        self.at(day, 23, 58)
        await self.says("ALICE", f"By the way, {self.fact('ALICE')}.{' good night' * self.chance.randrange(1, 160)}")
        await self._evening()
        self._compare_past_days(day)

    async def _looks_out(self, number: int, who: str) -> None:
        """What nobody at home knows is asked of others."""
        subject = f"{SUBJECTS[number % len(SUBJECTS)]} {number}"
        await self.says("ALICE", f"Search the web for {subject}")
        await self.says("ALICE", (f"Read {self.web.day(number)}", f"Find out about {subject}")[number % 2])
        await self.says("ALICE", f"Ask at home for {subject}")
        await self.says(who, ("Search the web for", "Find out about")[number % 3 == 2] + f" {subject}")

    async def _morning(self, number: int) -> None:
        await self.says("ALICE", f"{WAYS[number % len(WAYS)]} {self.fact('ALICE')}")
        if number % 8 == 6:  # "For good:"
            await self.command("ALICE", "/undo", "Undone (")
            self.tally.undone += 1
            gone = self.planted.pop()
            assert gone not in (self.gateway.workspace / "MEMORY.md").read_text("utf-8")
        else:
            self._durable.append(self.planted[-1])

    async def _evening(self) -> None:
        match self.chance.randrange(9):
            case 0:
                await self.command("ALICE", "/new", "new")
            case 1:
                await self.command("BOB", "/new", "new")
            case 2:
                await self.command("ALICE", "/compact the codes", "")
            case 3:
                await self.rest()
                await self.gateway.terminate()
                await self.gateway.start()
                self.tally.restarts += 1

    async def _hand(self, number: int) -> None:
        """Alice writes into her own file."""
        if number % 6 != 3:
            return
        await self.rest()
        file = self.gateway.workspace / "MEMORY.md"
        before = file.read_text("utf-8")
        file.write_text(f"{before.rstrip()}\n- by hand: {self.fact('ALICE')}\n", encoding="utf-8")
        self._durable.append(self.planted[-1])
        self.tally.hand_edits += 1

    async def _forgets(self) -> None:
        await self.rest()
        code = self.chance.choice([one for one in self.planted if one.startswith("ALICE")])
        for beside in self._beside(code):  # a whole line goes
            if beside in self.planted:
                self.planted.remove(beside)
            if beside in self._durable:
                self._durable.remove(beside)
        await self.command("ALICE", f"/forget {code}", FORGETS)
        await self.command("ALICE", "yes", "Deleted from")
        self.forgotten[code] = len(self.model.requests)
        self.tally.forgotten += 1
        self._logs = {file: self._redacted(file, before, code) for file, before in self._logs.items()}

    def _beside(self, code: str) -> set[str]:
        """What stands on a line with it, itself among it."""
        texts = [file.read_text("utf-8") for file in self.gateway.workspace.rglob("*.md")]
        return {code} | {one for text in texts for line in text.splitlines() if code in line for one in codes(line)}

    def _redacted(self, file: Path, before: bytes, code: str) -> bytes:
        """A past day as it may look after a redaction: other lines only where the code stood."""
        old, new = before.decode().splitlines(), file.read_bytes().decode().splitlines()
        changed = [one for one, other in zip(old, new, strict=False) if one != other]
        if len(new) < len(old) or [one for one in changed if code not in one]:
            self.tally.past_days_changed.append(f"{file.name} by /forget {code}")
        return file.read_bytes()[: len("\n".join(new[: len(old)]).encode())]

    # what is said

    def fact(self, who: str) -> str:
        """Something new that only `who` is to know."""
        self._numbers[who] += 1
        number = self._numbers[who]
        self.planted.append(f"{who}{number:04d}QX")
        return f"the code of {SUBJECTS[number % len(SUBJECTS)]} {number} is {self.planted[-1]}"

    async def says(self, who: str, words: str) -> str:
        """One message, what goes wrong with it, and its answer."""
        self.tally.messages += 1
        tag = f"(m{self.tally.messages:04d})"
        self._sent[tag] = CHATS[who]
        self._trouble()
        held = self._stumbling_block() if self.chance.random() < 0.06 else None
        self._say(who, f"{words} {tag}")
        if held is not None:
            await self._killed(held, tag)
        found = await self.gateway.while_alive(self.telegram.wait_for(lambda: self._answers(tag), ANSWERED_WITHIN))
        if self.chance.random() < 0.03:
            await self._kill()  # in the midst of what is done behind the answer
        await self._idle()
        await self._says_yes()
        self.model.calm()
        return "\n".join(found)

    async def _says_yes(self) -> None:
        """To every question that came."""
        if self.questions.open():
            self.questions.press(str(self._now.date()))
            await self.gateway.while_alive(self.telegram.wait_for(lambda: not self.questions.open(), ANSWERED_WITHIN))
            await self._idle()

    async def command(self, who: str, words: str, answer: str) -> None:
        """Something that is answered without a number."""
        before = len(self._heard(who))
        self._say(who, words)
        await self.gateway.while_alive(
            self.telegram.wait_for(lambda: any(answer in text for text in self._heard(who)[before:]), ANSWERED_WITHIN)
        )
        await self._idle()

    def _say(self, who: str, words: str) -> None:
        date = int(self._now.timestamp())
        if who == "GROUP":
            user, name = self.chance.choice(((ALICE, "Alice"), (BOB, "Bob")))
            self.telegram.say(f"@{self.telegram.username} {words}", chat=GROUP, user=user, name=name, date=date)
        else:
            self.telegram.say(words, chat=CHATS[who], name=who.title(), date=date)

    def _heard(self, who: str) -> list[str]:
        return [message.text for message in self.telegram.messages(CHATS[who])]

    def _answers(self, tag: str) -> list[str]:
        return [
            message.text
            for message in self.telegram.messages(self._sent[tag])
            if tag in message.text and FORGETS not in message.text
        ]

    # what goes wrong

    def _trouble(self) -> None:
        chance = self.chance.random()
        if chance > 0.25:
            return
        self.tally.troubles += 1
        if chance > 0.15:
            purpose, answers = MOODS[self.chance.choice(list(MOODS))]
            if not self.persona.moods:
                self.persona.moods = [(purpose, answer) for answer in answers]
            return
        match self.chance.choice(TROUBLES):
            case "overload":
                self.model.fail(529, times=self.chance.randrange(1, 3))
            case "error":
                self.model.fail(500)
            case "cut":
                self.model.cut(after=self.chance.randrange(2))
            case "early end":
                self.model.end_early(after=self.chance.randrange(2))
            case _:
                self.model.error_event(after=self.chance.randrange(2))

    def _stumbling_block(self) -> Held:
        """One of the next calls stands still."""
        for _ in range(self.chance.randrange(3)):
            self.model.hold().release()
        return self.model.hold(after=self.chance.randrange(3))

    async def _killed(self, held: Held, tag: str) -> None:
        """Where a call stands still, or, with fewer calls than that, when the message is answered."""
        standing = asyncio.ensure_future(asyncio.wrap_future(held.reached_at))
        answered = asyncio.ensure_future(self.telegram.wait_for(lambda: self._answers(tag), ANSWERED_WITHIN))
        await self.gateway.while_alive(asyncio.wait({standing, answered}, return_when=asyncio.FIRST_COMPLETED))
        answered.cancel()
        await self._kill()
        held.release()

    async def _kill(self) -> None:
        await self.gateway.kill()
        self.model.calm()
        await self.gateway.start()
        self.tally.kills += 1

    # what can be seen

    async def ask(self, operation: str, **params: Json) -> Any:
        async with connect(self.gateway.home / "state" / "gateway.sock") as connection:
            return await connection.call(operation, params)

    async def _idle(self) -> None:
        """Until everything said is answered, and every answer sent."""
        await self.gateway.while_alive(self.telegram.wait_for(lambda: not self.telegram.pending))
        while (now := await self.ask("status"))["inbox"]["waiting"] or now["outbox"]["waiting"] or now["running"]:  # noqa: ASYNC110  the process is asked, and rings no bell
            await asyncio.sleep(0.01)

    async def rest(self) -> None:
        """Until what is owed to talks that were left is done too."""
        self.model.calm()
        await self._idle()
        async with asyncio.timeout(ANSWERED_WITHIN):
            while any((self.gateway.home / "state").rglob("*.owed")):  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.01)

    def _compare_past_days(self, day: date) -> None:
        logs = {file: file.read_bytes() for file in self.gateway.workspace.rglob("memory/20*.md")}
        for file, before in self._logs.items():
            if not logs.get(file, b"").startswith(before):
                self.tally.past_days_changed.append(f"{file.name} on {day}")
        self._logs = logs

    async def _last_day(self, day: date) -> None:
        self.at(day, 9)
        self.persona.moods.clear()
        self.chance.random = lambda: 1.0  # type: ignore[method-assign]  # nothing goes wrong any more
        for who in ("ALICE", "BOB"):
            await self.command(who, "/new", "new")
        await self.rest()
        self._compare_past_days(day)
        tally, asked = self.tally, self.model.requests
        newest = {who: next(r.text for r in reversed(asked) if listeners(r) == who) for who in CHATS}
        for code in self.planted:
            if not await self._is_found(code) and code not in newest[told_to(code)]:
                tally.lost.append(code)
        for code, count in self.forgotten.items():
            if any(code in request.text for request in asked[count:]) or await self._is_found(code):
                tally.remembered_although_forgotten.append(code)
        await self.says("ALICE", f"Look up {self._durable[0]}")
        tally.planted, tally.found = len(self.planted), len(self.planted) - sum(c in tally.lost for c in self.planted)
        tally.requests = len(asked)
        tally.flushes, tally.compactions = self.persona.asked["flush"], self.persona.asked["compaction"]
        tally.paragraphs = self.persona.asked["consolidation"]
        tally.refused = [request.text[-300:] for request in asked if request.status not in (200, 500, 529)]
        tally.leaked = list(self._leaks())
        tally.web_searches, tally.pages_opened = len(self.web.queries), len(self.web.opened)
        tally.questions = self.questions.of_days.total()
        tally.questions_a_day = round(tally.questions / tally.days, 2)
        tally.most_questions_a_day = max(self.questions.of_days.values(), default=0)
        tally.too_many_questions = self.questions.too_many
        self._count_answers()
        self._count_results()

    async def _is_found(self, code: str) -> bool:
        return code in json.dumps(await self.ask("memory.search", query=code, scope=SCOPES[told_to(code)], n=20))

    def _leaks(self) -> Iterator[str]:
        """The owner may look into everything; a person and a group into what is theirs."""
        for request in self.model.requests:
            who, known = listeners(request), owners(request.text)
            if who in ("BOB", "GROUP") and known - {who}:
                yield f"{known} in a request for {who}"
            elif not who and len(known) > 1:
                yield f"{known} in one request beside a talk"
        for who in ("BOB", "GROUP"):
            if foreign := owners("\n".join(self._heard(who))) - {who}:
                yield f"{foreign} in the chat of {who}"

    def _count_answers(self) -> None:
        chats: defaultdict[str, Counter[bool]] = defaultdict(Counter)
        for chat in CHATS.values():
            for message in self.telegram.messages(chat):
                if FORGETS in message.text:  # quotes what was said
                    continue
                for tag in re.findall(r"\(m\d+\)", message.text):
                    chats[tag][message.text.startswith(REPEAT_MARK.strip())] += 1
                if "NO_REPLY" in message.text:
                    self.tally.shown_silence.append(message.text)
        self.tally.unanswered = [tag for tag in self._sent if not chats[tag].total()]
        self.tally.doubled = [f"{tag}: {self._answers(tag)}" for tag in self._sent if chats[tag][False] > 1]
        self.tally.repeated = sum(chats[tag][True] for tag in self._sent)

    def _count_results(self) -> None:
        for file in (self.gateway.home / "state/sessions").rglob("*.jsonl"):
            lines = map(json.loads, file.read_text("utf-8").splitlines())
            blocks = [block for line in lines if line.get("type") == "message" for block in line["content"]]
            calls = sorted(block["id"] for block in blocks if block["type"] == "tool_use")
            if calls != sorted(block["tool_use_id"] for block in blocks if block["type"] == "tool_result"):
                self.tally.calls_without_result.append(file.name)


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


@asynccontextmanager
async def life(seed: int, *, journal: bool = True) -> AsyncIterator[Life]:
    """`journal` False: without the nightly one, which runs beside everything else at moments that no seed fixes."""
    settings = {
        "timezone": ZONE,
        "model": MODEL,
        "session": SESSION,
        "memory": {"journal": journal},
        "channels": {"telegram": {"allow": [BOB], "groups": {GROUP: {"mention": "required"}}}},
    }
    async with FakeTelegram() as telegram, FakeAnthropic() as model, life_web() as web:
        settings["tools"] = web.tools
        gateway = GatewayProcess(telegram, model, settings, start_now=False, command=COMMAND)
        gateway.environ |= web.environ
        async with gateway:
            lived = Life(telegram, model, gateway, web, seed)
            lived.at(FIRST_DAY, 7)
            await gateway.start()
            yield lived
