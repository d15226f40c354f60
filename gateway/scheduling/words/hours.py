"""Reads times of day, parts of a day, and the zones of their clocks. Pure."""

from __future__ import annotations

from gateway.scheduling.words.cursor import MOST_FILLERS, Found
from gateway.scheduling.words.said import PartOfDay, Said, SaidHour
from gateway.scheduling.words.spans import SpanReader
from gateway.scheduling.words.tokens import Token


class HourReader(SpanReader):
    def _clock(self, at: int, said: Said) -> Found | None:
        has_at = self._has(at, "at")
        for _ in range(MOST_FILLERS):
            if found := self._by_form(at):
                return found
            if not self._has(at, "at", "filler"):
                break
            at += 1
        token = self._token(at)
        if token is None:
            return None
        if token.clock is not None:
            hour, minute = token.clock
            is_short = self._words.afternoon_digits and not token.text.startswith("0") and hour < 6
            end = at + 1 + self._has(at + 1, "oclock")
            return Found(end, Said(clocks=(SaidHour(hour, minute, is_exact=not is_short),)))
        return self._hour(at, token, said, has_at=has_at or self._has(at - 1, "before"))

    def _hour(self, at: int, token: Token, said: Said, *, has_at: bool) -> Found | None:
        if token.number is None or token.number < 0:
            return None
        hour, minute, end = int(token.number), 0, at + 1
        if token.is_digits and "." in token.text and len(token.text.partition(".")[2]) == 2:
            minute = int(token.text.partition(".")[2])
            if not (has_at or self._is_hour(end) or said.days or self._near(end) is not None or self._is_part(end)):
                return None
        elif token.number != hour:
            return None
        elif (
            token.is_digits
            and len(token.text) == 4
            and (token.text.startswith("0") or self._has(end, "oclock", "sharp"))
        ):
            hour, minute = divmod(hour, 100)
            end += self._has(end, "oclock")
            is_time = hour < 24 and minute < 60 and (has_at or end > at + 1)
            return Found(end, Said(clocks=(SaidHour(hour, minute, is_exact=True),))) if is_time else None
        is_dotted = token.is_digits and "." in token.text
        is_named = self._has(end, "oclock") or is_dotted
        if is_named and is_dotted:
            end += self._has(end, "oclock")
        elif is_named:
            end += 1
            more = self._whole(end, 0, 59)
            has_minute = self._has(end + 1, "minute")
            is_close = has_minute or (self._is_minute(end) and self._is_last_or_known(end))
            if more is not None and is_close:
                minute, end = more, end + 1 + has_minute
        elif self._has(end, "am", "pm"):
            pass
        elif self._unit(end) is not None or self._month(end) is not None or self._has(end, "ordinal_end", "percent"):
            return None
        elif has_at and said.clocks == () and self._is_minute(end) and token.is_digits is False:
            minute, end = self._whole(end, 0, 59) or 0, end + 1
        elif not has_at and not (said.clocks and said.repeat and self._has(at - 1, "and")) and not self._is_part(end):
            return None
        is_exact = token.text.startswith("0") and len(token.text) > 1
        is_some = (
            self._words.has_han_numbers and not (token.is_digits or minute or said or has_at) and hour in (1, 2)
        )  # 一点
        is_bare = not is_named and not minute
        return Found(end, Said(clocks=(SaidHour(hour, minute, is_exact, is_bare=is_bare),)), is_sure=not is_some)

    def _is_part(self, at: int) -> bool:
        return self._sure(at, *PartOfDay)

    def _is_last_or_known(self, at: int) -> bool:
        """True for digits, and for a number in words that counts nothing: not in `three o'clock two eggs`."""
        token, after = self._token(at), self._token(at + 1)
        return token is not None and (token.is_digits or after is None or bool(after.means | after.weak))

    def _by_form(self, at: int) -> Found | None:
        """`half past three`, `zehn vor halb vier`, `3点半`, by the language's own forms."""
        for form in self._words.clock:
            hour, minutes, is_exact = None, None, False
            for offset, part in enumerate(form):
                here = at + offset
                if part == "N":
                    token = self._token(here)
                    hour = self._whole(here, 0, 24)
                    if hour is None and self._has(here, PartOfDay.NOON, PartOfDay.MIDNIGHT):
                        hour, is_exact = 12 if self._has(here, PartOfDay.NOON) else 0, True
                        continue
                    if hour is None or token is None or (token.is_digits and len(token.text) > 2):
                        break
                elif part == "M":
                    minutes = self._whole(here, 1, 59)
                    if minutes is None:
                        break
                elif not self._has(here, part):
                    break
            else:
                assert hour is not None
                end = at + len(form)
                if form[-1] == "M" and (self._has(end, "oclock") or self._unit(end) is not None):
                    continue
                if form[-1] == "M" and self._has(at + 1, "and") and not (is_exact or self._has(at - 1, "at")):
                    continue  # chapters 8 and 9
                end += self._has(end, "oclock") and form[-1] == "N"
                shift = _shift(self._words.clock[form], minutes or 0)
                is_joined = form[-2:] == ("and", "M")
                return Found(end, Said(clocks=(SaidHour(hour, 0, is_exact, shift, is_joined=is_joined),)))
        return None

    def _part(self, at: int, said: Said) -> Found | None:
        for part in PartOfDay if self._has(at, *PartOfDay) else ():
            if part in (PartOfDay.AM, PartOfDay.PM) and not said.clocks and not self._is_figure(at + 1):
                continue
            if self._sure(at, part) or (self._has(at, part) and (said or self._is_figure(at + 1))):
                return Found(at + 1, Said(parts=(part,)), self._sure(at, part))
        return None

    def _zone(self, at: int, said: Said) -> Found | None:
        after = self._past(at, "zone_before")
        token = self._token(after)
        if token is None:
            return None
        zone = next((meaning.removeprefix("zone:") for meaning in token.weak if meaning.startswith("zone:")), "")
        if not zone:
            return None
        end = self._past(after + 1, "of", "filler")
        has_word = self._has(end, "zone") or after > at
        if not has_word and zone != "UTC" and not zone.endswith("!"):
            return None
        zone = zone.removesuffix("!")
        return Found(end + 1 if self._has(end, "zone") else after + 1, Said(zone=zone), is_sure=bool(said.clocks))


def _shift(text: str, minutes: int) -> int:
    """`30`, `-M`, `-30-M`."""
    total = 0
    for part in text.replace("-", " -").replace("+", " ").split():
        sign, value = (-1, part[1:]) if part.startswith("-") else (1, part)
        total += sign * (minutes if value == "M" else int(value))
    return total
