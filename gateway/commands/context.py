"""Commands: each a name, a sentence and a small async function. One table serves text, the platforms' menus and
`/help`."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from agent.agent import Agent
from agent.languages.codes import Language
from agent.languages.moments import moment_in, number_in
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import said, translated
from agent.languages.system_errors import system_says
from agent.report import ContextReport
from channels.message import OutboundFile
from gateway.kernel import Kernel
from gateway.messages.active_work import ActiveWork
from gateway.messages.confirmations import Confirmations
from gateway.messages.edited import EditedMessages
from gateway.policy.pairing import Pairing
from gateway.policy.preferences import HomeZone, Preferences
from gateway.policy.sessions import SessionRoute
from gateway.redaction import Redaction
from gateway.routines.daily_summary import DailySummary
from gateway.scheduling.requests import JobService
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Buttons
from gateway.store.question_rows import StoredQuestion
from gateway.supervisor import SupervisedSource
from gateway.tools.approvals import Approvals
from gateway.turns.queue import TurnQueue


class CommandAudience(enum.Enum):
    """Who may give a command. The owner's affairs are for the owner's private chats only."""

    EVERYONE = enum.auto()
    OWNER_IN_PRIVATE = enum.auto()


class CommandError(Exception):
    """The command is refused: the text says why, and what to do. A `Sentence` is translated for the chat."""


def reason(problem: Exception) -> str:
    """A failure in words for people, a `Sentence`. The system's words may name a path of this machine, and go to the
    log only."""
    return system_says(problem) if isinstance(problem, OSError) else str(problem)


class PassToModel(Exception):
    """The command leaves the message to the model."""


@dataclass(frozen=True, slots=True)
class Services:
    """All that commands may use."""

    kernel: Kernel
    pairing: Pairing
    preferences: Preferences
    zone: HomeZone
    turns: TurnQueue
    sources: Sequence[SupervisedSource]
    jobs: JobService
    questions: Confirmations
    approvals: Approvals
    edited_messages: EditedMessages
    redaction: Redaction
    daily: DailySummary
    on_stop: Sequence[Callable[[str], int]]
    """As in `FeatureParts`."""
    active_work: ActiveWork


@dataclass(frozen=True, slots=True)
class CommandContext:
    argument: str
    """The text after the command's name."""
    row: InboxRow
    route: SessionRoute
    services: Services
    language: Language
    """The chat's language."""
    until_answered: AsyncExitStack
    """It is left when the answer is on disk, so that a later message is answered after it."""

    @property
    def kernel(self) -> Kernel:
        return self.services.kernel

    @property
    def agent(self) -> Agent:
        return self.kernel.agents[self.route.session.agent]

    @property
    def name(self) -> str:
        """The id of this command, the same over restarts."""
        return f"command:{self.row.message.address.channel}:{self.row.message.id}"

    def said(self, english: LiteralString, /, **values: object) -> str:
        """The sentence in the chat's language."""
        return said(self.language, english, **values)

    def shown(self, text: str) -> str:
        """A `Sentence` in the chat's language; anything else as it is."""
        return str(translated(self.language, text))

    def joined(self, *sentences: str) -> str:
        """The sentences one after the other, without empty ones."""
        between = " " if LANGUAGES[self.language].spaced else ""
        return between.join(self.shown(sentence) for sentence in sentences if sentence)

    def moment(self, moment: datetime) -> str:
        clock = self.kernel.clock
        return moment_in(self.language, clock.local(moment), clock.now())

    def number(self, value: float, decimals: int = 0) -> str:
        return number_in(self.language, value, decimals)

    async def begin(self, *, alone: bool = False) -> None:
        """Counts an attempt that a crash may cut off; if `alone`, once no turn runs. Raises `StorageUnavailable`."""
        await self.kernel.inbox.take([self.row], self.name, alone=alone)

    async def tell(self, text: str) -> None:
        """Sends a text before the answer, once over restarts. Raises `StorageUnavailable`."""
        message = self.row.message
        key = f"{self.name}:before:{{}}"
        drafts = self.kernel.outbox.drafts(key, message.address, text, answer_with=message.answer_with)
        await self.kernel.outbox.write(drafts)

    async def chosen_model(self) -> str | None:
        """The model chosen with `/model`; None for the configured model."""
        return self.services.preferences.model(str(self.route.session))

    async def context_report(self) -> ContextReport:
        route = self.route
        return await self.agent.context_report(route.session, route.scope, await self.chosen_model())


@dataclass(frozen=True, slots=True)
class CommandReply:
    text: str
    buttons: Buttons = ()
    replaces: str = ""
    """Platform id of the message of ours that it replaces."""
    settles: StoredQuestion | None = None
    """The question that it closes."""
    files: tuple[OutboundFile, ...] = ()
    """Attached."""
    then: Sequence[InboxRow] = ()
    """Messages of the inbox to answer next."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command. `run` returns the reply as Markdown, or raises `CommandError` or `PassToModel`. `usage` and
    `description` are sentences."""

    name: str
    usage: LiteralString
    description: LiteralString
    run: Callable[[CommandContext], Awaitable[str | CommandReply]]
    audience: CommandAudience = CommandAudience.EVERYONE
    is_listed: bool = True
    """Shown in `/help` and menus."""
