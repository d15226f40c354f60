"""Removes what local models write into their text: thoughts, tool calls, end tokens. Pure.

Only what may still become one of these is held back. Linear in the text, however it is cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.formats.parsing import load_json
from agent.model.base import Json

_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
}
"""Stand before the answer, if at all."""
_CALL, _CALL_END = "<tool_call>", "</tool_call>"
_CALL_BEGINS = ("{", "[", "<function=")
"""What stands in a call; behind any other word the tag is a word."""
_ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|return|>",
    "<end_of_turn>",
    "<eos>",
    "<｜end▁of▁sentence｜>",
    "</s>",
)
"""Taken out at the end of the text only."""
_STRUCK, _STRUCK_END = "<s>", "</s>"
"""HTML, where the first stands before the second."""
_FENCE = "```"


_BLANKS = re.compile(r"\s*+")
_TICKS = re.compile(r"`++")
_LONGEST_TAG = max(map(len, (*_ENDS, _CALL)))

_State = Literal["leading", "thought", "text", "opened", "call"]


@dataclass(frozen=True, slots=True)
class RawCall:
    name: str
    input: Mapping[str, Json]
    garbage: str = ""
    """That text if it is unreadable."""


class MarkupFilter:
    """`feed` and `finish` return what may be shown now; `calls` are those at the text's end."""

    def __init__(self) -> None:
        self.calls: list[RawCall] = []
        self._state: _State = "leading"
        self._text = ""
        self._at = 0
        self._blanks: list[str] = []
        self._thought = False
        self._closer = ""
        self._call: list[str] = []
        self._behind: list[str] | None = None
        self._shown: list[str] = []
        self._last = ""
        self._ticks = 0
        self._in_fence = False
        self._is_struck = False
        self._has_shown = False

    @property
    def took_all(self) -> bool:
        """True if there was only markup."""
        return not self._has_shown and (self._thought or self._behind is not None or bool(self.calls))

    def feed(self, piece: str) -> str:
        self._text, self._at = self._text[self._at :] + piece, 0
        while self._read():
            pass
        return self._taken()

    def finish(self) -> str:
        rest = self._text[self._at :]
        match self._state:
            case "leading" if not self._thought:
                self._let_go("".join(self._blanks) + rest)
            case "leading" | "text" if rest:
                self._let_go(rest)
            case "opened":
                self._let_go(_CALL + "".join(self._blanks) + rest)
            case "call":
                self.calls += _calls_in("".join((*self._call, rest)))
        self._text, self._at, self._state = "", 0, "text"
        return self._taken()

    def _read(self) -> bool:
        """Reads on; False if it needs more input."""
        match self._state:
            case "leading":
                return self._read_leading()
            case "thought":
                end = self._text.find(self._closer, self._at)
                if end < 0:
                    self._at = max(self._at, len(self._text) - len(self._closer) + 1)
                    return False
                self._at, self._state = end + len(self._closer), "leading"
                return True
            case "text":
                return self._read_text()
            case "opened":
                return self._read_opened()
            case "call":
                return self._read_call()

    def _read_leading(self) -> bool:
        self._skip_blanks()
        for opener, closer in _THOUGHTS.items():
            if self._text.startswith(opener, self._at):
                self._at += len(opener)
                self._closer, self._thought, self._state = closer, True, "thought"
                self._blanks.clear()
                return True
        if any(self._may_become(opener) for opener in _THOUGHTS):
            return False
        if not self._thought:
            self._let_go("".join(self._blanks))
        self._blanks.clear()
        self._state = "text"
        return True

    def _read_text(self) -> bool:
        if self._at == len(self._text):
            return False
        if self._behind is not None and (blanks := self._blanks_here()):
            self._behind.append(blanks)
            return True
        tag = self._text.find("<", self._at)
        if tag != self._at:
            end = tag if tag >= 0 else len(self._text)
            self._let_go(self._text[self._at : end])
            self._at = end
            return True
        ends = [end for end in _ENDS if not (end == _STRUCK_END and self._is_struck)]
        if sign := next((end for end in ends if self._text.startswith(end, self._at)), ""):
            self._behind = self._behind or []
            self._behind.append(sign)
            self._at += len(sign)
            return True
        may_call = not self._in_fence and not self._ticks
        if may_call and self._text.startswith(_CALL, self._at):
            self._at += len(_CALL)
            self._state = "opened"
            return True
        if any(map(self._may_become, (*ends, _CALL) if may_call else ends)):
            return False
        self._let_go("<")
        self._at += 1
        return True

    def _read_opened(self) -> bool:
        """Decides after a call's tag whether it is one."""
        self._skip_blanks()
        if any(self._text.startswith(begin, self._at) for begin in _CALL_BEGINS):
            self._blanks.clear()
            self._call, self._state = [], "call"
            return True
        if any(map(self._may_become, _CALL_BEGINS)):
            return False
        self._let_go(_CALL + "".join(self._blanks))
        self._blanks.clear()
        self._state = "text"
        return True

    def _read_call(self) -> bool:
        end = self._text.find(_CALL_END, self._at)
        upto = end if end >= 0 else max(self._at, len(self._text) - len(_CALL_END) + 1)
        self._call.append(self._text[self._at : upto])
        self._at = upto
        if end < 0:
            return False
        self.calls += _calls_in("".join(self._call))
        self._behind = self._behind or []
        self._at += len(_CALL_END)
        self._state = "text"
        return True

    def _may_become(self, tag: str) -> bool:
        return len(self._text) - self._at < len(tag) and tag.startswith(self._text[self._at :])

    def _blanks_here(self) -> str:
        found = _BLANKS.match(self._text, self._at)
        end = found.end() if found else self._at
        blanks, self._at = self._text[self._at : end], end
        return blanks

    def _skip_blanks(self) -> None:
        if blanks := self._blanks_here():
            self._blanks.append(blanks)

    def _let_go(self, text: str) -> None:
        """Shows text after what was held back; calls before it are not at the end."""
        if self._behind is not None:
            text = "".join(self._behind) + text
            self._behind = None
            self.calls.clear()
        self._shown.append(text)
        self._has_shown = self._has_shown or bool(text.strip())
        self._is_struck = self._is_struck or _STRUCK in self._last + text
        self._last = (self._last + text)[1 - len(_STRUCK) :]
        for run in _TICKS.finditer(text):
            before = self._ticks if run.start() == 0 else 0
            if before < len(_FENCE) <= before + len(run[0]):
                self._in_fence = not self._in_fence
            self._ticks = before + len(run[0])
        if not text.endswith("`"):
            self._ticks = 0

    def _taken(self) -> str:
        shown = "".join(self._shown)
        self._shown.clear()
        return shown


def input_of(given: Json) -> Mapping[str, Json] | None:
    """A call's input, also encoded once or twice, if readable."""
    for _ in range(3):
        if given is None or given == "":
            return {}
        if isinstance(given, Mapping):
            return given
        if not isinstance(given, str):
            return None
        try:
            given = load_json(given)
        except ValueError:
            return None
    return None


def _calls_in(text: str) -> list[RawCall]:
    text = text.strip()
    if text.startswith("<function="):
        return [_in_tags(text)]
    try:
        given = load_json(text)
    except ValueError:
        given = None
    return [_call_of(one, text) for one in (given if isinstance(given, list) else [given])]


def _call_of(given: Json, text: str) -> RawCall:
    if isinstance(given, Mapping) and isinstance(given.get("function"), Mapping):
        given = given["function"]
    if not isinstance(given, Mapping):
        return RawCall("", {}, text)
    name = given.get("name")
    arguments = input_of(next((given[key] for key in ("arguments", "parameters", "input") if key in given), None))
    if not isinstance(name, str) or not name or arguments is None:
        return RawCall("", {}, text)
    return RawCall(name, arguments)


def _in_tags(text: str) -> RawCall:
    """`<function=name><parameter=key>value</parameter></function>`."""
    name, closed, rest = text.removeprefix("<function=").partition(">")
    given: dict[str, Json] = {}
    while closed:
        _, opened, rest = rest.partition("<parameter=")
        if not opened:
            return RawCall(name.strip(), given)
        key, _, rest = rest.partition(">")
        value, closed, rest = rest.partition("</parameter>")
        given[key.strip()] = value.removeprefix("\n").removesuffix("\n")
    return RawCall("", {}, text)
