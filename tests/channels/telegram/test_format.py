from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.split import split
from channels.telegram.format import (
    MAX_ENTITIES,
    MAX_TEXT,
    EntityType,
    formatted,
    is_linkable,
    length,
    plain,
)
from channels.text import utf16_len


def shown(markdown: str) -> tuple[str, list[tuple[str, str]]]:
    """The text, and every entity as (kind, what it covers), cut out as a client does."""
    result = formatted(markdown)
    units = result.text.encode("utf-16-le")
    covered = [
        (entity.type.value, units[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le"))
        for entity in result.entities
    ]
    return result.text, covered


def test_an_answer_as_people_see_it() -> None:
    text, entities = shown(
        "## Plan 🗓\n\nBuy **milk *today***, run `make` and see [docs](https://example.org/x).\n\n"
        "1. one\n2. two\n   - inner `x`\n\n> said\n> so\n\n```py\nprint(1)\n\nx = 2\n```"
    )
    assert text == (
        "Plan 🗓\n\nBuy milk today, run make and see docs.\n\n1. one\n2. two\n   • inner x\n\nsaid\nso\n\n"
        "print(1)\n\nx = 2"
    )
    assert entities == [
        ("bold", "Plan 🗓"),
        ("bold", "milk today"),
        ("italic", "today"),
        ("code", "make"),
        ("text_link", "docs"),
        ("code", "x"),
        ("blockquote", "said\nso"),
        ("pre", "print(1)\n\nx = 2"),
    ]


def test_code_keeps_its_language_and_holds_no_other_entity() -> None:
    (pre,) = formatted("```rust\nfn main() {}\n```").entities
    assert (pre.type, pre.language) == (EntityType.PRE, "rust")
    assert shown("**a `b` c**")[1] == [("bold", "a "), ("code", "b"), ("bold", " c")]


def test_tables_are_aligned_and_lose_nothing() -> None:
    text, entities = shown("| name | n |\n|---|--:|\n| 界界 | 5 |\n| [a](https://b.example) | 10 |")
    assert text.splitlines() == [
        "name                  |  n",
        "----------------------+---",
        "界界                  |  5",
        "a (https://b.example) | 10",
    ]
    assert [kind for kind, _ in entities] == ["pre"]


def test_addresses_that_telegram_would_drop_are_shown() -> None:
    assert shown("[notes](memory/a.md)") == ("notes (memory/a.md)", [])
    assert shown("[local](http://localhost:8765/)") == ("local (http://localhost:8765/)", [])
    assert shown("[x](javascript:alert(1))")[0] == "[x](javascript:alert(1))"
    assert shown("![](https://example.org/p.png)")[1] == [("text_link", "https://example.org/p.png")]


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("https://example.org", True),
        ("tg://user?id=1", True),
        ("http://localhost", False),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("http://[broken", False),
        ("", False),
    ],
)
def test_only_safe_links_become_links(url: str, taken: bool) -> None:
    assert is_linkable(url) is taken


def test_of_too_many_entities_links_and_code_stay() -> None:
    result = formatted("*a* " * 90 + "`b` " * 10 + "[c](https://example.org) " * 20)
    kinds = [entity.type for entity in result.entities]
    assert len(kinds) == MAX_ENTITIES
    assert (kinds.count(EntityType.TEXT_LINK), kinds.count(EntityType.CODE)) == (20, 10)
    assert length("[c](https://example.org) " * 101) > MAX_TEXT


def test_plain_text_spells_links_out_where_there_is_room() -> None:
    assert plain("**see** [docs](https://example.org/x)") == "see docs (https://example.org/x)"
    crowded = f"[docs](https://example.org/{'x' * 4100}) and text"
    assert plain(crowded) == "docs and text"


def test_markdown_that_shows_nothing_is_shown_as_written() -> None:
    assert shown("#") == ("#", [])
    assert plain("#") == "#"


FRAGMENTS = [
    *("word", " ", "\n", "\n\n", "**", "*", "_", "`", "```", "\n```py\n", "- ", "1. ", "> ", "# ", "~~", "🙂", "<b>"),
    *("| a | b |\n|--|--|\n", "[x](http://a.b)", "&", "\\", "  ", "    ", "![", "]("),
]
MARKDOWN = st.lists(
    st.sampled_from(FRAGMENTS),
    max_size=60,
).map("".join)


@given(MARKDOWN)
def test_entities_lie_inside_the_text_and_nest(markdown: str) -> None:
    result = formatted(markdown)
    size = utf16_len(result.text)
    for entity in result.entities:
        assert 0 <= entity.offset < entity.offset + entity.length <= size
    for one in result.entities:
        for other in result.entities:
            if one.offset < other.offset < one.offset + one.length:
                assert other.offset + other.length <= one.offset + one.length
                assert one.type not in (EntityType.CODE, EntityType.PRE)
    assert bool(result.text.strip()) == bool(markdown.strip())


@given(MARKDOWN)
def test_every_word_that_was_written_is_seen(markdown: str) -> None:
    result = formatted(markdown)
    seen = result.text + "".join(entity.language for entity in result.entities)  # clients show the language of code
    for word in ("word", "🙂"):
        assert result.text.count(word) <= markdown.count(word) <= seen.count(word)


@given(st.lists(MARKDOWN, min_size=5, max_size=30).map("\n\n".join), st.integers(100, 400))
def test_pieces_fit_once_rendered(markdown: str, limit: int) -> None:
    pieces = split(markdown, length, limit)
    assert all(length(piece) <= limit for piece in pieces)
    words = re.compile("word|🙂")
    assert sum(len(words.findall(piece)) for piece in pieces) >= len(words.findall(markdown))
