"""Answers as they are read aloud: words, and nothing that only eyes can use."""

from __future__ import annotations

import pytest

from channels.spoken import MOST_CHARS, speakable


@pytest.mark.parametrize(
    ("markdown", "spoken"),
    [
        ("Buy **milk** and _two_ ~~three~~ `eggs`.", "Buy milk and two three eggs."),
        ("# Plan\n\nWe leave at nine.", "Plan.\nWe leave at nine."),
        ("## Really?\n\nYes!", "Really?\nYes!"),
        ("See [the plan](https://example.org/a?b=c), please.", "See the plan, please."),
        ("It is at https://example.org/x?y=z.", "It is at ."),
        ("Look (www.example.org/x) here", "Look () here"),
        ("<https://example.org/>", ""),
        ("Before.\n\n```python\nprint('no')\n```\n\nAfter.", "Before.\nAfter."),
        ("    indented = code\n\nWords.", "Words."),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nThat is all.", "That is all."),
        ("- milk\n- two eggs\n  - brown ones\n- ", "milk.\ntwo eggs.\nbrown ones."),
        ("1. wake up\n2. write it down!", "1. wake up.\n2. write it down!"),
        ("3. `x`\n4. ![a cat](cat.png)", "3. x.\n4. a cat."),
        ("> **Ann:** yes\n\nSo she comes.", "Ann: yes\nSo she comes."),
        ("one\ntwo", "one\ntwo"),
        ("It is ||a secret||.", "It is a secret."),
        ("Done ✅ 👩‍👩‍👧 well 1️⃣!", "Done well 1!"),
        ("<b>bold</b> and 1 < 2", "bold and 1 < 2"),
        ("12 × 3 € = 36 € – naïve", "12 × 3 € = 36 € – naïve"),
        ("買牛奶。**兩個**雞蛋！", "買牛奶。兩個雞蛋！"),
        ("***", ""),
        ("👍", ""),
        ("", ""),
        ("a\x00b \ud83d", "ab"),
    ],
)
def test_only_words_are_read(markdown: str, spoken: str) -> None:
    assert speakable(markdown) == spoken


def test_a_long_answer_ends_with_a_sentence() -> None:
    text = "This is a sentence. " * 400
    spoken = speakable(text)
    assert MOST_CHARS - 20 <= len(spoken) <= MOST_CHARS and spoken.endswith("a sentence.")
    assert speakable("word " * 4_000, 1_001) == " ".join(["word"] * 200)
    assert speakable("x" * 9_000, 1_000) == "x" * 1_000
    assert speakable("一二三。" * 3_000).endswith("三。")


def test_whatever_the_text_it_is_read_in_no_time() -> None:
    for text in ("<" * 50_000, "[" * 50_000, "https://" * 9_000, "<a" * 30_000, "> " * 30_000, "*_" * 30_000):
        assert len(speakable(text)) <= MOST_CHARS
