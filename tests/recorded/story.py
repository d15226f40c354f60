"""Two days with a Daybook: a real process between the fakes, on a clock of its own. Every kind of request to the model
occurs, and the home that it leaves has something of everything, some of it unfinished.

`tests.homes.recording` records that home, `surface` what the model was sent and what people saw.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tests.channels.web.browser import Browser, browser
from tests.fakes.anthropic import Answer, FakeAnthropic, compose, last_user_text
from tests.fakes.anthropic_answers import JsonObject
from tests.fakes.anthropic_rules import blocks_of
from tests.fakes.telegram import FakeTelegram
from tests.flows.clocked import COMMAND, set_clock
from tests.flows.process import GatewayProcess

ALICE, BOB, CAROL = 11111, 22222, 33333
GROUP = -1001234567890
ZONE = ZoneInfo("Europe/Berlin")
SETTINGS: Mapping[str, object] = {
    "model": {"max_tokens": 1_000, "context_window": 24_000},
    "session": {"keep_recent_tokens": 1_500, "reserve_tokens": 3_000, "flush": {"soft_threshold_tokens": 1_000}},
    "channels": {
        "telegram": {"groups": {str(GROUP): {"mention": "required"}}},
        "web": {"enabled": True, "port": 0},
    },
}
UNDELIVERED = "The tide is high at seven."
UNANSWERED = "Which colour did we choose for the boat?"
WAITS_S = 120.0

_PURPOSES = (
    ("flush", lambda system, tools, newest: "Only these tools are obeyed now" in newest),
    ("compaction", lambda system, tools, newest: "will be replaced by a summary" in newest),
    ("consolidation", lambda system, tools, newest: "save_memory" in tools),
    ("journal", lambda system, tools, newest: "write_journal" in tools),
    ("summary", lambda system, tools, newest: "daily summary" in system),
    ("heartbeat", lambda system, tools, newest: "list of things to watch for" in system),
)


def purpose_of(body: JsonObject) -> str:
    """What a request is for; `turn` where it answers somebody."""
    system = "".join(block["text"] for block in body.get("system", ()))
    tools = {tool["name"] for tool in body.get("tools", ())}
    newest = last_user_text(body)
    return next((name for name, fits in _PURPOSES if fits(system, tools, newest)), "turn")


def reply(body: JsonObject) -> Answer | str:
    """A model that does its duties in a few fixed words, and otherwise what `_TURNS` says."""
    match purpose_of(body):
        case "flush":
            is_done = any(block["type"] == "tool_result" for block in blocks_of(body["messages"][-1]))
            return "NO_REPLY" if is_done else compose(tool=("memory_append", {"text": "The boat Luna is blue"}))
        case "compaction":
            parts = re.findall(r"^## .+$", last_user_text(body), re.MULTILINE)
            return "\n".join(f"{part}\nThe boat Luna lies at berth 14 in Kiel." for part in parts)
        case "consolidation":
            kept = {"history_entry": "Bob asked for the tide.", "memory_update": []}
            return compose(tool=("save_memory", kept))
        case "journal":
            entries = [{"time": "12:00", "text": "The boat Luna was spoken of."}]
            promises = [{"who": "Alice", "what": "paint the boat", "due": "2026-03-20"}]
            return compose(tool=("write_journal", {"entries": entries, "promises": promises, "closed": []}))
        case "summary":
            return "A day about the boat."
        case "heartbeat":
            return "The berth is to be paid this week."
    is_result = any(block["type"] == "tool_result" for block in blocks_of(body["messages"][-1]))
    if is_result:
        return "That is done."
    newest = last_user_text(body).splitlines()[-1]
    return next((answer for start, answer in _TURNS.items() if newest.startswith(start)), compose("I see."))


_TURNS: Mapping[str, Answer] = {
    "Please remember": compose("Let me write that down.", tool=("memory_append", {"text": "The boat is called Luna"})),
    "For good": compose(tool=("memory_update", {"old_text": "", "new_text": "- Alice drinks tea, never coffee"})),
    "Make a note": compose(
        tool=(
            "memory_save",
            {
                "name": "berth",
                "description": "where the boat lies",
                "type": "reference",
                "content": "Luna lies at berth 14 in Kiel.",
            },
        )
    ),
    "Where is the boat": compose(tool=("memory_search", {"query": "boat berth"}), thinking="It is in my notes."),
    "Remind me": compose(
        tool=("schedule_add", {"kind": "message", "text": "Pay the berth", "when": {"at": "2026-03-02T18:00"}})
    ),
    "Work on": compose(
        tool=("schedule_add", {"kind": "prompt", "text": "Look at the tide", "when": {"cron": "0 7 * * 1"}})
    ),
    "From now on": compose(tool=("write_file", {"path": "AGENTS.md", "content": "Answer in rhymes.\n"})),
    "How is the tide": compose(UNDELIVERED),
}


@dataclass(slots=True)
class Asked:
    """A request to the model: who was answered, what for, and its body."""

    audience: str
    purpose: str
    body: JsonObject


@dataclass(slots=True)
class Story:
    """The process and the fakes, and what was asked of the model so far, each kind once.

    `helped`: the answer to /help.
    """

    telegram: FakeTelegram
    model: FakeAnthropic
    gateway: GatewayProcess
    now: datetime = field(default_factory=lambda: datetime(2026, 3, 1, 11, tzinfo=ZONE))
    asked: list[Asked] = field(default_factory=list)
    helped: str = ""
    _counted: int = 0

    def at(self, moment: str) -> None:
        self.now = datetime.fromisoformat(moment).replace(tzinfo=ZONE)
        set_clock(self.gateway.home, self.now)

    # what people do

    async def says(
        self, text: str | None, chat: int = ALICE, name: str = "Alice", *, expects: str = "", **more: Any
    ) -> None:
        """A message and its answer: `expects` is part of it; else any new one will do."""
        before = len(self.heard(chat))
        user = {"user": ALICE} if chat == GROUP else {}
        self.telegram.say(text, chat=chat, name=name, date=int(self.now.timestamp()), **user, **more)
        await self.until(lambda: any(expects in said for said in self.heard(chat)[before:]))
        await self.idle()

    def heard(self, chat: int = ALICE) -> list[str]:
        return [message.text for message in self.telegram.messages(chat)]

    async def until(self, what: Callable[[], object]) -> None:
        await self.gateway.while_alive(self.telegram.wait_for(what, WAITS_S))

    async def idle(self) -> None:
        """Until everything said is answered, every answer is sent, and what was put off is done."""
        await self.until(lambda: not self.telegram.pending)
        async with asyncio.timeout(WAITS_S):
            while self.rows("SELECT 1 FROM inbox WHERE state = 'waiting'") or self.rows(_OPEN_SENDS):  # noqa: ASYNC110  the file rings no bell
                await asyncio.sleep(0.02)
            while any((self.gateway.home / "state").rglob("*.owed")):  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.02)

    async def runs(self, job: str) -> None:
        """Run a job now, to its end."""
        await self.cli("schedule", "run", job)
        await self.has_run(job)

    async def has_run(self, job: str) -> None:
        """Wait for the end of a job's first run."""
        async with asyncio.timeout(WAITS_S):
            while not self.rows(f"SELECT 1 FROM run WHERE job = '{job}' AND ended_at <> ''"):  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.02)
        await self.idle()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return query_of(self.gateway, query)

    async def cli(self, *arguments: str) -> str:
        ran = await self.gateway.cli(*arguments)
        assert ran.code == 0, (arguments, ran)
        return ran.out

    # what the model was asked

    def note(self, audience: str, purposes: str = "turn") -> None:
        """Keep one request of each of the purposes among those that came since the last note, in whatever order."""
        new, self._counted = self.model.requests[self._counted :], len(self.model.requests)
        for purpose in purposes.split():
            found = [one.body for one in new if purpose_of(one.body) == purpose]
            assert found, (audience, purpose, Counter(purpose_of(one.body) for one in new))
            self.asked.append(Asked(audience, purpose, min(found, key=last_user_text)))


_OPEN_SENDS = "SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending')"


def query_of(gateway: GatewayProcess, query: str) -> list[tuple[Any, ...]]:
    """Rows of the gateway's database, read beside it."""
    with closing(sqlite3.connect(f"{(gateway.home / 'state/daybook.db').as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


@asynccontextmanager
async def open_story(**process: Any) -> AsyncIterator[Story]:
    async with FakeTelegram() as telegram, FakeAnthropic() as model:
        model.reply = reply
        gateway = GatewayProcess(telegram, model, SETTINGS, start_now=False, command=COMMAND, **process)
        async with gateway:
            story = Story(telegram, model, gateway)
            story.at("2026-03-01 11:00")
            await gateway.start()
            yield story


async def tell(story: Story) -> None:
    """Everything up to the evening of the second day, with nothing left unfinished."""
    await _first_day(story)
    await _second_day(story)
    await _at_the_page(story)
    await story.says("/help")
    story.helped = story.heard()[-1]


async def _first_day(story: Story) -> None:
    await story.says("Hello")
    story.note("owner, private chat")
    await story.says("Please remember that the boat is called Luna", expects="That is done")
    await story.says("For good: I drink tea, never coffee", expects="That is done")
    await story.says("Make a note of the berth, 14 in Kiel", expects="That is done")
    await story.says("Where is the boat?", expects="That is done")
    for _ in range(2):
        await story.says(f"By the way, {'we spoke of the garden and of the journey to Lisbon. ' * 60}")
    await story.says("/compact the boat", expects="")
    await story.idle()
    story.note("owner", "flush compaction")

    story.telegram.say("Hello, may I come in?", chat=BOB, name="Bob", date=int(story.now.timestamp()))
    await story.until(lambda: story.heard(BOB))
    (code,) = (code for (code,) in story.rows("SELECT code FROM pairing"))
    await story.cli("pair", "approve", code)
    await story.says("Hello again", BOB, "Bob")
    story.note("another person, private chat")
    await story.says("/new", BOB, "Bob")
    await story.idle()
    story.note("another person", "consolidation")
    await story.says(f"@{story.telegram.username} what do you think?", GROUP)
    story.note("group")


async def _second_day(story: Story) -> None:
    story.at("2026-03-02 08:00")
    await story.has_run("journal")  # both were due in the night
    await story.has_run("memory-test")
    story.note("owner", "journal")
    await story.runs("daily-summary")
    story.note("owner", "summary")
    (story.gateway.workspace / "HEARTBEAT.md").write_text("- Is the berth paid?\n", encoding="utf-8")
    await story.runs("heartbeat")
    story.note("owner", "heartbeat")
    await story.says("Remind me at six to pay the berth", expects="That is done")
    await story.says("Work on the tide every Monday", expects="That is done")
    (job,) = [line.split()[0] for line in (await story.cli("schedule", "list")).splitlines() if "tide" in line]
    await story.runs(job)
    story.note("a job of the owner")


async def _at_the_page(story: Story) -> None:
    document = {"file_id": story.telegram.add_file(b"Dinner is at eight.", "plan.txt"), "file_unique_id": "plan"}
    await story.says(None, caption="What is in it?", document={**document, "file_name": "plan.txt"})
    story.note("owner, a document")
    async with at_the_page(story) as page:
        for chat, text in (("main", "Hello from the page"), ("study", "What is there to do?")):
            async with page.opened(chat) as tab:
                await tab.say(text)
                await tab.hears("I see.")
    await story.idle()
    story.note("owner, web page")


@asynccontextmanager
async def at_the_page(story: Story) -> AsyncIterator[Browser]:
    place = json.loads(await story.cli("web", "--json"))
    async with browser(place["address"], place["token"]) as page:
        yield page


async def leave_unfinished(story: Story) -> None:
    """A question to the owner, a request to be let in, an answer that cannot be sent, and a message without one."""
    story.at("2026-03-02 08:30")
    await story.says("From now on, answer in rhymes", expects="That is done")
    await story.until(lambda: [one for one in story.telegram.messages(ALICE) if one.buttons])
    story.telegram.say("Who is there?", chat=CAROL, name="Carol", date=int(story.now.timestamp()))
    await story.until(lambda: story.heard(CAROL))
    await story.idle()
    refusal = story.telegram.fail("sendMessage", status=429, retry_after=3600, chat=BOB, times=None)
    story.telegram.say("How is the tide?", chat=BOB, name="Bob", date=int(story.now.timestamp()))
    await story.until(lambda: refusal.hits)
    held = story.model.hold(after=0)
    story.telegram.say(UNANSWERED, chat=ALICE, date=int(story.now.timestamp()))
    await story.gateway.while_alive(story.model.held(held))
