"""The parts of the gateway that turns use, the rule by which messages queue, and what people are told where a turn
fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Concatenate, Literal, ParamSpec, Protocol

from agent.agent import Agent
from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.sentences import Sentence, translated
from agent.languages.system_errors import cannot
from agent.tools.base import OwnerConsent, Tool
from channels.message import Address, Channel
from gateway.messages.active_work import ActiveWork
from gateway.messages.inbox import Inbox
from gateway.messages.lanes import Lane
from gateway.messages.outbound_files import LongAnswers
from gateway.messages.outbox import Outbox
from gateway.policy.display_names import DisplayNames
from gateway.policy.preferences import Preferences
from gateway.policy.sessions import SessionRoute
from gateway.store import chat_rows
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Draft, SpeechRow
from gateway.turns.attachments import AttachmentIntake
from gateway.turns.preview import Acknowledgement
from gateway.turns.tasks import Tasks

P = ParamSpec("P")
QueueMode = Literal["steer", "collect", "interrupt"]

SessionLane = Lane[str, int]
"""A session's waiting messages, as their numbers in the inbox."""


@dataclass(frozen=True, slots=True)
class QueueRule:
    """What a message does to a running turn."""

    mode: QueueMode = "steer"
    cap: int = 20
    """The most messages of one turn; while more wait, every mode collects."""


class Voice(Protocol):
    """Says answers aloud."""

    def wanted(self, turn: str, address: Address, text: str, *, was_recording: bool) -> SpeechRow | None:
        """The speech of a turn's answer, if it is to be said aloud. `was_recording`: it answers a recording."""

    def post(self, speech: SpeechRow) -> None:
        """Speaks what is on disk."""


@dataclass(frozen=True, slots=True)
class TurnServices:
    database: Database
    inbox: Inbox
    outbox: Outbox
    long_answers: LongAnswers
    voice: Voice | None
    preferences: Preferences
    intake: AttachmentIntake
    acknowledgement: Acknowledgement
    channels: Mapping[str, Channel]
    agents: Mapping[str, Agent]
    queues: Mapping[str, QueueRule]
    route: Callable[[InboxRow], SessionRoute]
    tools: Callable[[InboxRow], tuple[Tool, ...]]
    active_work: ActiveWork
    to_owner: Callable[[str, str], Awaitable[list[Draft]]]
    consent: Callable[[InboxRow, str], OwnerConsent | None]
    names: DisplayNames
    tasks: Tasks
    sealed_in_jobs: Mapping[str, str]
    """Files that a job's or task's turn may not change, with the reason."""

    def say(self, speech: SpeechRow | None) -> None:
        """Says an answer aloud whose speech is on disk."""
        if speech is not None and self.voice is not None:
            self.voice.post(speech)

    async def language(self, chat: Address) -> Language:
        return await self.database.run(chat_rows.language, chat)

    async def told(self, chat: Address, text: str) -> str:
        """A `Sentence` in the chat's language; anything else as it is."""
        return str(translated(await self.language(chat), text)) if isinstance(text, Sentence) else text


async def language_now(
    database: Database, read: Callable[Concatenate[Connection, P], Language], *given: P.args, **named: P.kwargs
) -> Language:
    """The language that `read` (of `chat_rows`) finds, without waiting for the disk: English where nothing can be
    read."""
    try:
        return await database.run(read, *given, **named)
    except StorageUnavailable:
        return Language.ENGLISH


BUG = Sentence(
    "Something went wrong inside Daybook while I was answering. Your message is saved. Please try again, or send /new "
    "to start over. The log has the details."
)


def failure(error: Exception) -> Sentence:
    if not isinstance(error, OSError):
        return BUG
    return Sentence(
        "{why}. Your message is saved. Please try again, or send /new to start over. The log has the details.",
        why=cannot(error),
    )
