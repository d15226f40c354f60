"""The home: where it is, how it comes to be, and that one process uses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.home import Home, HomeBusy, HomeError, TokenBusy, find_home, hold_token, shown, write_private
from tests import forked

HOLD = """
import sys
from pathlib import Path
from gateway.home import Home
with Home(Path(sys.argv[1])).hold():
    print("held", flush=True)
    sys.stdin.read()
"""


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_flag_wins_over_the_environment_over_the_default(tmp_path: Path) -> None:
    environ = {"DAYBOOK_HOME": str(tmp_path / "b")}
    assert find_home(str(tmp_path / "a"), environ).path == tmp_path / "a"
    assert find_home(None, environ).path == tmp_path / "b"
    assert find_home(None, {"DAYBOOK_HOME": ""}).path == Path.home() / ".daybook"


def test_paths_are_shown_as_people_write_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    assert shown(find_home(None, {}).env_file) == "~/.daybook/.env"
    assert shown(Home(tmp_path / "ann" / "papers" / "book").env_file) == "~/papers/book/.env"
    assert shown(Home(tmp_path / "anna").env_file) == str(tmp_path / "anna" / ".env")


def test_a_new_home_is_its_owners_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "home")
    home.create()
    home.create()
    assert [mode(path) for path in (home.path, home.state, home.sessions)] == [0o700] * 3


def test_private_files_are_0600_and_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    write_private(file, "A=1\n")
    assert mode(file) == 0o600
    with pytest.raises(FileExistsError):
        write_private(file, "A=2\n")
    assert file.read_text() == "A=1\n"


def test_a_home_that_is_a_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeError, match="is not a folder"):
        Home(tmp_path / "file").create()
    with pytest.raises(HomeError, match="is not a folder"):
        Home(tmp_path / "file" / "home").create()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_is_not_writable_is_told_in_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(HomeError, match="not writable"):
        Home(tmp_path / "home").create()


def test_a_second_user_of_a_home_is_told_which_process_has_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    holder = forked.Popen(
        [sys.executable, "-c", HOLD, str(home.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(HomeBusy, match=f"process {holder.pid}") as raised, home.hold():
            pass
        assert raised.value.pid == holder.pid
    finally:
        holder.kill()
        holder.communicate()
    with home.hold():  # a killed process holds nothing
        pass


def test_a_home_is_free_again_afterwards(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.hold(), pytest.raises(HomeBusy), home.hold():
        pass
    with home.hold():
        pass


def test_what_fails_while_the_home_is_held_is_not_blamed_on_the_home(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), Home(tmp_path).hold():
        raise FileNotFoundError


def test_a_token_serves_one_gateway_and_is_nowhere_on_disk(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    with hold_token("12345:secret", environ):
        with pytest.raises(TokenBusy, match=f"process {os.getpid()}"), hold_token("12345:secret", environ):
            pass
        with hold_token("another", environ):
            pass
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert files
        assert not [path for path in files if "secret" in str(path) or "secret" in path.read_text()]
    with hold_token("12345:secret", environ):
        pass


def test_a_user_without_a_writable_home_can_hold_a_token_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with hold_token(f"token of {tmp_path}", {"HOME": str(tmp_path / "file")}):
        pass
