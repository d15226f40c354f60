"""Takes what local models write into their text out of it: thoughts, tool calls, end tokens. Pure.

Only what may still become one of these is held back. Linear in the text, however it is cut.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from agent.model.written_calls import CALLS, LONGEST_BEGIN, MARKERS, RawCall, begins_call, written_calls

_THOUGHTS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "thoughts", "reasoning", "reflection")},
    **{f"<{name}>": f"</{name}>" for name in ("seed:think", "longcat_think", "analysis", "inner_monologue")},
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|thinking|>": "<|/thinking|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
"""In small letters: models and servers write them in any case. Servers whose template begins the thoughts send only
the second."""
_CLOSERS = tuple(_THOUGHTS.values())
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
_MOST_GUESSED = 50_000
"""Characters that are held back for a model that ended thoughts before without having begun them."""

_BLANKS = re.compile(r"\s*+")
_TICKS = re.compile(r"`++")
_TAG_BEGINS = re.compile("[<\\[◁]|(?<![^\n])[f`]")
_OPENING, _CLOSING, _STOPS = "\"'“‘«([{<`", ".,;:!?)]}\"'”’»>`", ".!?…。！？"

_State = Literal["leading", "thought", "text", "call"]


class MarkupFilter:
    """`feed` and `finish` return the text that may be shown now; `calls` are those at the text's end.

    tools       names of the tools that were offered: other names make no calls of bare forms
    guesses     the model ends thoughts that it does not begin: its text is held back until it does

    Where `took_back` is set after a call, the text shown before it was a thought.
    """

    def __init__(self, tools: Collection[str] = (), *, guesses: bool = False) -> None:
        self.calls: list[RawCall] = []
        self.took_back = False
        self.ended_unbegun = False
        self.missed_calls = False
        self._tools = tools
        self._guesses = guesses
        self._state: _State = "leading"
        self._text = ""
        self._at = 0
        self._is_last = False
        self._blanks: list[str] = []
        self._thought = False
        self._closers: tuple[str, ...] = ()
        self._held: list[str] = []
        self._held_size = 0
        self._before = ""
        self._is_inside = False
        self._is_sure = False
        self._only_ends = False
        self._marker = ""
        self._behind: list[str] | None = None
        self._shown: list[str] = []
        self._last = ""
        self._ticks = 0
        self._in_fence = False
        self._is_struck = False
        self._has_shown = False
        self._was_taken = False

    @property
    def took_all(self) -> bool:
        """True if there was only markup."""
        return not self._has_shown and (self._thought or self._behind is not None or bool(self.calls))

    def feed(self, piece: str) -> str:
        self._text, self._at = self._text[self._at :] + piece, 0
        return self._run()

    def finish(self) -> str:
        self._is_last = True
        shown = self._run()
        took_back = self.took_back
        while self._state in ("thought", "call"):
            self._close_at_end()
            shown += self._run()
            took_back = took_back or self.took_back
        if self._state == "leading" and not self._thought:
            self._let_go("".join(self._blanks) + self._text[self._at :])
        self._text, self._at, self._state, self.took_back = "", 0, "text", took_back
        self._blanks.clear()
        return shown + self._taken()

    def _run(self) -> str:
        self.took_back = False
        while self._read():
            pass
        return self._taken()

    def _read(self) -> bool:
        """Reads on; False if it needs more input."""
        match self._state:
            case "leading":
                return self._read_leading()
            case "thought":
                return self._read_thought()
            case "text":
                return self._read_text()
            case "call":
                return self._read_call()

    def _read_leading(self) -> bool:
        self._skip_blanks()
        if opener := next((tag for tag in _THOUGHTS if self._is_here(tag)), ""):
            self._blanks.clear()
            self._begin_thought(opener, inside=False)
            return True
        if any(map(self._may_become, _THOUGHTS)) or (begins_call(self._text, self._at) is None and not self._is_last):
            return False
        if self._guesses and not self._thought:
            self._held, self._closers, self._is_inside = ["".join(self._blanks)], _CLOSERS, True
            self._held_size, self._before = 0, ""
            self._blanks.clear()
            self._guesses, self._state = False, "thought"
            return True
        blanks, self._state = "".join(self._blanks), "text"
        self._blanks.clear()
        if not self._thought and blanks:
            self._let_go(blanks)
        if self._behind is None and begins_call(self._text, self._at):
            self._begin_call("")
        return True

    def _begin_thought(self, opener: str, *, inside: bool) -> None:
        """`inside`: words were shown before it, so it may be about thoughts."""
        self._held = [self._text[self._at : self._at + len(opener)]] if inside else []
        self._held_size, self._before = 0, ""
        self._at += len(opener)
        self._closers = (_THOUGHTS[opener],)
        self._is_inside = inside
        self._thought = self._thought or not inside
        self._state = "thought"

    def _read_thought(self) -> bool:
        begin = self._text.find(self._closers[0][0], self._at)
        if len({closer[0] for closer in self._closers}) > 1:
            found = _TAG_BEGINS.search(self._text, self._at)
            begin = found.start() if found else -1
        if begin < 0:
            self._hold(len(self._text))
            return self._gives_up()
        self._hold(begin)
        if closer := next((tag for tag in self._closers if self._is_here(tag)), ""):
            after = self._at + len(closer)
            if self._is_inside and after == len(self._text) and not self._is_last:
                return False
            if not self._is_inside or _ends_thoughts(self._before, self._text[after : after + 1]):
                self.ended_unbegun = self.ended_unbegun or len(self._closers) > 1
                self._held.clear()
                self._at, self._thought = after, True
                self._state = "text" if self._has_shown else "leading"
                return True
        elif any(map(self._may_become, self._closers)) and not self._is_last:
            return False
        self._hold(self._at + 1)
        self._gives_up()
        return True

    def _gives_up(self) -> bool:
        """Shows a guessed thought that does not end."""
        if len(self._closers) == 1 or self._held_size < _MOST_GUESSED:
            return False
        self._release()
        return True

    def _hold(self, upto: int) -> None:
        if self._is_inside and upto > self._at:
            piece = self._text[self._at : upto]
            self._held.append(piece)
            self._held_size += len(piece)
            self._before = (self._before + piece[-2:])[-2:]
        self._at = upto

    def _release(self) -> None:
        """Reads what was held back as text, from behind its first tag."""
        first, *rest = self._held or [""]
        self._held = []
        self._state = "text"
        if first:
            self._let_go(first)
        self._text, self._at = "".join((*rest, self._text[self._at :])), 0

    def _read_text(self) -> bool:
        if self._at == len(self._text):
            return False
        if self._behind is not None and (blanks := self._blanks_here()):
            self._behind.append(blanks)
            return True
        found = _TAG_BEGINS.search(self._text, self._at)
        if found is None or found.start() != self._at:
            end = found.start() if found else len(self._text)
            self._let_go(self._text[self._at : end])
            self._at = end
            return True
        ends = [end for end in _ENDS if not (end == _STRUCK_END and self._is_struck)]
        if sign := next((end for end in ends if self._text.startswith(end, self._at)), ""):
            self._behind = self._behind or []
            self._behind.append(sign)
            self._at += len(sign)
            return True
        tags: tuple[str, ...] = ()
        if not self._in_fence and not self._ticks and not self._only_ends:
            tags = (*_THOUGHTS, *_CLOSERS, *(tag for tag in MARKERS if self._may_stand(tag)))
            if (is_read := self._read_tag()) is not None:
                return is_read
        if any(map(self._may_become, (*ends, *tags))) and not self._is_last:
            return False
        self._let_go(self._text[self._at])
        self._at += 1
        return True

    def _read_tag(self) -> bool | None:
        """Reads a thought's tag or a call's marker; None if there is none here."""
        if closer := next((tag for tag in _CLOSERS if self._is_here(tag)), ""):
            after = self._at + len(closer)
            if after == len(self._text) and not self._is_last:
                return False
            if _ends_thoughts(self._last, self._text[after : after + 1]):
                self._take_back(after)
                return True
        elif opener := next((tag for tag in _THOUGHTS if self._is_here(tag)), ""):
            self._begin_thought(opener, inside=True)
            return True
        elif marker := next((tag for tag in MARKERS if self._may_stand(tag) and self._is_here(tag)), ""):
            self._begin_call(marker)
            return True
        return None

    def _take_back(self, after: int) -> None:
        """Takes all text before a closing tag for a thought."""
        self._shown.clear()
        self.took_back, self._was_taken = self.took_back or self._was_taken, False
        self.ended_unbegun = self._thought = True
        self.calls.clear()
        self._behind = None
        self._last, self._ticks, self._in_fence, self._is_struck, self._has_shown = "", 0, False, False, False
        self._at, self._state = after, "leading"

    def _begin_call(self, marker: str) -> None:
        self._held = [self._text[self._at : self._at + len(marker)]]
        self._at += len(marker)
        self._marker, self._is_inside, self._is_sure, self._state = marker, True, False, "call"

    def _read_call(self) -> bool:
        """Holds a call back until its end; what can be none is text again."""
        form = CALLS[self._marker]
        if not self._is_sure:
            self._held.append(self._blanks_here())
            verdict = form.may_be(self._text[self._at : self._at + LONGEST_BEGIN])
            if verdict is None and not self._is_last:
                return False
            if not verdict:
                self._let_go("".join(self._held))
                self._held, self._state = [], "text"
                return True
            self._is_sure = True
        end = self._text.find(form.closer, self._at) if form.closer else -1
        if end < 0:
            self._hold(max(self._at, len(self._text) - max(0, len(form.closer) - 1)))
            return False
        self._hold(end)
        self._at += len(form.closer)
        self._take_calls(form.closer)
        return True

    def _take_calls(self, closer: str) -> None:
        """Takes the calls out of what was held back, or shows it as it is."""
        held, self._held, self._state = self._held, [], "text"
        found = written_calls(self._marker, _without_ends("".join(held[1:])), self._tools)
        self.missed_calls = self.missed_calls or found.names_unknown
        if found.calls:
            self.calls += found.calls
            self._behind = self._behind or []
        else:
            self._let_go("".join((*held, closer)))

    def _close_at_end(self) -> None:
        """Ends what is open at the text's end."""
        if self._state == "thought" and not self._is_inside:
            self._at, self._state = len(self._text), "text"
            return
        self._hold(len(self._text))
        if self._state == "call":
            self._take_calls("")
        elif len(self._closers) == 1 and self._held[1:2] and self._held[1].startswith("\n"):
            self._held, self._state = [], "text"
            self._thought = True
        else:
            self._only_ends = len(self._closers) == 1
            self._release()

    def _is_here(self, tag: str) -> bool:
        return self._text[self._at : self._at + len(tag)].lower() == tag

    def _may_become(self, tag: str) -> bool:
        rest = len(self._text) - self._at
        return rest < len(tag) and tag.startswith(self._text[self._at :].lower())

    def _may_stand(self, marker: str) -> bool:
        return not CALLS[marker].at_line_start or self._last[-1:] in ("", "\n")

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
        self._was_taken = self._was_taken or bool(shown)  # also blanks, which say nothing
        return shown


def _ends_thoughts(before: str, after: str) -> bool:
    """True if a closing tag between these letters is markup, no word of a sentence or an example."""
    last = before[-1:]
    if last and last in _OPENING:
        return False
    if not last or last == "\n" or after in ("\n", "\r"):
        return True
    if not after:
        return not last.isspace()
    if after.isspace():
        return not last.isspace() or before[-2:-1] in tuple(_STOPS)
    return after not in _CLOSING


def _without_ends(text: str) -> str:
    text = text.rstrip()
    while end := next((end for end in _ENDS if text.endswith(end)), ""):
        text = text.removesuffix(end).rstrip()
    return text
