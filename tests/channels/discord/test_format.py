from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from channels.discord.format import MAX_TEXT, is_linkable, length, rendered
from channels.split import split
from channels.telegram.format import formatted
from tests.channels.discord.reader import read
from tests.strength import examples

GOLDEN = [
    ("plain text.", "plain text."),
    ("## Plan 🗓\n\nBuy **milk *today*** and `make`.", "## Plan 🗓\n\nBuy **milk *today*\u200b** and `make`."),
    ("#### deep", "**deep**"),
    ("# C#", "# C\\#"),
    ("1. one\n2. two\n   - inner `x`\n3. three", "1. one\n2. two\n   - inner `x`\n3. three"),
    ("- # heading in a list", "- **heading in a list**"),
    ("- # heading in __a list__", "- **heading in a list**"),
    ("> said\n> so\n\nafter", "> said\n> so\n\nafter"),
    ("```py\nprint(1)\n\nx = 2\n```", "```py\nprint(1)\n\nx = 2\n```"),
    ("````\na ``` b\n````", "```\na `\u200b`\u200b` b\n```"),
    ("- item\n  ```\n  code\n  ```", "- item\n```\ncode\n```"),
    ("| a | bb |\n|---|---:|\n| 1 | 2 |", "```\na | bb\n--+---\n1 |  2\n```"),
    ("[docs](https://example.org/x_y)", "[docs](https://example.org/x_y)"),
    ("[https://good.example](https://bad.example)", "https://good.example (https://bad.example)"),
    ("[run](javascript:alert)", "\\[run](javascript:alert)"),
    ("[mail](mailto:a@example.org)", "mail (mailto:a@example.org)"),
    ("![a cat](https://example.org/cat.png)", "[a cat](https://example.org/cat.png)"),
    ("<https://example.org/a_b_c>", "https://example.org/a_b_c"),
    ("see https://example.org/a_b_c*d", "see https://example.org/a_b_c*d"),
    ("snake_case_name and __init__", "snake\\_case\\_name and \\_\\_init\\_\\_"),
    ("2 * 3 * 4 and a ~~b~~", "2 \\* 3 \\* 4 and a ~~b~~"),
    ("||secret|| and a || b", "||secret|| and a \\|\\| b"),
    ("<@123> @everyone <#5> <:x:1> <t:5>", "\\<@123> @everyone \\<#5> \\<:x:1> \\<t:5>"),
    (
        "\\- no list\n\\# no heading\n\\> no quote\n1\\. no number",
        "\\- no list\n\\# no heading\n\\> no quote\n1\\. no number",
    ),
    ("**重要**な点です", "**重要**な点です"),
    ("¯\\\\\\_(ツ)\\_/¯", "¯\\\\\\_(ツ)\\_/¯"),
    ("*a*_b_", "*a*\u200b*b*"),
    ("***b** c*", "*\u200b**b** c*"),
    ("`` a`b ``", "``a`b``"),
    ("---", "——————————"),
    ("<img>x</img>", "<img>x\\</img>"),
    ("<div>x</div>", "x"),
    ("#", "\\#"),
]


@pytest.mark.parametrize(("written", "sent"), GOLDEN)
def test_golden(written: str, sent: str) -> None:
    assert rendered(written) == sent


MARKUP = st.text(alphabet="ab1 *_~`|<>[]()#-+.\\\n!@:é漢😀", max_size=60)


def squeezed(text: str) -> list[str]:
    """Lines without what nobody sees: white space at their ends, and empty ones."""
    return [line.strip() for line in text.replace("\u200b", "").split("\n") if line.strip()]


@given(MARKUP)
@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.too_slow])
@example("- a\n\n  > b\n  > > c")
@example("***a** b*")
@example("||a **b**|| ||c||||d||")
@example("1. `a`\n2. ```\n   b\n   ```")
def test_a_reader_sees_what_a_reader_of_another_platform_sees(markdown: str) -> None:
    """Both show the text that was written; only white space and the marks of lists and quotes differ."""

    def text(seen: str) -> str:
        return re.sub(r"[\s•>\u200b-]", "", seen)

    assert text(read(rendered(markdown))) == text(formatted(markdown).text)


@given(st.text(alphabet="ab1 *_~`|<>[]()#-+.\\é漢😀", min_size=1, max_size=40))
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
def test_plain_characters_stay_what_they_are(text: str) -> None:
    assume(not re.search(r"\(\s*[ab]\s*\)", text))  # escaped, that is a formula
    escaped = "".join(f"\\{one}" if one in r"*_~`|<>[]()#-+.\!" else one for one in text).strip()
    assert squeezed(read(rendered(escaped))) == squeezed(text)


@given(
    st.lists(
        st.sampled_from(["word ", "**bold** ", "```py\ncode()\n```\n", "\n\n", "- item\n", "_a_ ", "😀 "]), max_size=400
    )
)
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
def test_every_piece_fits(parts: list[str]) -> None:
    for piece in split("".join(parts) * 3, length, MAX_TEXT):
        assert length(piece) <= MAX_TEXT


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc", "https://", "https://a b", "http://[", "x"])
def test_what_is_no_link(url: str) -> None:
    assert not is_linkable(url)
