from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.text import (
    CodeBlock,
    Heading,
    Link,
    ListBlock,
    Mark,
    Marked,
    Paragraph,
    QuoteBlock,
    Rule,
    Table,
    Text,
    clean,
    parse,
    utf16_len,
    visible,
)


def test_every_kind_of_block_has_its_value() -> None:
    source = (
        "# Title\n\ntext\n\n- a\n- b\n\n3. c\n\n> quote\n\n```py\nx\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n---\n"
    )
    kinds = [type(block) for block in parse(source)]
    assert kinds == [Heading, Paragraph, ListBlock, ListBlock, QuoteBlock, CodeBlock, Table, Rule]


def test_marks_nest() -> None:
    (paragraph,) = parse("**bold *both*** ~~gone~~")
    assert paragraph == Paragraph(
        (
            Marked(Mark.STRONG, (Text("bold "), Marked(Mark.EMPHASIS, (Text("both"),)))),
            Text(" "),
            Marked(Mark.STRIKE, (Text("gone"),)),
        )
    )


def test_names_and_products_keep_their_characters() -> None:
    for text in (
        "edit __init__.py and __main__",
        *("2*3*4 is 24", "2**3**4", "a*b*c", "width*height*2", "x**10**y"),
        *("snake_case_name", "a||b||c", "a~~b~~c", "not__strong__here"),
    ):
        assert parse(text) == (Paragraph((Text(text),)),)


@pytest.mark.parametrize("mark", ["**", "*"])
def test_a_part_of_a_word_can_be_marked(mark: str) -> None:
    kind = {"**": Mark.STRONG, "*": Mark.EMPHASIS}[mark]
    assert parse(f"un{mark}believ{mark}able") == (
        Paragraph((Text("un"), Marked(kind, (Text("believ"),)), Text("able"))),
    )


def test_strong_may_be_written_with_underscores() -> None:
    for word in ("strong", "Note", "read this"):
        assert parse(f"a __{word}__ b") == (Paragraph((Text("a "), Marked(Mark.STRONG, (Text(word),)), Text(" b"))),)


def test_what_markdown_would_hide_is_shown() -> None:
    for text in ("<img>raw</img>", "a <b> alone", "[ref]: http://example.org/", "<!-- note -->", "&lt; stays"):
        (paragraph,) = parse(text)
        assert isinstance(paragraph, Paragraph)
        assert visible(paragraph.inlines) == text.replace("&lt;", "<")


def test_cells_without_a_header_are_kept() -> None:
    (table,) = parse("| a | b |\n|---|---|\n| 1 | 2 | 3 | 4 |")
    assert isinstance(table, Table)
    assert [visible(cell) for cell in table.rows[1]] == ["1", "2 | 3 | 4"]


def test_nesting_deeper_than_the_parser_goes_is_shown_as_written() -> None:
    text = "> " * 200 + "deep"
    assert parse(text) == (Paragraph((Text(text),)),)


def test_links_keep_label_and_address() -> None:
    (paragraph,) = parse("[label](https://example.org/a_b?x=1&y=2)")
    assert paragraph == Paragraph((Link("https://example.org/a_b?x=1&y=2", (Text("label"),)),))


@given(st.text(max_size=300))
def test_any_text_is_parsed(text: str) -> None:
    parse(text)


@given(st.lists(st.sampled_from([*map(chr, (0, 7, 0xD83D, 0xDE00, 0xDFFF)), "a", "\r\n", "\r", "\n", "🙂"])))
def test_clean_text_can_be_stored_and_sent(parts: list[str]) -> None:
    cleaned = clean("".join(parts))
    assert "\x00" not in cleaned
    assert "\r" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) == cleaned
    assert utf16_len(cleaned) * 2 == len(cleaned.encode("utf-16-le"))
    assert cleaned.count("a") == parts.count("a")


def test_a_pair_of_surrogates_is_the_character_it_stands_for() -> None:
    assert clean("\ud83d\ude00") == "😀"
    assert clean("\ud83d!") == "\ufffd!"


def test_words_behind_a_fence_are_not_lost() -> None:
    assert parse("```py title here\nx\n```") == (CodeBlock("title here\nx", "py"),)
    assert parse("```word") == (CodeBlock("word", "word"),)
    assert parse("```\n  x\n\n  y\n```") == (CodeBlock("  x\n\n  y", ""),)
