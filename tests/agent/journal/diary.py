"""A journal over talks that a test writes down line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from agent.clock import Clock, utc_stamp
from agent.context.budget import ModelWindows
from agent.journal.writer import Journal, JournalReport
from agent.memory.history import History
from agent.memory.redaction_lock import RedactionLock
from agent.memory.scope import Audience, Scope
from agent.model.base import Json, Model, ModelRequest
from agent.model.scripted import Call, ScriptedAnswer, ScriptedModel, Step
from agent.session.archive import Archive, new_id
from agent.session.entries import Header, MessageEntry, Meta, RedactionEntry
from agent.session.jsonl import entry_line, header_line
from agent.settings import AgentSettings
from agent.values import SessionKey

BERLIN = ZoneInfo("Europe/Berlin")
DAY = date(2026, 11, 21)


@dataclass
class Diary:
    """`says` writes into a talk's transcript, `write` lets the journal go over it."""

    folder: Path
    now: datetime = datetime(2026, 11, 21, 9, tzinfo=BERLIN)
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel(behind=told))
    key: SessionKey = field(default_factory=lambda: SessionKey("main", "owner"))

    def __post_init__(self) -> None:
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        self.clock = Clock(BERLIN, lambda: self.now)
        self.archive = Archive(self.folder / "sessions", "main")
        self.redaction_lock = RedactionLock()
        self.talk = ""
        self.new_talk()

    @property
    def scope(self) -> Scope:
        return Scope(Audience.OWNER, self.workspace)

    @property
    def file(self) -> Path:
        return self.archive.path(self.key, self.talk)

    @property
    def marks(self) -> Path:
        return self.folder / "journal" / "main.db"

    def new_talk(self) -> None:
        self.talk = new_id(self.now)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(header_line(Header(self.talk, self.key.path, "main", utc_stamp(self.now))))

    def says(self, *texts: str, who: str = "Alice", model: str = "") -> None:
        """A minute passes with each; an empty `who` is the assistant, speaking through `model`."""
        for text in texts:
            number = self.file.read_bytes().count(b"\n")
            id = f"e{number:06d}"
            meta = Meta(said=(f"m{number}",), sender=who) if who else Meta(model=model)
            header = f"[{self.now:%Y-%m-%d %a %H:%M} Europe/Berlin · Telegram · {who}]\n" if who else ""
            role = "user" if who else "assistant"
            block: Mapping[str, Json] = {"type": "text", "text": header + text}
            with self.file.open("ab") as file:
                file.write(entry_line(MessageEntry(id, utc_stamp(self.now), role, (block,), meta)))
            self.now += timedelta(minutes=1)

    async def forgets(self, *ids: str) -> None:
        """What those messages say is forgotten."""
        async with self.redaction_lock.forgetting(self.scope):
            number = self.file.read_bytes().count(b"\n")
            lines = {id: [(0, 1)] for id in ids}
            mark = RedactionEntry(f"e{number:06d}", utc_stamp(self.now), self.now.date().isoformat(), lines, "c")
            with self.file.open("ab") as file:
                file.write(entry_line(mark))

    def breaks(self) -> None:
        """A line of the transcript is damaged."""
        with self.file.open("ab") as file:
            file.write(b'{"id":"e0000\xff\n')

    async def write(self, since: date = DAY, until: date = DAY, model: Model | None = None) -> JournalReport:
        return await self.journal(model).write(lambda _: self.scope, since, until)

    def journal(self, model: Model | None = None) -> Journal:
        """By default with the scripted model."""
        settings, model = AgentSettings(), model or self.model
        history = History(self.folder / "history.db", self.clock)
        windows = ModelWindows(settings, model, self.clock)
        return Journal(settings, self.archive, self.marks, model, windows, history, self.redaction_lock, self.clock)

    def log(self, day: date = DAY) -> str:
        file = self.workspace / "memory" / f"{day.isoformat()}.md"
        return file.read_text("utf-8") if file.exists() else ""

    @property
    def asked(self) -> Sequence[ModelRequest]:
        return self.model.silent


def shown(request: ModelRequest) -> str:
    return str(request.messages[0].content[0]["text"])


def told(request: ModelRequest) -> Step:
    """What a model writes that names every message by its last word."""
    talk = shown(request).split("<daybook-quoted>")[1]
    lines = [line for line in talk.splitlines() if line[:2].isdigit()]
    entries: list[Json] = [{"time": line[:5], "text": f"told {line.split()[-1]}"} for line in lines]
    return ScriptedAnswer(calls=(Call("write_journal", {"entries": entries, "promises": [], "closed": []}),))
