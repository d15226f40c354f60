"""The offline assistant through the real memory tools, as a talk."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.clock import Clock
from agent.context.header import rendered
from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.registry import LANGUAGES
from agent.memory.scope import Audience, Scope
from agent.model.base import Block, Completed, Message, ModelRequest, TextDelta, ToolCallStarted
from agent.model.offline.intent import IntentKind, understand
from agent.model.offline.model import OfflineModel
from agent.settings import MemorySettings
from agent.silence import NO_REPLY
from agent.tools import build
from agent.tools.base import Tool, ToolError
from agent.values import UserMessage
from tests.agent.places import search

CLOCK = Clock(ZoneInfo("Europe/Berlin"), lambda: datetime(2026, 11, 21, 7, 30, tzinfo=UTC))
ENV = "/srv/daybook/.env"
LOG = "memory/2026-11-21.md"


class Talk:
    """A conversation with the offline assistant: `say` runs a turn as the loop does and returns what is heard."""

    def __init__(self, workspace: Path, tools: tuple[Tool, ...] | None = None) -> None:
        self.workspace = workspace
        scope = Scope(Audience.OWNER, workspace)
        self.tools = build(scope, CLOCK, MemorySettings(), search) if tools is None else tools
        self.model = OfflineModel(CLOCK, ENV)
        self.messages: list[Message] = []
        self.called: list[str] = []

    async def say(self, text: str, *more: str, **context: tuple[str, ...]) -> str:
        blocks = [_block(rendered(_said(one, **context), CLOCK, 10_000)) for one in (text, *more)]
        self.messages.append(Message("user", tuple(blocks)))
        return await self.turn()

    async def turn(self) -> str:
        heard = ""
        for _ in range(5):
            text, done = await self.step()
            heard += text
            if done.stop_reason != "tool_use":
                return heard
            self.messages.append(Message("user", tuple([await self._run(call) for call in _calls(done)])))
        raise AssertionError("the offline assistant does not come to an end")

    async def step(self, purpose: str = "chat") -> tuple[str, Completed]:
        specs = tuple(tool.spec for tool in self.tools)
        request = ModelRequest(
            "offline", ("rules",), tuple(self.messages), specs, 1000, purpose=purpose, session="owner"
        )
        events = [event async for event in self.model.stream(request)]
        done = events[-1]
        assert isinstance(done, Completed)
        text = "".join(event.text for event in events if isinstance(event, TextDelta))
        started = [event.name for event in events if isinstance(event, ToolCallStarted)]
        assert started == [call["name"] for call in _calls(done)]
        assert text == "".join(str(block["text"]) for block in done.content if block["type"] == "text")
        self.messages.append(Message("assistant", done.content))
        return text, done

    async def _run(self, call: Block) -> Block:
        tool = next(tool for tool in self.tools if tool.name == call["name"])
        self.called.append(tool.name)
        arguments = call["input"]
        assert isinstance(arguments, dict)
        result: dict[str, object] = {"type": "tool_result", "tool_use_id": call["id"]}
        try:
            return result | {"content": [_block((await tool.run(arguments, str(call["id"]))).text or " ")]}  # type: ignore[return-value]
        except ToolError as error:
            return result | {"content": str(error), "is_error": True}  # type: ignore[return-value]


def _calls(done: Completed) -> list[Block]:
    return [block for block in done.content if block["type"] == "tool_use"]


def _block(text: str) -> Block:
    return {"type": "text", "text": text}


def _said(text: str, **context: tuple[str, ...]) -> UserMessage:
    return UserMessage("1", text, "Alice", "Telegram", CLOCK.now(), **context)  # type: ignore[arg-type]


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


async def test_what_is_told_is_filed_and_found_again(talk: Talk) -> None:
    heard = await talk.say("My dentist is Dr. Brown in Baker Street")
    assert heard.startswith("Noted:") and LOG not in heard
    assert "> My dentist is Dr. Brown in Baker Street" in heard
    assert "My dentist is Dr. Brown" in (talk.workspace / LOG).read_text()
    found = await talk.say("Who is my dentist?")
    assert "**Today**" in found and LOG not in found
    assert "Dr. Brown in Baker Street" in found
    assert talk.called == ["memory_append", "memory_search"]


@pytest.mark.parametrize(
    ("told", "corrected", "asked"),
    [
        ("The bike is blue", "No, the bike is red", "What colour is the bike?"),
        ("The meeting is on Friday at 4 in the large room", "Actually the meeting is at 5", "When is the meeting?"),
        ("Our meeting is at 4", "correction: the meeting is at 5", "When is the meeting?"),
        ("The rent is 800 euros", "The rent is 850 euros", "How much is the rent?"),
        ("Das Fahrrad ist blau", "Nein, das Fahrrad ist rot", "Welche Farbe hat das Fahrrad?"),
        ("La bici es azul", "No, la bici es roja", "¿De qué color es la bici?"),
        ("Le vélo est bleu", "Non, le vélo est rouge", "De quelle couleur est le vélo ?"),
        ("La bici è blu", "No, la bici è rossa", "Di che colore è la bici?"),
        ("自行车是蓝色的", "不对，自行车是红色的", "自行车是什么颜色的？"),
        ("自転車は青です", "いや、自転車は赤です", "自転車は何色ですか？"),
    ],
)
async def test_what_corrects_a_note_is_found_before_it(talk: Talk, told: str, corrected: str, asked: str) -> None:
    await talk.say(told)
    await talk.say("The garage code is blue-42")
    assert f"> {corrected}" in await talk.say(corrected)
    found = await talk.say(asked)
    places = [line for line in found.splitlines() if line.startswith("**")]
    assert found.index(corrected) < found.index(told)
    assert re.search(r"[(（].+[)）]", places[1]) and not re.search(r"[(（]", places[0])


async def test_what_only_names_the_same_thing_is_no_correction(talk: Talk) -> None:
    await talk.say("My bike is in the cellar, the key hangs by the door")
    await talk.say("Lent Tom the pump for his bike until he has one of his own")
    found = await talk.say("Where is my bike?")
    assert "(earlier)" not in found and found.index("cellar") < found.index("pump")


async def test_it_finds_what_was_written_by_hand(talk: Talk) -> None:
    (talk.workspace / "MEMORY.md").write_text("# Memory\n\nThe garage code is blue-42.\n")
    assert "blue-42" in await talk.say("what is the code of the garage?")


async def test_what_is_not_there_is_not_made_up(talk: Talk) -> None:
    heard = await talk.say("Where is the passport?")
    assert "nothing" in heard
    assert "passport" in heard


async def test_today_is_shown(talk: Talk) -> None:
    assert (await talk.say("What did I note today?")).startswith("Today's log is still empty.")
    await talk.say("Remember to buy milk")
    heard = await talk.say("Show me today's log")
    assert heard.startswith("Today:")
    assert "buy milk" in heard


async def test_it_says_once_what_it_is_and_how_to_connect_a_model(talk: Talk) -> None:
    first = await talk.say("I like tea")
    assert "offline" in first
    assert "ANTHROPIC_API_KEY" in first
    assert "`daybook init`" in first
    assert "offline" not in await talk.say("I like coffee")
    assert "ANTHROPIC_API_KEY" in await talk.say("Who are you?")


async def test_the_header_and_the_text_of_others_are_not_filed(talk: Talk) -> None:
    await talk.say("This is for the trip", quoted=("Remember my password hunter2",))
    log = (talk.workspace / LOG).read_text()
    assert "This is for the trip" in log
    assert "hunter2" not in log
    assert "Telegram" not in log


async def test_several_things_said_at_once_are_each_done(talk: Talk) -> None:
    await talk.say("The car is parked on level 3")
    heard = await talk.say("The ticket is in the glove box", "Where is the car parked?")
    assert "glove box" in (talk.workspace / LOG).read_text()
    assert "level 3" in heard


async def test_what_is_said_while_a_tool_runs_is_not_lost(talk: Talk) -> None:
    talk.messages.append(Message("user", (_block(rendered(_said("I like tea"), CLOCK, 1000)),)))
    _, done = await talk.step()
    results = [await talk._run(call) for call in _calls(done)]
    talk.messages.append(Message("user", (*results, _block(rendered(_said("And I like cake"), CLOCK, 1000)))))
    heard = await talk.turn()
    log = (talk.workspace / LOG).read_text()
    assert "I like tea" in log
    assert "And I like cake" in log
    assert "tea" in heard
    assert "cake" in heard


async def test_a_failing_tool_is_told(talk: Talk) -> None:
    (talk.workspace / "memory").write_text("a file where the folder should be")
    heard = await talk.say("I like tea")
    assert "didn't work" in heard


async def test_only_tools_that_are_offered_are_used(tmp_path: Path) -> None:
    talk = Talk(tmp_path, tools=())
    assert "can't do that" in await talk.say("Remember that I like tea")
    assert talk.called == []


async def test_a_flush_has_nothing_to_add(talk: Talk) -> None:
    await talk.say("I like tea")
    talk.messages.append(Message("user", (_block("Store what lasts now. Answer NO_REPLY when done."),)))
    text, done = await talk.step(purpose="flush")
    assert (text, done.stop_reason) == (NO_REPLY, "end_turn")


async def test_a_summary_keeps_what_was_said(talk: Talk) -> None:
    await talk.say("I like tea")
    talk.messages.append(Message("user", (_block("Summarise the talk so far."),)))
    text, _ = await talk.step(purpose="compaction")
    assert text == "- I like tea"


async def test_a_summary_says_the_days_that_are_meant(talk: Talk) -> None:
    """What is kept of the talk has no header that says when it was said."""
    await talk.say("The dentist is tomorrow at ten")
    talk.messages.append(Message("user", (_block("Summarise the talk so far."),)))
    text, _ = await talk.step(purpose="compaction")
    assert text == "- The dentist is tomorrow at ten (2026-11-22)"
    assert "- 08:30 The dentist is tomorrow at ten (2026-11-22)\n" in (talk.workspace / LOG).read_text()


async def test_asked_once_more_by_the_program_it_files_the_last_words(talk: Talk) -> None:
    talk.messages += [
        Message("user", (_block(rendered(_said("Remember that I like tea"), CLOCK, 1000)),)),
        Message("assistant", (_block("Done."),)),
        Message("user", (_block("<daybook-notice>\nNothing was written.\n</daybook-notice>"),)),
    ]
    await talk.turn()
    assert "I like tea" in (talk.workspace / LOG).read_text()


async def test_it_is_deterministic_and_counts(tmp_path: Path) -> None:
    one, two = Talk(tmp_path / "a"), Talk(tmp_path / "b")
    for talk in (one, two):
        talk.workspace.mkdir()
        await talk.say("I like tea")
        await talk.say("And cake")
    assert one.messages == two.messages
    ids = [block["id"] for message in one.messages for block in message.content if block["type"] == "tool_use"]
    assert len(set(ids)) == len(ids) == 2
    _, done = await one.step()
    assert done.usage.input > 0


@pytest.mark.parametrize(
    ("text", "wish", "language"),
    [
        ("Good morning, Daybook!", IntentKind.GREET, "en"),
        ("What can you do?", IntentKind.HELP, "en"),
        ("Thanks!", IntentKind.THANK, "en"),
        ("Please remember: the key is under the mat", IntentKind.FILE, "en"),
        ("Was at the dentist", IntentKind.FILE, "en"),
        ("What happened today?", IntentKind.TODAY, "en"),
        ("What did Anna say about tea today?", IntentKind.FIND, "en"),
        ("find the garage code", IntentKind.FIND, "en"),
        ("Do you remember my dog?", IntentKind.FIND, "en"),
        ("Guten Morgen", IntentKind.GREET, "de"),
        ("Merk dir, dass ich Tee mag", IntentKind.FILE, "de"),
        ("Heute war ich beim Zahnarzt", IntentKind.FILE, "de"),
        ("Was habe ich heute notiert?", IntentKind.TODAY, "de"),
        ("Wann ist mein Zahnarzttermin?", IntentKind.FIND, "de"),
        ("¡Buenos días!", IntentKind.GREET, "es"),
        ("Recuerda que me gusta el té", IntentKind.FILE, "es"),
        ("¿Qué anoté hoy?", IntentKind.TODAY, "es"),
        ("¿Cómo se llama mi perro?", IntentKind.FIND, "es"),
        ("Bonjour !", IntentKind.GREET, "fr"),
        ("Souviens-toi que j'aime le thé", IntentKind.FILE, "fr"),
        ("Qu'ai-je noté aujourd'hui ?", IntentKind.TODAY, "fr"),
        ("Comment s'appelle mon chien ?", IntentKind.FIND, "fr"),
        ("Buongiorno!", IntentKind.GREET, "it"),
        ("Ricorda che mi piace il tè", IntentKind.FILE, "it"),
        ("Che cosa ho annotato oggi?", IntentKind.TODAY, "it"),
        ("Come si chiama il mio cane?", IntentKind.FIND, "it"),
        ("你好！", IntentKind.GREET, "zh"),
        ("记住我喜欢喝茶", IntentKind.FILE, "zh"),
        ("今天记了什么？", IntentKind.TODAY, "zh"),
        ("我的狗叫什么名字？", IntentKind.FIND, "zh"),
        ("こんにちは", IntentKind.GREET, "ja"),
        ("覚えて：お茶が好きです", IntentKind.FILE, "ja"),
        ("今日は何をメモした？", IntentKind.TODAY, "ja"),
        ("私の犬の名前は何ですか？", IntentKind.FIND, "ja"),
    ],
)
def test_it_understands_every_language(text: str, wish: IntentKind, language: str) -> None:
    intent = understand(text)
    assert (intent.wish, intent.language) == (wish, language)


@pytest.mark.parametrize(
    ("told", "asked", "known"),
    [
        ("Mein Zahnarzt heißt Dr. Braun", "Wie heißt mein Zahnarzt?", "Dr. Braun"),
        ("Mi perro se llama Rex", "¿Cómo se llama mi perro?", "Rex"),
        ("Mon chien s'appelle Rex", "Comment s'appelle mon chien ?", "Rex"),
        ("Il mio cane si chiama Rex", "Come si chiama il mio cane?", "Rex"),
        ("我的狗叫旺财", "我的狗叫什么名字？", "旺财"),
        ("犬の名前はポチです", "私の犬の名前は何ですか？", "ポチ"),
    ],
)
async def test_it_files_and_finds_in_other_languages(talk: Talk, told: str, asked: str, known: str) -> None:
    await talk.say(told)
    heard = await talk.say(asked)
    assert known in heard
    assert LANGUAGES[understand(asked).language].offline.found in heard


@pytest.mark.parametrize("asked", ["Help", "Hilfe", "Ayuda", "Aide", "帮助", "ヘルプ"])
async def test_it_names_the_file_for_a_key_in_every_language(talk: Talk, asked: str) -> None:
    heard = await talk.say(asked)
    assert f"`{ENV}`" in heard and "{" not in heard and "~" not in heard


def test_every_language_says_how_to_connect_a_model() -> None:
    for language in ALL_LANGUAGES:
        phrases = LANGUAGES[language].offline
        assert "`ANTHROPIC_API_KEY=…`" in phrases.offline and "`{env}`" in phrases.offline
        assert "`daybook web`" in phrases.offline and "`daybook init`" in phrases.offline
        assert "tea" in phrases.nothing.format(query="tea")
        assert "why" in phrases.failed.format(why="why")


@given(st.text())
def test_no_words_are_lost_by_being_misread(text: str) -> None:
    """Whatever is not recognised is filed; a question always has something to look for."""
    intent = understand(text)
    if intent.wish is IntentKind.FIND:
        assert intent.query.strip()
    if intent.wish is IntentKind.NOTHING:
        assert not any(character.isalnum() for character in text)


async def test_what_it_cannot_look_into_is_said_and_the_words_are_answered(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    await talk.say("Anna comes on Friday")
    enclosed = ("voice: it was not transcribed",)
    assert (await talk.say("", enclosed=enclosed)).endswith("I can't look at it without a language model.")
    heard = await talk.say("The bill is due on Monday", enclosed=enclosed)
    assert "can't look at it" in heard and "> The bill is due on Monday" in heard
    assert talk.called == ["memory_append", "memory_append"]
    picture: Block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    talk.messages.append(Message("user", (_block(rendered(_said(""), CLOCK, 10_000)), picture)))
    assert "can't look at it" in await talk.turn()
    assert "bill" not in (await talk.say("", quoted=("Bob: hi",)))


@pytest.mark.parametrize(
    ("said", "chats", "language"),
    [
        ("Pizza 4711", "de", "de"),
        ("/", "ja", "ja"),
        ("Pizza 4711", "en", "en"),
        ("Der Zahnarzt ist um neun", "fr", "de"),
        ("会議室", "ja", "ja"),
        ("会议室", "de", "zh"),
    ],
)
def test_words_that_tell_no_language_are_answered_in_that_of_the_chat(said: str, chats: str, language: str) -> None:
    assert understand(said, Language(chats)).language == language


def test_the_first_message_waits_for_no_words_of_languages() -> None:
    script = """
import asyncio
from agent.languages import order_words
from agent.languages.codes import ALL_LANGUAGES
from agent.model.offline.model import OfflineModel

assert not order_words._WORDS
asyncio.run(OfflineModel(None, "").warm_up())
assert order_words._WORDS.keys() == set(ALL_LANGUAGES)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
