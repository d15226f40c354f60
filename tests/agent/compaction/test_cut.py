"""Where a talk is cut, whatever stands in it."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agent.compaction.consolidate import concerned
from agent.compaction.cut import Shown, boundaries, cut_at_step, cut_point, fitted, passes, said_before, size_of
from agent.context.repair import LOST_RESULT, repair
from agent.context.replay import context, in_context
from agent.model.base import Block, result_block
from agent.session.entries import CompactionEntry, MessageEntry, Meta

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
    assert LOST_RESULT not in pairs(kept)
    after = context([*shown, CompactionEntry("new", "t", "summary", kept[0].id)], "").messages
    assert repair(after) == after


@given(transcripts(), st.integers(0, 600))
def test_nothing_is_cut_only_where_no_turn_stands_before_enough(shown: list[Shown], keep: int) -> None:
    if cut_point(shown, keep) is None:
        for at in boundaries(shown):
            older = [entry for entry in shown[:at] if isinstance(entry, MessageEntry)]
            assert not older or sum(map(size_of, shown[at:])) < keep


@given(transcripts(), st.integers(0, 600), st.integers(0, 600))
def test_a_cut_between_steps_splits_no_pair_and_leaves_what_people_said_in_that_turn(
    shown: list[Shown], keep: int, least: int
) -> None:
    cut = cut_at_step(shown, keep, least)
    if cut is None:
        return
    kept, said = shown[cut:], said_before(shown, cut)
    turn = kept[0].meta.turn  # type: ignore[union-attr]
    words = [e for e in shown if isinstance(e, MessageEntry) and e.meta.said and e.meta.turn == turn]
    assert [entry for entry in words if entry not in kept] == said
    assert kept[0].role == "assistant" and sum(map(size_of, kept)) >= keep  # type: ignore[union-attr]
    goes = [entry for entry in shown[:cut] if isinstance(entry, MessageEntry) and entry not in said]
    assert sum(map(size_of, goes)) >= least
    compaction = CompactionEntry("new", "t", "summary", kept[0].id, said=tuple(entry.id for entry in said))
    assert list(in_context([*shown, compaction])) == [compaction, *said, *kept]
    after = context([*shown, compaction], "").messages
    assert repair(after) == after and LOST_RESULT not in str(after)
    assert concerned([*shown, compaction], "new") == [entry for entry in shown[:cut] if entry not in said]


@given(transcripts(), st.integers(0, 600))
def test_no_step_is_cut_at_only_where_none_has_enough_behind_it(shown: list[Shown], keep: int) -> None:
    if cut_at_step(shown, keep, 0) is None:
        for at, entry in enumerate(shown):
            if isinstance(entry, MessageEntry) and entry.role == "assistant":
                assert sum(map(size_of, shown[at:])) < keep


@given(transcripts(), st.integers(200, 3_000))
def test_a_fitted_talk_has_its_newest_steps_whole_and_no_more_than_its_room(shown: list[Shown], room: int) -> None:
    kept = fitted(shown, room)
    assert sum(map(size_of, kept)) <= room
    whole = [entry.id for entry in in_context(shown)]
    assert [entry.id.partition("~")[0] for entry in kept] == whole[len(whole) - len(kept) :]
    assert LOST_RESULT not in pairs(kept)


@given(transcripts(), st.integers(1, 600))
def test_passes_lose_nothing_keep_their_order_and_split_no_pair(shown: list[Shown], room: int) -> None:
    pieces = passes(shown, room)
    assert [entry for piece in pieces for entry in piece] == shown
    for piece in pieces:
        assert piece and LOST_RESULT not in pairs(piece)
