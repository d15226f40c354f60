"""`/forget` in transcripts, beside memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.clock import Clock, utc_stamp
from agent.context.file_changes import seen_by
from agent.context.prompt import FixedPart
from agent.memory.forget import ForgetPlan
from agent.session.entries import RedactionEntry, system_of
from agent.session.redaction import blocks, open_redactions, places
from agent.session.transcript import Transcript

_OWNERS = "TOOLS.md"
_SHOWN_TO_ALL = tuple(f'<daybook-rules name="{name}' for name in (f'{_OWNERS}"', 'skills"', "skill "))


@dataclass(frozen=True, slots=True)
class Removal:
    """What was removed: what it found in memory, the `files` that changed, and how many `messages` of how many `talks`.
    `change`: its entry in the change history, empty where memory had nothing. `unpurged`: why the index on disk still
    has it, the end of a sentence, else empty. `kept` as in `agent.memory.forget.ForgetResult`."""

    finding: ForgetPlan
    change: str
    files: tuple[str, ...]
    messages: int
    talks: int
    unpurged: str = ""
    kept: tuple[tuple[str, str], ...] = ()


Holds = Callable[[str], bool]
"""Whether a line speaks of what is to be forgotten."""


def mentions(transcripts: Sequence[Transcript], holds: Holds) -> int:
    """The number of messages and summaries that mention it. Blocks."""
    return sum(len(places(transcript.entries, holds)) for transcript in transcripts)


async def redact(
    transcripts: Sequence[Transcript], holds: Holds, clock: Clock, change: str, fixed: FixedPart
) -> tuple[int, int]:
    """Replaces every line that mentions it by a mark, and a fixed part that contains it by `fixed`. `change` as in
    `RedactionEntry`. Returns the numbers of messages and transcripts. Raises `TranscriptNotWritten`."""
    messages = talks = 0
    for transcript in transcripts:
        found = await asyncio.to_thread(places, transcript.entries, holds)
        system = system_of(transcript.header, transcript.entries)
        in_prompt = any(holds(line) for part in system for line in part.splitlines())
        if not found and not in_prompt:
            continue
        await transcript.append(
            RedactionEntry(
                transcript.new_id(),
                utc_stamp(clock.now()),
                clock.today().isoformat(),
                found,
                change,
                system=fixed.system if in_prompt else (),
                files=fixed.files if in_prompt else {},
            )
        )
        messages += len(found)
        talks += bool(found)
    return messages, talks


async def take_out_owners(transcript: Transcript, clock: Clock, read_fixed: Callable[[], FixedPart]) -> None:
    """Removes from a conversation with others what earlier versions showed of the owner's: TOOLS.md and all skills. It
    is recognised by having seen TOOLS.md. Raises `OSError`."""
    if _OWNERS not in seen_by(transcript.header, transcript.entries):
        return
    fixed = await asyncio.to_thread(read_fixed)
    await transcript.append(
        RedactionEntry(
            transcript.new_id(),
            utc_stamp(clock.now()),
            clock.today().isoformat(),
            blocks(transcript.entries, _SHOWN_TO_ALL),
            system=fixed.system,
            files=fixed.files,
        )
    )


async def bring_back(transcripts: Sequence[Transcript], clock: Clock, change: str) -> None:
    """Undoes the redactions of that change. Raises `TranscriptNotWritten`."""
    for transcript in transcripts:
        for mark in open_redactions(transcript.entries, change):
            lift = RedactionEntry(transcript.new_id(), utc_stamp(clock.now()), mark.day, lifts=mark.id)
            await transcript.append(lift)
