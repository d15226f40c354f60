"""`daybook web`: a link that logs in, as a code for a phone, and in the browser where there is one."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import segno
from click.testing import CliRunner

from agent.languages.codes import Language
from gateway.cli import daybook
from gateway.cli.web import qr_lines
from gateway.home import Home
from gateway.terminal.browser import has_browser, open_link
from gateway.terminal.context import typed
from tests.english import english_in
from tests.gateway.cli.test_cli import Terminal, gateway, invoke, shell

LINK = "http://127.0.0.1:8765/#once=0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    home.config_file.write_text("channels: {web: {port: 0}}\n")
    return home


# the command


def test_without_a_gateway_it_says_how_to_start_one_and_json_still_has_the_token(home: Home) -> None:
    def ran(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(daybook, ["--home", str(home.path), "web", *words])
        return result.exit_code, result.output

    code, said = ran()
    assert code == 1 and "Daybook isn't running; `" in said and " gateway` starts it." in said
    code, told = ran("--json")
    token = home.web_token.read_text().strip()
    assert (code, json.loads(told)) == (0, {"address": "", "link": "", "phone": "", "token": token})
    home.config_file.write_text("channels: {web: {enabled: false}}\n")
    code, said = ran()
    assert code == 1 and "is turned off" in said


def test_each_call_makes_a_fresh_link_and_no_log_has_it(home: Home) -> None:
    with gateway(home.path) as process:
        first = json.loads(shell(home.path, "web", "--json").stdout)
        said = shell(home.path, "web").stdout
        links = {first["link"], *re.findall(r"http\S+#once=\S+", said)}
        assert len(links) == 2 and all(one.startswith(f"{first['address']}/#once=") for one in links)
        assert first["phone"] == "" and "channels.web.host: 0.0.0.0" in said, "only this machine reaches it"
        assert first["address"] in said and first["token"] in said
        for language in map(Language, ("de", "fr", "zh")):
            shown = invoke(home.path, "web", LC_ALL=f"{language}.UTF-8").output
            assert first["address"] in shown and english_in(shown, language, first["token"]) == [], shown
        process.terminate()
        assert process.stderr is not None
        log = process.stderr.read()
        assert first["address"] in log and not any(one.partition("=")[2] in log for one in links)


# a code for a phone


def test_the_code_holds_the_link() -> None:
    drawn = qr_lines(LINK)
    bits = [[" ▄▀█".index(sign) & place == 0 for sign in line] for line in drawn for place in (2, 1)]
    code = segno.make(LINK, error="l", micro=False)
    wanted = [[bool(bit) for bit in row] for row in code.matrix_iter(border=2)]
    assert bits[: len(wanted)] == wanted and len(bits) - len(wanted) in (0, 1)
    assert max(map(len, drawn)) <= 44, "a narrow terminal shows it"


# the path of the command


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    script = tmp_path / "clone" / ".venv" / "bin" / "daybook"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    return tmp_path / "clone"


@pytest.mark.parametrize(
    ("folder", "path", "shown"),
    [
        (".", "", ".venv/bin/daybook web"),
        (".", "{clone}/.venv/bin", "daybook web"),
        ("..", "", "clone/.venv/bin/daybook web"),
        (".venv/lib", "", "{clone}/.venv/bin/daybook web"),
    ],
)
def test_a_command_is_named_by_the_path_that_works_from_here(
    clone: Path, monkeypatch: pytest.MonkeyPatch, folder: str, path: str, shown: str
) -> None:
    (clone / ".venv" / "lib").mkdir()
    monkeypatch.chdir(clone / folder)
    monkeypatch.setattr(sys, "argv", [str(clone / ".venv" / "bin" / "daybook"), "gateway"])
    monkeypatch.setenv("PATH", path.format(clone=clone))
    monkeypatch.setenv("HOME", str(clone))
    monkeypatch.setenv("DAYBOOK_HOME", str(clone / "home"))
    assert typed(Home(clone / ".daybook"), "web") == shown.format(clone=clone)
    elsewhere = clone / "my home"
    assert shlex.split(typed(Home(elsewhere), "web"))[1:] == ["--home", str(elsewhere), "web"]


def test_a_command_of_python_m_works_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "gateway" / "__main__.py")])
    home = Home(tmp_path / "home")
    home.create()
    ran = subprocess.run([*shlex.split(typed(home, "web", "--json"))], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0 and json.loads(ran.stdout)["address"] == ""


# the browser


@pytest.mark.parametrize(
    ("environ", "platform", "opens"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"BROWSER": "firefox"}, "linux", True),
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, "linux", False),
        ({}, "darwin", True),
        ({"SSH_TTY": "/dev/ttys000"}, "darwin", False),
    ],
)
def test_a_browser_is_opened_where_the_person_sits(environ: dict[str, str], platform: str, opens: bool) -> None:
    assert has_browser(environ, platform) is opens


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What the browser was told to open, and what it found there; it is loud, as they are."""
    seen = tmp_path / "seen"
    script = tmp_path / "a-browser"
    script.write_text(
        f"#!{sys.executable}\nimport os, pathlib, sys, urllib.parse\n"
        "path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[1]).path))\n"
        "print('Opening in existing browser session.', flush=True)\n"
        f"new = pathlib.Path({str(seen)!r} + '.new')\n"
        "new.write_text(sys.argv[1] + chr(10) + path.read_text())\n"
        f"new.rename({str(seen)!r})\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    yield seen


def wait_for(file: Path) -> str:
    for _ in itertools.repeat(None, 6_000):
        if file.exists():
            return file.read_text()
        time.sleep(0.02)
    raise AssertionError("no browser was opened")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no other user sees the arguments")
def test_the_link_is_not_among_the_arguments_that_others_see(home: Home, opened: Path) -> None:
    for _ in range(2):  # the file of an earlier call is replaced
        open_link(home, LINK)
        told, page = wait_for(opened).split("\n", 1)
        assert told == (home.state / "open.html").as_uri()
        assert f'http-equiv="refresh" content="0; url={LINK}"' in page
        assert (home.state / "open.html").stat().st_mode & 0o777 == 0o600
        opened.unlink()


@pytest.mark.parametrize("words", [[], ["--no-browser"]])
def test_at_a_terminal_the_browser_opens_unless_it_shall_not(home: Home, opened: Path, words: list[str]) -> None:
    with gateway(home.path):
        terminal = Terminal(home.path, "web", *words, environ={"BROWSER": os.environ["BROWSER"]})
        try:
            terminal.until("#once=")
            terminal.until("with this token: ")
            assert terminal.process.wait(timeout=120) == 0
            if words:
                assert not (home.state / "open.html").exists()
            else:
                assert "#once=" in wait_for(opened)
            assert "existing browser session" not in terminal.text
        finally:
            terminal.close()
