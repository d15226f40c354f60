"""`daybook logs`: the newest lines, and what comes."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli import daybook
from gateway.home import Home
from gateway.log_setup import older
from tests import forked
from tests.gateway.cli.test_cli import Terminal, environment


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def logs(home: Home, *words: str) -> tuple[int, str]:
    ran = CliRunner().invoke(daybook, ["--home", str(home.path), "logs", *words])
    return ran.exit_code, ran.output


def test_before_the_first_start_it_says_when_there_will_be_a_log(home: Home) -> None:
    code, said = logs(home)
    assert code == 1 and "Nothing is logged in " in said and " gateway` runs." in said


def test_the_newest_lines_are_shown_also_where_the_file_has_just_begun(home: Home) -> None:
    older(home.log_file).write_text("".join(f"old {number}\n" for number in range(100)))
    home.log_file.write_text("new 1\nnew 2\nnot yet all of ")
    assert logs(home, "-n", "4") == (0, "old 99\nnew 1\nnew 2\nnot yet all of \n")
    assert len(logs(home)[1].splitlines()) == 50 and logs(home, "-n", "0") == (0, "")
    assert logs(home, "-n", "-1")[0] == 2


def test_of_a_home_that_computers_share_each_shows_its_own_log(home: Home) -> None:
    home.log_file.write_text("when it was alone\n")
    home.claim.write_text("1234\n")
    assert logs(home)[0] == 1
    home.log_file.write_text("of this computer\n")
    assert logs(home) == (0, "of this computer\n")
    assert (home.state / f"gateway-{socket.gethostname()}.log").exists()


def test_what_comes_is_followed_over_the_change_to_a_new_file(home: Home) -> None:
    home.log_file.write_text("before\n")
    command = [sys.executable, "-m", "gateway", "logs", "--follow"]
    process = forked.Popen(command, env=environment(home.path), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "before\n"
        with home.log_file.open("a") as file:
            file.write("one\ntw")
            file.flush()
            assert process.stdout.readline() == "one\n"
            file.write("o\n")
            file.flush()
            assert process.stdout.readline() == "two\n"
            file.write("three\n")
        home.log_file.rename(older(home.log_file))
        home.log_file.write_text("four\n")
        assert [process.stdout.readline() for _ in range(2)] == ["three\n", "four\n"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()
        with process:
            pass


def test_what_would_command_a_terminal_is_not_passed_on(home: Home) -> None:
    home.log_file.write_text("a name \x1b]0;evil\x07\x1b[2J here\n")
    terminal = Terminal(home.path, "logs")
    try:
        terminal.until("here")
        assert "a name ]0;evil[2J here" in terminal.text
    finally:
        terminal.close()
