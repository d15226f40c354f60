"""The foreign text that a turn has seen, by the transcript. Pure.

A summary is made of foreign text, so a compacted conversation still has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.memory.provenance import Provenance, marked_lines
from agent.memory.scope import Audience, Scope
from agent.model.base import Block, text_in
from agent.session.entries import CompactionEntry, Entry, MessageEntry, is_reset, system_of
from agent.session.pictures import path_of
from agent.session.transcript import Transcript
from agent.tools.base import Effect, EffectKind
from agent.tools.foreign_text import ForeignText, foreign, in_blocks, in_memory, in_text, names, unique
from agent.values import ForwardedText, UserMessage

PROGRAM_TOOLS = frozenset({"exec", "exec_status"})
PROGRAM_ENDED = "program:"
"""Begins the id of a message that tells the end of a program."""
ON_NETWORK = " with a network"
"""Ends the source of what a program with a network printed."""
_OF_OTHERS = ("groups/", "people/")


@dataclass(frozen=True, slots=True)
class Taint:
    now: tuple[ForeignText, ...] = ()
    """Taken in by this turn."""
    held: tuple[ForeignText, ...] = ()
    """In the conversation from before."""
    printed: tuple[ForeignText, ...] = ()
    """In the conversation from before too: what programs without a network have printed."""
    prompt: tuple[ForeignText, ...] = ()
    """In the prompt's files."""
    marked: tuple[str, ...] = ()
    """The lines of the prompt that have a mark."""

    @property
    def every(self) -> tuple[ForeignText, ...]:
        return unique((*self.now, *self.held, *self.printed, *self.prompt))

    @property
    def taken_in(self) -> tuple[ForeignText, ...]:
        """What answers are made from, without the prompt's files."""
        return unique((*self.now, *self.held, *self.printed))

    def causes(self, effect: Effect) -> tuple[ForeignText, ...]:
        """The foreign text that may be the reason of an effect. Earlier output is none for a program that was allowed:
        else no yes would last beyond the first output."""
        if effect.kind is EffectKind.RUN and not effect.always:
            return unique((*self.now, *self.held, *self.prompt))
        return unique((*self.now, *self.prompt)) if effect.this_turn else self.every

    def of_answers(self, scope: Scope) -> tuple[ForeignText, ...]:
        """The sources that answers are made from. A group's members are not foreign in its memory."""
        is_group = scope.audience is Audience.GROUP
        return tuple(ForeignText(text.source) for text in self.taken_in if not (is_group and text.is_talk))

    def provenance(self, scope: Scope) -> Provenance:
        return Provenance(names(self.of_answers(scope)), self.marked)


def needs_yes(effect: Effect, found: Taint) -> bool:
    """True if the owner is asked about an effect that sends nothing to a host of others."""
    return effect.always or bool(effect.private) or bool(found.causes(effect))


def taint(transcript: Transcript, scope: Scope, turn: str, said: frozenset[str] = frozenset()) -> Taint:
    """The foreign text that a turn has seen (`turn` empty: the whole conversation). `said`: the messages that it
    answers, also by way of an interrupted turn."""
    entries = transcript.entries
    start = max((at + 1 for at, entry in enumerate(entries) if is_reset(entry)), default=0)
    messages = [entry for entry in entries[start:] if isinstance(entry, MessageEntry)]
    sender = next((entry.meta.by for entry in messages if entry.meta.turn == turn and entry.meta.said), "")
    paths = _paths(messages) if any(entry.meta.foreign is None for entry in messages) else {}
    turns = turns_that_answer(transcript, turn, said)
    now: list[ForeignText] = []
    held: list[ForeignText] = []
    printed: list[ForeignText] = []
    for entry in messages:
        if entry.role != "user":
            continue
        into = now if entry.meta.turn in turns else printed if _is_printed(entry) else held
        if entry.meta.said and not scope.is_private and (not sender or entry.meta.by != sender):
            into.append(foreign(entry.meta.sender or "somebody", said_words(entry), is_talk=True))
        into += of_entry(entry, paths)
    system = "\n".join(system_of(transcript.header, entries))
    prompt = in_memory(system, scope)
    return Taint(unique(now), unique(held), unique(printed), prompt, marked_lines(system))


def _is_printed(entry: MessageEntry) -> bool:
    """True for what a program without a network printed, in a call's result or in the message of its end."""
    found = entry.meta.foreign or ()
    said = entry.meta.said
    is_end = bool(said) and all(id.rpartition(f":{PROGRAM_ENDED}")[0] for id in said)  # CHANNEL:program:NUMBER
    if not found or not (is_end or entry.meta.tool in PROGRAM_TOOLS):
        return False
    return not any(text.source.endswith(ON_NETWORK) for text in found)


def turns_that_answer(transcript: Transcript, turn: str, said: frozenset[str]) -> frozenset[str]:
    """The turn, and those before it that were interrupted."""
    messages = (entry for entry in transcript.entries if isinstance(entry, MessageEntry))
    return frozenset({turn, *(entry.meta.turn for entry in messages if not said.isdisjoint(entry.meta.said))})


def of_entry(entry: MessageEntry, paths: Mapping[str, str] | None = None) -> tuple[ForeignText, ...]:
    """The foreign text in an entry. `paths`: the files that calls named, by the calls' ids."""
    if entry.meta.foreign is not None or entry.role != "user":
        return entry.meta.foreign or ()
    if entry.meta.tool:
        return tuple(text for block in entry.content for text in _of_result(block, paths or {}))
    shown = (foreign("a picture") for block in entry.content if path_of(block))
    return unique((*in_blocks(text_in(entry.content)), *shown))


def own_sources(entry: MessageEntry) -> tuple[str, ...]:
    """A message's foreign sources, without the group's own members."""
    found = entry.meta.foreign or () if entry.role == "assistant" else of_entry(entry)
    return names([text for text in found if not text.is_talk])


def sources_of(entries: Sequence[Entry], transcript: Transcript, scope: Scope) -> tuple[str, ...]:
    """The foreign sources of a part of a transcript; of all of it if the part has a summary."""
    if any(isinstance(entry, CompactionEntry) for entry in entries):
        return names(taint(transcript, scope, "").of_answers(scope))
    found = (name for entry in entries if isinstance(entry, MessageEntry) for name in own_sources(entry))
    return tuple(dict.fromkeys(found))


def in_message(said: UserMessage) -> tuple[ForeignText, ...]:
    """The text in a message that is not its sender's: documents, pictures, quotes, file names, and what a job's text
    was made from."""
    documents = (document for document in said.documents if not document.is_own)
    found = [foreign(document.name.removeprefix("document ") or "a document", document.text) for document in documents]
    found += [_quoted(quoted) for quoted in said.quoted]
    found += [foreign(name or "somebody", text, is_talk=True) for name, _, text in said.overheard]
    found += [foreign("what came along", text) for text in said.enclosed]
    found += [foreign("a picture", picture.name) for picture in said.pictures]
    found += [foreign("a recording", name) for name in said.heard if " " in name]
    return unique((*found, *in_text(said.text), *said.foreign))


def _quoted(quoted: str | ForwardedText) -> ForeignText:
    if isinstance(quoted, ForwardedText):
        return foreign(f"a message of {quoted.author}" if quoted.author else "a forwarded message", quoted.text)
    return foreign("a quoted message", quoted)


def said_words(entry: MessageEntry) -> str:
    """The last line of a person's text, without header and attachments."""
    return next((line for line in reversed(text_in(entry.content).splitlines()) if line.strip()), "")


def _of_result(block: Block, paths: Mapping[str, str]) -> tuple[ForeignText, ...]:
    content = block.get("content")
    text = content if isinstance(content, str) else str(content)
    path = paths.get(str(block.get("tool_use_id")), "").casefold().removeprefix("./")
    if path.startswith(_OF_OTHERS) or any(line.startswith(_OF_OTHERS) for line in text.splitlines()):
        return (foreign(path or "files of others", text),)
    return in_text(text)


def _paths(messages: Sequence[MessageEntry]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in messages:
        for block in entry.content:
            given = block.get("input") if block.get("type") == "tool_use" else None
            if isinstance(given, dict) and isinstance(path := given.get("path"), str):
                found[str(block.get("id"))] = path
    return found
