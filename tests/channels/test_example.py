"""A new channel is one folder and one line: set up by file, `init` and page, and seen by all that looks at channels."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from channels.registry import CHANNELS
from tests.forked import _SHARED, ROOT

_EXAMPLE = Path(__file__).parent / "example"
_STORY = '''
import asyncio, json, os, sys
from pathlib import Path
from click.testing import CliRunner
from gateway.app import open_gateway
from gateway.cli import daybook
from gateway.config import load
from gateway.doctor.examine import examine
from gateway.home import Home

ANN, BOB, ROOM, THREAD = "@ann:example.org", "@Bob:example.org", "!Room:example.org", "$Topic/1:example.org"
top = Path(sys.argv[1])
server = top / "server"
server.mkdir()
os.environ["XDG_STATE_HOME"] = str(top / "xdg")

def ran(home, *words, input=None):
    done = CliRunner().invoke(daybook, ["--home", str(home.path), *words], input=input)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output

def is_set_up(home):
    config = load(home, {}).config
    assert config.owners == ("example:@ann%3Aexample.org",), config.owners
    assert config.channels.platforms["example"].is_on and "EXAMPLE_TOKEN=secret" in home.env_file.read_text()
    assert "secret" not in ran(home, "config", "show")

def by_options():
    home = Home(top / "options")
    ran(home, "init", "--yes", "--example-server", str(server), "--example-token", "secret", "--example-owner", ANN)
    is_set_up(home)

def by_questions():
    home = Home(top / "questions")
    answers = ["Ann", "Europe/Berlin", *[""] * 5, str(server), "wrong", "secret", ANN, "", "n", ""]
    said = ran(home, "init", input="\\n".join(answers))
    assert "doesn't accept this token" in said and "Connected as @daybook." in said, said
    is_set_up(home)

async def by_page():
    home = Home(top / "page")
    home.create()
    async with open_gateway(home, load(home, {}).config, channels=False) as gateway:
        call = gateway.operations
        given = {"part": "example", "example_server": str(server), "example_token": "secret", "example_owner": ANN}
        wrong = await call["setup.check"]({**given, "example_token": "wrong"})
        assert wrong["refused"] and (await call["setup.check"](given))["shown"] == "This is @daybook."
        await call["setup.apply"](given)
        part = (await call["setup.status"]({}))["example"]
        assert part["ready"] and part["example_token"] == "***" and part["card"]["title"] == "Example"
    is_set_up(home)

class Platform:
    """What people see."""
    written = read = 0

    def say(self, person, text, room=""):
        self.written += 1
        event = {"from": person, "text": text, **({"room": room, "thread": THREAD} if room else {})}
        file = server / f"in-{self.written:03}.json"
        file.with_suffix(".new").write_text(json.dumps(event))
        file.with_suffix(".new").rename(file)

    async def heard(self, chat, words="", thread=None):
        async with asyncio.timeout(60):
            while True:
                sent = server / "sent.jsonl"
                lines = sent.read_text().splitlines() if sent.exists() else []
                for line in lines[self.read:]:
                    self.read += 1
                    to, below, text = json.loads(line)
                    if (to, below) == (chat, thread) and words in text:
                        return text
                await asyncio.sleep(0.02)

async def by_file():
    home = Home(top / "file")
    home.create()
    home.config_file.write_text(
        f"owners: ['example:{ANN}']\\n"
        f"channels: {{example: {{server: {server}, groups: {{'{ROOM}': {{mention: optional}}}}}}, web: {{port: 0}}}}\\n"
    )
    home.env_file.write_text("EXAMPLE_TOKEN=secret\\n")
    config, stop, chat = load(home, {}).config, asyncio.Event(), Platform()
    async with open_gateway(home, config, channels=True) as gateway, asyncio.TaskGroup() as group:
        group.create_task(gateway.run(stop))
        call, workspace = gateway.operations, home.workspace("workspace")
        chat.say(ANN, "/whoami")
        assert "example:@ann%3Aexample.org" in await chat.heard(ANN)
        chat.say(ANN, "Remember: the key is under the mat.")
        await chat.heard(ANN)
        chat.say(BOB, "Hello")
        await chat.heard(BOB)
        code = (await call["pair.list"]({}))[0]["code"]
        assert (await call["pair.approve"]({"code": code}))["id"] == "example:@Bob%3Aexample.org"
        await chat.heard(BOB, "approved")
        chat.say(BOB, "Remember: I like quinces.")
        await chat.heard(BOB)
        chat.say(BOB, "Remember: we meet on Fridays.", ROOM)
        await chat.heard(ROOM, thread=THREAD)
        folders = {path.name for path in (*(workspace / "people").iterdir(), *(workspace / "groups").iterdir())}
        assert folders == {"example-@%42ob%3Aexample.org", "example-!%52oom%3Aexample.org"}, folders
        for scope, word in ((f"person:example:{BOB}", "quinces"), (f"group:example:{ROOM}", "Fridays")):
            hits = await call["memory.search"]({"query": word, "scope": scope})
            assert any(word in hit["text"] for hit in (hits["hits"] if isinstance(hits, dict) else hits)), hits
        assert not any("quinces" in path.read_text() for path in workspace.rglob("*.md") if "people" not in path.parts)
        job = {"text": "Tea!", "kind": "message", "at": "2100-01-01T08:00", "to": "example:@Bob%3Aexample.org"}
        id = (await call["schedule.add"](job))["id"]
        await call["schedule.run"]({"id": id})
        await chat.heard(BOB, "Tea!")
        chat.say(BOB, "/forget quinces")
        await chat.heard(BOB, "quinces")
        chat.say(BOB, "yes")
        await chat.heard(BOB)
        assert not any("quinces" in path.read_text() for path in (workspace / "people").rglob("*.md"))
        status = await call["status"]({})
        assert status["channels"]["example"]["state"] == "ok" and status["outbox"]["failed"] == 0, status
        people = await call["people.list"]({})
        assert [account["id"] for person in people["people"] for account in person["accounts"]] == [
            "example:@ann%3Aexample.org", "example:@Bob%3Aexample.org"
        ], people
        assert 'daybook_channel_state{channel="example",state="ok"} 1.0' in await gateway.web.metrics()
        found = await asyncio.to_thread(examine, home, {})
        assert [one.message for one in found if one.check == "example"] == ["connected as @daybook"]
        stop.set()
    wrong = home.config_file.read_text().replace(f"example:{ANN}", "example:ann")
    home.config_file.write_text(wrong)
    assert CliRunner().invoke(daybook, ["--home", str(home.path), "config", "validate"]).exit_code != 0

by_options()
by_questions()
asyncio.run(by_page())
asyncio.run(by_file())
assert "discord" not in sys.modules and "telegram" not in sys.modules
print("told")
'''


def test_a_new_channel_is_a_folder_and_a_line(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for part in ("agent", "channels", "gateway", "workspace_template"):
        shutil.copytree(ROOT / part, project / part)
    shutil.copytree(_EXAMPLE, project / "channels" / "example")
    listing = project / "channels" / "registry.py"
    listing.write_text(listing.read_text().replace('    "discord",\n', '    "discord",\n    "example",\n'))
    environ = {name: value for name, value in os.environ.items() if name != _SHARED}
    done = subprocess.run(
        [sys.executable, "-c", _STORY, str(tmp_path)],
        cwd=project,
        env={**environ, "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.endswith("told\n"), done.stdout[-2000:] + done.stderr[-6000:]


def test_the_gateway_names_no_channel() -> None:
    """But in examples of what people write, and among the keys of services whose form an import knows."""
    quoted = re.compile("|".join(rf'"{name}"|channels\.{name}\b' for name in CHANNELS))
    for file in (ROOT / "gateway").rglob("*.py"):
        code = re.sub(r'""".*?"""', "", file.read_text("utf-8"), flags=re.DOTALL)
        assert not quoted.search(code) or file.match("features/imports/secrets.py"), file
