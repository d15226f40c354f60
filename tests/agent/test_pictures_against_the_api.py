"""Pictures in a long talk, through the real SDK against the strict fake: signed thinking around them, restarts, broken
and missing files, flush and compaction. Whatever the API would refuse, the fake refuses."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.agent import Agent
from agent.clock import Clock
from agent.compaction.summary import PARTS
from agent.media.pictures import Picture
from agent.media.store import Store
from agent.memory.scope import Audience, Scope
from agent.model.anthropic.model import AnthropicModel
from agent.settings import AgentSettings, ModelSettings, SessionSettings
from agent.values import ResultKind, SessionKey, TurnRequest, TurnResult, UserMessage
from tests import files
from tests.agent.streamed import ignored
from tests.fakes.anthropic import FakeAnthropic

KEY = SessionKey("main", "owner")


@pytest.fixture
async def fake() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as fake:
        yield fake


class Talk:
    """One session, whose every turn is served by a process started anew."""

    def __init__(self, root: Path, fake: FakeAnthropic, window: int | None = None, keep: int = 100) -> None:
        self.fake = fake
        self.store = Store(root / "state")
        self.turns = 0
        self.scope = Scope(Audience.OWNER, root / "workspace")
        self.scope.workspace.mkdir()
        session = SessionSettings(keep_recent_tokens=keep)
        self.settings = AgentSettings(model=ModelSettings(context_window=window), session=session)

    def kept(self, content: bytes, name: str = "photo cat.png") -> Picture:
        with self.store.scratch() as scratch:
            scratch.write_bytes(content)
            path = self.store.keep(scratch, "png")
        return Picture(name, path, path)

    async def say(self, text: str, *pictures: Picture) -> TurnResult:
        self.turns += 1
        said = UserMessage(f"m{self.turns}", text, "Alice", "Telegram", datetime.now(UTC), pictures=pictures)
        request = TurnRequest(f"t{self.turns}", KEY, self.scope, (said,))
        model = AnthropicModel(self.fake.api_key, self.fake.base_url, window_s=120)
        try:
            end = await self.agent(model).turn(request, ignored)
        finally:
            await model.aclose()
        return end

    async def compact(self) -> None:
        model = AnthropicModel(self.fake.api_key, self.fake.base_url, window_s=120)
        try:
            await self.agent(model).compact(KEY, self.scope)
        finally:
            await model.aclose()

    def agent(self, model: AnthropicModel) -> Agent:
        sessions = self.store.root / "sessions"
        return Agent(self.settings, self.scope.workspace, sessions, model, Clock(ZoneInfo("UTC")))

    def sent(self, at: int = -1) -> str:
        return json.dumps(self.fake.bodies[at]["messages"])

    def count(self, kind: str, at: int = -1) -> int:
        return sum(b["type"] == kind for m in self.fake.bodies[at]["messages"] for b in m["content"])

    @property
    def journal(self) -> str:
        return "".join(path.read_text() for path in self.store.root.rglob("*.jsonl"))


@pytest.fixture
def talk(tmp_path: Path, fake: FakeAnthropic) -> Talk:
    return Talk(tmp_path, fake)


async def test_thinking_about_a_picture_stays_valid_until_it_is_words(talk: Talk, fake: FakeAnthropic) -> None:
    for turn in range(5):
        fake.answer(f"{turn}", thinking="I see.")
        end = await talk.say("Look" if not turn else "and?", *([talk.kept(files.picture())] if not turn else []))
        assert (end.kind, end.text) == (ResultKind.REPLY, f"{turn}")
    assert [talk.count("image", at) for at in range(5)] == [1, 1, 1, 0, 0]
    assert [talk.count("thinking", at) for at in range(5)] == [0, 1, 2, 0, 1]
    assert len(fake.bodies) == 5  # nothing was refused and made again


async def test_the_very_same_bytes_go_from_turn_to_turn(talk: Talk, fake: FakeAnthropic) -> None:
    for text in ("Look", "and?"):
        fake.answer("ok")
        await talk.say(text, *([talk.kept(files.picture())] if text == "Look" else []))
    first, second = (body["messages"][0]["content"][1]["source"] for body in fake.bodies)
    assert first == second


@pytest.mark.parametrize("content", [files.picture()[:60], b"GIF", files.picture(9_000, 10), b"x" * 6_000_000])
async def test_a_broken_picture_costs_one_call_and_not_the_chat(
    talk: Talk, fake: FakeAnthropic, content: bytes
) -> None:
    good, bad = talk.kept(files.picture()), talk.kept(content, "photo bad.png")
    for number in range(2):
        fake.answer(f"{number}")
    assert (await talk.say("Look", good, bad)).text == "0"
    assert (await talk.say("and now?")).text == "1"
    assert [talk.count("image", at) for at in range(3)] == [2, 1, 1]
    assert "photo bad.png came with this but could not be shown" in talk.sent()
    assert talk.journal.count('"type":"hide"') == 1


async def test_a_server_that_takes_no_pictures_at_all_still_answers(talk: Talk, fake: FakeAnthropic) -> None:
    fake.fail(400, "invalid_request_error", message="this model does not support image input")
    fake.answer("I can't see it.")
    assert (await talk.say("Look", talk.kept(files.picture()))).text == "I can't see it."
    assert talk.count("image") == 0


async def test_another_refusal_is_still_told(talk: Talk, fake: FakeAnthropic) -> None:
    fake.fail(400, "invalid_request_error", message="something else", times=2)
    assert (await talk.say("Look", talk.kept(files.picture()))).kind is ResultKind.ERROR
    fake.answer("Well again.")
    assert (await talk.say("and now?")).text == "Well again."


async def test_a_picture_that_is_gone_or_was_never_there_is_words(talk: Talk, fake: FakeAnthropic) -> None:
    fake.answer("1")
    picture = talk.kept(files.picture())
    await talk.say("Look", picture)
    talk.store.place(picture.path).unlink()
    fake.answer("2")
    assert (await talk.say("and?", Picture("photo x", "media/../../etc/passwd.png", ""))).text == "2"
    assert talk.count("image") == 0


async def test_summary_and_what_follows_have_words_for_pictures(talk: Talk, fake: FakeAnthropic) -> None:
    for turn in range(3):
        fake.answer(f"{turn} " + "words " * 200, thinking="I see.")
        await talk.say("Look", talk.kept(files.picture(colour=("red", "green", "blue")[turn])))
    fake.answer("NO_REPLY")  # the flush
    fake.answer("\n".join(f"{part}\nnone" for part in PARTS))
    before = len(fake.bodies)
    await talk.compact()
    assert [talk.count("image", at) for at in range(before, len(fake.bodies))] == [0] * (len(fake.bodies) - before)
    assert "[photo cat.png stands here; kept at media/" in talk.sent()
    fake.answer("after")
    assert (await talk.say("and?")).text == "after"
    assert "[Summary of the earlier part" in talk.sent() and 1 <= talk.count("image") < 3


async def test_a_compaction_may_keep_an_old_picture_as_its_first_message(tmp_path: Path, fake: FakeAnthropic) -> None:
    talk = Talk(tmp_path, fake, keep=400)
    for turn in range(6):
        fake.answer("words " * (400 if turn < 2 else 1))
        await talk.say("Look", *([talk.kept(files.picture())] if turn == 1 else []))
    fake.answer("NO_REPLY")
    fake.answer("\n".join(f"{part}\nnone" for part in PARTS))
    await talk.compact()
    fake.answer("after")
    await talk.say("and?")
    assert len(fake.bodies[-1]["messages"]) == 1 + 2 * 5
    assert "[photo cat.png was shown here; kept at media/" in talk.sent()


async def test_a_small_window_takes_as_many_pictures_as_fit(tmp_path: Path, fake: FakeAnthropic) -> None:
    talk = Talk(tmp_path, fake, window=16_000)
    fake.answer("Some of them.")
    many = [talk.kept(files.picture(10 + at, 10), f"photo {at}.png") for at in range(12)]
    assert (await talk.say("Look", *many)).text == "Some of them."
    assert talk.count("image") == 2
    assert "photo 11.png is not shown, for want of room" in talk.sent()


async def test_an_album_of_twenty_goes_out_whole(talk: Talk, fake: FakeAnthropic) -> None:
    for number in range(2):
        fake.answer(f"{number}")
    assert (await talk.say("Look", *[talk.kept(files.picture(10 + at, 10)) for at in range(20)])).text == "0"
    assert (await talk.say("And", *[talk.kept(files.picture(40 + at, 10)) for at in range(5)])).text == "1"
    assert [talk.count("image", at) for at in range(2)] == [20, 20]
