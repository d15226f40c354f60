"""The ranking by kind of text: talk between people, talk with the assistant, lists of facts, prose."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.search.chunking import passages
from agent.search.query import QuestionSubject, subject_of
from agent.search.results import Hit
from agent.search.text_kinds import TextKind, kind_of
from tests.agent.places import morning, owner, search

CLOCK = morning().clock


def kind(text: str) -> TextKind:
    return kind_of(list(passages(text)))


def found(folder: Path, query: str, **files: str) -> list[Hit]:
    """In logs by day: `d2026_05_08="…"`."""
    (folder / "memory").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "memory" / f"{name[1:].replace('_', '-')}.md").write_text(text)
    return list(search(owner(folder), CLOCK, [query]).hits)


@pytest.mark.parametrize(
    ("text", "is_of"),
    [
        ("- Anna: Tea?\n- Ben: Yes.\n- Anna: Green?\n", TextKind.PEOPLE),
        ("- 09:00 Anna: Tea?\n- 09:01 Ben: Yes.\n", TextKind.PEOPLE),
        ("- User: Which tea is mild?\n- Assistant: White tea.\n", TextKind.ASSISTANT),
        ("09:00 Anna: Which tea is mild?\n\n09:01 Assistant: White tea.\n", TextKind.ASSISTANT),
        ("- 用户：哪种茶比较淡？\n- 助手：白茶。\n", TextKind.ASSISTANT),
        ("- User: Which tea is mild?\n- User: And which is strong?\n", TextKind.ASSISTANT),
        ("- 09:00 Anna: Tea?\n- 09:01 Ben: Yes.\n- 09:02 Clara: No.\n", TextKind.PEOPLE),
        ("- Phone: 4711\n- Birthday: 3 May\n- Shoes: 42\n", TextKind.FACTS),
        ("- Phone: 4711\n- Birthday: 3 May\n", TextKind.FACTS),
        ("- Address: Bonn\n", TextKind.FACTS),
        ("- User: anna_k\n- Password: x\n- Host: a\n", TextKind.FACTS),
        ("- AI: of interest\n- Sport: tennis\n", TextKind.FACTS),
        ("- Me: no meat\n- Anna: no nuts\n- Ben: eats all\n", TextKind.FACTS),
        ("- 09:00 Tea with Anna\n- 10:00 The bike is mended\n", TextKind.FACTS),
        ("We had tea.\n\nThen it rained.\n", TextKind.PROSE),
        ("- a list\n\nWe had tea.\n\nThen it rained.\n", TextKind.PROSE),
    ],
)
def test_what_kind_a_section_is(text: str, is_of: TextKind) -> None:
    assert kind(text) == is_of


@pytest.mark.parametrize(
    "question",
    [
        "What did you recommend for my knee?", "What was your advice about the flat?",
        "Have you ever suggested a book?",
        "Was hast du mir damals für mein Knie empfohlen?", "Wie war dein Vorschlag?", "¿Qué me recomendaste?",
        "Qu'est-ce que tu m'as conseillé ?", "你给我推荐过什么书？", "あなたが勧めてくれた本は？",
    ],
)  # fmt: skip
def test_what_the_assistant_said_is_asked_for(question: str) -> None:
    assert subject_of(question, ()) == QuestionSubject(assistant=True)


@pytest.mark.parametrize(
    "question",
    [
        "Which knee did I hurt?", "What is my sister's name?", "Can you tell me where we parked?",
        "Wo habe ich geparkt?",
        "Wie heißt unsere Katze?", "¿Dónde aparqué mi coche?", "Où ai-je garé ma voiture ?",
        "我的车停在哪里？", "私の車はどこ？",
    ],
)  # fmt: skip
def test_what_the_person_said_is_asked_for(question: str) -> None:
    assert subject_of(question, ()).person


@pytest.mark.parametrize("question", ["Is it going to rain?", "Wie hoch ist der Brocken?", "天气怎么样？", ""])
def test_a_question_may_ask_for_nobody(question: str) -> None:
    assert subject_of(question, ("anna",)) == QuestionSubject()


KNEE = """# 2026-05-08

- User: My knee hurts after running, what should I do?
- Assistant: For a knee that hurts after running, rest the knee, cool the knee and try swimming instead of running.
- User: Thanks, my knee is better.
- Assistant: Good to hear that the knee is better! Keep the knee warm.
"""


def test_i_and_my_mean_the_persons_own_turns(tmp_path: Path) -> None:
    hits = found(tmp_path, "When did my knee hurt after running?", d2026_05_08=KNEE)
    assert [hit.text[:7] for hit in hits[:2]] == ["- User:", "- User:"]


def test_did_you_recommend_means_the_assistants_turns(tmp_path: Path) -> None:
    hits = found(tmp_path, "What did you recommend for my knee after running?", d2026_05_08=KNEE)
    assert "swimming" in hits[0].text


def test_a_label_in_a_list_is_nobody_who_speaks(tmp_path: Path) -> None:
    text = "# 2026-05-08\n\n- Phone: in the hall\n- Bike: in the cellar\n- Keys: on the hook\n- Spare key: phone box\n"
    parts = [hit.parts for hit in found(tmp_path, "phone", d2026_05_08=text)]
    assert parts and not any("speaker" in one for one in parts)


def test_the_facts_of_a_list_say_nothing_about_each_other(tmp_path: Path) -> None:
    """In talk, an answer is found by the question before it; in a list, what stands beside is no answer."""
    talk = "# 2026-05-08\n\n- Anna: Which dentist was it?\n- Ben: Doctor Miller.\n- Anna: Thanks.\n- Ben: Welcome.\n"
    facts = "# 2026-05-09\n\n- The dentist opens at nine\n- The roof leaks\n- Milk is cheap\n"
    texts = [hit.text for hit in found(tmp_path, "dentist", d2026_05_08=talk, d2026_05_09=facts) if not hit.is_context]
    assert "- The dentist opens at nine" in texts[:2]
    near = found(tmp_path, "dentist", d2026_05_08=talk, d2026_05_09=facts)
    miller = next(hit for hit in near if "Miller" in hit.text)
    roof = [hit for hit in near if "roof" in hit.text]
    assert miller.parts["near"] > 0 and all("near" not in hit.parts for hit in roof)


def test_words_that_memory_does_not_know_make_every_score_less_and_change_no_order(tmp_path: Path) -> None:
    facts = "# 2026-05-09\n\n- The dentist opens at nine\n- The roof leaks\n- The dentist of the roofer leaks\n"
    alone = found(tmp_path, "dentist roof", d2026_05_09=facts)
    among = found(tmp_path, "dentist roof zygomatic xylophone", d2026_05_09=facts)
    assert [hit.text for hit in among] == [hit.text for hit in alone]
    assert all(one.score < other.score for one, other in zip(among, alone, strict=True))


def test_all_terms_of_a_long_question_count(tmp_path: Path) -> None:
    words = " ".join(f"filler{number}" for number in range(60))
    facts = "".join(f"- filler{number} stands here\n- again filler{number}\n" for number in range(60))
    hits = found(tmp_path, f"{words} heron", d2026_05_09=f"# 2026-05-09\n\n{facts}- the heron came back\n")
    assert any("heron" in hit.matched for hit in hits)


def near_of(folder: Path, said: str, lines: list[str], query: str) -> float:
    """How near what was `said` is to a question, among `lines` of a talk of two who take turns."""
    talk = "".join(f"- {'Anna' if at % 2 else 'Ben'}: {line}\n" for at, line in enumerate(lines))
    return next(hit.parts["near"] for hit in found(folder, query, d2026_05_08=talk) if hit.text.endswith(said))


def test_what_stands_among_many_that_say_a_word_does_not_say_it_more_often(tmp_path: Path) -> None:
    """Else the middle of a long talk about something comes before what was said about it once, elsewhere."""
    quiet = ["I slept well last night", "the garden is dry", "my sister called me", "we painted doors", "it was late"]
    once, often = list(quiet), list(quiet)
    once[1] = often[1] = often[0] = often[3] = often[4] = "the kayak is blue again"
    assert near_of(tmp_path, quiet[2], often, "kayak") <= near_of(tmp_path, quiet[2], once, "kayak")


def test_what_stands_beside_much_says_less_of_it(tmp_path: Path) -> None:
    """A word of a few is what they are about; a word of many is one of them."""
    quiet = ["I slept well last night", "my sister called me", "we painted doors", "it was late", "bread is out"]
    much = "the kayak is blue and the garden was dry because nobody had watered it since we came home from the lake"
    lines = ["the kayak is blue", "yes indeed it is", *quiet, much, "no doubt about it", *quiet]
    beside_few, beside_much = (near_of(tmp_path, said, lines, "kayak") for said in (lines[1], lines[8]))
    assert 0 < beside_much < beside_few
