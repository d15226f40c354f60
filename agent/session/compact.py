"""The older part of a talk becomes a summary (SPEC 7.3). Whole or not at all: either one `compaction` entry is written,
or nothing has changed and `NotCompacted` says why. What is replaced stays in the file."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from agent.clock import utc_stamp
from agent.context.budget import estimate, shortened
from agent.memory.forgettings import Forgotten, Reading
from agent.model.base import THINKING, Block, ContextOverflow, Message, Outdated
from agent.model.offline import NAME as OFFLINE
from agent.session.cut import Shown, cut_at_step, cut_point, passes, said_before, size_of, sparing
from agent.session.entries import CompactionEntry, Entry, MarkEntry, MessageEntry
from agent.session.pictures import in_words
from agent.session.replay import id_of, in_context, summary_block
from agent.session.summary import Useless, backed, checked, extract, instruction, with_identifiers
from agent.session.unflushed import unflushed
from agent.talk import Talk, ask, settled

_log = logging.getLogger(__name__)

PURPOSE = "compaction"
UNCOMPACTED = "uncompacted"
TOO_LARGE = "The model takes no request that is large enough to shorten this talk, so I kept it as it is."
_MOST_TOKENS = 4_096
_PROMPT_TOKENS = 700
_TRIES = 2
_HALVINGS = 3
"""How often a pass is halved because the server's window is smaller than it says."""


class NotCompacted(Exception):
    """The talk is as it was. The text is a sentence for the person."""


class NothingToCompact(NotCompacted):
    """There is nothing but what is to be kept word for word."""

    def __init__(self) -> None:
        super().__init__("There is nothing yet that could be shortened: what there is stays word for word.")


@dataclass(frozen=True, slots=True)
class Compacted:
    """Sizes of the context in tokens; `entry` is the id of the compaction in the transcript."""

    before: int
    after: int
    entry: str
    summary: str


def compactions(entries: Sequence[Entry]) -> int:
    """How many compactions a talk has had."""
    return sum(isinstance(entry, CompactionEntry) for entry in entries)


def failure_of(entries: Sequence[Entry], turn: str) -> str:
    """Why the talk could not be shortened in a turn, a sentence for the person; else empty."""
    marks = (e for e in reversed(entries) if isinstance(e, MarkEntry) and e.type == UNCOMPACTED)
    return next((str(mark.fields.get("why")) for mark in marks if mark.fields.get("turn") == turn), "")


def uncompacted_entry(id: str, ts: str, turn: str, why: str) -> MarkEntry:
    """So that a turn that is reported once more says the same, and one that is taken up does not try again."""
    return MarkEntry(id, ts, UNCOMPACTED, {"turn": turn, "why": why})


def made_for(talk: Talk, asked: str) -> Compacted | None:
    """The compaction that was made for that request of a person, by this process or an earlier one."""
    if not asked:
        return None
    for entry in reversed(talk.transcript.entries):
        if isinstance(entry, CompactionEntry) and entry.asked == asked:
            return Compacted(entry.tokens_before, talk.projected(), entry.id, entry.summary)
    return None


def place_to_cut(talk: Talk, *, in_turn: bool = False, sparse: bool = False) -> int:
    """See `compact`. Raises `NothingToCompact`."""
    shown = list(in_context(talk.transcript.entries))
    keep = 0 if sparse else min(talk.settings.session.keep_recent_tokens, talk.budget.window // 4)
    cut = cut_at_step(shown, keep, 2 * _room_of(talk)) if in_turn else cut_point(shown, keep)
    if cut is None:
        raise NothingToCompact
    return cut if in_turn else sparing(shown, cut, unflushed(talk.transcript.entries))


def is_one_turn(talk: Talk) -> bool:
    """Whether it can only be cut between steps. Raises `NothingToCompact`."""
    try:
        place_to_cut(talk)
    except NothingToCompact:
        place_to_cut(talk, in_turn=True)
        return True
    return False


async def compact(
    talk: Talk,
    focus: str = "",
    *,
    overflowed: bool = False,
    in_turn: bool = False,
    sparse: bool = False,
    asked: str = "",
) -> Compacted:
    """Summarise what is older than the newest turns; `in_turn`: than the newest steps, but for what people said in the
    turn that is cut; `sparse`: than the newest turn alone. `overflowed`: the server refused a request of the present
    size; `asked` names the request of a person. Raises `NotCompacted`, `ModelError` and `NotJournaled`."""
    while True:
        try:
            cut = place_to_cut(talk, in_turn=in_turn, sparse=sparse)
            return await _compacted(talk, cut, focus, overflowed, in_turn, asked)
        except (Forgotten, Outdated):
            _log.info("%s: words were forgotten while it was summarised, so it is summarised anew", talk.session)


async def _compacted(talk: Talk, cut: int, focus: str, overflowed: bool, in_turn: bool, asked: str) -> Compacted:
    transcript, reading = talk.transcript, talk.reading()
    shown = list(in_context(transcript.entries))
    dropped, kept, said = shown[:cut], shown[cut:], said_before(shown, cut)
    replaced = sum(map(size_of, dropped)) - sum(map(size_of, said))
    try:
        summary = await _Summarising(talk, reading, dropped, kept, focus, overflowed, in_turn, replaced).summary()
    except ContextOverflow as refused:
        raise NotCompacted(TOO_LARGE) from refused
    room = _room_of(talk)
    summary = with_identifiers(backed(summary, dropped, room, replaced), dropped, room)
    if estimate(summary) >= replaced:
        raise NotCompacted(
            "The summary would not have been shorter than what it replaces, so I kept the talk as it is."
        )
    before = talk.projected()
    fixed = await asyncio.to_thread(talk.read_fixed)
    entry = CompactionEntry(
        transcript.new_id(),
        utc_stamp(talk.clock.now()),
        summary,
        id_of(kept[0]),
        before,
        fixed.system,
        fixed.files,
        tuple(id_of(one) for one in said),
        asked,
    )
    async with reading.writing():
        await transcript.append(entry)
    _log.info("%s: compacted from %d to %d tokens", talk.session, before, talk.projected())
    return Compacted(before, talk.projected(), entry.id, summary)


def _room_of(talk: Talk) -> int:
    """Tokens that a summary may take: a small share of the window."""
    return max(200, min(_MOST_TOKENS, talk.budget.answer, talk.budget.window // 16))


class _Summarising:
    """In one request on the whole talk as it was last sent, which the server has in its cache; where that would be too
    large, in several over the dropped part alone, each building on the one before."""

    def __init__(
        self,
        talk: Talk,
        reading: Reading,
        dropped: Sequence[Shown],
        kept: Sequence[Shown],
        focus: str,
        overflowed: bool,
        in_turn: bool,
        replaced: int,
    ) -> None:
        self._talk = talk
        self._reading = reading
        self._dropped = dropped
        self._kept = kept
        self._focus = focus
        self._room = _room_of(talk)
        self._replaced = replaced
        self._in_turn = in_turn
        self._overflowed = overflowed

    async def summary(self) -> str:
        budget = self._talk.budget
        sent = settled(self._talk.transcript.entries)
        size = self._talk.projected(sent) + _PROMPT_TOKENS + 2 * self._room
        if not self._overflowed and size <= budget.window:
            whole = self._talk.context(sent, pictures=False).messages
            try:
                return await self._asked(whole, self._replaced, self._kept)
            except ContextOverflow:
                _log.info(
                    "%s: the talk is larger than the model's window; it is summarised in parts", self._talk.session
                )
        return await self._in_passes()

    async def _in_passes(self) -> str:
        taken = self._talk.fixed + _PROMPT_TOKENS + 4 * self._room
        room = max(self._room, min(self._talk.budget.window, self._talk.projected()) - taken)
        room = room // 2 if self._overflowed else room
        for left in reversed(range(_HALVINGS)):
            try:
                return await self._fold(passes(self._dropped, room), room)
            except ContextOverflow:
                if not left:
                    raise
                room //= 2
        raise AssertionError("unreachable")

    async def _fold(self, pieces: Sequence[Sequence[Shown]], room: int) -> str:
        so_far = ""
        for piece in pieces:
            replaced = self._replaced if piece is pieces[-1] else sum(map(size_of, piece)) + 2 * self._room
            so_far = await self._asked(_messages(so_far, piece, room), replaced, ())
        return so_far

    async def _asked(self, messages: Sequence[Message], replaced: int, kept: Sequence[Shown]) -> str:
        """Raises `NotCompacted` where the second attempt is no use either."""
        failed = ""
        for _ in range(_TRIES):
            text = instruction(self._room, kept, self._focus, failed, in_turn=self._in_turn)
            words = self._talk.words_of_ours(text)
            request = self._talk.request([*messages, words], self._reading, PURPOSE, 2 * self._room, aside=True)
            answer = await ask(self._talk.model, request)
            try:
                return checked(answer, replaced, self._room)
            except Useless as problem:
                if answer.model == OFFLINE:
                    return extract(self._dropped, self._room)
                failed = str(problem)
                _log.warning("%s: a summary is no use: %s", self._talk.session, failed)
        raise NotCompacted(f"The model's summary was of no use ({failed.rstrip('.')}), so I kept the talk as it is.")


def _messages(so_far: str, piece: Sequence[Shown], room: int) -> list[Message]:
    """A piece as messages. Where it is larger than `room`, each of its blocks is cut to an equal share."""
    too_large = sum(map(size_of, piece)) > room
    blocks = sum(len(entry.content) for entry in piece if isinstance(entry, MessageEntry))
    share = room // max(1, blocks)
    messages = [Message("user", (summary_block(so_far),))] if so_far else []
    for entry in piece:
        if isinstance(entry, CompactionEntry):
            messages.append(Message("user", (summary_block(entry.summary),)))
            continue
        kept = [in_words(block) for block in entry.content if block.get("type") not in THINKING]
        messages.append(Message(entry.role, tuple(_cut(block, share) if too_large else block for block in kept)))
    return messages


def _cut(block: Block, room: int) -> Block:
    match block.get("type"):
        case "text":
            return {**block, "text": shortened(str(block.get("text")), room)}
        case "tool_result":
            content = block.get("content")
            whole = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            return {**block, "content": shortened(whole, room)}
        case "tool_use":
            whole = json.dumps(block.get("input"), ensure_ascii=False)
            return {**block, "input": {"shortened": shortened(whole, room)}} if estimate(whole) > room else block
        case _:
            return {"type": "text", "text": "[A picture or document is left out here]"}
