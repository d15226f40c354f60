"""There is one flush a cycle. What was said after it, or was an open question when it began, is lost by no compaction
and no `/new`: it stays in the talk, or the paragraph of the talk tells it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.compaction.consolidate import UNWRITTEN
from agent.compaction.cut import cut_point, sparing
from agent.compaction.flush_state import FLUSH, unflushed
from agent.model.base import ModelRequest
from agent.model.scripted import Call, Reply, ScriptedAnswer
from agent.session.entries import CompactionEntry, Entry, MarkEntry, MessageEntry, Meta
from tests.agent.home import tool
from tests.agent.long_conversation import OWNER, LongTalk, counted, told
from tests.strength import examples

TS = "2026-11-21T07:30:00.000Z"


def codes(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"KX-\d{3}", text)))


def said(id: str, words: str = "word") -> MessageEntry:
    return MessageEntry(id, TS, "user", ({"type": "text", "text": words},), Meta(turn=id, said=(id,)))


def answer(to: str) -> MessageEntry:
    return MessageEntry(f"a{to}", TS, "assistant", ({"type": "text", "text": "Fine."},), Meta(turn=to))


def flush(state: str, **more: str) -> MarkEntry:
    return MarkEntry(f"f{state}", TS, FLUSH, {"state": state, "reason": "threshold", **more})


def test_an_open_question_and_what_follows_the_flush_were_not_shown() -> None:
    entries: list[Entry] = [said("1"), answer("1"), said("2"), flush("started"), flush("done"), answer("2"), said("3")]
    assert unflushed(entries) == {"2", "a2", "3"}


def test_a_flush_that_failed_or_was_cut_has_shown_nothing() -> None:
    assert unflushed([said("1"), answer("1"), flush("started"), flush("failed")]) == {"1", "a1"}
    assert unflushed([said("1"), answer("1"), flush("started")]) == {"1", "a1"}


def test_a_flush_of_the_newest_part_has_shown_that_part() -> None:
    entries: list[Entry] = [said("1"), answer("1"), said("2"), answer("2"), flush("started"), flush("done", since="2")]
    assert unflushed(entries) == {"1", "a1"}


def test_a_later_flush_was_not_shown_what_a_compaction_had_dropped() -> None:
    dropped = [said("1"), answer("1"), said("2"), answer("2"), CompactionEntry("c", TS, "They talked.", "2", 0)]
    assert unflushed([*dropped, flush("started"), flush("done")]) == {"1", "a1"}


def test_the_cut_spares_what_was_not_shown_where_half_of_the_talk_goes_all_the_same() -> None:
    talk = [one for n in range(1, 11) for one in (said(str(n), "word " * 80), answer(str(n)))]
    cut = cut_point(talk, 150)
    assert cut is not None and talk[cut].id == "9"
    assert talk[sparing(talk, cut, {"7", "8"})].id == "7"
    assert sparing(talk, cut, {"3", "10"}) == sparing(talk, cut, ()) == cut


def scribe(request: ModelRequest) -> Reply:
    """Writes down all that it was shown in the flush."""
    words = [str(b["text"]) for m in request.messages if m.role == "user" for b in m.content if "text" in b]
    found = codes("\n".join(words))
    return ScriptedAnswer(calls=(Call("memory_append", {"text": " ".join(found)}),)) if found else "NO_REPLY"


def consolidated(request: ModelRequest) -> Reply:
    """Names nothing but what nobody has written down."""
    shown = told(request).replace('\\"', '"')
    named = " ".join(codes(shown.partition(f'<daybook-quoted name="{UNWRITTEN}"')[2]))
    return ScriptedAnswer(calls=(Call("save_memory", {"history_entry": f"A talk. {named}", "memory_update": []}),))


async def lost(root: Path, prompt: int, turns: Sequence[tuple[int, int]], *, leaves: bool) -> list[str]:
    """What was told in turns of so many tokens, each with a result of so many characters, and is neither in a file nor
    in the talk. `prompt`: tokens that AGENTS.md takes."""
    talk = LongTalk(root, window=9_000, keep=500, consolidation=consolidated)
    talk.behind["flush"] = scribe
    (talk.workspace / "AGENTS.md").write_text("rule " * prompt)

    def answer(request: ModelRequest) -> Reply:
        newest = request.messages[-1].content[-1]
        calls = () if newest["type"] == "tool_result" else (Call("read", {}),)
        return ScriptedAnswer("Fine.", calls, usage=counted(request))

    talk.model._otherwise = answer
    planted: list[str] = []
    async with talk.behind_it():
        for number, (size, result) in enumerate(turns):
            planted.append(f"KX-{number:03d}")
            talk.watch.later(minutes=20)
            await talk.say(planted[-1], tool("read", lambda _, size=result: "x" * size), size=size)
        if leaves:
            await talk.agent.new_session(OWNER, talk.scope)
    files = [file.read_text("utf-8") for file in (talk.workspace / "memory").rglob("*.md")]
    files = [re.sub(r"\n## talk .*", "", text, flags=re.DOTALL) for text in files]  # the snapshot of the last messages
    known = "\n".join(files) + ("" if leaves else _word_for_word(talk.model.requests[-1]))
    return [code for code in planted if code not in known]


def _word_for_word(request: ModelRequest) -> str:
    """A summary names codes that it says nothing about."""
    texts = [str(block.get("text")) for message in request.messages for block in message.content]
    return "\n".join(text for text in texts if not text.startswith("[Summary"))


@settings(max_examples=examples(25))
@given(
    st.integers(0, 1_500),
    st.lists(st.tuples(st.integers(1, 900), st.sampled_from([1, 500, 5_000, 9_000])), min_size=12, max_size=24),
    st.booleans(),
)
def test_nothing_is_lost_whatever_the_size_of_the_prompt_and_of_what_is_said(
    prompt: int, turns: list[tuple[int, int]], leaves: bool
) -> None:
    with TemporaryDirectory() as folder:
        assert not asyncio.run(lost(Path(folder), prompt, turns, leaves=leaves))
