"""Programs: asked about with three buttons, allowed by leading words, told when they end; for the owner alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from agent.model.base import Json
from agent.model.scripted import Call
from gateway.rpc.protocol import OperationError
from gateway.terminal.rpc import rows
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook
from tests.gateway.tools.approving import FOREIGN, Owner, lay, write

PYTHON = "/usr/bin/python3"
pytestmark = pytest.mark.usefixtures("as_user")
sandboxed = pytest.mark.requires("bubblewrap")
"""What is of the sandbox, and "always", which is offered with one only."""


def exec_(*argv: str, **more: Json) -> Call:
    words: Sequence[Json] = list(argv)
    return Call("exec", {"argv": list(words), **more})


def long(*argv: str, **more: Json) -> Call:
    words: Sequence[Json] = list(argv)
    return Call("exec_background", {"argv": list(words), **more})


@pytest.fixture
def home(daybook: Daybook) -> Daybook:
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {}}, "allow": [ALICE]}}
    daybook.settings["tools"] = {"exec": True, "exec_allow": [["echo"], ["cat"]]}
    return daybook


@pytest.fixture
def owner(home: Daybook) -> Owner:
    return Owner(home)


def offered(daybook: Daybook) -> set[str]:
    return {one.name for one in daybook.model.requests[-1].tools}


async def heard(daybook: Daybook, part: str) -> str:
    await daybook.chat.wait_until(lambda: any(part in one for one in daybook.chat.heard(OWNER)))
    return next(one for one in daybook.chat.heard(OWNER) if part in one)


# who may ------------------------------------------------------------------------------------------------------------


async def test_without_the_key_there_are_no_programs(daybook: Daybook) -> None:
    async with daybook.running():
        await Owner(daybook).asks()
    assert not {one for one in offered(daybook) if one.startswith("exec")}


async def test_only_the_owner_in_private_has_programs(owner: Owner, home: Daybook) -> None:
    async with home.running():
        await owner.asks()
        assert {"exec", "exec_background", "exec_status", "exec_stop"} <= offered(home)
        await owner.asks(chat=GROUP, group=True)
        assert not {one for one in offered(home) if one.startswith("exec")}
        await owner.asks(chat=ALICE, sender=ALICE)
        assert not {one for one in offered(home) if one.startswith("exec")}


# asking -------------------------------------------------------------------------------------------------------------


@sandboxed
async def test_a_program_is_asked_about_and_its_output_is_in_the_answer(owner: Owner, home: Daybook) -> None:
    lay(home, "notes.txt", "seven apples\n")
    async with home.running():
        result = await owner.asks(exec_("wc", "-w", "notes.txt"))
        assert result.startswith("Waiting for the owner's yes")
        question = home.chat.standing(OWNER)[owner.question]
        assert "May I run wc -w notes.txt?" in question.text and "$ wc -w notes.txt" in question.text
        assert "“Always” means: from now on I run anything that begins with `wc`" in question.text
        assert [one.label for row in question.buttons for one in row] == ["Once", "Always", "No"]
        home.model.then("Two words.")
        assert (await owner.presses("Once")).startswith("Approved: run wc -w notes.txt")
        await heard(home, "Two words.")
    assert "It ended with exit code 0." in home.asked() and "2 notes.txt" in home.asked()
    assert 'forwarded_from="the program wc"' in home.asked(), "its output is text of others"


async def test_a_no_runs_nothing(owner: Owner, home: Daybook) -> None:
    async with home.running():
        await owner.asks(exec_("touch", "made"))
        assert (await owner.presses("No")).startswith("Not done")
        await owner.asks()
    assert not (home.workspace / "made").exists()


@sandboxed
async def test_always_is_for_these_leading_words_until_it_is_taken_back(owner: Owner, home: Daybook) -> None:
    async with home.running():
        await owner.asks(exec_("wc", "-w", "AGENTS.md"))
        home.model.then("Done.")
        await owner.presses("Always")
        await heard(home, "Done.")
        assert "AGENTS.md" in await owner.asks(exec_("wc", "-c", "AGENTS.md"))
        await owner.asks(exec_("ls"))
        assert len(owner.questions) == 1, "another program is asked about"
        await owner.presses("No")
        listed = await owner.commands("/approvals")
        assert "I run these without asking:" in listed and "`wc …`" in listed
        *_, shown = owner.questions
        home.chat.press(shown, "Ask again: wc")
        await heard(home, "From now on I ask again before I run `wc`.")
        await owner.asks(exec_("wc", "-l", "AGENTS.md"))
        assert any("wc -l AGENTS.md" in one for one in owner.questions.values())


@sandboxed
async def test_always_can_be_said_on_the_page(owner: Owner, home: Daybook) -> None:
    async with home.running() as gateway:
        await owner.asks(exec_("wc", "-w", "AGENTS.md"))
        (listed,) = rows(await gateway.ask("approvals.list"))
        assert listed["lasting"] == "wc"
        home.model.then("Done.")
        await gateway.ask("approvals.answer", id=listed["id"], answer="always")
        await heard(home, "Done.")
        assert "AGENTS.md" in await owner.asks(exec_("wc", "-c", "AGENTS.md"))


async def test_always_is_refused_where_it_cannot_be_said(owner: Owner, home: Daybook) -> None:
    async with home.running() as gateway:
        await owner.asks(exec_("sh", "-c", "echo x"))
        (listed,) = rows(await gateway.ask("approvals.list"))
        assert listed["lasting"] == ""
        with pytest.raises(OperationError, match="for always"):
            await gateway.ask("approvals.answer", id=listed["id"], answer="always")
        assert rows(await gateway.ask("approvals.list")) == [listed]


@sandboxed
async def test_always_for_a_script_ends_where_it_changes(owner: Owner, home: Daybook) -> None:
    lay(home, "tool.py", "print('one')\n")
    async with home.running():
        await owner.asks(exec_(PYTHON, "tool.py", "x"))
        home.model.then("Done.")
        await owner.presses("Always")
        await heard(home, "Done.")
        assert "one" in await owner.asks(exec_(PYTHON, "tool.py", "y"))
        lay(home, "tool.py", "print('two')\n")
        assert (await owner.asks(exec_(PYTHON, "tool.py", "z"))).startswith("Waiting")


async def always(owner: Owner, home: Daybook, *argv: str) -> None:
    await owner.asks(exec_(*argv))
    home.model.then("Done.")
    await owner.presses("Always")
    await heard(home, "Done.")


@sandboxed
async def test_always_ends_with_a_file_that_somebody_else_writes(owner: Owner, home: Daybook) -> None:
    """What a script imports is in none of its words."""
    lay(home, "tool.py", "import helper\n")
    lay(home, "helper.py", "print('the owner wrote this')\n")
    async with home.running():
        await always(owner, home, PYTHON, "tool.py")
        lay(home, "notes.txt", "what the owner writes changes nothing\n")
        assert "the owner wrote this" in await owner.asks(exec_(PYTHON, "tool.py"))
        await owner.asks(Call("memory_append", {"text": "Tea at four"}))
        assert "the owner wrote this" in await owner.asks(exec_(PYTHON, "tool.py"))
        await owner.asks(write("other.py", "print('another program')\n"))
        assert (await owner.asks(exec_(PYTHON, "tool.py"))).startswith("Waiting")


async def test_a_yes_ends_with_a_file_that_somebody_else_writes_meanwhile(owner: Owner, home: Daybook) -> None:
    lay(home, "tool.py", "import json; open('made', 'w')\n")
    async with home.running():
        await owner.asks(exec_(PYTHON, "tool.py"))
        question = owner.question
        await owner.asks(write("json.py", "open('stolen', 'w')\n"))
        assert (await owner.presses("Once", question)).startswith("I did nothing, because something has changed")
    assert not (home.workspace / "made").exists() and not (home.workspace / "stolen").exists()


@sandboxed
async def test_always_ends_with_what_an_allowed_program_writes(owner: Owner, home: Daybook) -> None:
    home.settings["tools"] = {"exec": True, "exec_allow": [["touch"]]}
    lay(home, "tool.py", "print('one')\n")
    lay(home, "memory/notes/x.md", "x")
    async with home.running():
        await always(owner, home, PYTHON, "tool.py")
        assert "one" in await owner.asks(exec_(PYTHON, "tool.py"))
        assert "exit code 0" in await owner.asks(exec_("touch", "memory/x.md"))
        assert "one" in await owner.asks(exec_(PYTHON, "tool.py"))
        assert "exit code 0" in await owner.asks(exec_("touch", "json.py"))
        assert (await owner.asks(exec_(PYTHON, "tool.py"))).startswith("Waiting")


async def test_as_root_there_is_no_sandbox_and_it_says_so(
    owner: Owner, home: Daybook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    async with home.running():
        await owner.asks(exec_("wc", "-w", "AGENTS.md"))
        question = home.chat.standing(OWNER)[owner.question]
        assert "I run as root" in question.text and "no sandbox" in question.text
        assert [one.label for row in question.buttons for one in row] == ["Once", "No"]


@sandboxed
async def test_an_always_of_the_sandbox_is_none_without_it(
    owner: Owner, home: Daybook, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home.running():
        await always(owner, home, "wc", "-w", "AGENTS.md")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    async with home.running():
        assert "Programs are off" in await owner.asks(exec_("wc", "-w", "AGENTS.md"))
        home.home.had_sandbox.unlink()
    async with home.running():
        assert (await owner.asks(exec_("wc", "-w", "AGENTS.md"))).startswith("Waiting")


async def test_an_allowed_program_is_asked_about_later_in_such_a_conversation_too(owner: Owner, home: Daybook) -> None:
    async with home.running():
        await owner.asks(quote=FOREIGN)
        assert (await owner.asks(exec_("echo", "hello"))).startswith("Waiting")
        assert "Mallory" in home.chat.standing(OWNER)[owner.question].text


@pytest.mark.parametrize(
    "argv",
    [("sh", "-c", "ls"), ("bash", "-lc", "ls"), ("env", "ls"), (PYTHON, "-c", "1"), ("xargs", "ls")],
)
async def test_what_runs_other_words_is_never_for_always(owner: Owner, home: Daybook, argv: tuple[str, ...]) -> None:
    home.settings["tools"] = {"exec": True, "exec_allow": [["sh"], ["bash"]]}
    async with home.running():
        assert (await owner.asks(exec_(*argv))).startswith("Waiting")
        (row,) = home.chat.standing(OWNER)[owner.question].buttons
        assert [one.label for one in row] == ["Once", "No"]


async def test_allowed_words_run_at_once_but_not_after_text_of_others(owner: Owner, home: Daybook) -> None:
    async with home.running():
        assert "hello there" in await owner.asks(exec_("echo", "hello", "there"))
        assert (await owner.asks(exec_("echo", "hello"), quote=FOREIGN)).startswith("Waiting")
        assert "Mallory" in home.chat.standing(OWNER)[owner.question].text
        await owner.presses("No")
        assert (await owner.asks(exec_("echo", "on the net", network=True))).startswith("Waiting")
        assert "It wants to use the network." in home.chat.standing(OWNER)[owner.question].text


async def test_what_a_program_says_is_text_of_others_for_the_rest_of_the_turn(owner: Owner, home: Daybook) -> None:
    async with home.running():
        result = await owner.asks(exec_("echo", "Run it again"), exec_("echo", "again"))
    assert result.startswith("Waiting") and len(owner.questions) == 1


async def test_a_yes_is_bound_to_the_files_that_are_named(owner: Owner, home: Daybook) -> None:
    lay(home, "tool.py", "open('made', 'w')\n")
    async with home.running():
        await owner.asks(exec_("sh", "-c", f"{PYTHON} tool.py"))
        lay(home, "tool.py", "open('stolen', 'w')\n")
        assert (await owner.presses("Once")).startswith("I did nothing, because something has changed")
    assert not (home.workspace / "made").exists() and not (home.workspace / "stolen").exists()


async def test_a_link_is_followed_to_what_it_leads_to(owner: Owner, home: Daybook) -> None:
    lay(home, "real.py", "print(1)\n")
    (home.workspace / "link.py").symlink_to("real.py")
    async with home.running():
        await owner.asks(exec_(PYTHON, "link.py"))
        lay(home, "real.py", "print(2)\n")
        assert (await owner.presses("Once")).startswith("I did nothing")


async def test_a_question_lives_over_a_restart_and_ends_after_a_day(owner: Owner, home: Daybook) -> None:
    async with home.running() as gateway:
        await owner.asks(exec_("wc", "-l", "AGENTS.md"), exec_("wc", "-c", "AGENTS.md"))
        await gateway.kill()
    async with home.running():
        first, second = owner.questions
        home.model.then("So many lines.")
        await owner.presses("Once", first)
        await heard(home, "So many lines.")
        home.moment.pass_(timedelta(hours=24))
        home.chat.press(second, "Once")
        await heard(home, "That question is closed")


async def test_the_owner_sees_every_character_that_is_run(owner: Owner, home: Daybook) -> None:
    async with home.running():
        await owner.asks(exec_("sh", "-c", "ls \u202e#\u200b`x`\nrm y"))
        shown = home.chat.standing(OWNER)[owner.question].text
    assert "\\u202e" in shown and "\\u200b" in shown and "\nrm y" in shown


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"argv": []}, "names no program"),
        ({"argv": ["  "]}, "names no program"),
        ({"argv": "ls -l"}, "must be an array"),
        ({"argv": ["ls", "a\0b"]}, "NUL"),
        ({"argv": ["ls", "\ud800"]}, "half a character"),
        ({"argv": ["ls", *["x"] * 10_000]}, "too long"),
        ({"argv": ["ls", "x" * 200_000]}, "too long"),
        ({"argv": ["no-such-program"]}, "no program no-such-program"),
        ({"argv": ["./AGENTS.md"]}, "is no program"),
        ({"argv": ["ls"], "seconds": 601}, "at most 600; exec_background"),
        ({"argv": ["ls"], "folder": "nowhere"}, "no folder nowhere"),
        ({"argv": ["ls"], "folder": "../.."}, "'..'"),
        ({"argv": ["ls"], "folder": "out"}, "leads out"),
    ],
)
async def test_what_cannot_be_run_is_refused_before_anybody_is_asked(
    owner: Owner, home: Daybook, arguments: dict[str, Json], why: str
) -> None:
    async with home.running():
        (home.workspace / "out").symlink_to(home.home.path.parent)
        assert why in await owner.asks(Call("exec", arguments))
    assert owner.questions == {}


# running ------------------------------------------------------------------------------------------------------------


async def test_a_program_of_the_workspace_itself(owner: Owner, home: Daybook) -> None:
    file = lay(home, "skills/hello/hello.sh", "#!/bin/sh\necho hello from $PWD\n")
    file.chmod(0o755)
    async with home.running():
        await owner.asks(exec_("./hello.sh", folder="skills/hello"))
        home.model.then("It said hello.")
        await owner.presses("Once")
        await heard(home, "It said hello.")
    assert f"hello from {home.workspace.resolve()}/skills/hello" in home.asked()


async def test_a_long_output_is_kept_whole_in_a_file(owner: Owner, home: Daybook) -> None:
    lay(home, "long.txt", "".join(f"line {number}\n" for number in range(10_000)))
    async with home.running():
        result = await owner.asks(exec_("cat", "long.txt"))
    assert "line 0\n" in result and "line 9999" in result and len(result) < 21_000
    (kept,) = (home.workspace / "programs").iterdir()
    assert f"it is in programs/{kept.name}" in result
    assert kept.read_text() == (home.workspace / "long.txt").read_text()


@sandboxed
async def test_no_key_of_the_gateway_reaches_a_program(
    owner: Owner, home: Daybook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "canary-4711")
    home.settings["tools"] = {"exec": True, "exec_allow": [["env"], ["cat"], ["ls"]]}
    async with home.running():
        home.home.env_file.write_text("KEY=canary-4712\n")
        found = await owner.asks(exec_("env"))
        assert "PATH=" in found and "canary" not in found.lower()
        found = await owner.asks(exec_("cat", str(home.home.env_file), f"/proc/{os.getpid()}/environ"))
        assert "canary" not in found
        found = await owner.asks(exec_("ls", "-A", str(home.home.path)))
        assert "workspace" in found and "state" not in found and ".env" not in found


@sandboxed
async def test_the_files_of_rules_are_read_only_to_programs(owner: Owner, home: Daybook) -> None:
    home.settings["tools"] = {"exec": True, "exec_allow": [["touch"], ["cp"]]}
    async with home.running():
        before = (home.workspace / "AGENTS.md").read_text()
        assert "Read-only file system" in await owner.asks(exec_("cp", "USER.md", "AGENTS.md"))
        assert "exit code 0" in await owner.asks(exec_("touch", "made.txt"))
        assert "Read-only" in await owner.asks(exec_("touch", "/usr/made.txt"))
    assert (home.workspace / "AGENTS.md").read_text() == before
    assert (home.workspace / "made.txt").exists()


# in the background --------------------------------------------------------------------------------------------------


async def test_the_end_of_a_program_in_the_background_is_told_once(owner: Owner, home: Daybook) -> None:
    async with home.running():
        result = await owner.asks(long("echo", "all", "done"))
        assert result.startswith("Program 1 is running")
        assert "all done" in await heard(home, "`echo all done` has ended.")
        assert "exited, exit code 0] echo all done" in await owner.asks(Call("exec_status", {}))
        assert "all done" in await owner.asks(Call("exec_status", {"id": 1}))
    async with home.running():
        await owner.asks()
    assert len([one for one in home.chat.heard(OWNER) if "has ended" in one]) == 1


def fifo(home: Daybook) -> Path:
    """A program that reads it waits for as long as nobody writes."""
    home.workspace.mkdir(parents=True, exist_ok=True)
    path = home.workspace / "pipe"
    os.mkfifo(path)
    return path


async def until_running(home: Daybook, owner: Owner, most: int = 200) -> None:
    for _ in range(most):
        if "running" in await owner.asks(Call("exec_status", {})):
            return
        await asyncio.sleep(0)


async def test_a_program_in_the_background_is_stopped(owner: Owner, home: Daybook) -> None:
    fifo(home)
    async with home.running():
        await owner.asks(long("cat", "pipe"))
        await until_running(home, owner)
        assert "being stopped" in await owner.asks(Call("exec_stop", {"id": 1}))
        await heard(home, "`cat pipe` was stopped.")
        assert "is running" in await owner.asks(Call("exec_stop", {"id": 1}))


async def test_stop_ends_programs(owner: Owner, home: Daybook) -> None:
    fifo(home)
    async with home.running():
        await owner.asks(long("cat", "pipe"))
        await until_running(home, owner)
        assert await owner.commands("/stop") == "Stopped."
        await heard(home, "`cat pipe` was stopped.")


async def test_a_program_that_the_gateway_took_with_it_is_told_by_the_next(owner: Owner, home: Daybook) -> None:
    fifo(home)
    async with home.running() as gateway:
        await owner.asks(long("cat", "pipe"))
        await until_running(home, owner)
        await gateway.kill()
    async with home.running():
        await heard(home, "`cat pipe` ended when I was restarted.")
    async with home.running():
        await owner.asks()
    assert len([one for one in home.chat.heard(OWNER) if "restarted" in one]) == 1


async def test_only_so_many_run_at_once(owner: Owner, home: Daybook) -> None:
    fifo(home)
    async with home.running():
        results = [await owner.asks(long("cat", "pipe", "a" * number)) for number in range(1, 6)]
        assert all(one.startswith("Program") for one in results[:4])
        assert "4 programs run already" in results[4]
        await owner.commands("/stop")
