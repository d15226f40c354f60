"""A day without a model."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from agent.journal.day_messages import DayMessage
from agent.journal.fallback import MOST_LINES, extract
from agent.session.export import Line
from tests.agent.journal.diary import BERLIN


def talk(*said: str) -> list[DayMessage]:
    start = datetime(2026, 11, 21, 9, tzinfo=BERLIN)
    lines = (text.partition(": ") for text in said)
    return [
        DayMessage(at, Line(start + timedelta(minutes=at), who, text))
        for at, (who, _, text) in enumerate(lines, start=1)
    ]


def test_a_short_talk_is_all_there() -> None:
    assert extract(talk("Alice: Hello\nthere", ": Noted.", ": That was a week ago")) == [
        "- 09:01 Alice: Hello there",
        "- 09:03 Assistant: That was a week ago",
    ]
    assert extract(talk(": Hi")) == ["- 09:01 Assistant: Hi"]


def test_what_matters_of_a_long_talk() -> None:
    matters = [
        "Alice: We decided for the blue tiles",
        "Bob: Ich schicke die Rechnung bis Freitag",
        "Alice: The policy number is 4711-22, valid to 31.12.2027",
        "Bob: Our neighbour Ingrid Petersen brings the ladder",
        "Alice: Who pays for it?",
    ]
    small = [f"Bob: well {'so ' * at}".strip() for at in range(60)]
    said = ["Alice: First words", *small[:30], *matters[:4], *small[30:], matters[4], "Alice: Last words"]
    bullets = extract(talk(*said))
    assert len(bullets) == MOST_LINES + 1 and bullets[-1] == f"- (an extract; messages not shown: {len(said) - 20})"
    for wanted in ("First words", *(line.partition(": ")[2] for line in matters), "Last words"):
        assert any(wanted in bullet for bullet in bullets), wanted
    assert bullets[:-1] == sorted(bullets[:-1], key=lambda bullet: bullet[2:7])


def test_a_question_that_was_answered_is_not_worth_a_line() -> None:
    said = talk("Alice: My bike is in the cellar", "Alice: Where is the bike?", ": Your bike is in the cellar.")
    assert extract(said) == [
        "- 09:01 Alice: My bike is in the cellar",
        "- 09:03 Assistant: Your bike is in the cellar.",
    ]
    for answer in (": Yes.", "Bob: In the cellar, I think", ": Which bike do you mean?"):
        assert any(
            "Where is the bike?" in line
            for line in extract(talk(*("Alice: Hello", "Alice: Where is the bike?"), answer))
        )
    found = [said[0], replace(said[1], is_answered=True)]
    assert extract(found) == ["- 09:01 Alice: My bike is in the cellar"]
    assert extract(found[1:]) == ["- 09:02 Alice: Where is the bike?"], "a day of nothing else"


def test_a_long_line_is_cut() -> None:
    assert len(extract(talk("Alice: " + "word " * 200))[0]) < 260


def test_a_day_that_is_meant_stands_beside_what_was_said() -> None:
    """21 November 2026 is a Saturday."""
    assert extract(talk("Alice: The dentist is on Friday at ten", ": Tomorrow the shop is shut, so go today")) == [
        "- 09:01 Alice: The dentist is on Friday at ten (2026-11-27 / 2026-11-20)",
        "- 09:02 Assistant: Tomorrow the shop is shut, so go today (2026-11-22)",
    ]
