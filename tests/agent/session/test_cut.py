"""Where a talk is cut, whatever stands in it."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agent.context.repair import INTERRUPTED, repair, result_block
from agent.model.base import Block
from agent.session.cut import Shown, boundaries, cut_point, passes, size_of
from agent.session.entries import CompactionEntry, MessageEntry, Meta
from agent.session.replay import context

_WORDS = st.text(alphabet="ab 漢字", min_size=1, max_size=400).map(str.strip).filter(bool)


@st.composite
def transcripts(draw: st.DrawFn) -> list[Shown]:
    """Turns of questions, tool rounds and answers; some end without an answer, some are joined by what was said
    meanwhile."""
    shown: list[Shown] = [CompactionEntry("s", "t", draw(_WORDS), "")] if draw(st.booleans()) else []

    def add(role: str, turn: str, *content: Block, tool: str = "", said: tuple[str, ...] = ()) -> None:
        shown.append(MessageEntry(f"e{len(shown)}", "t", role, content, Meta(turn, said=said, tool=tool)))

    for number in range(draw(st.integers(0, 8))):
        turn = f"t{number}"
        add("user", turn, {"type": "text", "text": draw(_WORDS)}, said=(turn,))
        for round in range(draw(st.integers(0, 3))):
            ids = [f"c{number}_{round}_{one}" for one in range(draw(st.integers(1, 3)))]
            add("assistant", turn, *({"type": "tool_use", "id": id, "name": "n", "input": {}} for id in ids))
            for id in ids:
                add("user", turn, result_block(id, draw(_WORDS)), tool="n")
            if draw(st.booleans()):
                add("user", turn, {"type": "text", "text": draw(_WORDS)}, said=(f"{turn}-{round}",))
        if draw(st.booleans()):
            add("assistant", turn, {"type": "text", "text": draw(_WORDS)})
    return shown


def pairs(shown: Sequence[Shown]) -> str:
    return str(repair(context(shown, "").messages))


@given(transcripts(), st.integers(0, 600))
def test_a_cut_splits_no_turn_and_no_pair_and_keeps_enough(shown: list[Shown], keep: int) -> None:
    cut = cut_point(shown, keep)
    if cut is None:
        return
    dropped, kept = shown[:cut], shown[cut:]
    assert cut in boundaries(shown)
    assert any(isinstance(entry, MessageEntry) for entry in dropped)
    assert kept[0].role == "user"  # type: ignore[union-attr]
    turns = [{e.meta.turn for e in part if isinstance(e, MessageEntry)} for part in (dropped, kept)]
    assert not turns[0] & turns[1]
    assert sum(map(size_of, kept)) >= keep
    assert INTERRUPTED not in pairs(kept)
    after = context([*shown, CompactionEntry("new", "t", "summary", kept[0].id)], "").messages
    assert repair(after) == after


@given(transcripts(), st.integers(0, 600))
def test_nothing_is_cut_only_where_no_turn_stands_before_enough(shown: list[Shown], keep: int) -> None:
    if cut_point(shown, keep) is None:
        for at in boundaries(shown):
            older = [entry for entry in shown[:at] if isinstance(entry, MessageEntry)]
            assert not older or sum(map(size_of, shown[at:])) < keep


@given(transcripts(), st.integers(1, 600))
def test_passes_lose_nothing_keep_their_order_and_split_no_pair(shown: list[Shown], room: int) -> None:
    pieces = passes(shown, room)
    assert [entry for piece in pieces for entry in piece] == shown
    for piece in pieces:
        assert piece and INTERRUPTED not in pairs(piece)
