"""A walk over the words of a text, with what each of them can mean. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.languages.time_words import TimeWords
from gateway.scheduling.words.said import Said, Unit
from gateway.scheduling.words.tokens import Token

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
MOST_FILLERS = 6
"""The most fillers in a row that are passed over."""
NEAR = {"today": 0, "tomorrow": 1, "after_tomorrow": 2, "in_three_days": 3}


@dataclass(frozen=True, slots=True)
class Found:
    """What the tokens before `end` say. `is_sure`: also without another word of time beside them."""

    end: int
    said: Said
    is_sure: bool = True


class TokenReader:
    def __init__(self, tokens: Sequence[Token], words: TimeWords) -> None:
        self._tokens = tokens
        self._words = words
        self._meanings = [token.means | token.weak for token in tokens]

    def _token(self, at: int) -> Token | None:
        return self._tokens[at] if 0 <= at < len(self._tokens) else None

    def _has(self, at: int, *meanings: str) -> bool:
        return 0 <= at < len(self._meanings) and not self._meanings[at].isdisjoint(meanings)

    def _sure(self, at: int, *meanings: str) -> bool:
        token = self._token(at)
        return token is not None and not token.means.isdisjoint(meanings)

    def _past(self, at: int, *meanings: str) -> int:
        """The place behind the few words with any of these meanings."""
        end = at
        while end < at + MOST_FILLERS and self._has(end, *meanings):
            end += 1
        return end

    def _number(self, at: int) -> float | None:
        token = self._token(at)
        return token.number if token is not None else None

    def _whole(self, at: int, least: int, most: int) -> int | None:
        number = self._number(at)
        return int(number) if number is not None and number == int(number) and least <= number <= most else None

    def _unit(self, at: int) -> Unit | None:
        return next((unit for unit in Unit if self._has(at, unit)), None) if self._has(at, *Unit) else None

    def _weekday(self, at: int) -> int | None:
        is_one = self._has(at, *WEEKDAYS)
        return next((number for number, name in enumerate(WEEKDAYS) if self._has(at, name)), None) if is_one else None

    def _month(self, at: int) -> int | None:
        is_one = self._has(at, *_MONTHS)
        return next((number for number, name in enumerate(_MONTHS, 1) if self._has(at, name)), None) if is_one else None

    def _is_mark(self, at: int, mark: str) -> bool:
        token = self._token(at)
        return token is not None and token.text == mark

    def _near(self, at: int) -> int | None:
        return next((days for sign, days in NEAR.items() if self._has(at, sign)), None)

    def _is_figure(self, at: int) -> bool:
        token = self._token(at)
        return token is not None and (token.number is not None or token.clock is not None)

    def _is_hour(self, at: int) -> bool:
        return self._has(at, "oclock", "am", "pm")

    def _is_day_number(self, at: int) -> bool:
        """`3rd`, `3.`, `第三天`."""
        return self._whole(at, 1, 31) is not None and (
            self._has(at + 1, "ordinal_end", "mday")
            or (self._has(at, "ordinal") and self._unit(at + 1) is None and self._weekday(at + 1) is None)
            or self._is_mark(at + 1, ".")
        )

    def _reads_clock_after_at(self, at: int) -> bool:
        return self._has(at, "at", "the_day") and self._number(at + 1) is not None

    def _is_minute(self, at: int) -> bool:
        """Two digits, or words for them, with no unit behind them."""
        token = self._token(at)
        return (
            token is not None
            and self._whole(at, 0, 59) is not None
            and (len(token.text) == 2 or not token.is_digits)
            and self._unit(at + 1) in (None, Unit.MINUTE)
            and not self._has(at + 1, "oclock", "ordinal_end")
        )
