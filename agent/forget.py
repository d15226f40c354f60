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
_ONCE_SHOWN_TO_OTHERS = (
    '<daybook-rules name="TOOLS.md"',
    '<daybook-rules name="skills"',
    '<daybook-rules name="skill ',  # the name of one skill follows
)
"""The beginnings of blocks that only the owner sees today."""


@dataclass(frozen=True, slots=True)
class Removal:
    """`files` of memory that changed, `messages` and `sessions`; `kept` as in `ForgetResult`."""

    finding: ForgetPlan
    change: str
    """Its entry in the change history, if any."""
    files: tuple[str, ...]
    messages: int
    sessions: int
    unpurged: str = ""
    """Why the index on disk still has the text."""
    kept: tuple[tuple[str, str], ...] = ()


Holds = Callable[[str], bool]
"""True for a line about the subject to be forgotten."""


def mentions(transcripts: Sequence[Transcript], holds: Holds) -> int:
    """The number of messages and summaries about the subject. Blocks."""
    return sum(len(places(transcript.all_entries, holds)) for transcript in transcripts)


async def redact(
    transcripts: Sequence[Transcript], holds: Holds, clock: Clock, change: str, fixed: FixedPart
) -> tuple[int, int]:
    """Replaces lines about the subject by a mark, and a fixed part with such lines by `fixed`. Returns the numbers of
    messages and transcripts. Raises `TranscriptNotWritten`."""
    messages = sessions = 0
    for transcript in transcripts:
        found = await asyncio.to_thread(places, transcript.all_entries, holds)
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
        sessions += bool(found)
    return messages, sessions


async def take_out_owners(transcript: Transcript, clock: Clock, read_fixed: Callable[[], FixedPart]) -> None:
    """Removes the owner's TOOLS.md and skills, which earlier versions showed others. Raises `OSError`."""
    if _OWNERS not in seen_by(transcript.header, transcript.entries):
        return
    fixed = await asyncio.to_thread(read_fixed)
    await transcript.append(
        RedactionEntry(
            transcript.new_id(),
            utc_stamp(clock.now()),
            clock.today().isoformat(),
            blocks(transcript.all_entries, _ONCE_SHOWN_TO_OTHERS),
            system=fixed.system,
            files=fixed.files,
        )
    )


async def bring_back(transcripts: Sequence[Transcript], clock: Clock, change: str) -> None:
    """Undoes that change. Raises `TranscriptNotWritten`."""
    for transcript in transcripts:
        for mark in open_redactions(transcript.entries, change):
            lift = RedactionEntry(transcript.new_id(), utc_stamp(clock.now()), mark.day, lifts=mark.id)
            await transcript.append(lift)
