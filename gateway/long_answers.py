"""An answer that would flood a chat: its beginning is said, the whole goes behind it as a document (SPEC 9)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.memory.paths import FileError
from channels.message import Address, Channel, OutboundFile
from gateway.outgoing import Outgoing

log = logging.getLogger(__name__)

MOST_MESSAGES = 8
"""An answer of more messages is read better in a document."""
_SHORT = 1_000
"""Characters that are no flood on any platform, so that most answers are not cut twice to count their messages."""
_NOTE = "_(This is only the beginning; the whole answer is in the file below.)_"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said in the chat, and what goes behind it."""

    text: str
    files: tuple[OutboundFile, ...] = ()


class LongAnswers:
    def __init__(self, clock: Clock, channels: Mapping[str, Channel], outgoing: Outgoing) -> None:
        self._clock = clock
        self._channels = channels
        self._outgoing = outgoing

    async def fitted(self, address: Address, text: str) -> Answer:
        """The answer as that chat is to get it. Its document is on disk on return; where it cannot be written or sent,
        the answer stays as it is."""
        if len(text) <= _SHORT:
            return Answer(text)
        channel = self._channels[address.channel]
        pieces = await asyncio.to_thread(channel.split, text)
        if len(pieces) <= MOST_MESSAGES or len(text.encode("utf-8", "replace")) > channel.largest_file(address):
            return Answer(text)
        name = f"answer-{self._clock.now():%Y-%m-%d-%H%M}.md"
        try:
            file = await asyncio.to_thread(self._outgoing.keep_text, name, text)
        except (FileError, OSError) as error:
            log.warning("a long answer to %s goes as %d messages: %s", address, len(pieces), error)
            return Answer(text)
        return Answer(await asyncio.to_thread(_beginning, channel, text, pieces), (file,))


def _beginning(channel: Channel, text: str, pieces: Sequence[str]) -> str:
    """As much of the text as fits one message together with the note. The note is measured in front of the text, where
    the splitter leaves room for it."""
    first = channel.split(f"{_NOTE}\n\n{text}")[0]
    beginning = first.removeprefix(_NOTE).strip("\n")
    if beginning == first.strip("\n") or not beginning:  # a message hardly has room for the note itself
        beginning = pieces[0]
    return f"{beginning}\n\n{_NOTE}"
