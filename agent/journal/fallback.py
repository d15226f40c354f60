"""A day's conversation without a model: its first and last messages, and lines that seem to matter: decisions,
promises, days, numbers, names and unanswered questions, by their look in the languages that have a file. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from agent.journal.day_messages import DayMessage
from agent.languages.codes import Language
from agent.languages.days_meant import with_days
from agent.languages.registry import LANGUAGES
from agent.model.offline.intent import told_language
from agent.search.answer_types import only_asks
from agent.session.export import Line

MOST_LINES = 20
_MOST_CHARS = 240
_NOD = 3
"""Words of an answer that says nothing."""
_DECIDED = re.compile(
    r"\b(?:decid|decision|agree|settled|let's|we(?:'ll| will)|go with|chose|beschl|entschied|einig|nehmen wir|"
    r"machen wir|décid|convenu|on prend|decidi|acord|quedamos"
    r"|decis|deciso|decidiamo|d'accordo|facciamo)|决定|說好|说好|就这么|決め|にします",
    re.IGNORECASE,
)
_PROMISED = re.compile(
    r"\b(?:i'll|i will|promise|remind|until|by (?:mon|tue|wed|thu|fri|sat|sun|tomorrow)|ich (?:werde|schicke|mache)|"
    r"versprech|erinner|bis (?:mo|di|mi|do|fr|sa|so|morgen)|je vais|rappelle|avant|voy a|recuérda|antes"
    r"|prometto|ricorda|entro|ti mando)|"
    r"提醒|保证|答应|約束",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d.,:/-]*")
_NAME = re.compile(r"(?<=[a-zäöüß,;] )[A-ZÄÖÜÉ][a-zäöüßéèñ]{2,}")
_SPEAKER = re.compile(r"\A[-*\s]*(?:\d\d:\d\d )?[^\s:][^:\n]{0,60}: ")
"""The speaker before a line, whose name tells no language."""
_QUESTION = re.compile(r"[?？]\s*$")


def extract(spoken: Sequence[DayMessage], most: int = MOST_LINES) -> list[str]:
    """Bullets in the order of the day, without the assistant's short assents and the questions that it answered."""
    spoken = worth_a_line(spoken) or spoken
    if len(spoken) <= most:
        chosen = list(range(len(spoken)))
    else:
        ends = {0, 1, len(spoken) - 2, len(spoken) - 1}
        by_weight = sorted(range(len(spoken)), key=lambda at: (at not in ends, -_weight(spoken, at), at))
        chosen = sorted(by_weight[:most])
    words = LANGUAGES[language_of(spoken)].journal
    bullets = [f"- {_bullet(spoken[at], words.assistant)}" for at in chosen]
    left_out = len(spoken) - len(chosen)
    return [*bullets, f"- {words.left_out.format(number=left_out)}"] if left_out else bullets


def language_of_day(lines: Iterable[str]) -> Language | None:
    """The language of most lines; None where undecided."""
    said = (_SPEAKER.sub("", line) for line in lines)
    told = Counter(language for line in said if (language := told_language(line))).most_common(2)
    is_level = len(told) == 2 and told[0][1] == told[1][1]
    return told[0][0] if told and not is_level else None


def language_of(spoken: Sequence[DayMessage]) -> Language:
    """The language of the people; English by default."""
    return language_of_day(message.line.text for message in spoken if message.line.who) or Language.ENGLISH


def _bullet(message: DayMessage, assistant: str) -> str:
    told = message.told_with(assistant)
    cut = told if len(told) <= _MOST_CHARS else told[: _MOST_CHARS - 1].rstrip() + "…"
    return message.line.marked(with_days(cut, message.line.at.date()))


def worth_a_line(spoken: Sequence[DayMessage]) -> Sequence[DayMessage]:
    return [message for at, message in enumerate(spoken) if _is_worth_a_line(spoken, at)]


def _is_worth_a_line(spoken: Sequence[DayMessage], at: int) -> bool:
    line = spoken[at].line
    if not line.who:
        return not _is_nod(line)
    if not only_asks(line.text):
        return True
    after = spoken[at + 1].line if at + 1 < len(spoken) else None
    return not (
        line.is_answered or (after is not None and not after.who and not _is_nod(after) and not only_asks(after.text))
    )


def _is_nod(line: Line) -> bool:
    return len(line.text.split()) <= _NOD


def _weight(spoken: Sequence[DayMessage], at: int) -> int:
    line = spoken[at].line
    weight = 4 * bool(_DECIDED.search(line.text)) + 4 * bool(_PROMISED.search(line.text))
    weight += min(3, len(_NUMBER.findall(line.text))) + min(2, len(_NAME.findall(line.text)))
    stays_open = bool(_QUESTION.search(line.text)) and all(later.line.who == line.who for later in spoken[at + 1 :])
    return weight + 3 * stays_open + bool(line.who)
