"""What is shown before a yes is what is done: every text is shown as another one, and all of it."""

from __future__ import annotations

import html
import random
import re
import shlex
import time

import pytest

from agent.formats.exact import exactly, fenced, on_a_line
from agent.formats.untrusted import clean
from channels.discord import format as discord
from channels.split import split
from channels.telegram.format import formatted
from channels.text import CodeBlock, parse
from channels.web import format as web

_ESCAPE = re.compile(r"\\+(?=[uU])|⏎")
_PIECES = (
    *"ab 'u\"`\\U\n\t\r⏎é\u0301\u200b\u202e\u3164\u2800\u115f\u00a0\ufe0f\u00ad\0\u2028\U000e0041\ue000\u212bא1",
    *(
        "  ",
        "\n\n",
        "``",
        "```",
        "~~~",
        "\\\\",
        "\\u200b",
        "e\u0301",
        "\x1b[31m",
        "12",
        "if False:\n    b",
        "<b>",
        "&amp;",
    ),
)
_NOT_SEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\xa0\xad\u115f\u200b-\u200f\u2028-\u202e\u2800\u3164]")


def unescaped(shown: str) -> str:
    """What a careful reader makes of it."""
    found, at = "", 0
    while match := _ESCAPE.search(shown, at):
        found += shown[at : match.start()]
        at = match.end()
        if match[0] == "⏎":
            found += "\n"
            continue
        found += "\\" * (len(match[0]) // 2)
        if len(match[0]) % 2:
            end = at + (5 if shown[at] == "u" else 9)
            found, at = found + chr(int(shown[at + 1 : end], 16)), end
    return found + shown[at:]


def any_text(dice: random.Random) -> str:
    return "".join(dice.choice(_PIECES) for _ in range(dice.randint(0, 8)))


def test_invariant_16_no_two_texts_look_alike() -> None:
    dice = random.Random(16)
    for _ in range(20_000):
        argv = [any_text(dice) for _ in range(dice.randint(1, 3))]
        for text in (any_text(dice), shlex.join(argv)):
            shown = exactly(text)
            assert unescaped(shown) == text, repr(text)
            assert shown == "\n".join(line.rstrip(" ") for line in shown.strip("\n").split("\n"))
            assert not _NOT_SEEN.search(shown)


def test_invariant_16_every_platform_shows_it_so() -> None:
    dice = random.Random(61)
    for _ in range(3_000):
        text = clean(any_text(dice)) or "x"
        markdown = f"May I?\n\n{fenced(text)}\n\nIt is good for a day."
        (block,) = [one for one in parse(markdown) if isinstance(one, CodeBlock)]
        assert block.text == exactly(text) and unescaped(block.text) == text
        assert exactly(text) in formatted(markdown).text
        assert exactly(text) in discord.rendered(markdown).replace("\u200b", "")
        page = re.search(r"<pre><code>(.*?)\n?</code></pre>", web.rendered(markdown), re.S)
        assert page is not None
        assert html.unescape(page[1]) == exactly(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("""bash -c 'git log --grep="`touch x`"'""", """bash -c 'git log --grep="'"'"'touch x'"'"'"'"""),
        ("rm -r 'my  folder'", "rm -r 'my folder'"),
        ("if False:\n    b", "if False:\nb"),
        ("a \nb", "a\nb"),
        ("a\n", "a"),
        ("a\tb", "a    b"),
        ("\\u200b", "\u200b"),
        ("é", "e\u0301"),
        ("rm א 12", "rm 12 א"),
        ("a\u3164b", "ab"),
        ("K", "\u212a"),
    ],
)
def test_pairs_that_once_looked_alike(one: str, other: str) -> None:
    assert fenced(one) != fenced(other) and on_a_line(one) != on_a_line(other)


def test_what_everybody_can_read_stays_as_it_is() -> None:
    for text in ("grep '\\.py$' x", "a\n  b\n\nc", "Grüße aus Köln", "今日は晴れ", "हिन्दी", "😀 ok", "C:\\new\\table"):
        assert exactly(text) == text


def test_a_long_command_line_is_shown_as_one() -> None:
    assert split(fenced("x " * 100 + "x"), len, 1_000) == [fenced("x " * 100 + "x")]


@pytest.mark.parametrize(
    "text", ["\\" * 200_000, " " * 200_000, "\\ " * 100_000 + " " * 100_000, "`" * 200_000, "\u0301" * 200_000]
)
def test_it_is_linear(text: str) -> None:
    begun = time.process_time()
    exactly(text)
    assert time.process_time() - begun < 5
