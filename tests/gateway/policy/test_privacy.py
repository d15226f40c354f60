"""Invariant 8, attacked: a secret in every private place, then every command and every tool from a group and from
another person. What reaches their chats, their files or the model on their behalf holds none of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from agent.memory.consents import Consents
from agent.memory.files import sha_of
from agent.model.base import Json, ModelRequest
from agent.model.scripted import Call, ScriptedAnswer
from channels.message import OutboundMessage
from channels.scripted import Drafted, Edited, Sent
from gateway.commands.registry import all_commands
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook
from tests.gateway.tools.aside import Aside

BOB = "33333"
WORD = "sesame"
"""Stands beside every secret, so that whoever looks for it would find them."""
TODAY = "2026-11-21"

ALICES = {
    "people/alice/USER.md": "alice-user-1111",
    "people/alice/MEMORY.md": "alice-memory-2222",
    "people/alice/memory/notes/a.md": "alice-note-3333",
}
"""Secrets of somebody else than the owner, who attacks as little as Bob and the group are."""
OWNERS = {
    "MEMORY.md": "owner-memory-4444",
    "USER.md": "owner-user-5555",
    "memory/notes/safe.md": "owner-note-6666",
    f"memory/{TODAY}.md": "owner-log-7777",
    "memory/HISTORY.md": "owner-history-8888",
    "exports/old-talk.md": "owner-export-1212",
    "projects/plan.txt": "owner-file-1313",
    "TOOLS.md": "owner-tools-2222",
    "HEARTBEAT.md": "owner-heartbeat-2323",
    "skills/notes-on-skills.md": "owner-beside-skills-2424",
}
SKILLS = {
    "skill-name-2525": ("What the skill-description-2626 is for", "The skill-body-2727", "shared: false"),
    "always-name-2828": ("Rules of always-description-2929", "The always-body-3030", "always: true"),
    "broken-name-3131": ("'", "The broken-body-3232", "shared: true"),
}
"""The owner's private skills: a folder's name, a description, a body; what the front matter says beside them."""
STATE = {
    "config.yaml": "config-secret-1414",
    ".env": "env-secret-1515",
    "state/web-token": "token-secret-1616",
    "state/media/ab/abcd.txt": "media-secret-1717",
    "state/outgoing/abcd": "outgoing-secret-1818",
}
JOB = "owner-job-9999"
SAID = "said-secret-1919"
WRITTEN_BY_TOOL = "remembered-secret-2020"
ASKED_TO_FORGET = "forget-secret-2121"
OF_SKILLS = tuple(word for name in SKILLS for word in re.findall(r"[a-z]+-[a-z]+-\d{4}", f"{name} {SKILLS[name]}"))
SECRETS = (
    *ALICES.values(), *OWNERS.values(), *STATE.values(), *OF_SKILLS, JOB, SAID, WRITTEN_BY_TOOL, ASKED_TO_FORGET,
)  # fmt: skip


@dataclass(frozen=True)
class Attacker:
    chat: str
    sender: str
    group: bool
    session: str


IN_GROUP = Attacker(GROUP, BOB, True, f"main/group/telegram-{GROUP}")
OWNER_IN_GROUP = Attacker(GROUP, OWNER, True, f"main/group/telegram-{GROUP}")
IN_PRIVATE = Attacker(BOB, BOB, False, f"main/person/telegram-{BOB}")
everybody = pytest.mark.parametrize(
    "attacker", [IN_GROUP, OWNER_IN_GROUP, IN_PRIVATE], ids=["group", "owner-in-group", "person"]
)


def plant(daybook: Daybook) -> None:
    for root, secrets in ((daybook.workspace, ALICES | OWNERS), (daybook.home.path, STATE)):
        for name, secret in secrets.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            head = file.read_text() if file.exists() else f"# {TODAY}\n" if name.startswith("memory/2") else ""
            file.write_text(f"{head}\n- 08:00 The {WORD} word of the safe is {secret}\n")

    consents = Consents(daybook.home.consents("main"), daybook.moment.clock)
    for name, (description, body, more) in SKILLS.items():
        page = daybook.workspace / "skills" / name / "SKILL.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"---\ndescription: {description} {WORD}\n{more}\n---\n\n{body} {WORD}\n")
        (page.parent / "beside.md").write_text(f"{WORD} {body}")
        consents.approve_skill(sha_of(page.read_bytes()))
    job = f"  - id: secret\n    kind: message\n    text: {WORD} {JOB}\n    when: {{cron: '0 8 1 1 *'}}\n    to: owner\n"
    (daybook.workspace / "schedule.yaml").write_text(f"jobs:\n{job}")


async def say(daybook: Daybook, text: str, who: Attacker) -> None:
    """Say something and wait for the answer (files do not count)."""
    count = len(texts(daybook, who.chat))
    daybook.chat.say(text, chat=who.chat, sender=who.sender, group=who.group)
    await daybook.chat.wait_until(lambda: len(texts(daybook, who.chat)) > count)


def texts(daybook: Daybook, chat: str) -> list[str]:
    return [text for text in daybook.chat.heard(chat) if text]


@dataclass(frozen=True)
class PrivateTalk:
    """What an attacker might know of the owner's talk."""

    id: str
    question: str
    file: Path


async def owners_talk(daybook: Daybook) -> PrivateTalk:
    """A private talk full of secrets, with a question that is open."""
    me = Attacker(OWNER, OWNER, False, "main/owner")
    daybook.model.then(Call("memory_append", {"text": f"{WORD} {WRITTEN_BY_TOOL}"}), f"The {WORD} word: noted.")
    await say(daybook, f"Remember the {WORD} word {SAID}", me)
    await say(daybook, f"/remember {WORD} {ASKED_TO_FORGET}", me)
    await say(daybook, "/sessions", me)
    ((button,),) = list(daybook.chat.standing(OWNER).values())[-1].buttons
    id = button.data.removeprefix("/switch ")
    await say(daybook, f"/forget {ASKED_TO_FORGET}", me)
    buttons = [button for message in daybook.chat.standing(OWNER).values() for row in message.buttons for button in row]
    question = buttons[0].data.split()[1]
    (file,) = daybook.home.sessions.rglob(f"*{id}*.jsonl")
    return PrivateTalk(id, question, file)


def leaks(daybook: Daybook, who: Attacker) -> list[str]:
    """The secrets that came to the attacker: in the chat, in files sent or written, or in requests for their talk."""
    seen: list[str] = []
    for act in daybook.chat.history:
        if isinstance(act, Sent | Edited | Drafted) and act.message.address.chat_id == who.chat:
            seen += [act.message.text, *_enclosed(act.message)]
    seen += [str(request) for request in _requests(daybook) if request.session.startswith(who.session)]
    scope = "groups" if who.group else f"people/telegram-{BOB}"
    seen += [file.read_text() for file in (daybook.workspace / scope).rglob("*") if file.is_file()]
    return [secret for secret in SECRETS if any(secret in text for text in seen)]


def _enclosed(message: OutboundMessage) -> list[str]:
    return [message.file.name, message.file.path.read_text()] if message.file else []


def _requests(daybook: Daybook) -> Iterable[ModelRequest]:
    return (*daybook.model.requests, *daybook.model.silent)


@pytest.fixture
def planted(daybook: Daybook) -> Daybook:
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {"per_minute": 10_000}}, "allow": [BOB]}}
    daybook.settings["people"] = {"alice": [f"telegram:{ALICE}"]}
    return daybook


@everybody
async def test_invariant_08_no_command_leaks(planted: Daybook, attacker: Attacker) -> None:
    planted.model.then()
    async with planted.running():
        plant(planted)
        talk = await owners_talk(planted)
        await say(planted, "/jobs", Attacker(OWNER, OWNER, False, "main/owner"))
        assert JOB in texts(planted, OWNER)[-1]
        before = planted.workspace.joinpath(f"memory/{TODAY}.md").read_text()
        planted.model.then("Hello.")
        await say(planted, "@bot hello", attacker)
        words = [
            "",
            WORD,
            talk.id,
            f"{talk.question} yes",
            "yes",
            "run secret",
            "delete secret",
            str(talk.file),
            "../../MEMORY.md",
            "owner",
            "*",
        ]
        names = [command.name for command in all_commands().menu] + ["answer"]
        for name in [other for other in names if other not in ("new", "switch")] + ["switch", "new"]:
            for word in words if name != "new" else ("",):
                await say(planted, f"/{name} {word}".strip(), attacker)
        planted.model.then("Hello again.")
        await say(planted, "@bot hello again", attacker)
        for name in ("why", "context", "sessions", "export", "status"):
            await say(planted, f"/{name}", attacker)
    assert leaks(planted, attacker) == []
    assert ASKED_TO_FORGET in planted.workspace.joinpath(f"memory/{TODAY}.md").read_text(), "nothing was forgotten"
    assert before in planted.workspace.joinpath(f"memory/{TODAY}.md").read_text(), "nor undone"


def attempts(talk: PrivateTalk, home: Path) -> Mapping[str, tuple[Mapping[str, Json], ...]]:
    """For every tool, calls that try to get out."""
    paths = (
        *OWNERS, *ALICES, "../../TOOLS.md", "../../skills",
        "../../MEMORY.md", "../../USER.md", "../../people/alice/MEMORY.md", "../alice/USER.md",
        "../../../config.yaml", "../../../state/daybook.db", str(home / ".env"), str(talk.file), "link.md",
        "up/MEMORY.md", ".", "..", "../..",
    )  # fmt: skip
    chats = (f"telegram:{OWNER}", f"telegram:{ALICE}", "alice", "terminal:main")
    path_calls = tuple({"path": path} for path in paths)
    return {
        "memory_append": ({"text": "tea", "heading": "../../MEMORY.md"},),
        "memory_save": (
            {"name": "../../../MEMORY", "description": WORD, "type": "user", "content": "tea"},
            {"name": "safe", "description": WORD, "type": "user", "content": "tea"},
        ),
        "memory_update": tuple(
            {"old_text": f"The {WORD} word of the safe is", "new_text": "x", "file": file}
            for file in ("MEMORY.md", "USER.md", "../../MEMORY.md", "../alice/USER.md")
        ),
        "memory_search": ({"query": WORD}, {"query": [WORD, "safe", "secret"], "max_chars": 20_000}),
        "memory_get": path_calls,
        "memory_list": ({}, {"type": "user"}),
        "memory_delete": path_calls,
        "read_file": path_calls,
        "write_file": tuple({"path": path, "content": "overwritten"} for path in paths),
        "edit_file": tuple({"path": path, "old_text": f"The {WORD} word", "new_text": "x"} for path in paths),
        "list_files": (*path_calls, {}),
        "schedule_add": tuple(
            {"kind": kind, "text": f"the {WORD} word", "when": {"every": "1h"}, "to": to}
            for kind in ("message", "prompt")
            for to in (*chats, "owner", "")
        ),
        "schedule_list": ({},),
        "schedule_remove": ({"id": "secret"}, {"id": "daily-summary"}, {"id": "../MEMORY"}),
        "skill_read": tuple({"name": name} for name in ("skill-name", "always-name-282", "../../MEMORY", WORD)),
        "web_fetch": tuple({"url": url} for url in ("file:///etc/passwd", "http://127.0.0.1:1/", "http://localhost/")),
        "send_message": (
            *({"text": "see file", "files": [path]} for path in paths),
            *({"text": "see file", "to": to} for to in chats),
        ),
    }  # fmt: skip


@everybody
async def test_invariant_08_no_tool_leaks(planted: Daybook, attacker: Attacker) -> None:
    async with planted.running():
        plant(planted)
        talk = await owners_talk(planted)
        kept = {file: file.read_bytes() for file in secret_files(planted)}
        folder = planted.workspace / ("groups/telegram-" + GROUP if attacker.group else f"people/telegram-{BOB}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "link.md").symlink_to(planted.workspace / "MEMORY.md")
        (folder / "up").symlink_to(planted.workspace)
        tries = attempts(talk, planted.home.path)
        for name, calls in tries.items():
            planted.model.then(
                ScriptedAnswer(calls=tuple(Call(name, dict(arguments)) for arguments in calls)), f"Tried {name}."
            )
            await say(planted, f"@bot use {name} on {WORD}", attacker)
        offered = {tool.name for tool in planted.model.requests[-1].tools}
        await say(planted, "/why", attacker)
        await say(planted, "/export", attacker)
        (folder / "link.md").unlink()  # what it shows is the attacker's own doing, not ours
        (folder / "up").unlink()
    assert offered <= {*tries, "delegate"}, "a tool was added: say here how it could be misused"
    assert leaks(planted, attacker) == []
    assert {file: file.read_bytes() for file in kept} == kept
    assert texts(planted, ALICE) == []
    assert JOB in (planted.workspace / "schedule.yaml").read_text(), "nobody else removes it"


@everybody
async def test_invariant_08_no_task_leaks(planted: Daybook, attacker: Attacker) -> None:
    """Work aside has the reach of the chat that asked."""
    aside = Aside(planted)
    async with planted.running():
        plant(planted)
        talk = await owners_talk(planted)
        kept = {file: file.read_bytes() for file in secret_files(planted)}
        calls = [
            Call(name, dict(arguments))
            for name, tries in attempts(talk, planted.home.path).items()
            for arguments in tries
        ]
        aside.works[WORD] = [ScriptedAnswer(calls=tuple(calls)), ScriptedAnswer("Tried.")]
        planted.chat.say(f"@bot delegate {WORD}", chat=attacker.chat, sender=attacker.sender, group=attacker.group)
        await planted.chat.wait_until(lambda: "It came to this: Tried." in texts(planted, attacker.chat))
    last = str(aside.requests_of(WORD)[-1].messages[-1])
    assert "There is no tool 'send_message'" in last and "There is no tool 'schedule_add'" in last
    assert leaks(planted, attacker) == []
    assert {file: file.read_bytes() for file in kept} == kept
    assert texts(planted, ALICE) == []


def secret_files(daybook: Daybook) -> list[Path]:
    return [daybook.workspace / name for name in ALICES | OWNERS] + [daybook.home.path / name for name in STATE]


@everybody
async def test_invariant_08_what_breaks_leaks_nothing(planted: Daybook, attacker: Attacker) -> None:
    """Errors are words for people: a folder that cannot be used is named by no path of the home."""
    async with planted.running():
        plant(planted)
        await owners_talk(planted)
        folder = planted.workspace / ("groups" if attacker.group else f"people/telegram-{BOB}")
        folder.parent.mkdir(exist_ok=True)
        if folder.is_dir():
            folder.rmdir()
        folder.write_text("not a folder")
        for text in ("/remember tea", f"/memory {WORD}", "/export", "/forget tea", "/new", "/compact", "/context"):
            await say(planted, text, attacker)
        answers = texts(planted, attacker.chat)
        folder.unlink()
        folder.mkdir()
    assert leaks(planted, attacker) == []
    assert not any(str(planted.home.path) in answer for answer in answers)


@everybody
@pytest.mark.parametrize("broken", ["talks", "history"])
async def test_invariant_08_no_command_names_a_path_of_this_machine(
    planted: Daybook, attacker: Attacker, broken: str
) -> None:
    """What the system says of a file that cannot be used names the file; nobody but the log is told so."""
    planted.model.then("Hello.")
    async with planted.running():
        plant(planted)
        await owners_talk(planted)
        await say(planted, "@bot hello", attacker)
        await say(planted, "/remember tea", attacker)
        files = {
            "talks": list((planted.home.sessions / attacker.session).rglob("*.jsonl")),
            "history": [file for file in planted.home.state.joinpath("history").rglob("*") if file.is_file()],
        }[broken]
        assert files
        for file in files:
            file.rename(file.with_name(f"{file.name}.aside"))
            file.mkdir()
        words = {"remember": "milk", "forget": "tea", "memory": "tea", "switch": "1", "daily": "now", "jobs": "run x"}
        for name in [command.name for command in all_commands().menu if command.name != "new"] + ["forget yes", "new"]:
            await say(planted, f"/{name} {words.get(name, '')}".strip(), attacker)
        answers = texts(planted, attacker.chat)
    assert not [answer for answer in answers if str(planted.home.path) in answer]


@everybody
async def test_invariant_08_the_model_is_shown_only_what_is_theirs(planted: Daybook, attacker: Attacker) -> None:
    """Prompt, recall and what changed on disk since, after the owner has talked of it all."""
    async with planted.running():
        plant(planted)
        await owners_talk(planted)
        planted.model.then("One.", "Two.")
        await say(planted, f"@bot what is the {WORD} word of the safe?", attacker)
        plant(planted)  # every file changes
        await say(planted, f"@bot and now, {WORD}?", attacker)
        await say(planted, "/new", attacker)
    assert leaks(planted, attacker) == []
    assert any(request.session == attacker.session for request in planted.model.requests)


@everybody
async def test_invariant_08_jobs_and_summaries_leak_nothing(planted: Daybook, attacker: Attacker) -> None:
    """A prompt job, a daily summary and a compaction see what their chat sees."""
    async with planted.running() as running:
        plant(planted)
        await owners_talk(planted)
        chat = f"telegram:{attacker.chat}"
        wanted: dict[str, Json] = {
            "kind": "prompt",
            "text": f"Tell the {WORD} word",
            "when": {"every": "1h"},
            "to": chat,
        }
        planted.model.then(ScriptedAnswer(calls=(Call("schedule_add", wanted),)), "Booked.")
        await say(planted, "@bot tell us hourly", attacker)
        await say(planted, "/jobs", attacker)
        planted.model.then("The job has nothing to say of it.")
        planted.moment.pass_(timedelta(hours=1))
        await planted.chat.wait_until(lambda: "has nothing to say of it" in str(texts(planted, attacker.chat)))
        planted.model.then("A summary of nothing.")
        for words in ("/daily now", "/compact", "/new"):
            await say(planted, words, attacker)
        for name in ("/context", "/why", "/status"):
            await say(planted, name, attacker)
        assert await running.status()
    assert leaks(planted, attacker) == []
    assert any(
        "is due" in str(request) for request in _requests(planted) if request.session.startswith(attacker.session)
    )


async def test_the_secrets_would_be_found_if_they_leaked(planted: Daybook) -> None:
    """The tests above can fail: the owner in private sees them."""
    async with planted.running():
        plant(planted)
        await owners_talk(planted)
        await say(planted, f"/memory {WORD}", Attacker(OWNER, OWNER, False, "main/owner"))
        found = leaks(planted, Attacker(OWNER, OWNER, False, "main/owner"))
    assert {OWNERS["MEMORY.md"], OWNERS["USER.md"], SAID, WRITTEN_BY_TOOL, ASKED_TO_FORGET} <= set(found)
    assert {OWNERS["TOOLS.md"], "skill-name-2525", "skill-description-2626", "always-body-3030"} <= set(found)
