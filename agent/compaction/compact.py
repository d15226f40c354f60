"""Compaction. Either one `compaction` entry is written, or nothing has changed and `NotCompacted` says why. The
replaced part stays in the file."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from agent.clock import utc_stamp
from agent.compaction.cut import cut_at_step, cut_point, said_before, size_of, sparing
from agent.compaction.flush_state import unflushed
from agent.compaction.summarizer import Summarizer, room_of
from agent.compaction.summary import UnusableSummary, backed, with_identifiers
from agent.context.replay import id_of, in_context
from agent.context.request import RequestBuilder
from agent.languages.sentences import Sentence
from agent.memory.redaction_lock import StaleRead
from agent.model.base import ContextOverflow, StaleRequest
from agent.model.tokens import estimate
from agent.session.entries import CompactionEntry, Entry, MarkEntry

_log = logging.getLogger(__name__)

UNCOMPACTED = "uncompacted"
TOO_LARGE = Sentence("This conversation is too long for the model to summarize, so I left it as it is.")


class NotCompacted(Exception):
    """Nothing has changed. The text is a sentence for the person."""


class NothingToCompact(NotCompacted):
    def __init__(self) -> None:
        super().__init__(Sentence("There is nothing to shorten yet."))


@dataclass(frozen=True, slots=True)
class Compacted:
    """`before` and `after` are sizes of the context in tokens."""

    before: int
    after: int
    entry: str
    """The id of the compaction's entry."""
    summary: str


def compactions(entries: Sequence[Entry]) -> int:
    return sum(isinstance(entry, CompactionEntry) for entry in entries)


def failure_of(entries: Sequence[Entry], turn: str) -> str:
    """Why compaction failed in a turn, in a sentence for the person."""
    marks = (e for e in reversed(entries) if isinstance(e, MarkEntry) and e.type == UNCOMPACTED)
    return next((str(mark.fields.get("why")) for mark in marks if mark.fields.get("turn") == turn), "")


def uncompacted_entry(id: str, ts: str, turn: str, why: str) -> MarkEntry:
    """A failed compaction's mark, so that a continued turn does not try again."""
    return MarkEntry(id, ts, UNCOMPACTED, {"turn": turn, "why": why})


def made_for(builder: RequestBuilder, asked: str) -> Compacted | None:
    """The compaction that any process has made for that request of a person."""
    if not asked:
        return None
    for entry in reversed(builder.transcript.entries):
        if isinstance(entry, CompactionEntry) and entry.asked == asked:
            return Compacted(entry.tokens_before, builder.projected(), entry.id, entry.summary)
    return None


def place_to_cut(builder: RequestBuilder, *, in_turn: bool = False, sparse: bool = False) -> int:
    """The index of the part to keep. Raises `NothingToCompact`."""
    shown = list(in_context(builder.transcript.entries))
    keep = 0 if sparse else min(builder.settings.session.keep_recent_tokens, builder.budget.window // 4)
    cut = cut_at_step(shown, keep, 2 * room_of(builder)) if in_turn else cut_point(shown, keep)
    if cut is None:
        raise NothingToCompact
    return cut if in_turn else sparing(shown, cut, unflushed(builder.transcript.entries))


def is_one_turn(builder: RequestBuilder) -> bool:
    """True if a cut is possible between steps only. Raises `NothingToCompact`."""
    try:
        place_to_cut(builder)
    except NothingToCompact:
        place_to_cut(builder, in_turn=True)
        return True
    return False


async def compact(
    builder: RequestBuilder,
    focus: str = "",
    *,
    overflowed: bool = False,
    in_turn: bool = False,
    sparse: bool = False,
    asked: str = "",
) -> Compacted:
    """Summarises what is older than the newest turns; `in_turn`: than the newest steps, except people's messages;
    `sparse`: than the newest turn. `overflowed`: the server refused a request of the present size. Raises
    `NotCompacted`, `ModelError` and `TranscriptNotWritten`."""
    while True:
        try:
            cut = place_to_cut(builder, in_turn=in_turn, sparse=sparse)
            return await _compacted(builder, cut, focus, overflowed, in_turn, asked)
        except (StaleRead, StaleRequest):
            _log.info("%s: something was forgotten during the summary; it is made again", builder.session)


async def _compacted(
    builder: RequestBuilder, cut: int, focus: str, overflowed: bool, in_turn: bool, asked: str
) -> Compacted:
    transcript, reading = builder.transcript, builder.reading()
    shown = list(in_context(transcript.entries))
    dropped, kept, said = shown[:cut], shown[cut:], said_before(shown, cut)
    replaced = sum(map(size_of, dropped)) - sum(map(size_of, said))
    try:
        summary = await Summarizer(builder, reading, dropped, kept, replaced, focus, overflowed, in_turn).summary()
    except ContextOverflow as refused:
        raise NotCompacted(TOO_LARGE) from refused
    except UnusableSummary as problem:
        raise NotCompacted(
            Sentence(
                "I couldn't use the model's summary ({why}), so I left the conversation as it is.", why=str(problem)
            )
        ) from problem
    room = room_of(builder)
    summary = with_identifiers(backed(summary, dropped, room, replaced), dropped, room)
    if estimate(summary) >= replaced:
        raise NotCompacted(
            Sentence("The summary would not have been any shorter, so I left the conversation as it is.")
        )
    before = builder.projected()
    fixed = await asyncio.to_thread(builder.read_fixed)
    entry = CompactionEntry(
        transcript.new_id(),
        utc_stamp(builder.clock.now()),
        summary,
        id_of(kept[0]),
        before,
        fixed.system,
        fixed.files,
        tuple(map(id_of, said)),
        asked,
    )
    async with reading.writing():
        await transcript.append(entry)
    _log.info("%s: compacted from %d to %d tokens", builder.session, before, builder.projected())
    return Compacted(before, builder.projected(), entry.id, summary)
