"""Keys of the configuration and the environment stand nowhere else: not in what programs and MCP servers are given, nor
in what is sent, logged, answered or kept, also where servers repeat them in their errors."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from gateway.features.programs.sandbox import works
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.files import opus
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_mcp import PROGRAM
from tests.flows.test_programs import PYTHON, Chat

SPIES = """
import json, os
print(json.dumps(dict(os.environ)))
print("HAS-ENDED")
"""
LOOKS_AROUND = """
import pathlib
home = pathlib.Path(HOME)
files = [*pathlib.Path("/proc").glob("[0-9]*/environ"), *home.glob("*"), *home.glob("state/*")]
for one in files:
    try:
        print(one, one.read_bytes()[:4000])
    except OSError as error:
        print(one, error.strerror)
print("HAS-ENDED")
"""
_SECRET_FILES = {"config.yaml", ".env", "web-token"}


def canary(name: str) -> str:
    return f"canary-{name}-{secrets.token_hex(12)}"


@asynccontextmanager
async def repeating(shown_keys: set[str]) -> AsyncIterator[str]:
    """A server that refuses every key, says which it was, and notes it."""

    async def refuse(request: web.Request) -> web.Response:
        shown_keys.update(word for value in request.headers.values() for word in value.split() if "canary" in word)
        shown = {name: value for name, value in request.headers.items() if "canary" in value}
        return web.json_response({"error": {"message": f"Wrong key: {shown}", "type": "auth"}}, status=401)

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", refuse)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    try:
        yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
    finally:
        await runner.cleanup()


def kept(home: Path) -> str:
    """Every byte below the home, but for the files that hold keys."""
    files = (file for file in home.rglob("*") if file.is_file() and file.name not in _SECRET_FILES)
    return "\n".join(file.read_bytes().decode("utf-8", "replace") for file in files)


def environments(part: str) -> list[dict[str, str]]:
    """Those of the running processes with a word in their command."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if part in (one / "cmdline").read_text():
                pairs = (pair.partition("=") for pair in (one / "environ").read_text().split("\0") if pair)
                found.append({name: value for name, _, value in pairs})
        except OSError:
            continue
    return found


async def test_keys_are_nowhere_but_in_the_configuration(tmp_path: Path) -> None:
    names = ("model", "brave", "embedding", "images", "speak", "transcribe", "mcp-one", "mcp-two", "header", "exported")
    keys = {name: canary(name) for name in names}
    log, asked = tmp_path / "mcp.log", set[str]()
    async with FakeTelegram() as telegram, FakeAnthropic(keys["model"]) as model, repeating(asked) as url:
        server = {"base_url": f"{url}/v1", "model": "any"}
        program = [sys.executable, str(PROGRAM), str(log)]
        settings: dict[str, Any] = {
            "model": {"api_key": "${MODEL_KEY}"},
            "memory": {"search": {"embedding": {**server, "api_key": keys["embedding"]}}},
            "media": {
                "images": {**server, "api_key": keys["images"]},
                "speak": {**server, "voice": "one", "api_key": keys["speak"], "when": "always"},
                "transcribe": {**server, "api_key": keys["transcribe"]},
            },
            "tools": {
                "exec": True,
                "exec_allow": [[PYTHON, "spies.py"], [PYTHON, "looks.py"]],
                "web_search": {"kind": "brave", "api_key": keys["brave"], "base_url": url},
                "mcp": {
                    "one": {"command": program, "env": {"ONE_KEY": keys["mcp-one"]}},
                    "two": {"command": [*program, "noisy"], "env": {"TWO_KEY": keys["mcp-two"]}},
                    "far": {"url": f"{url}/mcp", "headers": {"Authorization": f"Bearer {keys['header']}"}},
                },
            },
        }
        async with GatewayProcess(telegram, model, settings, start_now=False) as gateway:
            gateway.environ |= {"OPENAI_API_KEY": keys["exported"], "AWS_SECRET_ACCESS_KEY": keys["exported"]}
            (gateway.home / ".env").write_text(f"MODEL_KEY={keys['model']}\n")
            (gateway.home / ".env").chmod(0o600)
            await gateway.start()
            chat = Chat(telegram, model, gateway)
            (gateway.workspace / "spies.py").write_text(SPIES)
            (gateway.workspace / "looks.py").write_text(f"HOME = {str(gateway.home)!r}\n{LOOKS_AROUND}")

            async def calls(tool: str, **given: Any) -> str:
                """What the model reads of a call."""
                said = f"{tool} {len(model.requests)} is over."
                model.answer(tool=(tool, given))
                model.answer(said)
                telegram.say("go on")
                await chat.hears(said)
                return json.dumps(model.requests[-1].body["messages"][-1])

            assert "HAS-ENDED" in await calls("exec", argv=[PYTHON, "spies.py"])
            if works(shutil.which("bwrap")):
                seen = await calls("exec", argv=[PYTHON, "looks.py"])
                assert "HAS-ENDED" in seen and "config.yaml" not in seen
            await calls("one__look", text="the key")
            await calls("two__look", text="the key")
            for tool, given in (("web_search", {"query": "boats"}), ("make_image", {"prompt": "a boat"})):
                assert "is_error" in await calls(tool, **given)
            model.fail(401, message=f"Wrong key {keys['model']}")
            telegram.say("and now?")
            before = len(telegram.messages(OWNER))
            await gateway.while_alive(telegram.wait_for(lambda: len(telegram.messages(OWNER)) > before))
            voice = telegram.add_file(opus(), "voice.ogg")
            model.answer("I cannot hear it.")
            telegram.say(None, voice={"file_id": voice, "file_unique_id": voice[-8:], "duration": 1})
            await chat.hears("I cannot hear it.")
            commands = [["status", "--json"], ["config", "show"], ["doctor"], ["mcp", "list"], ["mcp", "test", "far"]]
            said = [await gateway.cli(*command) for command in commands]

            started = environments(str(log))
            own = {name for one in started for name, value in one.items() if "canary" in value}
            assert own == {"ONE_KEY", "TWO_KEY"}
            assert all(len([value for value in one.values() if "canary" in value]) == 1 for one in started)
            shown = {
                "log": gateway.log,
                "commands": "".join(one.out + one.err for one in said),
                "chat": "".join(one.text for one in telegram.messages(OWNER)),
                "model": "".join(one.text for one in model.requests),
                "disk": kept(gateway.home) + log.read_text(),
            }
    every = {**keys, "telegram": telegram.token}
    assert [(name, where) for name, key in every.items() for where, text in shown.items() if key in text] == []
    assert asked == {keys[name] for name in ("brave", "embedding", "images", "speak", "transcribe", "header")}
