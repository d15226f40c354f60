"""What fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.context.budget import DEFAULT_WINDOW, SMALLEST_WINDOW, budget_of, projected, shortened
from agent.context.replay import in_context
from agent.model.base import Usage
from agent.model.tokens import estimate, estimate_blocks
from agent.session.entries import RESET, CompactionEntry, Entry, MarkEntry, MessageEntry, Meta, RedactionEntry
from agent.session.pictures import picture_block
from agent.session.prune import prune_entry

sizes = st.integers(-10, 3_000_000)


@given(st.none() | sizes, sizes, sizes, sizes)
def test_invariant_06_flush_before_compaction_before_the_window(
    window: int | None, reserve: int, soft: int, answer: int
) -> None:
    room = budget_of(window, reserve, soft, answer)
    assert 0 < room.flush_at < room.compact_at < room.window
    assert room.compact_at == room.window - room.reserve
    assert 0 < room.reserve <= room.window // 4
    assert 0 < room.answer <= room.window // 4
    assert room.window == max(window or DEFAULT_WINDOW, SMALLEST_WINDOW)


def test_the_contract_s_own_numbers() -> None:
    room = budget_of(None, 20_000, 4_000, 8_192)
    assert (room.window, room.compact_at, room.flush_at, room.answer) == (200_000, 180_000, 176_000, 8_192)
    assert budget_of(32_000, 20_000, 4_000, 8_192).reserve == 8_000
    assert room.fits(200_000 - 8_192) and not room.fits(200_000 - 8_191)


@given(st.text(max_size=300))
def test_an_estimate_never_falls_far_below_the_characters(text: str) -> None:
    assert len(text) / 4 <= estimate(text) <= len(text) * 1.25 + 1


def test_a_chinese_character_is_about_a_token() -> None:
    assert estimate("记住我的猫叫露娜" * 10) == 80
    assert estimate("remember " * 40) == 90


@given(st.text(max_size=2_000), st.integers(20, 500))
def test_shortened_text_fits_and_says_so(text: str, room: int) -> None:
    short = shortened(text, room)
    if estimate(text) <= room:
        assert short == text
    else:
        kept, _, note = short.rpartition("\n")
        assert text.startswith(kept) and "Cut here" in note and f"{len(text):,}" in note
        assert len(kept) <= len(text)


def test_a_megabyte_is_cut_to_its_room() -> None:
    for text in ("word " * 200_000, "猫" * 1_000_000, "x" * 1_000_000):
        assert estimate(shortened(text, 50_000)) <= 50_050


def message(id: str, role: str, text: str, usage: Usage | None = None) -> MessageEntry:
    return MessageEntry(id, "t", role, ({"type": "text", "text": text},), Meta(usage=usage))


def test_the_size_is_the_server_s_count_and_an_estimate_of_the_rest() -> None:
    counted = [message("1", "user", "x" * 4_000), message("2", "assistant", "ok", Usage(900, 50, 4_000, 50))]
    assert projected(counted, fixed=3_000) == 5_000
    assert projected([*counted, message("3", "user", "y" * 400)], fixed=3_000) == 5_104
    assert projected(counted[:1], fixed=3_000) == 4_004


def test_a_server_that_counts_nothing_leaves_an_estimate() -> None:
    assert projected([message("1", "user", "x" * 4_000), message("2", "assistant", "y" * 400, Usage())], 10) == 1_118


def test_a_count_from_before_a_compaction_is_not_believed() -> None:
    entries = [
        message("1", "user", "old"),
        message("2", "assistant", "kept", Usage(150_000)),
        CompactionEntry("3", "t", "s" * 400, first_kept="2"),
        message("4", "user", "new?"),
    ]
    assert projected(entries, fixed=1_000) < 1_200
    entries.append(message("5", "assistant", "new", Usage(2_000)))
    assert projected(entries, fixed=1_000) == 2_000


def entry_of(kind: str, id: str, first_kept: str) -> Entry:
    words = {"type": "text", "text": kind * 10}
    match kind:
        case "counted" | "uncounted" | "doubted":
            usage = Usage(input=5_000, output=int(id)) if kind != "uncounted" else None
            return MessageEntry(id, "", "assistant", (words,), Meta(usage=usage, doubted=kind == "doubted"))
        case "picture":
            meta = Meta(said=(id,), turn=id)
            return MessageEntry(id, "", "user", (words, picture_block("p.jpg", f"media/{id}.jpg", "")), meta)
        case "compaction":
            return CompactionEntry(id, "", "so far " * 50, first_kept)
        case "prune":
            return prune_entry(id, "", "", 8)
        case "redaction":
            return RedactionEntry(id, "")
        case "reset":
            return MarkEntry(id, "", RESET)
    return MessageEntry(id, "", "user", ({"type": "tool_result", "tool_use_id": "1", "content": "result " * 30},))


KINDS = ("counted", "uncounted", "doubted", "picture", "result", "compaction", "prune", "redaction", "reset")


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 30)), max_size=30))
def test_a_count_holds_until_the_context_before_it_changes(kinds: list[tuple[str, int]]) -> None:
    entries = [entry_of(kind, str(at), str(min(at, back))) for at, (kind, back) in enumerate(kinds)]
    changed = max((at for at, (kind, _) in enumerate(kinds) if kind in KINDS[5:]), default=-1)
    size = 1_000
    for shown in in_context(entries):
        at = int(shown.id.partition("~")[0])
        if kinds[at][0] == "counted" and at > changed:
            size = 5_000 + at
        elif isinstance(shown, CompactionEntry):
            size += estimate(shown.summary)
        else:
            size += estimate_blocks(shown.content)
    assert projected(entries, fixed=1_000) == size
