"""A private scope finds its own past talks; nothing that a context still holds, that was recalled, or of jobs."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent import tools
from agent.context.prompt import FixedPart
from agent.forget import bring_back, redact
from agent.memory.scope import Scope
from agent.model.base import Json
from agent.model.offline.model import NAME as OFFLINE
from agent.session.archive import Archive
from agent.session.entries import CompactionEntry, Entry, Header, MessageEntry, Meta, RedactionEntry
from agent.session.past_sessions import PastSessions
from agent.session.transcript import Transcript
from agent.settings import MemorySettings
from agent.values import SessionKey
from tests.agent.places import group, morning, owner, person, unhurried

CLOCK = morning().clock
OLD, NEW = "20261001-080000-000-aaaa", "20261101-080000-000-bbbb"
HEADER = "[2026-10-01 Thu 10:00 Europe/Berlin · Telegram · Alice]\n"
RECALLED = "<daybook-recalled>\nzeppelin was recalled\n</daybook-recalled>\n"


class Talks:
    def __init__(self, home: Path) -> None:
        self.archive = Archive(home / "sessions", "main")
        self.workspace = home / "workspace"
        self.workspace.mkdir()
        self.past = PastSessions(self.archive)
        self.index = unhurried(home, talks=self.past)

    async def talk(self, path: str, id: str, *entries: Entry, current: bool = False) -> None:
        key = SessionKey("main", path)
        header = Header(id, path, "main", "2026-10-01T08:00:00.000Z")
        transcript = Transcript.create(self.archive.path(key, id), header)
        await transcript.append(*entries)
        if current:
            self.archive.make_current(key, id)

    def tool(self, name: str, scope: Scope) -> Callable[[Json], Awaitable[str]]:
        built = tools.build(scope, CLOCK, MemorySettings(), self.index.search, past=self.past)
        run = next(tool.run for tool in built if tool.name == name)

        async def call(arguments: Json) -> str:
            return (await run(arguments, "1")).text

        return call

    def find(self, scope: Scope, query: str) -> list[str]:
        return [hit.text for hit in self.index.search(scope, CLOCK, [query]).hits if hit.matched]


def said(number: int, text: str, id: str = "m1", turn: str = "t1") -> MessageEntry:
    block = {"type": "text", "text": HEADER + RECALLED + text}
    meta = Meta(turn, said=(id,), sender="Alice")
    return MessageEntry(f"e{number:06}", f"2026-10-0{number}T08:00:00.000Z", "user", (block,), meta)


def answered(number: int, text: str, turn: str = "t1") -> MessageEntry:
    block = {"type": "text", "text": text}
    return MessageEntry(f"e{number:06}", f"2026-10-0{number}T08:00:00.000Z", "assistant", (block,), Meta(turn))


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Talks]:
    made = Talks(tmp_path)
    yield made
    made.index.close()


async def test_an_ended_talk_is_found_with_its_day_and_its_line(talks: Talks) -> None:
    await talks.talk("owner", OLD, said(1, "The windmill is red"), answered(2, "A red windmill, noted."))
    await talks.talk("owner", NEW, said(1, "Hello"), current=True)
    hits = talks.index.search(owner(talks.workspace), CLOCK, ["windmill"]).hits
    assert {(hit.path, hit.start_line, str(hit.date), hit.text) for hit in hits} == {
        (f"sessions/{OLD}.jsonl", 2, "2026-10-01", "10:00 Alice: The windmill is red"),
        (f"sessions/{OLD}.jsonl", 3, "2026-10-02", "10:00 Assistant: A red windmill, noted."),
    }


async def test_what_was_recalled_is_not_found(talks: Talks) -> None:
    await talks.talk("owner", OLD, said(1, "Hello"))
    await talks.talk("owner", NEW, current=True)
    assert talks.find(owner(talks.workspace), "zeppelin") == []


async def test_what_the_offline_assistant_found_is_not_found_again_nor_the_question(talks: Talks) -> None:
    told, quoted, nothing = (
        replace(answered(number, text), meta=Meta(model=OFFLINE))
        for number, text in ((2, "Noted:\n\n> the zebra is striped"), (4, "> the zebra is striped"), (6, "Nothing."))
    )
    asked = said(3, "Where is the zebra?", "m2"), said(5, "Who feeds the zebra?", "m3")
    await talks.talk("owner", OLD, said(1, "The zebra is striped"), told, asked[0], quoted, asked[1], nothing)
    await talks.talk("owner", NEW, *(said(at, f"Entry {at} of something else", f"n{at}") for at in range(1, 9)))
    texts = talks.find(owner(talks.workspace), "zebra")
    assert len(texts) == 2 and "The zebra is striped" in texts[0] and "Who feeds the zebra?" in texts[1]
    opened = await talks.tool("memory_get", owner(talks.workspace))({"path": f"sessions/{OLD}.jsonl"})
    assert "Nothing." in opened and "Where is the zebra?" in opened


async def test_what_the_context_holds_is_not_found_and_what_left_it_is(talks: Talks) -> None:
    compacted = CompactionEntry("e000003", "2026-10-03T08:00:00.000Z", "summary windmill", "e000002")
    entries = (said(1, "first windmill"), said(2, "second windmill", "m2", "t2"))
    await talks.talk("owner", OLD, *entries, current=True)
    assert talks.find(owner(talks.workspace), "windmill") == []
    await Transcript.read(talks.archive.path(SessionKey("main", "owner"), OLD)).append(compacted)
    assert talks.find(owner(talks.workspace), "windmill") == ["10:00 Alice: first windmill"]


async def test_a_transcript_that_cannot_be_opened_costs_only_itself(
    talks: Talks, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talks.talk("owner", OLD, said(1, "The windmill is red"))
    folder = talks.archive.path(SessionKey("main", "owner"), OLD).parent
    monkeypatch.chdir(folder)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as in_the_way:
        in_the_way.bind(f"{NEW}.jsonl")
    (folder / f"{NEW.replace('bbbb', 'cccc')}.jsonl").symlink_to(f"{NEW.replace('bbbb', 'cccc')}.jsonl")
    found = talks.index.search(owner(talks.workspace), CLOCK, ["windmill"])
    assert [hit.text for hit in found.hits] == ["10:00 Alice: The windmill is red"]
    assert any(NEW in gap for gap in found.gaps)


@pytest.mark.parametrize(("path", "scope"), [("owner/jobs", owner), ("person/jobs", lambda at: person(at, "jobs"))])
async def test_a_chat_that_is_called_jobs_is_found(talks: Talks, path: str, scope: Callable[[Path], Scope]) -> None:
    await talks.talk(path, OLD, said(1, "windmill"))
    await talks.talk(path, NEW, current=True)
    await talks.talk(f"{path}/jobs/water", "20261002-080000-000-cccc", said(1, "windmill of a job"))
    assert talks.find(scope(talks.workspace), "windmill") == ["10:00 Alice: windmill"]


async def test_jobs_are_not_found(talks: Talks) -> None:
    await talks.talk("owner/jobs/water", OLD, said(1, "windmill"))
    await talks.talk("owner", NEW, current=True)
    assert talks.find(owner(talks.workspace), "windmill") == []


async def test_a_current_talk_is_read_anew_only_when_a_part_of_it_leaves_or_is_forgotten(talks: Talks) -> None:
    scope, key = owner(talks.workspace), SessionKey("main", "owner")
    await talks.talk("owner", NEW, said(1, "The windmill is red"), said(2, "Hello", "m2"), current=True)
    transcript = Transcript.read(talks.archive.path(key, NEW))
    past = PastSessions(talks.archive)
    assert list(past.sources(scope)) == []
    seen = []
    steps: tuple[Entry, ...] = (
        CompactionEntry("c1", "2026-10-03T08:00:00.000Z", "A summary", "e000002"),
        said(4, "More", "m4"),
        said(5, "And more", "m5"),
        RedactionEntry("r1", "2026-10-06T08:00:00.000Z", "2026-10-06", {"e000001": [(0, 2)]}, "change-1"),
        CompactionEntry("c2", "2026-10-07T08:00:00.000Z", "Another", "e000005"),
    )
    for step in steps:
        await transcript.append(step)
        (source,) = past.sources(scope)
        assert next(PastSessions(talks.archive).sources(scope)).signature == source.signature
        seen.append(source.signature)
    assert seen[0] == seen[1] == seen[2] and len({*seen}) == 3


async def test_forgotten_words_of_a_talk_are_not_found(talks: Talks) -> None:
    await talks.talk("owner", OLD, said(1, "The windmill is red"), said(2, "The barn is green", "m2"))
    await talks.talk("owner", NEW, current=True)
    scope = owner(talks.workspace)
    assert talks.find(scope, "windmill")
    transcript = Transcript.read(talks.archive.path(SessionKey("main", "owner"), OLD))
    fixed = FixedPart((), ())
    await redact([transcript], lambda line: "windmill" in line, CLOCK, "change-1", fixed)
    assert talks.find(scope, "windmill") == []
    assert talks.find(scope, "barn") == ["10:00 Alice: The barn is green"]
    await bring_back([transcript], CLOCK, "change-1")
    assert talks.find(scope, "windmill")


async def test_a_talk_that_was_found_can_be_opened_where_it_may_be_found(talks: Talks) -> None:
    job = OLD.replace("aaaa", "cccc")
    await talks.talk("owner", OLD, said(1, "The windmill is red\n\nand large"), answered(2, "A red windmill, noted."))
    await talks.talk("owner/jobs/water", job, said(1, "windmill"))
    await talks.talk("owner", NEW, current=True)
    hit = talks.index.search(owner(talks.workspace), CLOCK, ["windmill"]).hits[0]
    get, search = talks.tool("memory_get", owner(talks.workspace)), talks.tool("memory_search", owner(talks.workspace))
    around = await get({"path": hit.path})
    assert hit.text in around and hit.text in await search({"query": "windmill"})
    assert around == (
        "[2026-10-01]\n2: 10:00 Alice: The windmill is red\n2: 10:00 Alice: and large\n"
        "[2026-10-02]\n3: 10:00 Assistant: A red windmill, noted."
    )
    assert (
        await get({"path": hit.path, "from": 3, "lines": 1})
        == "[2026-10-02]\n3: 10:00 Assistant: A red windmill, noted."
    )
    for scope in (person(talks.workspace), group(talks.workspace)):
        assert await talks.tool("memory_get", scope)({"path": hit.path}) == f"[Empty: there is no file {hit.path}]"
    for path in (f"sessions/{job}.jsonl", "sessions/none.jsonl"):
        assert await get({"path": path}) == f"[Empty: there is no file {path}]"


async def test_a_long_talk_is_opened_part_by_part(talks: Talks) -> None:
    await talks.talk("owner", OLD, *(said(1, f"windmill {number} {'x ' * 1_000}") for number in range(15)))
    await talks.talk("owner", NEW, current=True)
    get = talks.tool("memory_get", owner(talks.workspace))
    first = await get({"path": f"sessions/{OLD}.jsonl"})
    follow = int(first.rsplit("from=", 1)[1].removesuffix("]"))
    rest = await get({"path": f"sessions/{OLD}.jsonl", "from": follow})
    assert all(f"windmill {number} " in first + rest for number in range(15))


async def test_forgotten_words_stay_out_of_an_opened_talk(talks: Talks) -> None:
    await talks.talk("owner", OLD, said(1, "The windmill is red"), said(2, "The barn is green", "m2"))
    await talks.talk("owner", NEW, current=True)
    transcript = Transcript.read(talks.archive.path(SessionKey("main", "owner"), OLD))
    await redact([transcript], lambda line: "windmill" in line, CLOCK, "change-1", FixedPart((), ()))
    text = await talks.tool("memory_get", owner(talks.workspace))({"path": f"sessions/{OLD}.jsonl"})
    assert "windmill" not in text and "barn" in text


async def test_invariant_08_talks_are_their_persons(talks: Talks) -> None:
    for path in ("owner", "person/alice", "person/bob", "group/telegram--100"):
        await talks.talk(path, OLD, said(1, f"windmill of {path.replace('/', ' ')}"))
        await talks.talk(path, NEW, current=True)
    assert talks.find(owner(talks.workspace), "windmill") == ["10:00 Alice: windmill of owner"]
    assert talks.find(person(talks.workspace), "windmill") == ["10:00 Alice: windmill of person alice"]
    assert talks.find(group(talks.workspace), "windmill") == []
