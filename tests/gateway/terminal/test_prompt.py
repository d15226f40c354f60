"""The conversation at a terminal with a cursor, as it stands on the screen: typed, pasted, completed, interrupted."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyte
import pytest

from gateway.terminal.prompt import footer, with_files
from tests import forked
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.anthropic_answers import Answer, Say
from tests.gateway.cli.test_cli import environment

pytestmark = pytest.mark.timeout(90)
CTRL_C, CTRL_D, TAB, UP, ALT_ENTER = "\x03", "\x04", "\t", "\x1b[A", "\x1b\r"
PASTE, PASTED = "\x1b[200~", "\x1b[201~"


class Watched:
    """A command at a pseudo-terminal, and what stands on its screen."""

    def __init__(self, home: Path, *words: str, columns: int = 80, lines: int = 24, **environ: str) -> None:
        self._master, slave = pty.openpty()
        self._size(slave, columns, lines)
        self._screen = pyte.HistoryScreen(columns, lines, history=5_000)
        self._screen.write_process_input = self.type  # type: ignore[method-assign]  # where is the cursor?
        self._stream = pyte.ByteStream(self._screen)
        variables = environment(home) | {"TERM": "xterm-256color"} | environ
        self.process = forked.Popen(
            [sys.executable, "-m", "gateway", *words], env=variables, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, terminal=True,
        )  # fmt: skip
        os.close(slave)

    @staticmethod
    def _size(terminal: int, columns: int, lines: int) -> None:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, columns: int, lines: int) -> None:
        self._screen.resize(lines, columns)
        self._size(self._master, columns, lines)

    @property
    def lines(self) -> list[str]:
        """All rows, also those that have scrolled away, without what is empty at their ends."""
        above = ["".join(row[at].data for at in range(self._screen.columns)) for row in self._screen.history.top]
        return [row.rstrip() for row in (*above, *self._screen.display)]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def until(self, text: str, *, gone: bool = False) -> None:
        """Reads until `text` stands there, or no longer does."""
        self.until_true(lambda: (text in self.text) is not gone, text)

    def press_until(self, key: str, text: str) -> None:
        """What earlier starts left is read while one types already."""
        for _ in range(40):
            self.type(key)
            while select.select([self._master], [], [], 1.0)[0]:
                self.read()
            if text in self.text:
                return
        pytest.fail(f"{text!r} is not there:\n{self.text}")

    def until_true(self, is_there: Callable[[], bool], wanted: str = "") -> None:
        while not is_there():
            self.read(wanted)

    def read(self, wanted: str = "") -> None:
        """Takes what comes next."""
        ready, _, _ = select.select([self._master], [], [], 40)
        assert ready, f"{wanted!r} is not so:\n{self.text}"
        try:
            self._stream.feed(os.read(self._master, 65_536))
        except OSError:
            pytest.fail(f"it ended before {wanted!r}:\n{self.text}")

    def leaves(self) -> int:
        """Its exit code after Ctrl-D, typed again while it works: between two prompts the terminal may swallow one."""
        while self.process.poll() is None:
            with suppress(OSError):
                self.type(CTRL_D)
            until = time.monotonic() + 1.0
            while time.monotonic() < until and self.process.poll() is None:
                if select.select([self._master], [], [], 0.05)[0]:
                    with suppress(OSError):
                        self._stream.feed(os.read(self._master, 65_536))
        return self.process.wait(timeout=120)

    def ends(self) -> int:
        """Its exit code."""
        while self.process.poll() is None:
            if select.select([self._master], [], [], 0.05)[0]:
                try:
                    self._stream.feed(os.read(self._master, 65_536))
                except OSError:
                    break
        return self.process.wait(timeout=120)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("channels: {web: {enabled: false}}\nmemory: {search: {embedding: none}}\n")
    (home / "config.yaml").chmod(0o600)
    return home


@contextmanager
def chatting(home: Path, *words: str, **how: object) -> Iterator[Watched]:
    one = Watched(home, *(words or ("chat",)), **how)  # type: ignore[arg-type]
    try:
        one.until("% full")
        yield one
    finally:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()


def test_it_answers_below_what_was_said_and_remembers_it_for_the_next_start(home: Path) -> None:
    with chatting(home) as one:
        one.until("offline · context")
        one.type("my cat is Luna\r")
        one.until("> my cat is Luna\nNoted:")
        assert one.leaves() == 0
    assert (home / "state" / "terminal-history").stat().st_mode & 0o777 == 0o600
    with chatting(home) as again:
        again.press_until(UP, "> my cat is Luna")
        again.type(CTRL_C)
        again.until("> my cat is Luna", gone=True)


def test_a_paste_of_many_lines_is_one_message_and_so_are_lines_typed_on_purpose(home: Path) -> None:
    with chatting(home) as one:
        one.type(f"{PASTE}/remember one\ntwo\nthree{PASTED}")
        one.until("three")
        assert "Remembered" not in one.text and "Noted" not in one.text
        one.type("\r")
        one.until("three\n")
        one.until("Noted in today's log")
        one.type(f"/remember four{ALT_ENTER}five\\\rsix\r")
        one.until("six\n")
        assert one.leaves() == 0
    (log,) = (home / "workspace" / "memory").glob("20*.md")
    text = log.read_text()
    assert text.count("\n- ") == 2 and all(word in text for word in ("one", "three", "four", "six"))


def test_ctrl_c_clears_the_line_and_twice_leaves(home: Path) -> None:
    with chatting(home) as one:
        one.type("half a thought")
        one.until("> half a thought")
        one.type(CTRL_C)
        one.until("half a thought", gone=True)
        one.type(CTRL_C)
        one.until("Ctrl-C again leaves")
        one.type(CTRL_C)
        assert one.ends() == 0


def test_commands_their_words_and_files_are_completed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a report.txt").write_text("The boiler is from 2019.")
    with chatting(home, columns=200) as one:
        one.type("/dai")
        one.until("when I sum up the day here")
        one.type(f"{TAB} o")
        one.until("off")
        one.type(CTRL_C)
        one.type(f"@{tmp_path}/a")
        one.until("a report.txt")
        one.type(TAB)
        one.until('report.txt"')
        one.type("\r")
        one.until("> @")
        one.until("Noted:")
    assert "The boiler is from 2019." in [
        one.read_text() for one in (home / "state" / "media").rglob("*") if one.is_file()
    ]


def test_typing_while_an_answer_streams_leaves_the_line_whole_and_steers_it(home: Path) -> None:
    with FakeAnthropic.in_thread() as model:
        (home / ".env").write_text("ANTHROPIC_API_KEY=" + model.api_key)
        with (home / "config.yaml").open("a") as config:
            config.write(f"model: {{base_url: '{model.base_url}'}}\n")
        model.answer(("A long story about ", "a cat."))
        held = model.hold(after=1)
        with chatting(home, columns=44) as one:
            one.type("tell me\r")
            one.until("A long story about")
            one.type("make it sho")
            one.until("> make it sho")
            model.reply = lambda _: "A short one."
            one.type("rt\r")
            one.until("> make it short\n")
            held.release()
            one.until("A short one.")
            one.until_true(lambda: one.text.count("make it short") == 1 and one.text.count("tell me") == 1)
            one.until("context")


def test_ctrl_c_stops_an_answer(home: Path) -> None:
    with FakeAnthropic.in_thread() as model:
        (home / ".env").write_text("ANTHROPIC_API_KEY=" + model.api_key)
        with (home / "config.yaml").open("a") as config:
            config.write(f"model: {{base_url: '{model.base_url}'}}\n")
        model.answer(("Once upon a time ", "there was a cat."))
        model.hold(after=1)
        with chatting(home) as one:
            one.type("a story\r")
            one.until("Once upon a time")
            one.type(CTRL_C)
            one.until("topped")
            assert one.leaves() == 0


def test_a_button_is_pressed_by_its_number(home: Path) -> None:
    with chatting(home) as one:
        one.type("/remind tomorrow 15:00 call mum\r")
        one.until("[1] Cancel")
        one.type("1\r")
        one.until("Cancelled")


@pytest.mark.parametrize("columns", [44, 100])
def test_a_window_of_any_width_shows_wide_letters_and_markdown(home: Path, columns: int) -> None:
    with FakeAnthropic.in_thread() as model:
        (home / ".env").write_text("ANTHROPIC_API_KEY=" + model.api_key)
        with (home / "config.yaml").open("a") as config:
            config.write(f"model: {{base_url: '{model.base_url}'}}\n")
        model.reply = lambda _: Answer(
            (
                Say(
                    (
                        "**牙医** 在星期一, ",
                        "and\n\n- bread\n- milk",
                    )
                ),
            )
        )
        with chatting(home, columns=columns) as one:
            one.type("我的牙医?\r")
            one.until("milk")
            assert "**" not in one.text and "牙" in one.text
            one.resize(60, 20)
            one.type("again\r")
            one.until("> again")


def test_without_colours_there_are_none(home: Path) -> None:
    with chatting(home, NO_COLOR="1") as one:
        one.type("/help\r")
        one.until("list the commands")
        colours = {cell.fg for row in one._screen.buffer.values() for cell in row.values()}
        assert colours == {"default"}


def test_a_signal_from_outside_is_a_ctrl_c(home: Path) -> None:
    with chatting(home) as one:
        one.process.send_signal(signal.SIGINT)
        one.until("Ctrl-C again leaves")
        assert one.leaves() == 0


def test_only_what_is_a_file_is_attached(tmp_path: Path) -> None:
    note, spaced = tmp_path / "note.txt", tmp_path / "my note.txt"
    note.write_text("x")
    spaced.write_text("x")
    text, found = with_files(f'see @{note} and @"{spaced}", @nobody, me@{note}, @{tmp_path} @\x00')
    assert text == f"see note.txt and my note.txt, @nobody, me@{note}, @{tmp_path} @\x00"
    assert found == [note, spaced]


def test_the_footer_names_what_is_known() -> None:
    assert footer({"model": "m", "window": 200, "used": 25}, {"usage": {"cost_usd": 0.034}}) == (
        "m · context 12 % full · $0.03 today"
    )
    assert footer({}, {}) == ""
