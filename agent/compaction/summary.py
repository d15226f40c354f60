"""The summary of a compaction: its instruction, its check, and a substitute without a model. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.compaction.cut import Shown
from agent.languages.sentences import Sentence
from agent.model.base import CUT, FULL, PAUSED, REFUSED, Completed
from agent.model.tokens import estimate
from agent.session.entries import CompactionEntry, MessageEntry
from agent.session.turn_record import said_in, text_of
from agent.silence import deliverable_text

PARTS = (
    "## Last request and its state",
    "## Open tasks and promises",
    "## Decisions and reasons",
    "## People and facts",
    "## Identifiers",
)
"""The headings that are asked for, in this spelling."""

_ASK = """\
The older part of this conversation will be replaced by a summary that you write now{which}. It is all that will \
be left of it. Nobody reads your answer in the chat: answer no question, call no tool, go on with no task.

Write at most about {words} words in Markdown, in the language of the conversation, under exactly these headings:
{parts}

- Last request: what was asked last in that part, whether it is done, and the result. Finished tasks are called \
finished, so that nobody does them again.
- Open tasks and promises: whose, and until when.
- Decisions: what, and why.
- Identifiers: names, numbers, dates, addresses, paths, links, codes: character by character as they stand there.
An earlier summary is part of what you summarise: carry over what still counts. Where a part has nothing, write \
"none"."""
_UP_TO = ", up to and without the message that begins: {quoted}. What follows it is kept as it is"
_UP_TO_STEP = (
    ", but for its newest steps and what the person said in the task under way: that is kept as it is. Say which steps "
    "of it are done, with their results, and what is left"
)
_FOCUS = "\n\nThe person wants you to keep this above all: {focus}"
_AGAIN = "\n\nA first attempt was of no use: {why} Write it anew, within these rules."

_IDENTIFIER = re.compile(
    r"https?://[^\s<>\"')\]]+"
    r"|(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.-]*\w"
    r"|\b(?<![A-Za-z0-9]-)(?=[\w-]{0,80}\d)(?=[\w-]{0,80}[A-Za-z])[A-Za-z0-9]++(?:[-_][A-Za-z0-9]++)+\b"
    r"|\b[A-Z]{2,}\d[\dA-Z]*\b"
    r"|(?<![\w.])\+?\d[\d ./()-]{5,40}\d(?!\w)"
)
_MOST_IDENTIFIERS = 60
_IDENTIFIERS_SHARE = 4
"""The identifiers that a summary forgot may take a quarter of its room."""
_EXTRACT_CHARS = 300


class UnusableSummary(Exception):
    """The text is no summary: says why, for a model and a person."""


def instruction(
    room: int, kept: Sequence[Shown] = (), focus: str = "", failed: str = "", *, in_turn: bool = False
) -> str:
    """The instruction for the model. `room` in tokens; `kept`: the entries that stay word for word; `failed`: why the
    first attempt was unusable."""
    first = next((text for entry in kept if (text := _said(entry))), "")
    which = _UP_TO.format(quoted=f"“{' '.join(first.split())[:80]}”") if first else ""
    which = _UP_TO_STEP if in_turn else which
    text = _ASK.format(which=which, words=max(60, room // 2), parts="\n".join(PARTS))
    text += _FOCUS.format(focus=focus) if focus else ""
    return text + (_AGAIN.format(why=failed) if failed else "")


def checked(answer: Completed, replaced: int, room: int) -> str:
    """The summary in an answer; headings are optional. Raises `UnusableSummary` if it is empty, cut, refused, or not
    smaller than the `replaced` tokens, or than `room`."""
    text = deliverable_text(answer.text)
    if answer.stop_reason == REFUSED:
        raise UnusableSummary(Sentence("the model declined to write it"))
    if any(block.get("type") == "tool_use" for block in answer.content):
        raise UnusableSummary(Sentence("it called a tool"))
    if not text:
        raise UnusableSummary(Sentence("it was empty"))
    if answer.stop_reason in (CUT, FULL, PAUSED):
        raise UnusableSummary(Sentence("it was cut off before its end; it must be shorter"))
    if estimate(text) >= replaced:
        raise UnusableSummary(Sentence("it is longer than what it replaces"))
    if estimate(text) > 2 * room:
        raise UnusableSummary(Sentence("it is far too long"))
    return text


def backed(summary: str, dropped: Sequence[Shown], room: int, replaced: int) -> str:
    """The summary; if it lacks a part, with the latest messages beside it, if both are smaller than the `replaced`
    tokens."""
    if all(part.casefold() in summary.casefold() for part in PARTS):
        return summary
    both = f"{summary}\n\n{extract(dropped, room)}"
    return both if estimate(both) < replaced else summary


def with_identifiers(summary: str, dropped: Sequence[Shown], room: int) -> str:
    """The summary with the identifiers that it left out at its end."""
    missing: list[str] = []
    left = room // _IDENTIFIERS_SHARE
    for identifier in reversed(list(_identifiers(dropped))):
        if identifier in summary or identifier in missing:
            continue
        left -= estimate(identifier) + 2
        if left < 0 or len(missing) == _MOST_IDENTIFIERS:
            break
        missing.append(identifier)
    if not missing:
        return summary
    return f"{summary.rstrip()}\n\nAlso mentioned: {', '.join(reversed(missing))}"


def extract(dropped: Sequence[Shown], room: int) -> str:
    """A summary without a model: the latest messages, and the last summary."""
    before = [entry.summary for entry in dropped if isinstance(entry, CompactionEntry)]
    said = [(entry, text) for entry in dropped if isinstance(entry, MessageEntry) and (text := _said(entry))]
    last = said[-1][1] if said else "none"
    kept: list[str] = []
    left = room - estimate("\n".join(PARTS)) - estimate(last[:_EXTRACT_CHARS])
    for entry, text in reversed(said[:-1]):
        who = "-" if entry.role == "user" else "- Answered:"
        line = f"{who} {' '.join(text.split())[:_EXTRACT_CHARS]}"
        left -= estimate(line) + 1
        if left < 0:
            break
        kept.append(line)
    facts = "\n".join(reversed(kept)) or "none"
    if before and estimate(older := "\n".join(before[-1].splitlines()[-40:])) < left:
        facts = f"Earlier: {older.replace('## ', '')}\n{facts}"
    bodies = (" ".join(last.split())[:_EXTRACT_CHARS], "none noted", "none noted", facts, "see above")
    return "\n".join(f"{part}\n{body}" for part, body in zip(PARTS, bodies, strict=True))


def _identifiers(dropped: Sequence[Shown]) -> Iterator[str]:
    for entry in dropped:
        text = entry.summary if isinstance(entry, CompactionEntry) else _said(entry)
        for match in _IDENTIFIER.finditer(text):
            yield match[0].strip(" .-/")


def _said(entry: Shown) -> str:
    if isinstance(entry, CompactionEntry):
        return ""
    if entry.role == "assistant":
        return deliverable_text(text_of(entry))
    return said_in(entry) if entry.meta.said else ""
