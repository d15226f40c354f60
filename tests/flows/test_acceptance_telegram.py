"""What people do in Telegram and what is made of it, held against SPEC 9 and issue 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import strength
from tests.flows.story import ALICE, BOB, GROUP, Story, story

MANY = 500 if strength.is_full else 150


def words_asked(told: Story) -> list[str]:
    """The last line of each newest message that the model was sent."""
    return [request.last_user_text.splitlines()[-1] for request in told.asked]


async def test_an_edit_of_a_waiting_message_is_what_is_answered_and_a_later_one_is_offered(tmp_path: Path) -> None:
    async with story(tmp_path, session={"queue": "collect"}) as told, told.running():
        hold = told.model.hold(after=1)
        told.model.answer("First answer.")
        told.say("first")
        await told.model.held(hold)
        waiting = told.say("second, wrogn")
        told.telegram.edit(waiting, "second, wrong no more")
        await told.telegram.wait_for(lambda: not told.telegram.pending)
        told.model.answer("Second answer.")
        hold.release()
        await told.hears("Second answer.")

        assert words_asked(told) == ["first", "second, wrong no more"]
        told.telegram.edit(waiting, "edited after the answer")
        await told.hears("Answer the new version?")
        await told.idle()
        assert len(told.asked) == 2 and len(told.heard()) == 3


async def test_a_paste_cut_into_three_is_one_message(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        text = " ".join(f"word{number:04}" for number in range(1_200))
        assert len(told.telegram.paste(text)) == 3
        told.model.answer("Long!")
        await told.hears("Long!")
        await told.idle()

        assert len(told.asked) == 1 and len(told.heard()) == 1
        assert "word0000" in told.last_asked and "word1199" in told.last_asked


async def test_what_cannot_be_read_is_named_to_the_model_and_its_caption_is_used(tmp_path: Path) -> None:
    photo = [{"file_id": "p1", "file_unique_id": "u1", "width": 10, "height": 10}]
    document = {"file_id": "d1", "file_unique_id": "u2", "file_name": "plan.pdf", "file_size": 10}
    voice = {"file_id": "v1", "file_unique_id": "u3", "duration": 3}
    things: list[dict[str, object]] = [{"photo": photo}, {"document": document}, {"voice": voice}]
    async with story(tmp_path) as told, told.running():
        for number, thing in enumerate([*things, {"photo": photo, "caption": "What is this?"}]):
            told.model.answer(f"I don't see thing {number}.")
            told.say(None, **thing)
            await told.hears(f"thing {number}")

        named = [request.last_user_text for request in told.asked]
        assert all(name in text for name, text in zip(["photo", "plan.pdf", "voice", "photo"], named, strict=True))
        assert words_asked(told) == ["(no text)"] * 3 + ["What is this?"]


@pytest.mark.parametrize("text", ["   ", "\n\t ", "\u200f\u200e", "\u2800"])
async def test_a_message_of_nothing_is_answered(tmp_path: Path, text: str) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Hm?")
        told.say(text)
        await told.idle()
        assert len(told.heard()) == 1
        told.no_request_was_refused()


async def test_a_group_is_answered_when_called_and_only_then(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        name = told.telegram.username
        told.model.reply = lambda body: "I was called."

        def mention(kind: str, text: str, length: int, **more: Any) -> list[dict[str, Any]]:
            return [{"type": kind, "offset": text.index("@") if "@" in text else 0, "length": length, **more}]

        silent: list[dict[str, Any]] = [
            {"text": "just talking"},
            {"text": f"@{name}2 hello"},
            {"text": f"write to {name}"},
            {"text": "/help@another_bot"},
            {"text": f"mail me: bob@{name}.example", "entities": []},
            {"text": f"@{name} hello from a bot", "from_bot": True, "user": 777},
        ]
        for one in silent:
            told.telegram.say(chat=GROUP, name="Bob", **{"user": BOB} | one)
        await told.idle()
        assert told.heard(GROUP) == [] and told.asked == []

        bot = {"id": told.telegram.bot_id, "is_bot": True, "first_name": "Daybook", "username": name}
        told.say(f"hello @{name.upper()}", chat=GROUP, user=BOB, name="Bob")
        await told.idle()
        told.say("Daybook, hello", chat=GROUP, user=BOB, entities=mention("text_mention", "Daybook", 7, user=bot))
        await told.idle()
        told.say("and you?", chat=GROUP, user=BOB, reply_to=told.telegram.messages(GROUP)[0].id)
        await told.idle()
        told.say(f"/whoami@{name}", chat=GROUP, user=BOB, name="Bob")
        await told.idle()

        assert len(told.heard(GROUP)) == 4 and len(told.asked) == 3
        assert f"telegram:{BOB}" in told.heard(GROUP)[-1]


async def test_unlisted_groups_channels_and_anonymous_senders_reach_nothing_they_should_not(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        name = told.telegram.username
        told.say(f"@{name} let me in", chat=-100777, user=BOB, name="Bob")
        told.telegram.push(
            {
                "channel_post": {
                    "message_id": 5,
                    "date": 1,
                    "chat": {"id": -100888, "type": "channel", "title": "News"},
                    "text": f"@{name} news",
                }
            }
        )
        told.telegram.push(
            {
                "message_reaction": {
                    "chat": {"id": 1, "type": "private"},
                    "message_id": 1,
                    "date": 1,
                    "old_reaction": [],
                    "new_reaction": [],
                }
            }
        )
        await told.idle()
        assert told.asked == [] and not told.telegram.called("sendMessage")

        group = {"id": GROUP, "type": "supergroup", "title": "Club"}
        anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
        told.telegram.add_chat(GROUP)
        told.telegram.push(
            {
                "message": {
                    "message_id": 900,
                    "date": 1_700_000_000,
                    "chat": group,
                    "from": anonymous,
                    "sender_chat": group,
                    "text": f"/remember@{name} CANARY-ANONYMOUS",
                    "entities": [{"type": "bot_command", "offset": 0, "length": len(f"/remember@{name}")}],
                }
            }
        )
        await told.idle()
        assert "owner" not in "".join(told.heard(GROUP)).lower()
        assert not any("CANARY-ANONYMOUS" in file.read_text() for file in told.workspace.glob("memory/*.md"))


async def test_odd_updates_stop_nothing(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        for odd in (
            {"message": {"message_id": 1}},
            {"message": None},
            {"message": "text"},
            {"message": {"message_id": 1, "date": 1, "chat": {"id": ALICE, "type": "private"}}},
            {"message": {"message_id": "x", "date": "y", "chat": [], "from": 7, "text": ["z"]}},
            {"brand_new_kind": {"x": 1}},
            {},
        ):
            told.telegram.push(odd)
        told.model.answer("Alive.")
        told.say("still there?")
        await told.hears("Alive.")
        status: Any = await gateway.operations["status"]({})
        assert status["channels"]["telegram"]["state"] == "ok"
        assert status["inbox"]["unreadable"] >= 1


async def test_a_message_of_a_megabyte_and_hostile_characters_are_answered(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        person = {"id": ALICE, "is_bot": False, "first_name": "Ali\u202ece"}
        chat = {"id": ALICE, "type": "private", "first_name": "Alice"}
        told.telegram.add_chat(ALICE)
        texts = ("x" * 1_000_000, "nul \x00 here", "lone \ud800 half", "\u202eright to left\u202c", "👩‍👩‍👧‍👦 family")
        for number, text in enumerate(texts):
            told.model.answer(f"Answer {number}.")
            told.telegram.push(
                {
                    "message": {
                        "message_id": 500 + number,
                        "date": 1_763_700_000,
                        "chat": chat,
                        "from": person,
                        "text": text,
                    }
                }
            )
            await told.hears(f"Answer {number}.")
        told.no_request_was_refused()
        assert "family" in told.last_asked and "right to left" in told.last_asked


async def test_a_flood_is_answered_without_loss(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.reply = lambda body: "ok"
        for number in range(MANY):
            told.say(f"flood {number:03}.")
        await told.idle()

        last = told.last_asked
        missing = [number for number in range(MANY) if f"flood {number:03}." not in last]
        assert missing == []
        assert told.heard() == ["ok"] * len(told.asked) and len(told.asked) < 100
        told.no_request_was_refused()


async def test_the_menu_of_commands_is_registered_for_each_kind_of_chat(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.say("/help")
        await told.hears("/remember")
        await told.telegram.wait_for(lambda: any("group" in scope for scope in told.telegram.commands))
        menus = {scope: {one["command"] for one in menu} for scope, menu in told.telegram.commands.items()}

    everything = set().union(*menus.values())
    wanted = {"help", "new", "status", "context", "stop", "model", "remember", "usage", "sessions", "switch"}
    assert wanted | {"export", "whoami", "pair", "why"} <= everything
    groups = next(menu for scope, menu in menus.items() if "group" in scope)
    assert not groups & {"pair", "usage"}
