"""What people, their scripts and the model see of Daybook, as text: files `surface/*` beside this one. A module may be
moved and a class renamed without a byte of it changing."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from gateway.__main__ import main
from gateway.operations import is_on_page
from tests.fakes.anthropic_answers import JsonObject
from tests.fakes.anthropic_rules import blocks_of
from tests.flows.process import ROOT
from tests.gateway.features.imports.made import KEY, chatgpt_chat, chatgpt_message, claude_zip, lisbon, openclaw
from tests.homes import recording
from tests.recorded import sentences
from tests.recorded.story import Story, at_the_page

RECORDED = Path(__file__).with_name("surface")
_COMMAND = re.compile(r"^  ([a-z]+)  ", re.MULTILINE)
_SESSION = re.compile(r"\d{8}-\d{6}-\d{3}-[0-9a-f]{4}")
_CHANGE = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_TIMES = (
    (re.compile(r"20\d\d-\d\d-\d\d \w{3} \d\d:\d\d"), "DAY TIME"),
    (_SESSION, "SESSION"),
    (_CHANGE, "CHANGE"),
)
_NAME = re.compile(r"""["']([a-z_]+(?:\.[a-z_]+)*)["']""")


# Of the commands


def helps() -> str:
    """`--help` of every command, as `main` prints it."""
    return "\n".join(f"$ daybook {' '.join(path)} --help\n{text}" for path, text in _helps(()))


def _helps(path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    text = _printed(*path, "--help")
    yield path, text
    for command in _COMMAND.findall(text.partition("\nCommands:\n")[2]):
        yield from _helps((*path, command))


def _printed(*arguments: str) -> str:
    before, columns = sys.argv, os.environ.get("COLUMNS")
    sys.argv, os.environ["COLUMNS"] = ["daybook", *arguments], "100"
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
            main()
    finally:
        sys.argv = before
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return out.getvalue()


def configuration() -> str:
    """Each key of config.yaml with its type and default."""
    schema = json.loads(_printed("config", "schema"))
    return "\n".join(_keys("", schema, schema.get("$defs", {})))


def _keys(path: str, node: JsonObject, definitions: Mapping[str, JsonObject]) -> Iterator[str]:
    node = {**definitions[node["$ref"].rpartition("/")[2]], **node} if "$ref" in node else node
    about = {name: node[name] for name in ("type", "enum", "const", "default") if name in node and path}
    if about:
        yield f"{path}: {json.dumps(about, ensure_ascii=False)}"
    for name, inner in node.get("properties", {}).items():
        yield from _keys(f"{path}.{name}".lstrip("."), inner, definitions)
    for kind in ("additionalProperties", "items"):
        if isinstance(inner := node.get(kind), dict):
            yield from _keys(f"{path}.*", inner, definitions)
    for inner in (one for kind in ("anyOf", "oneOf", "allOf") for one in node.get(kind, ())):
        yield from _keys(path, inner, definitions)


_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "import chatgpt": ("{brought}/chatgpt.zip", "--dry-run"),
    "import claude": ("{brought}/claude.zip", "--dry-run"),
    "import nanobot": ("{brought}/nanobot", "--dry-run"),
    "import openclaw": ("{brought}/openclaw", "--dry-run"),
    "import text": ("{brought}/openclaw", "--dry-run"),
    "import undo": ("{import}",),
    "memory search": ("boat",),
    "memory diff": ("{change}",),
    "memory restore": ("{change}",),
    "sessions show": ("{session}",),
    "sessions prune": ("--days", "3000"),
    "sessions archive": ("{ended}",),
    "sessions rename": ("{ended}", "The boat"),
    "pair approve": ("{code}",),
    "pair revoke": ("telegram:33333",),
    "schedule add": ("--id", "stretch", "--at", "2040-01-01T09:00", "--to", "telegram:11111", "Stretch"),
    "schedule pause": ("look-at-the-tide",),
    "schedule resume": ("look-at-the-tide",),
    "schedule remove": ("stretch",),
    "schedule run": ("heartbeat",),
    "skills show": ("memory",),
    "mcp test": ("nothing",),
}
"""Of commands with `--json` that want any."""


async def outputs(story: Story) -> str:
    """The keys of what each `--json` prints, and the types of their values. Some of it changes the home."""
    changes = json.loads(await story.cli("memory", "log", "--json"))
    sessions = json.loads(await story.cli("sessions", "list", "--json"))
    change = next(one["id"] for one in changes if one["by"] == "memory_save")
    brought = _brought(story.gateway.home.parent / "brought")
    imported = json.loads(await story.cli("import", "claude", str(brought / "claude.zip"), "--json"))
    (asked,) = (one for one in json.loads(await story.cli("pair", "list", "--json")) if one["state"] == "waiting")
    known = {"change": change, "session": sessions[0]["id"], "brought": str(brought), "import": imported["id"]}
    current = {one["key"]: one["id"] for one in reversed(sessions)}
    known["ended"] = next(one["id"] for one in sessions if one["id"] not in current.values())
    known["code"] = asked["code"]
    lines = []
    for path, text in _helps(()):
        if "  --json " not in text:
            continue
        arguments = (one.format(**known) for one in _ARGUMENTS.get(" ".join(path), ()))
        ran = await story.gateway.cli(*path, *arguments, "--json")
        assert ran.out, (path, ran)
        lines += [f"$ daybook {' '.join(path)} --json", *sorted(set(_shape("", ran.json()))), ""]
    return "\n".join(lines)


def _brought(folder: Path) -> Path:
    """Something to import of every kind."""
    openclaw(folder / "openclaw")
    (folder / "openclaw" / "photo.png").write_bytes(b"")
    memory = openclaw(folder / "nanobot") / "MEMORY.md"
    memory.rename(memory.parent / "memory" / memory.name)
    claude_zip(folder / "claude.zip", [lisbon(), {"of": "another kind"}])
    claude_zip(folder / "chatgpt.zip", [chatgpt_chat(chatgpt_message("user", f"the key is {KEY}", 1741083731.1))])
    return folder


def _shape(path: str, value: object) -> Iterator[str]:
    """Lines like `jobs[].id: str`."""
    match value:
        case dict():
            for name, inner in value.items():
                yield from _shape(f"{path}.{name}", inner)
        case list():
            yield f"{path}[]"
            for inner in value:
                yield from _shape(f"{path}[]", inner)
        case None:
            yield f"{path}: null"
        case _:
            yield f"{path}: {type(value).__name__}"


# Of a chat


def chat(story: Story) -> str:
    """The menus of commands, and the answer to /help."""
    menus = [
        line
        for scope, commands in sorted(story.telegram.commands.items())
        for line in (f"menu {scope}", *(f"  /{one['command']} - {one['description']}" for one in commands))
    ]
    return "\n".join([*menus, "", story.helped])


# Of programs


async def operations(story: Story) -> str:
    """Names that the gateway's socket answers to, among all plain strings in its source, and which of them a person may
    call on the page."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "gateway").rglob("*.py"))]
    names = sorted({name for text in texts for name in _NAME.findall(text)})
    answers = await _called(story, ["nonsense", *names])
    refused = answers[0]
    return "\n".join(
        f"{name} (page)" if is_on_page(name) else name
        for name, answer in zip(names, answers[1:], strict=True)
        if answer != refused.replace("nonsense", name)
    )


async def _called(story: Story, names: list[str]) -> list[str]:
    """What the socket answers to each, without parameters."""
    answers = []
    reader, writer = await asyncio.open_unix_connection(story.gateway.home / "state" / "gateway.sock", limit=1 << 24)
    try:
        await reader.readline()
        for name in names:
            writer.write(json.dumps({"call": name, "params": {}}).encode() + b"\n")
            answers.append((await reader.readline()).decode())
    finally:
        writer.close()
        await writer.wait_closed()
    return answers


async def metrics(story: Story) -> str:
    async with at_the_page(story) as page, page.get("/metrics") as answer:
        return "\n".join(line for line in (await answer.text()).splitlines() if line.startswith("# TYPE"))


# On disk


def databases(story: Story) -> str:
    """Tables and indexes of what cannot be made again."""
    home = story.gateway.home
    return "\n".join(line for file in recording.databases(home) for line in _tables(file, str(file.relative_to(home))))


def _tables(file: Path, name: str) -> Iterator[str]:
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        yield f"-- {name}, version {version}"
        for (sql,) in database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"):
            yield f"{sql};"


def entries(story: Story) -> str:
    """The types of entries in transcripts, with all keys that occur in each."""
    keys: dict[str, set[str]] = defaultdict(set)
    for entry in story.gateway.transcripts():
        keys[entry["type"]] |= set(_entry_keys("", entry))
    return "\n".join(f"{kind}: {' '.join(sorted(found))}" for kind, found in sorted(keys.items()))


def _entry_keys(path: str, value: object) -> Iterator[str]:
    """Those of `files` are paths, those of a call's input its own."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield f"{path}{name}"
        if name not in ("files", "input", "content"):
            yield from _entry_keys(f"{path}{name}.", inner)
        for block in inner if name == "content" and isinstance(inner, list) else ():
            yield from _entry_keys(f"content.{block['type']}.", block)


def files(story: Story) -> str:
    """Paths in the home of a gateway that runs."""
    home = story.gateway.home
    paths = (str(file.relative_to(home)) for file in home.rglob("*") if not file.is_dir())
    return "\n".join(sorted({_steady(path) for path in paths if not path.endswith(("-wal", "-shm"))}))


# To the model


def prompts(story: Story) -> str:
    """Requests as the model got them, without tools and earlier messages. What stood in one before is named only."""
    known: dict[str, str] = {}
    return "\n".join(
        line for one in story.asked for line in _request(f"{one.audience}: {one.purpose}", one.body, known)
    )


def _request(title: str, body: JsonObject, known: dict[str, str]) -> Iterator[str]:
    rest = {name: value for name, value in body.items() if name not in ("system", "tools", "messages")}
    yield f"==== {title}"
    yield f"---- request {json.dumps(rest, sort_keys=True)}"
    yield f"---- tools {' '.join(tool['name'] for tool in body.get('tools', ())) or 'none'}"
    shown = [("system", block) for block in body.get("system", ())]
    shown += [(body["messages"][-1]["role"], block) for block in blocks_of(body["messages"][-1])]
    for part, block in shown:
        text = _steady(block.get("text", json.dumps(block, sort_keys=True)))
        cached = " (cached)" if "cache_control" in block else ""
        if text in known:
            yield f"---- {part}{cached}: the {part} text of {known[text]}"
        else:
            known[text] = title
            yield from (f"---- {part}{cached}", text)
    yield ""


def tools(story: Story) -> str:
    """Each tool as the model is told of it; one that is told in several ways stands here in each."""
    told: dict[str, list[str]] = defaultdict(list)
    for one in story.asked:
        for tool in one.body.get("tools", ()):
            spec = json.dumps({name: value for name, value in tool.items() if name != "cache_control"}, sort_keys=True)
            if spec not in told[tool["name"]]:
                told[tool["name"]].append(spec)
    specs = [json.loads(spec) for name in sorted(told) for spec in told[name]]
    return json.dumps(specs, indent=1, ensure_ascii=False)


def _steady(text: str) -> str:
    """Without moments and ids."""
    for pattern, name in _TIMES:
        text = pattern.sub(name, text)
    return text


# All of it


async def collect(story: Story) -> Mapping[str, str]:
    """File names in `surface/` and their texts. The story is told, and its gateway runs."""
    texts = {
        "help.txt": helps(),
        "config.txt": configuration(),
        "json.txt": await outputs(story),
        "chat.txt": chat(story),
        "metrics.txt": await metrics(story),
        "databases.sql": databases(story),
        "transcripts.txt": entries(story),
        "files.txt": files(story),
        "prompts.txt": prompts(story),
        "tools.json": tools(story),
        "operations.txt": await operations(story),
        "sentences.txt": sentences.page(),
    }
    return {name: f"{text.strip()}\n" for name, text in texts.items()}


def write(texts: Mapping[str, str]) -> None:
    RECORDED.mkdir(exist_ok=True)
    for file in RECORDED.iterdir():
        file.unlink()
    for name, text in texts.items():
        (RECORDED / name).write_text(text, encoding="utf-8")
