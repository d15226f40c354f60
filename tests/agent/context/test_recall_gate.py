"""What a message calls up: by an absolute bar, or nothing."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context.recall_gate import FIRST, cue_of, relevant
from agent.search.results import Hit
from tests.agent.places import morning, owner, search

CLOCK = morning().clock

MEMORIES = {
    "memory/notes/clara.md": "---\nname: Clara\ndescription: Alice's sister\n---\n\nAllergic to peanuts, vegetarian.\n",
    "memory/notes/dentist.md": "---\nname: dentist\ndescription: Dr. Weber\n---\n\nLindenstraße 5, second floor.\n",
    "memory/notes/zahn.md": "---\nname: Zahnarzt\ndescription: d\n---\n\nTermine nur vormittags.\n",
    "memory/2026-10-02.md": (
        "# 2026-10-02\n\n- 09:00 Car insurance renewed, policy KX-2291\n- 10:00 牙医：韦伯医生，周五\n"
        "- 11:00 The project meeting went well\n"
    ),
    **{f"memory/2026-09-{day:02}.md": f"- 09:00 project call {day}, should write soon\n" for day in range(1, 29)},
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name, text in MEMORIES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def called_up(workspace: Path, message: str) -> list[str]:
    found = search(owner(workspace), CLOCK, [message], most=200, below="memory")
    return [one.hit.path for one in relevant(cue_of(message, CLOCK.today()), found.hits)]


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ("What should I cook for Clara's birthday dinner on Saturday?", "memory/notes/clara.md"),
        ("When is my dentist appointment?", "memory/notes/dentist.md"),
        ("Clara?", "memory/notes/clara.md"),
        ("Wann muss ich nochmal zum Zahnarzt?", "memory/notes/zahn.md"),
        ("我的牙医是谁？", "memory/2026-10-02.md"),
        ("Which car insurance do I have?", "memory/2026-10-02.md"),
        ("Is there anything with KX-2291 in it?", "memory/2026-10-02.md"),
    ],
)
def test_a_message_calls_up_what_it_is_about(workspace: Path, message: str, path: str) -> None:
    assert called_up(workspace, message)[:1] == [path]


@pytest.mark.parametrize(
    "message",
    [
        "Good morning!",
        "Thanks, that was great, see you tomorrow.",
        "ok",
        "👍",
        "",
        "What is the capital of Mongolia?",
        "How is the project going?",  # in thirty passages: no telling which
        "Explain how a quaternion's conjugate rotates a policy of vectors in Blender's scene graph",
        "你好，今天怎么样？",
        "Translate 'I should write soon' into Latin, Greek, Hebrew, Aramaic and Sumerian, with footnotes",
    ],
)
def test_what_is_about_nothing_known_calls_up_nothing(workspace: Path, message: str) -> None:
    assert called_up(workspace, message) == []


TALK = {
    "memory/2026-08-01.md": (
        "# 2026-08-01\n\n## 10:00 chat\n\n- Priya: The pottery course starts in Bristol on Monday.\n"
        "- Tom: Nice! Do you take the train there?\n- Priya: Yes, the early one. My sister Odette comes along.\n"
        "- Tom: Say hello to Odette from me. I saw that Odette won the chess cup.\n"
    ),
    "memory/2026-08-14.md": "# 2026-08-14\n\n- 09:00 Fixed the gutter with Tom\n- 20:00 Cinema, the new western\n",
    "memory/2026-08-20.md": "# 2026-08-20\n\n- 我在学陶艺，老师叫林晓梅\n- 周末去黄山徒步，住在山顶的旅馆\n",
    "memory/2026-08-21.md": "# 2026-08-21\n\n- Die Heizung im Keller tropft, der Klempner kommt am Dienstag\n",
}


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    for name, text in TALK.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ("Is Priya musical?", "memory/2026-08-01.md"),  # somebody who speaks in memory, and nothing else that is known
        ("is tom afraid of heights?", "memory/2026-08-01.md"),
        ("How old is Odette?", "memory/2026-08-01.md"),  # a name that memory writes as one
        ("What did I do on 14 August?", "memory/2026-08-14.md"),  # a day, and no word besides
        ("Was habe ich am 14. August gemacht?", "memory/2026-08-14.md"),
        ("Which western did we see, and was the popcorn any good?", "memory/2026-08-14.md"),
        (
            "The gutter at the cinema leaks, it was fixed in vain",
            "memory/2026-08-14.md",
        ),  # said
        ("Draft a letter to the plumber: Heizung und Keller, Dienstag", "memory/2026-08-21.md"),
        ("Wann kommt der Klempner wegen der Heizung?", "memory/2026-08-21.md"),
        ("黄山的旅馆在哪里？", "memory/2026-08-20.md"),
        (
            "今天天气真好，我吃了早饭，喝了咖啡，看了报纸，听了音乐，然后想起一件事：教我陶艺的那位林老师住在哪里？",
            "memory/2026-08-20.md",
        ),
    ],
)
def test_a_message_about_a_life_calls_it_up(talk: Path, message: str, path: str) -> None:
    assert path in called_up(talk, message)


@pytest.mark.parametrize(
    "message",
    [
        "hmm",
        "Absolutely, that was funny!",
        "never mind, I was only kidding",
        "I'm tired today",  # names a day, and asks nothing
        "how was your weekend?",
        "My train is late",  # one word alone, in what is only said
        "I'm at the cinema",
        "écoute, c'est génial",
        "太棒了，谢谢你",
        "なるほど、ありがとう",
        "Write a poem about a pottery course",
        "Please translate 'the early train' into Welsh",
        "Can you explain how a gutter works?",
        "What is the difference between a western and a thriller?",
        "what is 14 times 20?",
        "Erkläre mir, wie eine Heizung funktioniert",
        "Escribe un cuento sobre un tren",
        "Donne-moi trois idées de cinéma",
        "写一首关于山的诗",
        "電車についての俳句を書いて",
    ],
)
def test_small_talk_and_what_anybody_could_be_asked_calls_up_nothing(talk: Path, message: str) -> None:
    assert called_up(talk, message) == []


def hit(text: str, score: float, line: int = 3, **parts: float) -> Hit:
    matched = {word: 1.0 for word in ("pottery", "course") if word in text}
    return Hit("memory/2026-08-01.md", line, line, CLOCK.today(), score, text, matched, parts)


def test_behind_the_bar_the_order_is_the_search_s() -> None:
    cue = cue_of("When does my pottery course begin?", CLOCK.today())
    hits = [hit("- On Monday", 0.9, near=0.9), hit("- The pottery course", 0.5, 4), hit("- pottery", 0.6, 5)]
    assert [one.hit for one in relevant(cue, hits)] == hits


def test_what_is_like_a_question_about_one_s_life_needs_none_of_its_words() -> None:
    cue = cue_of("When does my ceramics class begin?", CLOCK.today())
    assert list(relevant(cue, [hit("- On Monday", 0.9, meaning=0.9)]))
    assert not list(relevant(cue, [hit("- On Monday", 0.9, around=0.9)]))
    general = cue_of("When does a ceramics class begin?", CLOCK.today())
    assert not list(relevant(general, [hit("- On Monday", 0.9, meaning=0.9)]))


def test_a_word_that_stands_nearly_everywhere_is_known_though_no_search_looks_for_it() -> None:
    hits = [Hit("memory/2026-08-01.md", 3, 3, CLOCK.today(), 0.9, "- The pottery is closed", {}, {"near": 0.9})]
    assert list(relevant(cue_of("Where is my pottery?", CLOCK.today()), hits))
    assert not list(relevant(cue_of("Where is the pottery?", CLOCK.today()), hits))


words = st.lists(st.sampled_from(["cat", "dentist", "lindenstrasse", "zürich", "牙医", "x1"]), unique=True, max_size=6)
hits = st.lists(
    st.builds(
        Hit,
        st.sampled_from(["memory/notes/a.md", "memory/notes/b.md", "memory/2026-10-02.md"]),
        st.integers(1, 50),
        st.integers(1, 50),
        st.dates(date(2020, 1, 1), date(2026, 11, 21)),
        st.floats(0, 1),
        st.text(max_size=12),
        st.dictionaries(st.sampled_from(["cat", "dentist", "lindenstrasse", "牙医"]), st.sampled_from([0.5, 1.0])),
    ),
    max_size=30,
)


@given(words, hits)
def test_selection_keeps_the_order_and_its_limits(words: list[str], hits: list[Hit]) -> None:
    chosen = list(relevant(cue_of(" ".join(words), CLOCK.today()), hits))
    assert all(0 <= one.share <= 1 + 1e-9 for one in chosen)
    places = [next(at for at, hit in enumerate(hits) if hit is one.hit) for one in chosen]
    assert places == sorted(places) and len(chosen) <= FIRST
    assert len({one.hit.text for one in chosen}) == len(chosen)
    assert not chosen or any(word in hit.matched for hit in hits for word in words)
