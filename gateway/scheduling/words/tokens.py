"""Splits a text into words, numbers, dates and clock times, each with what it can mean in one language. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from agent.languages.time_words import Meaning, TimeWords

_RAW = re.compile(
    r"(?<![\d.:/-])(?:(?P<iso>\d{4}[-/]\d{1,2}[-/]\d{1,2})(?![\w-]*\d)"
    r"|(?P<dashed>\d{1,2}-\d{1,2}-\d{4})(?![\w-]*\d)"
    r"|(?P<clock>\d{1,2}:\d\d)(?!:?\d)"
    r"|(?P<dotted>\d{1,2}\.\s?\d{1,2}\.(?:\d{4}|\d\d)?)(?!\d)"
    r"|(?P<slashed>\d{1,2}/\d{1,2}(?:/(?:\d{4}|\d\d))?)(?![\d/]))"
    r"|(?P<number>\d++(?:[.,]\d++(?![.,]?\d))?)|(?P<word>[^\W\d_])|(?P<mark>\S)"
)
_UNSPACED = re.compile("[\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_HAN_DIGITS = {
    sign: number
    for number, signs in enumerate(("〇零", "一壹", "二两兩俩", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
_HAN_NUMBER = frozenset((*_HAN_DIGITS, "十", "百"))
_MOST_SIGNS = 6
"""The most characters of a number of days or hours."""
_TRADITIONAL = "禮週點鐘時個後間為號東灣倫紐約舊過別這當國業從兩頭"
_SIMPLIFIED = "礼周点钟时个后间为号东湾伦纽约旧过别这当国业从两头"
"""The signs of words of time, Japanese ones among them."""
_SAME = str.maketrans(
    f"’ʼ‘：，、／．\u3000\xa0\u202f{_TRADITIONAL}",
    f"''':,,/.   {_SIMPLIFIED}",
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign, with `start` and `end` in the text."""

    start: int
    end: int
    text: str
    """Folded."""
    means: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()
    """What it means only beside another word of time."""
    number: float | None = None
    is_digits: bool = False
    clock: tuple[int, int] | None = None
    day: tuple[int | None, int, int] | None = None
    """Year, month, day; of a date with slashes, its two numbers as they stand."""

    @property
    def is_plain(self) -> bool:
        """It can say nothing of a time."""
        return not (self.means or self.weak or self.clock or self.day) and self.number is None


def clean(text: str) -> str:
    """The text without invisible marks, which may stand between digits."""
    return _INVISIBLE.sub("", text)


def folded(text: str) -> str:
    """The text in lower case without accents, of the same length."""
    return "".join(map(_fold, text.translate(_SAME)))


@lru_cache(maxsize=4096)
def _fold(sign: str) -> str:
    if sign.isdecimal():
        return str(unicodedata.decimal(sign))
    lower = sign.lower() if len(sign.lower()) == 1 else sign
    if "\uff01" <= lower <= "\uff5e":
        lower = unicodedata.normalize("NFKC", lower).lower()
    base = unicodedata.normalize("NFD", lower)
    return base[0] if len(base) > 1 and "a" <= base[0] <= "z" else lower


def tokens(text: str, words: TimeWords) -> list[Token]:
    """The tokens of all the text, in the longest phrases that the language has."""
    same = folded(text)
    raw = list(_split(same))
    found: list[Token] = []
    at = 0
    while at < len(raw):
        length, meaning = _longest(raw, at, words)
        if raw[at].text in _HAN_NUMBER and words.has_han_numbers:
            end = at
            while end < len(raw) and raw[end].text in _HAN_NUMBER:
                end += 1
            if end - at >= length and (value := _han_number("".join(token.text for token in raw[at:end]))) is not None:
                found.append(replace(raw[at], end=raw[end - 1].end, number=value))
                at = end
                continue
        if meaning is None:
            found.append(raw[at])
            at += 1
            continue
        first, last = raw[at], raw[at + length - 1]
        phrase = "".join(token.text for token in raw[at : at + length])
        number = first.number if length == 1 and meaning.number is None else meaning.number
        whole = replace(first, end=last.end, text=phrase, means=meaning.strong, weak=meaning.weak, number=number)
        found += [replace(whole, means=frozenset([part])) for part in meaning.sequence] if meaning.sequence else [whole]
        at += length
    return _without_possessives(found, same)


def phrase_key(phrase: str) -> tuple[str, ...]:
    """The key under which a phrase of a language's file is looked up."""
    return tuple(token.text for token in _split(folded(phrase)))


def _split(text: str) -> Iterator[Token]:
    at = 0
    while match := _RAW.search(text, at):
        at = match.end()
        found = match[0]
        token = Token(match.start(), at, found)
        match match.lastgroup:
            case "iso":
                year, month, day = found.replace("/", "-").split("-")
                yield replace(token, day=(int(year), int(month), int(day)))
            case "dashed":
                day, month, year = found.split("-")
                yield replace(token, day=(int(year), int(month), int(day)))
            case "clock":
                hour, minute = found.split(":")
                yield replace(token, clock=(int(hour), int(minute)), is_digits=True)
            case "dotted":
                day, month, year, *_ = *found.replace(" ", "").split("."), ""
                yield replace(token, day=(_year(year), int(month), int(day)))
            case "slashed":
                first, second, *rest = found.split("/")
                yield replace(
                    token, means=frozenset(["slashed"]), day=(_year(rest[0] if rest else ""), int(first), int(second))
                )
            case "number":
                number = float(found.replace(",", ".")) if len(found) <= _MOST_SIGNS else None
                yield replace(token, number=number, is_digits=True)
            case "word" if not _UNSPACED.match(found):
                while at < len(text) and text[at].isalpha() and not _UNSPACED.match(text[at]):
                    at += 1
                yield Token(match.start(), at, text[match.start() : at])
            case "mark" if (
                found == "-" and match.start() > 0 and text[match.start() - 1].isalpha() and text[at : at + 1].isalpha()
            ):
                continue
            case _:
                yield token


def _year(text: str) -> int | None:
    return None if not text else int(text) + (2000 if len(text) == 2 else 0)


def _longest(raw: list[Token], at: int, words: TimeWords) -> tuple[int, Meaning | None]:
    for length in range(min(words.longest.get(raw[at].text, 0), len(raw) - at), 0, -1):
        if meaning := words.phrases.get(tuple(token.text for token in raw[at : at + length])):
            return length, meaning
    return 0, None


def _han_number(signs: str) -> float | None:
    """`十五`, `二十`, `三`, `一百二十`; `二〇二六` digit by digit."""
    if len(signs) > _MOST_SIGNS:
        return None
    if "十" not in signs and "百" not in signs:
        return float("".join(str(_HAN_DIGITS[sign]) for sign in signs))
    hundreds, _, rest = signs.rpartition("百") if "百" in signs else ("", "", signs)
    tens, has_ten, ones = rest.partition("十")
    if any(len(part) > 1 for part in (hundreds, tens)) or len(ones.lstrip("零〇")) > 1:
        return None
    value = _HAN_DIGITS.get(hundreds, 1) * 100 if "百" in signs else 0
    if has_ten:
        value += _HAN_DIGITS.get(tens, 1) * 10
        return float(value + _HAN_DIGITS.get(ones, 0))
    return float(value + _HAN_DIGITS.get(tens.lstrip("零〇"), 0))


def _without_possessives(found: list[Token], text: str) -> list[Token]:
    """`Monday's report` is due at no time of Monday's."""
    return [
        replace(token, means=frozenset(), weak=frozenset())
        if text[token.end : token.end + 2] == "'s" and token.number is None
        else token
        for token in found
    ]
