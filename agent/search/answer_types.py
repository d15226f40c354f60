"""The type of answer that a question asks for (time, number, name, title)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent.languages.terms import is_unspaced, runs

Holds = Callable[[str], bool]

_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this (?:week|month|year|morning|weekend)|week|month|year"
    rf"|just|recently|since|few days|{_DAYS}|{_MONTHS}|\d+(?:th|st|nd|rd)?"
    r"|gestern|heute|morgen|vor|letzten?|nächsten?|seit|uhr|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
    r"|ayer|hoy|mañana|hace|pasado|hier|demain|dernier|dernière)\b"
    r"|[昨今明前后]天|[上下这本]个?[周月]|星期|[去今明]年|\d[年月日号点]|先週|今週|来週",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|dozen|several|first|second|third"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|dos|tres|cuatro|cinco|deux|trois|quatre|cinq)\b"
    r"|[一二三四五六七八九十两几百千][个次天年月周小分块元只本部岁]",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-zß-ÿ,] )[A-ZÀ-Ý][a-zß-ÿ]+")
_TITLE = re.compile(r"[\"“«《「]|(?<=[a-zß-ÿ,] )[A-ZÀ-Ý][a-zß-ÿ]+")
_ASKS: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = (
    (
        re.compile(
            r"\bwhen\b|\bhow long\b|\b(?:what|which) (?:date|day|month|year|time)\b|\bwann\b|\bwie lange\b|\bcuándo\b"
            r"|\bquand\b|什么时候|何时|哪天|几号|几点|多久|いつ",
            re.IGNORECASE,
        ),
        _TIME,
    ),
    (
        re.compile(
            r"\bhow (?:many|much|often|old)\b|\bwie (?:viele?|oft|alt)\b|\bcuánt[oa]s?\b"
            r"|\bcombien\b|多少|几[个次]|いくつ",
            re.IGNORECASE,
        ),
        _NUMBER,
    ),
    (
        re.compile(
            r"\bwhere\b|\bwho\b|\b(?:what|which) (?:\w+ )?(?:country|countries|city|cities|states?|places?|area)\b"
            r"|\bwo\b|\bwer\b|\bdónde\b|\bquién\b|\boù\b|\bqui\b",
            re.IGNORECASE,
        ),
        _NAME,
    ),
    (
        re.compile(
            r"\b(?:what|which) (?:\w+ )?(?:books?|movies?|films?|songs?|games?|bands?|authors?|shows?"
            r"|names?|titles?)\b",
            re.IGNORECASE,
        ),
        _TITLE,
    ),
)
_READ_CHARS = 4_000
"""A longer query is a text, not a question."""
_SENTENCE = re.compile(r"[^.!?…。！？؟\n]+[.!?…。！？؟]*")
_CLAUSE_END = re.compile("[,;:，；：、—–]")
_ASKING = re.compile(r"[?？؟]|か(?:。|\Z)")
_LEAST_WORDS = 4
"""Of a sentence that says something; two letters of a script without spaces are one."""
_UNWORDED_END = re.compile(r"(?<!\W)\W*+\Z")


def answer_tests(query: str) -> tuple[Holds, ...]:
    """A test for each type of answer that is asked for."""
    return tuple(_matcher(answer) for asks, answer in _ASKS if asks.search(query[:_READ_CHARS]))


def is_question(words: str) -> bool:
    """True if the text ends by asking, apart from a remark in brackets."""
    body, marks = _split_ending(words[-300:])
    remark, closed, _ = marks.partition(")")
    before, opened, inside = (body + remark).rpartition("(")
    if closed and opened and ")" not in inside:
        marks += _split_ending(before)[1]
    return "?" in marks or "？" in marks


def only_asks(words: str, *, by_clause: bool = False) -> bool:
    """True for a text of questions, apart from short sentences (a greeting) and a remark in brackets at its end.
    `by_clause`: "It rains, what now?" says something, too."""
    if not _ASKING.search(words):
        return False
    body = words.rstrip()
    if body.endswith((")", "）")):
        body = body[: max(body.rfind("("), body.rfind("（"))]
    parts = _SENTENCE.findall(body)
    if by_clause:  # "Where is it, please?" is one
        clauses = [_CLAUSE_END.split(part) for part in parts]
        parts = [part for pieces in clauses for part in (pieces if _says_something(pieces[-1]) else ("".join(pieces),))]
    sentences = [part for part in parts if _says_something(part)]
    return bool(sentences) and all(_ASKING.search(sentence) for sentence in sentences)


def _says_something(sentence: str) -> bool:
    """True unless it is as short as "How nice!" or 太好了！."""
    words = runs(sentence)
    return sum(len(word) / 2 if is_unspaced(word) else 1 for word in words) >= _LEAST_WORDS


def _split_ending(words: str) -> tuple[str, str]:
    end = _UNWORDED_END.search(words)
    assert end is not None  # it matches the empty ending
    return words[: end.start()], end[0]


def _matcher(pattern: re.Pattern[str]) -> Holds:
    return lambda words: pattern.search(words) is not None
