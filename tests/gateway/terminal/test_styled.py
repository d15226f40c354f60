"""What a person sees at a terminal with colours: Markdown that grows, tables that fit."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pyte
import pytest
from rich.cells import cell_len
from rich.text import Text

from gateway.terminal.styled import is_styled, last_block, markdown

ANSWER = """Here is **your week**:

| day | what |
|---|---|
| Mon | 牙医 |
| Tue | choir |

- bread
- a [list](https://example.org)

Write `/help <name>`, or:
```python
print("hello")
```
That is *all*
for today.
"""


@contextmanager
def terminal(columns: int, lines: int = 40) -> Iterator[tuple[TextIO, Callable[[int], None]]]:
    """The program's side of a pseudo-terminal, and what changes its width."""
    master, slave = pty.openpty()

    def resize(to: int) -> None:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, to, 0, 0))

    resize(columns)
    try:
        with os.fdopen(slave, "w", encoding="utf-8") as out:
            yield out, resize
    finally:
        os.close(master)


def seen(written: str, columns: int, lines: int = 40) -> list[str]:
    """The lines that stand on the screen."""
    screen = pyte.Screen(columns, lines)
    pyte.Stream(screen).feed(written.replace("\n", "\r\n"))
    return "\n".join(line.rstrip() for line in screen.display).rstrip().split("\n")


@pytest.mark.parametrize("columns", [44, 60, 100])
def test_markdown_fits_the_terminal(columns: int) -> None:
    with terminal(columns) as (out, _):
        shown = seen(markdown(out, ANSWER), columns)
    text = "\n".join(shown)
    assert "Here is your week:" in shown and "**" not in text and "```" not in text and "|---" not in text
    assert "Write /help <name>, or:" in shown, "what looks like HTML stays"
    assert shown[-2:] == ["That is all", "for today."], "lines end where they were written"
    assert text.count("牙") == text.count("choir") == text.count("print(") == 1
    assert "https://example.org" in text


@pytest.mark.parametrize("step", [1, 7, 60])
def test_the_blocks_of_a_growing_answer_are_those_of_the_whole(step: int) -> None:
    """A block that is printed does not change by what follows."""
    ends = {last_block(ANSWER[:end]) for end in range(step, len(ANSWER), step)}
    with terminal(80) as (out, _):
        whole = markdown(out, ANSWER)
        for end in ends:
            first = markdown(out, ANSWER[:end]) if ANSWER[:end].strip() else ""
            assert whole.startswith(first.rstrip())


@pytest.mark.parametrize(
    ("environment", "styled"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({}, False)],
)
def test_colours_are_for_terminals_that_have_them(environment: dict[str, str], styled: bool, tmp_path: Path) -> None:
    with terminal(80) as (out, _):
        assert is_styled(out, environment) is styled
    with (tmp_path / "file").open("w") as file:
        assert not is_styled(file, environment)


HEADS = ("id", "title", "last", "messages")
LINES = [
    ["a1b2c3d4", "Der Zahnarzt am Montag um drei Uhr", "tomorrow at 15:00", 1200],
    ["b9", "我的牙医 在 星期一", "", 7],
]


def table(columns: int, **environment: str) -> str:
    """What a process prints of the table at a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    program = f"from gateway.terminal.table import print_table; print_table({HEADS!r}, {LINES!r}, 'None.')"
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    variables |= {"TERM": "xterm", "PYTHONUTF8": "1"} | environment
    with subprocess.Popen([sys.executable, "-c", program], env=variables, stdin=slave, stdout=slave) as process:
        os.close(slave)
        printed = b""
        while True:
            try:
                if not (part := os.read(master, 65536)):
                    break
            except OSError:  # Linux says so when the other side is closed
                break
            printed += part
        assert process.wait(timeout=60) == 0
    os.close(master)
    return printed.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [30, 44, 60, 120])
def test_a_table_fits_the_terminal_and_leaves_nothing_out(columns: int) -> None:
    printed = table(columns)
    shown = seen(printed, columns)
    assert "\x1b[" in printed
    words = " ".join(shown).split()
    for word in ("a1b2c3d4", "Zahnarzt", "Uhr", "15:00", "1,200", "b9", "7"):
        assert word in words
    assert all(cell_len(line) <= columns for line in unstyled(printed))


def unstyled(printed: str) -> list[str]:
    """The lines as printed, without colours."""
    return [Text.from_ansi(line).plain for line in printed.split("\n")]


def test_columns_align_behind_wide_characters() -> None:
    first, second = unstyled(table(120))[1:3]
    assert cell_len(first[: first.index("1,200")]) + 5 == cell_len(second[: second.rindex("7")]) + 1


def test_without_colours_a_table_is_as_in_a_pipe() -> None:
    program = f"from gateway.terminal.table import print_table; print_table({HEADS!r}, {LINES!r}, 'None.')"
    piped = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert table(44, NO_COLOR="1") == table(44, TERM="dumb") == piped.stdout
    assert "\x1b" not in piped.stdout
