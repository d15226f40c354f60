"""send_message: to whom a conversation may write, what it may enclose, and that a call is sent once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.model.base import ModelRequest
from agent.model.scripted import Call, Hold, ScriptedAnswer
from channels.message import NotSent, OutboundFile, Refused
from channels.scripted import ScriptedChannel
from tests.gateway.conftest import ALICE, GROUP, OWNER, STRANGER, Daybook

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
OTHER_GROUP = "-100777"
ALICE_ON_DISCORD = "5"


@pytest.fixture
def discord(daybook: Daybook) -> ScriptedChannel:
    discord = ScriptedChannel("discord")
    daybook.others = (discord,)
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {}, OTHER_GROUP: {}}, "allow": ["33333"]}}
    daybook.settings["people"] = {
        "ann": [f"telegram:{OWNER}", "discord:2"],
        "alice": [f"telegram:{ALICE}", f"discord:{ALICE_ON_DISCORD}"],
    }
    return discord


class Talk:
    """One chat in which the model is made to call send_message; `result` is what it read of it."""

    def __init__(self, daybook: Daybook, chat: str, sender: str, group: bool = False) -> None:
        self._daybook = daybook
        self._where = {"chat": chat, "sender": sender, "group": group}
        self._chat = chat

    async def sends(self, **arguments: object) -> str:
        self._daybook.model.then(Call("send_message", dict(arguments)), "Done.")  # type: ignore[arg-type]
        before = len([text for text in self._daybook.chat.heard(self._chat) if text == "Done."])
        self._daybook.chat.say("@bot send it", **self._where)  # type: ignore[arg-type]
        chat = self._daybook.chat
        await chat.wait_until(lambda: len([one for one in chat.heard(self._chat) if one == "Done."]) > before)
        return result_of(self._daybook.model.requests[-1])


def result_of(request: ModelRequest) -> str:
    (block,) = (one for one in request.messages[-1].content if one["type"] == "tool_result")
    return str(block["content"])


def files(channel: ScriptedChannel, chat: str) -> list[OutboundFile]:
    return [one.file for one in channel.standing(chat).values() if one.file]


@pytest.fixture
def owner(daybook: Daybook) -> Talk:
    return Talk(daybook, OWNER, OWNER)


@pytest.fixture
def alice(daybook: Daybook) -> Talk:
    return Talk(daybook, ALICE, ALICE)


@pytest.fixture
def group(daybook: Daybook) -> Talk:
    return Talk(daybook, GROUP, OWNER, group=True)


async def test_a_message_to_this_chat_comes_before_the_answer(daybook: Daybook, owner: Talk) -> None:
    async with daybook.running():
        assert await owner.sends(text="Working on it") == "Sent to this chat: the message."
    assert daybook.chat.heard(OWNER) == ["Working on it", "Done."]


async def test_the_owner_may_write_to_groups_people_and_own_chats(
    daybook: Daybook, discord: ScriptedChannel, owner: Talk
) -> None:
    async with daybook.running():
        discord.say("/whoami", chat="70", sender="2")
        discord.say("/whoami", chat="71", sender=ALICE_ON_DISCORD)
        await discord.wait_heard(chat="70")
        await discord.wait_heard(chat="71")
        for to in (f"telegram:{GROUP}", f"telegram:{ALICE}", "telegram:33333", "discord:70", "discord:71", "alice"):
            assert (await owner.sends(text="Dinner is ready", to=to)).startswith("Sent to"), to
        await discord.wait_heard(3, chat="71")
    assert daybook.chat.heard(GROUP) == daybook.chat.heard(ALICE) == ["Dinner is ready"]
    assert discord.heard("70")[1:] == ["Dinner is ready"]
    assert discord.heard("71")[1:] == ["Dinner is ready"] * 2, "by name: where she was heard last"


@pytest.mark.parametrize(
    "to", [f"telegram:{STRANGER}", "telegram:-100999", "discord:12", "bob", "telegram", "x:1", ":"]
)
async def test_not_even_the_owner_may_write_to_strangers(
    daybook: Daybook, discord: ScriptedChannel, owner: Talk, to: str
) -> None:
    async with daybook.running():
        result = await owner.sends(text="Hello", to=to)
    assert "Sent" not in result
    assert [act for act in daybook.chat.history if getattr(act, "message", None) and "Hello" in act.message.text] == []  # type: ignore[union-attr]


async def test_through_an_open_door_too_nobody_is_written_to_who_has_not_written(daybook: Daybook, owner: Talk) -> None:
    daybook.settings["channels"] = {"telegram": {"dm_policy": "open"}}
    async with daybook.running():
        assert "Sent" not in await owner.sends(text="Hello", to=f"telegram:{STRANGER}")
        daybook.chat.say("/whoami", chat=STRANGER, sender=STRANGER)
        await daybook.chat.wait_heard(chat=STRANGER)
        assert "Sent" in await owner.sends(text="Hello", to=f"telegram:{STRANGER}")


async def test_who_was_shut_out_is_written_to_no_more(daybook: Daybook, owner: Talk) -> None:
    async with daybook.running() as gateway:
        daybook.chat.say("Hello?", chat=STRANGER, sender=STRANGER)
        await daybook.chat.wait_heard(chat=STRANGER)
        assert "Sent" not in await owner.sends(text="Hello", to=f"telegram:{STRANGER}")
        await gateway.approve((await gateway.codes())[0])
        assert "Sent" in await owner.sends(text="Hello", to=f"telegram:{STRANGER}")
        await gateway.ask("pair.revoke", id=STRANGER)
        assert "Sent" not in await owner.sends(text="Hello", to=f"telegram:{STRANGER}")


async def test_the_owner_is_told_which_chats_there_are(daybook: Daybook, discord: ScriptedChannel, owner: Talk) -> None:
    async with daybook.running():
        daybook.chat.say("/whoami", chat=ALICE, sender=ALICE, name="Alice [root]")
        await daybook.chat.wait_heard(chat=ALICE)
        result = await owner.sends(text="Hello", to="the family")
    assert f"telegram:{ALICE} (Alice root)" in result
    assert f"telegram:{GROUP} (group)" in result
    assert STRANGER not in result


@pytest.mark.parametrize("to", [f"telegram:{OWNER}", f"telegram:{GROUP}", "telegram:33333", "ann", "terminal:main"])
async def test_another_person_may_write_to_own_chats_only(
    daybook: Daybook, discord: ScriptedChannel, alice: Talk, to: str
) -> None:
    async with daybook.running():
        daybook.chat.say("/whoami", chat=OWNER, sender=OWNER)
        await daybook.chat.wait_heard(chat=OWNER)
        result = await alice.sends(text="Hello", to=to)
        discord.say("/whoami", chat="71", sender=ALICE_ON_DISCORD)
        await discord.wait_heard(chat="71")
        assert (await alice.sends(text="Hello", to="discord:71")) == "Sent to discord:71: the message."
    assert "Sent" not in result
    others = result.partition("There are:")[2]
    assert OWNER not in others and GROUP not in others and "33333" not in others
    assert "Hello" not in daybook.chat.heard(OWNER) + daybook.chat.heard(GROUP)


async def test_a_group_may_write_to_itself_only_even_where_the_owner_asks(
    daybook: Daybook, discord: ScriptedChannel, group: Talk
) -> None:
    async with daybook.running():
        for to in (f"telegram:{OWNER}", f"telegram:{OTHER_GROUP}", "alice", "discord:70"):
            assert "can only go to the group itself" in await group.sends(text="Hello", to=to)
        assert (await group.sends(text="Hello", to=f"telegram:{GROUP}")).startswith("Sent to")
    assert daybook.chat.heard(GROUP).count("Hello") == 1


async def test_a_channel_that_is_off_is_named(daybook: Daybook, owner: Talk) -> None:
    daybook.settings["people"] = {"alice": [f"telegram:{ALICE}", "discord:5"]}
    discord = ScriptedChannel("discord")
    daybook.others = (discord,)
    async with daybook.running():
        discord.say("/whoami", chat="71", sender="5")
        await discord.wait_heard(chat="71")
    daybook.others = ()
    async with daybook.running():
        assert "discord is off" in await owner.sends(text="Hello", to="discord:71")


@pytest.mark.parametrize("text", ["", "  ", "NO_REPLY", " no_reply \n"])
async def test_nothing_is_not_sent(daybook: Daybook, owner: Talk, text: str) -> None:
    async with daybook.running():
        assert "nothing to send" in await owner.sends(text=text)
    assert daybook.chat.heard(OWNER) == ["Done."]


# files ---------------------------------------------------------------------------------------------------------------


async def test_files_go_as_they_were_and_pictures_as_pictures(daybook: Daybook, owner: Talk) -> None:
    async with daybook.running():
        (daybook.workspace / "plan.md").write_text("the plan")
        (daybook.workspace / "cat.txt").write_bytes(PNG)
        with daybook.chat.hold():
            daybook.model.then(Call("send_message", {"text": "Here", "files": ["plan.md", "cat.txt"]}), "Done.")
            daybook.chat.say("Both of them", chat=OWNER)
            await daybook.chat.wait_until(lambda: len(daybook.model.requests) == 2)
            (daybook.workspace / "plan.md").write_text("another plan")
            (daybook.workspace / "cat.txt").unlink()
        await daybook.chat.wait_heard(4, chat=OWNER)
    plan, cat = files(daybook.chat, OWNER)
    assert (plan.name, plan.is_image, plan.path.read_text()) == ("plan.md", False, "the plan")
    assert (cat.name, cat.is_image, cat.path.read_bytes()) == ("cat.txt", True, PNG)
    assert plan.path.stat().st_mode & 0o777 == 0o600
    assert daybook.chat.heard(OWNER) == ["Here", "", "", "Done."]


@pytest.mark.parametrize(
    "path",
    ["../config.yaml", "/etc/passwd", "state/daybook.db", "link.md", "linked/passwd", "missing.md", "memory", "", "~/x",
     ".env", "empty.md", "people/../../config.yaml", "pipe"],
)  # fmt: skip
async def test_what_is_outside_or_no_file_is_not_sent(daybook: Daybook, owner: Talk, path: str, tmp_path: Path) -> None:
    async with daybook.running():
        (tmp_path / "secret").write_text("CANARY")
        (daybook.workspace / "link.md").symlink_to(tmp_path / "secret")
        (daybook.workspace / "linked").symlink_to("/etc")
        (daybook.workspace / "empty.md").touch()
        (daybook.workspace / ".env").write_text("CANARY")
        os.mkfifo(daybook.workspace / "pipe")
        result = await owner.sends(text="Here", files=[path])
    assert "Sent" not in result
    assert str(tmp_path) not in result
    assert daybook.chat.heard(OWNER) == ["Done."]


@pytest.mark.parametrize("path", ["../../MEMORY.md", "MEMORY.md", "../../people/alice/USER.md", "copy.md"])
async def test_a_group_sends_files_of_its_own_folder_only(
    daybook: Daybook, discord: ScriptedChannel, group: Talk, path: str
) -> None:
    async with daybook.running():
        own = daybook.workspace / "groups" / f"telegram-{GROUP}"
        own.mkdir(parents=True)
        (daybook.workspace / "MEMORY.md").write_text("CANARY")
        (own / "copy.md").symlink_to(daybook.workspace / "MEMORY.md")
        (own / "list.md").write_text("milk")
        assert "Sent" not in await group.sends(text="Here", files=path)
        assert "list.md" in await group.sends(text="", files="list.md")
        await daybook.chat.wait_until(lambda: bool(files(daybook.chat, GROUP)))
    assert [one.path.read_text() for one in files(daybook.chat, GROUP)] == ["milk"]


async def test_what_is_too_large_for_the_platform_is_said_before(daybook: Daybook, owner: Talk) -> None:
    daybook.chat = ScriptedChannel("telegram", largest_file=2_000_000)
    async with daybook.running():
        (daybook.workspace / "film.bin").write_bytes(b"x" * 2_000_001)
        result = await owner.sends(text="Here", files="film.bin")
        (daybook.workspace / "film.bin").write_bytes(b"x" * 2_000_000)
        assert "film.bin" in await owner.sends(text="Here", files="film.bin")
    assert "larger than 2 MB" in result
    assert not list(daybook.home.outgoing.glob("*.new"))


# once ----------------------------------------------------------------------------------------------------------------


async def test_a_message_that_was_written_before_a_crash_is_sent_once_and_the_model_told(
    daybook: Daybook, owner: Talk
) -> None:
    hold = Hold()
    daybook.model.then(
        ScriptedAnswer(calls=(Call("send_message", {"text": "Hello"}), Call("memory_append", {"text": "tea"}))),
        ScriptedAnswer("never", hold=hold),
    )
    async with daybook.running() as gateway:
        daybook.chat.say("Say hello", chat=OWNER)
        await hold.reached.wait()
        await gateway.kill()
    forget_last_results(daybook, 2)
    daybook.model.then("Done.")
    async with daybook.running():
        heard = await daybook.chat.wait_heard(2, chat=OWNER)
    assert heard == ["Hello", "Done."]
    results = [str(one) for one in daybook.model.requests[-1].messages[-1].content if one["type"] == "tool_result"]
    assert "was sent. Do not send it again" in results[0]
    assert "may or may not have taken effect" in results[1]


async def test_a_message_that_was_refused_before_a_crash_is_not_called_sent(daybook: Daybook, owner: Talk) -> None:
    hold = Hold()
    daybook.model.then(
        ScriptedAnswer(calls=(Call("send_message", {"text": "Hello"}),)), ScriptedAnswer("never", hold=hold)
    )
    daybook.chat.fail_next(Refused("the platform wants no such text"))
    async with daybook.running() as gateway:
        daybook.chat.say("Say hello", chat=OWNER)
        await hold.reached.wait()
        (notice,) = await daybook.chat.wait_heard(chat=OWNER)
        assert "could not" in notice or "couldn't" in notice
        await gateway.kill()
    forget_last_results(daybook, 1)
    daybook.model.then("Done.")
    async with daybook.running():
        await daybook.chat.wait_heard(2, chat=OWNER)
    shown = str(daybook.model.requests[-1].messages[-1].content)
    assert "could not be delivered: the platform wants no such text" in shown and "was sent" not in shown


async def test_a_message_that_still_waits_after_a_crash_is_not_called_sent(daybook: Daybook, owner: Talk) -> None:
    hold, again = Hold(), Hold()
    daybook.model.then(
        ScriptedAnswer(calls=(Call("send_message", {"text": "Hello"}),)), ScriptedAnswer("never", hold=hold)
    )
    daybook.chat.fail_next(NotSent("busy", retry_after=600), times=2)
    async with daybook.running() as gateway:
        daybook.chat.say("Say hello", chat=OWNER)
        await hold.reached.wait()
        await gateway.kill()
    forget_last_results(daybook, 1)
    daybook.model.then(ScriptedAnswer("Done.", hold=again))
    async with daybook.running() as gateway:
        await again.reached.wait()
        await gateway.kill()
    shown = str(daybook.model.requests[-1].messages[-1].content)
    assert "is on its way: do not send it again" in shown and "was sent" not in shown


async def test_a_message_that_was_not_written_before_a_crash_is_told_to_be_missing(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(
        ScriptedAnswer(calls=(Call("memory_append", {"text": "tea"}),)),
        ScriptedAnswer("never", hold=hold),
    )
    async with daybook.running() as gateway:
        daybook.chat.say("Say hello", chat=OWNER)
        await hold.reached.wait()
        await gateway.kill()
    forget_last_results(daybook, 1)
    rename_call(daybook, "memory_append", "send_message")
    daybook.model.then("Done.")
    async with daybook.running():
        assert await daybook.chat.wait_heard(chat=OWNER) == ["Done."]
    assert "before the message was sent" in str(daybook.model.requests[-1].messages[-1].content)


def transcript(daybook: Daybook) -> Path:
    (path,) = daybook.home.sessions.rglob("*.jsonl")
    return path


def forget_last_results(daybook: Daybook, count: int) -> None:
    """As if the process had died after what the tools did and before their results were recorded."""
    lines = transcript(daybook).read_text().splitlines(keepends=True)
    assert all("tool_result" in line for line in lines[-count:])
    transcript(daybook).write_text("".join(lines[:-count]))


def rename_call(daybook: Daybook, old: str, new: str) -> None:
    path = transcript(daybook)
    path.write_text(
        path.read_text().replace(f'"name":"{old}"', f'"name":"{new}"').replace(f'"name": "{old}"', f'"name": "{new}"')
    )
