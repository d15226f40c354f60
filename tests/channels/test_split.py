from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from channels.split import split
from channels.text import CodeBlock, ListBlock, Table, parse, utf16_len
from tests.strength import examples

PROSE = st.text(st.sampled_from("abc  .!?,\n-*#>1(é界🙂\u0301"), max_size=1500)
CODE_LINES = st.lists(st.text(st.sampled_from("xyz =()#-*🙂"), max_size=40), min_size=1, max_size=60).filter(
    lambda lines: any(line.strip() for line in lines)
)


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(PROSE, st.integers(20, 300))
@example("a" * 1000, 20)
@example("word " * 300, 64)
def test_the_pieces_together_are_the_text(text: str, limit: int) -> None:
    pieces = split(text, utf16_len, limit)
    assert squeezed("".join(pieces)) == squeezed(text)
    assert all(utf16_len(piece) <= limit for piece in pieces)
    assert all(piece.strip() for piece in pieces)


@given(st.text(max_size=400), st.integers(50, 120))
@settings(max_examples=examples(200))
def test_no_text_breaks_it_and_no_piece_exceeds_the_limit(text: str, limit: int) -> None:
    pieces = split(text, utf16_len, limit)
    assert all(utf16_len(piece) <= limit for piece in pieces)
    assert bool(pieces) == bool(text.strip())


@given(st.lists(CODE_LINES, min_size=1, max_size=3), st.integers(120, 400))
def test_cut_code_blocks_are_closed_and_reopened_with_their_language(blocks: list[list[str]], limit: int) -> None:
    written = ["\n".join(lines) for lines in blocks]
    pieces = split("\n\n".join(f"Look:\n\n```py\n{code}\n```" for code in written), len, limit)
    shown = [block for piece in pieces for block in parse(piece) if isinstance(block, CodeBlock)]
    assert squeezed("".join(block.text for block in shown)) == squeezed("".join(written))
    assert {block.language for block in shown} == {"py"}
    assert all(len(piece) <= limit for piece in pieces)
    assert all(piece.count("```") % 2 == 0 for piece in pieces)


@given(st.lists(st.sampled_from(["é", "e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "界"]), max_size=300))
def test_characters_are_never_torn_from_their_marks(characters: list[str]) -> None:
    for piece in split("".join(characters), utf16_len, 64)[1:]:
        assert piece[0] not in "\u0301\u200d🏽"
    flags = "🇩🇪" * 100
    assert all(len(piece) % 2 == 0 for piece in split(flags, utf16_len, 50))


def test_text_that_fits_is_one_piece_as_it_was_written() -> None:
    text = "# Title\n\n- a\n  - b\n\n```\ncode\n```"
    assert split(text, len, 4096) == [text]


@pytest.mark.parametrize("blank", ["", " ", "\n\n \t\n"])
def test_blank_text_has_no_pieces(blank: str) -> None:
    assert split(blank, len, 100) == []


def test_paragraphs_are_preferred_to_lines_sentences_and_words() -> None:
    first, second = "One sentence. Two of them.\nA line.", "Another paragraph. " * 3
    assert split(f"{first}\n\n{second}", len, 70) == [first, second.strip()]
    assert split("A line that stands.\nA second line. It is longer.", len, 35) == [
        "A line that stands.",
        "A second line. It is longer.",
    ]
    assert split("A sentence is here. And here another one.", len, 30) == [
        "A sentence is here.",
        "And here another one.",
    ]
    assert split("only words without any end", len, 14) == ["only words", "without any", "end"]


def test_a_heading_stays_with_its_text() -> None:
    pieces = split("First paragraph, long enough.\n\n## Heading\n\nSecond paragraph, long too.", len, 60)
    assert pieces == ["First paragraph, long enough.", "## Heading\n\nSecond paragraph, long too."]


def test_a_code_block_that_fits_the_next_piece_is_not_cut() -> None:
    code = "```py\n" + "x = 1\n" * 8 + "```"
    assert split("Some words before the code.\n\n" + code, len, 70) == ["Some words before the code.", code]


def test_blank_lines_in_code_are_no_paragraphs() -> None:
    code = "```\n" + "a = 1\n\n" * 20 + "```"
    pieces = split(code, len, 60)
    assert all(piece.startswith("```\n") and piece.endswith("\n```") for piece in pieces)


def test_a_cut_table_gets_its_header_again() -> None:
    rows = [f"| row {n} | value {n} |" for n in range(30)]
    pieces = split("\n".join(["| name | what |", "|---|---|", *rows]), len, 200)
    tables = [block for piece in pieces for block in parse(piece)]
    assert len(pieces) > 2
    assert all(isinstance(table, Table) for table in tables)
    assert sum(len(table.rows) - 1 for table in tables if isinstance(table, Table)) == 30


def test_list_items_do_not_become_code_by_their_indentation() -> None:
    text = "- top\n" + "".join(f"    - nested item number {n}\n" for n in range(20))
    for piece in split(text, len, 120):
        assert all(isinstance(block, ListBlock) for block in parse(piece))


def test_numbered_lists_go_on_counting() -> None:
    pieces = split("\n".join(f"{n}. item with some words" for n in range(1, 30)), len, 100)
    starts = [block.start for piece in pieces for block in parse(piece) if isinstance(block, ListBlock)]
    assert starts == [1, 5, 9, 13, 17, 21, 25, 29] or starts == sorted(starts)
    assert len(starts) == len(pieces)


def test_fences_in_lists_and_quotes_stay_code() -> None:
    body = "".join(f"{{}}line {n} = {n}\n" for n in range(30))
    for opening, prefix in (("1. step:\n   ```sh\n", "   "), ("> ```sh\n", "> ")):
        text = opening + body.replace("{}", prefix) + prefix + "```"
        pieces = split(text, len, 150)
        assert all(piece.count("```sh") == 1 and piece.count("```") == 2 for piece in pieces)
        numbers = re.findall(r"line (\d+)", "".join(pieces))
        assert numbers == [str(n) for n in range(30)]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 200_000,
        "x" * 1_000_000,
        "- item\n" * 140_000,
        "```\n" + "x = 1\n" * 160_000 + "```",
        "\n" * 500_000 + "x",
    ],
    ids=["words", "one word", "list", "code", "blank lines"],
)
def test_work_grows_with_the_text_and_not_with_its_square(text: str) -> None:
    measured = 0

    def measure(piece: str) -> int:
        nonlocal measured
        measured += len(piece)
        return len(piece)

    pieces = split(text, measure, 4096)
    assert measured < 8 * len(text) + 100_000
    assert all(len(piece) <= 4096 for piece in pieces)


def test_an_item_cut_in_its_first_line_loses_its_margin_in_the_rest() -> None:
    """Else the rest would be drawn as code."""
    text = "- one\n\n  - " + "word " * 30 + "\n    *more* of it\n\n    ```\n    x\n    ```\n  - two"
    pieces = split(text, len, 120)
    assert pieces[1].endswith("word \n*more* of it\n\n```\nx\n```\n- two")


def test_what_follows_a_table_without_a_blank_line_is_no_row_of_it() -> None:
    text = "1. one\n\n   | a | b |\n   |---|---|\n   | c | d |\n2. " + "word " * 60
    pieces = split(text, len, 120)
    assert all("---" not in piece for piece in pieces[1:])


def test_no_message_ends_with_a_code_block_that_has_nothing_in_it_yet() -> None:
    text = "word " * 20 + "\n\n```py\n\nx = 1\n" + "y = 2\n" * 30 + "```"
    assert "```" not in split(text, len, 112)[0]


def test_lists_in_quotes_do_not_become_code_by_their_indentation() -> None:
    text = "> - top\n>\n>   1. item\n" + "".join(f">      goes on in line number {n}\n" for n in range(20))
    text += ">      ```sh\n" + "".join(f">      run {n}\n" for n in range(20)) + ">      ```"
    pieces = split(text, len, 150)
    assert all(len(piece) <= 150 and ">     " not in piece for piece in pieces[1:])
    assert re.findall(r"number (\d+)", "".join(pieces)) == [str(n) for n in range(20)]
    assert re.findall(r"run (\d+)", "".join(pieces)) == [str(n) for n in range(20)]
    assert all(piece.count("```") in (0, 2) for piece in pieces)


def test_a_quoted_fence_in_a_list_stays_code_where_a_piece_begins_in_it() -> None:
    """Six spaces before a quote are its list's; without the list they would make the quote itself code."""
    text = "1. top\n\n   1. item\n\n      > ```py\n" + "".join(f"      > line {n}\n" for n in range(30)) + "      > ```"
    pieces = split(text, len, 150)
    assert len(pieces) > 2 and all(piece.startswith("> ```py\n> line ") for piece in pieces[1:])
    assert all(line.startswith("> ") for piece in pieces[1:] for line in piece.splitlines())
    assert re.findall(r"line (\d+)", "".join(pieces)) == [str(n) for n in range(30)]


def test_a_piece_does_not_begin_with_an_empty_line_of_a_quote() -> None:
    text = "> 1. " + "one " * 12 + "\n>\n>    two **bold** two\n> 2. three"
    assert split(text, len, 60)[1].startswith("> two **bold** two\n> 2. three")


def test_numbers_from_further_in_stay_their_own_beside_those_of_the_outer_list() -> None:
    text = "1. one\n\n   " + "so " * 15 + "\n\n   1. in one\n   2. in two\n2. two"
    assert split(text, len, 60)[-1] in ("1\\. in one\n2\\. in two\n2. two", "2\\. in two\n2. two")
