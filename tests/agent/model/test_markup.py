"""What local models write into their text, cut in every way."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.model.markup import MarkupFilter
from agent.model.written_calls import RawCall
from tests.agent.model.deviations import markup as table
from tests.agent.model.deviations.deviation import Deviation

TOOLS = {"look", "memory_search"}
CLOSERS = ("</think>", "[/THINK]")
PARTS = [
    "<think>", "</think>", "<thinking>", "[THINK]", "[/THINK]", "<tool_call>", "</tool_call>", '{"name": "look"}', "{",
    "<function=look>", "</function>", "<|im_end|>", "</s>", "<s>", "<eos>", "`", "```", "\n", " ", "<", "</", "<t", "[",
    "<|", "tea", "No", "NO_REPLY", "<tool_call", "im_end|>", "é", "😀",
]  # fmt: skip
texts = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)
words = st.text(alphabet=st.characters(exclude_characters="<[◁{f`", exclude_categories=["Cs"]))


def filtered(*pieces: str, guesses: bool = False) -> tuple[str, list[RawCall], list[str]]:
    """All that is shown in the end, the calls, and what is shown after each piece."""
    one = MarkupFilter(TOOLS, guesses=guesses)
    shown, steps = "", []
    for piece in pieces:
        more = one.feed(piece)
        shown = more if one.took_back else shown + more
        steps.append(shown)
    rest = one.finish()
    shown = rest if one.took_back else shown + rest
    assert one.finish() == ""
    return shown, one.calls, steps


def test_blanks_that_were_shown_are_taken_back_too() -> None:
    assert filtered("\n</", "think><think>")[0] == filtered("\n</think><think>")[0] == ""


@given(texts, st.data())
def test_invariant_10_however_it_is_cut_the_same_is_shown(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, calls, _ = filtered(text)
    shown, cut_calls, steps = filtered(*pieces)
    assert (shown, cut_calls) == (whole, calls)
    took_back = [at for at, step in enumerate(steps) if not whole.startswith(step)]
    ends = [tag for tag in CLOSERS if tag in text]
    assert not took_back or ends, "what was shown is taken back by the end of a thought alone"
    assert filtered(*text)[:2] == (whole, calls)


@pytest.mark.parametrize("one", [one for one in table.DEVIATIONS if one.raw], ids=str)
def test_every_text_of_the_table_letter_by_letter(one: Deviation) -> None:
    assert filtered(*one.raw)[0] == one.text


@given(words, st.data())
def test_invariant_10_ordinary_text_is_shown_as_soon_as_it_is_there(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    _, _, steps = filtered(text[:cut], text[cut:])
    assert steps[0] == ("" if not text[:cut].strip() else text[:cut]), "only white space before a first thought waits"
    assert filtered(text)[0] == text


TAGS = [
    "<tool_call>{", "<function=", "<|im_end|>", "<|end_of_text|>", "<|endoftext|>", "</s>", "<eos>", "<end_of_turn>",
    "<|eot_id|>", "<|eom_id|>", "<|return|>", "<|end|>", "<｜end▁of▁sentence｜>", "<think></think>", "◁think▷◁/think▷",
    "[THINK][/THINK]", "<thinking></thinking>", "<thought></thought>",
]  # fmt: skip
CONTINUATIONS = [
    "",
    " {",
    "x",
    "\n",
    "end\n</think>\n",
    "tool_code\nlook()\n```",
    "``tool_code\nlook()\n```",
    "`tool_code\nlook()\n```",
    *(tag[at:] for tag in TAGS for at in range(len(tag))),
]


@given(texts)
@example('</think>{"name": "look"}<think>')
def test_invariant_10_nothing_is_held_back_that_nothing_could_hide(text: str) -> None:
    """Whatever is not shown yet, some end of the text leaves out. What begins as a bare call waits for its end."""
    begun = re.split(r"</think>|\[/THINK\]", text)
    if any(one.lstrip().startswith(("{", "[")) for one in begun) or "<function=" in text:
        return
    *_, steps = filtered(text)
    seen = filtered(text)[0]
    if not steps or steps[0] == seen or not seen.startswith(steps[0]):
        return
    assert any(not filtered(text + more)[0].startswith(seen) for more in CONTINUATIONS)


class Counting(MarkupFilter):
    """Counts its steps; each costs no more than what it passes over and what is left in hand."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def _read(self) -> bool:
        self.steps += 1
        return super()._read()


@pytest.mark.parametrize("before", ["", "x", "x<tool_call>", "x<tool_call>{", "x<eos>", "<think>"])
@pytest.mark.parametrize("part", ["<", " ", "`", "</s>", "<eos>", "<think>", "<tool_call>", "</tool_call>", "tea"])
def test_the_work_grows_with_the_text_and_not_faster(before: str, part: str) -> None:
    text = before + part * 500
    letters, at_once = Counting(), Counting()
    for letter in text:
        letters.feed(letter)
        assert len(letters._text) - letters._at < 100
    at_once.feed(text)
    assert letters.steps < 4 * len(text) + 10
    assert at_once.steps < 2 * len(text) + 10
