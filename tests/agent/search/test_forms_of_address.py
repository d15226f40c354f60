"""Whom Anna greets as Kate is called Kate, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.search.chunking import passages
from agent.search.forms_of_address import greeted_in
from tests.agent.places import morning, owner, unhurried

GREETINGS = [f"2026-05-{day:02}" for day in range(1, 21)]
CLOCK = morning().clock
OTHERS = "- Anna: bread\n- katja_m: rice\n"


def greeted(text: str) -> list[tuple[str, str]]:
    return list(greeted_in(list(passages(text))))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Hi Kate! How are you?", "kate"),
        ("Hey Kate, look at this", "kate"),
        ("Good morning Kate", "kate"),
        ("Thank you so much, Kate!", "kate"),
        ("Hallo Käthe, wie geht es dir?", "kathe"),
        ("Liebe Katrin, danke für gestern.", "katrin"),
        ("Buongiorno Caterina! Come va?", "caterina"),
        ("¡Hola Catalina! ¿Qué tal?", "catalina"),
        ("Merci Cathérine, à demain", "catherine"),
        ("小凯，早上好！", "小凯"),
        ("晚安，小凯！", "小凯"),
        ("ケイトさん、おはよう", "ケイト"),
    ],
)
def test_a_greeting_names_the_other_one(words: str, name: str) -> None:
    assert greeted(f"- Anna: {words}\n{OTHERS}") == [("katja_m", name)]


@pytest.mark.parametrize(
    "words",
    [
        "Kate came by today.",
        "I met Kate. Hi Kate, she said.",
        "Hi Kate's brother was here",
        "Hi there!",
        "Hello everyone!",
        "Hey Guys, look",
        "Thanks Mom!",
        "Hi Anna, I am talking to myself",
        "Hello New York!",
        "Hi Kate! (from: report.pdf)",
        "大家，早上好！",
        "谢谢，小凯和我都喜欢",
    ],
)
def test_other_words_name_nobody(words: str) -> None:
    assert greeted(f"- Anna: {words}\n{OTHERS}") == []


def test_among_three_nobody_knows_who_is_greeted() -> None:
    assert greeted(f"- Anna: Hi Kate!\n{OTHERS}- Ben: tea\n") == []
    assert greeted("- Anna: Hi Kate!\n- Anna: bread\n") == []


def first(workspace: Path, query: str) -> str:
    index = unhurried(None)
    try:
        return index.search(owner(workspace), CLOCK, [query]).hits[0].text
    finally:
        index.close()


def test_a_question_by_that_name_means_that_speaker(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    days = {
        **dict.fromkeys(GREETINGS, "- Anna: Hi Kate! How are you?\n- katja_m: fine\n- Anna: good\n"),
        "2026-06-08": "- katja_m: tea in the garden\n- katja_m: bread\n",
        "2026-07-08": "- Anna: tea in the garden, too\n- Anna: rice\n",
    }
    for day, talk in days.items():
        (tmp_path / "memory" / f"{day}.md").write_text(f"# {day}\n\n{talk}")
    assert first(tmp_path, "Did Kate have tea in the garden?") == "- katja_m: tea in the garden"
    assert first(tmp_path, "Did Anna have tea in the garden?") == "- Anna: tea in the garden, too"

    for day in GREETINGS:
        (tmp_path / "memory" / f"{day}.md").write_text(
            f"# {day}\n\n- Anna: Hi! How are you?\n- katja_m: fine\n- Anna: good\n"
        )
    assert "too" in first(tmp_path, "Did Kate have tea in the garden?"), "nobody is called so any more"


def test_a_name_that_a_speaker_bears_is_that_speakers_only(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    days = {
        "2026-05-08": "- Anna: Hi Kate! Is Eva with you?\n- Eva: yes\n- Anna: good\n",
        "2026-06-08": "- Eva: tea in the garden\n- Kate: bread\n- Kate: rice\n",
        "2026-05-18": "- Kate: tea in the garden, too\n- Kate: soup\n",
    }
    for day, talk in days.items():
        (tmp_path / "memory" / f"{day}.md").write_text(f"# {day}\n\n{talk}")
    assert first(tmp_path, "Did Kate have tea?").startswith("- Kate")
