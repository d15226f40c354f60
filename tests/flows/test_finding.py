"""Stories of finding: told long ago and in other words, by whom it may be found, and what is found no more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.flows.story import ALICE, BOB, GROUP, Story, story

MARCH, MAY = (datetime(2026, month, 14, 9, tzinfo=UTC) for month in (3, 5))


async def says(told: Story, text: str, reply: str, chat: int = ALICE) -> None:
    told.model.answer(reply)
    told.say(text, chat=chat, name="Alice" if chat == ALICE else "Bob")
    await told.hears(reply, chat)


async def test_told_in_chinese_in_march_and_asked_in_other_words_in_may(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.moment = MARCH
        told.model.answer(tool=("memory_append", {"text": "爱丽丝对花生过敏，吃了会起疹子"}))
        await says(told, "我对花生过敏，吃了会起疹子，记一下", "记下了。")
        for day in range(10, 30):
            told.write(
                f"memory/2026-04-{day}.md", f"# 2026-04-{day}\n\n- 09:00 今天去公园散步，天气很好，走了{day}分钟\n"
            )
        told.say("/new")
        await told.hears("已开始新的对话")
        told.moment = MAY
        told.model.answer(tool=("memory_search", {"query": "我有什么过敏的食物？"}))
        await says(told, "请帮我查一下，点菜要注意哪些吃的东西", "花生不行。")
        result = str(told.asked_with("点菜要注意").body["messages"][-1])
        assert "memory/2026-03-14.md (2 months)" in result and "花生过敏" in result
        told.say("/memory 过敏")
        await told.hears("爱丽丝对花生过敏")
        told.no_request_was_refused()


async def test_what_was_said_in_an_old_talk_is_found_and_opened(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        told.moment = MARCH
        await says(told, "The spare key hangs behind the barometer", "I see.")
        told.say("/new")
        await told.hears("Started a new conversation")
        told.moment = MAY
        await says(told, "Hello again", "Hello.")
        for log in (told.workspace / "memory").glob("*.md"):
            log.unlink()  # the talk itself is the only one that knows
        told.say("/memory barometer")
        shown = await told.hears("spare key hangs")
        path = next(part for part in shown.text.split() if part.startswith("sessions/")).split(":")[0]
        told.model.answer(tool=("memory_get", {"path": path}))
        await says(told, "Look it up please", "Behind it.")
        assert "10:00 Alice: The spare key" in str(told.asked_with("Look it up please").body["messages"][-1])
        session = await gateway.operations["sessions.show"]({"id": path})
        assert "The spare key hangs behind the barometer" in str(session)


async def _by_search(told: Story) -> str:
    told.model.answer(tool=("memory_search", {"query": ["zeppelin", "zeppelin Alice"]}))
    told.model.answer("Nothing.")
    told.call("what do you know of a zeppelin?")
    await told.hears("Nothing.", GROUP)
    return "".join(str(asked.body) for asked in told.asked).replace("zeppelin Alice", "")


async def _by_opening(told: Story) -> str:
    told.model.answer(tool=("memory_get", {"path": "../../memory/2026-03-14.md"}))
    told.model.answer("Nothing.")
    told.call("open it")
    await told.hears("Nothing.", GROUP)
    return "".join(str(asked.body) for asked in told.asked)


async def _by_command(told: Story) -> str:
    told.call("/memory zeppelin")
    await told.hears("Nothing found", GROUP)
    return "".join(told.heard(GROUP))


async def _by_recall(told: Story) -> str:
    told.model.answer("Nothing.")
    told.call("tell me about the zeppelin over the lake")
    await told.hears("Nothing.", GROUP)
    return "".join(str(asked.body) for asked in told.asked)


@pytest.mark.parametrize("way", [_by_search, _by_opening, _by_command, _by_recall])
async def test_invariant_08_a_group_never_finds_a_private_row(
    tmp_path: Path, way: Callable[[Story], Awaitable[str]]
) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("memory/2026-03-14.md", "# 2026-03-14\n\n- 10:00 CANARY zeppelin over the lake\n")
        told.write("MEMORY.md", "- CANARY zeppelin over the lake\n")
        told.write("people/telegram-22222/MEMORY.md", "- CANARY zeppelin of Bob\n")
        told.say("/memory zeppelin")
        await told.hears("CANARY")
        told.say("/memory zeppelin", chat=BOB, name="Bob")
        await told.hears("CANARY zeppelin of Bob", BOB)
        assert not any("over the lake" in text for text in told.heard(BOB))
        assert "CANARY" not in await way(told)


async def test_a_clock_that_went_back_hides_nothing(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.moment = MAY
        told.write("memory/2026-05-14.md", "# 2026-05-14\n\n- 10:00 the zeppelin came\n- 11:00 tulips\n")
        told.say("/memory zeppelin")
        await told.hears("the zeppelin came")
        told.moment = MARCH
        told.say("/memory tulips")
        await told.hears("11:00 tulips")


async def test_a_hand_edited_file_is_found_at_once(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("memory/notes/car.md", "The car is blue.\n")
        told.say("/memory car")
        await told.hears("The car is blue.")
        told.write("memory/notes/car.md", "The car is green.\n")
        told.say("/memory the car")
        await told.hears("The car is green.")
        assert sum("blue" in text for text in told.heard()) == 1


async def test_a_forgotten_thing_is_not_found(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("memory/2026-03-14.md", "# 2026-03-14\n\n- 10:00 the zeppelin\n- 11:00 bread\n")
        told.say("/memory zeppelin")
        await told.hears("10:00 the zeppelin")
        told.say("/forget zeppelin")
        await told.hears("I found this about")
        told.say("yes")
        await told.hears("Deleted from")
        told.say("/memory zeppelin")
        await told.hears("Nothing found")
        state = [file.read_bytes() for file in (told.home.path / "state").rglob("memory.db*")]
        assert state and not any(b"zeppelin" in data for data in state)


async def test_what_holds_no_word_of_the_question_is_not_shown_to_a_person(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        told.write("memory/2026-03-14.md", "# 2026-03-14\n\n- 10:00 about the zeppelin\n- 10:01 yes indeed\n")
        told.say("/memory zeppelin")
        shown = await told.hears("about the zeppelin")
        assert "yes indeed" not in shown.text and ", strong)" in shown.text
        found = await gateway.operations["memory.search"]({"query": "zeppelin", "for_people": True})
        assert isinstance(found, dict) and isinstance(found["hits"], list)
        assert [hit["strength"] for hit in found["hits"] if isinstance(hit, dict)] == ["strong"]
