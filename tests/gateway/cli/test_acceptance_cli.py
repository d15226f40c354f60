"""SPEC section 1, as somebody sees it who has a shell and no luck."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.gateway.cli.test_cli import environment, gateway, shell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and sockets of POSIX")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Too long for a socket's address (108 bytes), with spaces and letters that are not ASCII."""
    return tmp_path / ("long" * 20) / "Täglich 日記 home"


def test_a_home_with_any_name_serves_commands(home: Path) -> None:
    with gateway(home):
        said = shell(home, "chat", "-m", "My bike is red")
        asked = shell(home, "chat", "-m", "What colour is my bike?")
        status = shell(home, "status", "--json")
    assert (said.returncode, asked.returncode) == (0, 0)
    assert "My bike is red" in asked.stdout
    assert json.loads(status.stdout)["channels"]["terminal"] == {"state": "ok", "last_error": ""}


def test_status_has_the_shape_of_the_contract(home: Path) -> None:
    ran = shell(home, "status", "--json")
    status = json.loads(ran.stdout)
    assert {"channels", "sessions", "inbox", "outbox", "jobs", "usage"} <= set(status)
    for channel in status["channels"].values():
        assert set(channel) == {"state", "last_error"}
        assert channel["state"] in ("ok", "degraded", "down", "off")
    assert "Daybook isn't running" in ran.stderr


def test_lists_have_the_keys_of_the_contract(home: Path) -> None:
    shell(home, "chat", "-m", "Remember that the bike is red")
    [session] = json.loads(shell(home, "sessions", "list", "--json").stdout)
    assert set(session) == {"id", "key", "started", "last", "messages"}
    [hit] = json.loads(shell(home, "memory", "search", "bike", "-n", "1", "--json").stdout)
    assert set(hit) == {"path", "start_line", "end_line", "date", "score", "text"}
    for finding in json.loads(shell(home, "doctor", "--json").stdout):
        assert set(finding) == {"check", "ok", "message", "cure"}


def test_a_reader_that_leaves_keeps_nobody_waiting(home: Path) -> None:
    with gateway(home):
        with forked.Popen(
            [sys.executable, "-m", "gateway", "chat", "-m", "hello"],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.close()
            assert process.wait(timeout=120) == 1
            assert process.stderr is not None
            assert b"Traceback" not in process.stderr.read()
        again = shell(home, "chat", "-m", "/whoami")
    assert "owner" in again.stdout.lower()


@pytest.mark.parametrize("words", [["chat", "-m", "hi"], ["gateway"], ["status", "--json"]])
def test_a_workspace_that_is_a_file_is_one_sentence(home: Path, words: list[str]) -> None:
    home.mkdir(parents=True)
    (home / "workspace").write_text("mine")
    ran = shell(home, *words)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.splitlines()[-1].startswith("Error: Agent main can't use its workspace")
    assert "Traceback" not in ran.stderr
    assert (home / "workspace").read_text() == "mine"


def test_a_database_that_is_none_is_one_sentence_with_the_way_on(home: Path) -> None:
    (home / "state").mkdir(parents=True)
    (home / "state" / "daybook.db").write_bytes(b"not a database, and longer than its header would be" * 9)
    ran = shell(home, "chat", "-m", "hi")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "`daybook doctor` says what to do" in ran.stderr
    findings = json.loads(shell(home, "doctor", "--json").stdout)
    assert any("move" in finding["cure"] for finding in findings)


def test_a_linked_home_is_the_home(home: Path) -> None:
    real = home.parent / "real"
    real.mkdir(parents=True)
    home.symlink_to(real)
    assert shell(home, "chat", "-m", "hi").returncode == 0
    assert (real / "workspace" / "MEMORY.md").is_file()


def test_everything_made_is_the_owners_alone(home: Path) -> None:
    shell(home, "init", "--yes", "--model-key", "sk-ant-0123456789abcdef0123", "--model-url", "http://127.0.0.1:9")
    shell(home, "status")
    for path in (home, *home.rglob("*")):
        mode = path.stat().st_mode & 0o777
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path}: {mode:o}"


DEEP = "[" * 200_000
DEEP_PAGE = f"---\ndescription: {'[' * 7_900}\n---\nbody\n"
MERGES = [f"c{at}: &b{at} {{<<: [{', '.join([f'*b{at - 1}'] * 9)}]}}" for at in range(1, 31)]
GROWING_PAGE = "\n".join(["---", "a: &b0 {k: 1}", *MERGES, "---", "body"])


@pytest.mark.timeout(1_800)
def test_files_that_are_nested_too_deeply_end_nothing_and_are_named(home: Path) -> None:
    """Each of them ended the process with a full stack (SIGSEGV), or held it for ever, at each start again."""
    with gateway(home):
        shell(home, "schedule", "add", "--every", "2h", "water the plants")
        assert "water-the-plants" in shell(home, "schedule", "list").stdout
    workspace = home / "workspace"
    (workspace / "schedule.yaml").write_text(f"jobs:\n  - id: x\n    text: {DEEP}\n")
    deep = ("skills/deep/SKILL.md", "memory/notes/deep.md", "groups/telegram--1/skills/deep/SKILL.md")
    grow = ("skills/grows/SKILL.md", "memory/notes/grows.md")
    pages = dict.fromkeys(deep, DEEP_PAGE) | dict.fromkeys(grow, GROWING_PAGE)
    for name, text in pages.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    with gateway(home):
        listed, said = shell(home, "schedule", "list"), shell(home, "chat", "-m", "My bike is red")
        checked = shell(home, "skills", "check")
    assert (listed.returncode, said.returncode) == (0, 0)
    assert "water-the-plants" in listed.stdout, "the last file that could be read is in force"
    assert "deep: its front matter is not valid YAML (line 2)" in checked.stdout and "grows: " in checked.stdout
    told = {one["message"] for one in json.loads(shell(home, "doctor", "--json").stdout) if not one["ok"]}
    assert any("can't read schedule.yaml: line 3: it is nested more than 50 deep" in one for one in told)
    assert any("skills/deep/SKILL.md its front matter" in one for one in told)


@pytest.mark.parametrize(
    "text", [f"session: {DEEP}", "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 3_000))]
)
def test_a_configuration_that_is_nested_too_deeply_is_named_with_its_line(home: Path, text: str) -> None:
    home.mkdir(parents=True)
    (home / "config.yaml").write_text(f"timezone: Europe/Berlin\n{text}\n")
    for command in (("config", "validate"), ("doctor",), ("status",)):
        ran = shell(home, *command)
        assert ran.returncode in (1, 2) and "Traceback" not in ran.stderr
        assert "50 deep" in ran.stdout + ran.stderr and "config.yaml:" in ran.stdout + ran.stderr
