"""Commands: a name, a sentence, a small async function. One table serves text, the platforms' menus and `/help`.

They are answered at once, beside a running turn, and never wait for a model, except `/compact`, which says so.
"""

from __future__ import annotations

import asyncio
import difflib
import enum
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from agent.agent import Agent
from agent.clock import Clock
from agent.model.offline.intent import plain_command
from agent.model.offline.model import NAME as OFFLINE
from agent.report import ContextReport
from channels.message import Channel, CommandInfo, InboundMessage, OutboundFile
from gateway.messages.confirmations import Confirmations
from gateway.messages.edited import EditedMessages
from gateway.messages.inbox import Inbox
from gateway.messages.outbound_files import OutboundFiles
from gateway.messages.outbox import Outbox
from gateway.messages.suspects import SKIPPED, ActiveWork, ShuttingDown, is_given_up, is_suspect
from gateway.policy.access import Access, Role
from gateway.policy.pairing import Pairing
from gateway.policy.preferences import Preferences
from gateway.policy.sessions import SessionRoute
from gateway.redaction import Redaction
from gateway.routines.daily_summary import DailySummary
from gateway.scheduling.requests import JobService
from gateway.store.database import Database, StoreUnavailable
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Buttons, Draft
from gateway.store.question_rows import StoredQuestion
from gateway.supervisor import SupervisedSource
from gateway.tools.approvals import Approvals
from gateway.turns.queue import TurnQueue
from gateway.usage import UsageLedger

log = logging.getLogger(__name__)

_COMMAND = re.compile(r"/([A-Za-z][A-Za-z_]*)(?:[.!?…。！？]*|\s+(.*))\Z", re.DOTALL)
"""A command alone may end as a sentence does: whoever writes "/stop!" wants nothing but that."""
_DISK_WAIT = 5.0
"""Seconds between tries while the disk takes nothing."""
_ANSWER = "answer"
"""The command that takes a bare yes or no."""
_FOR_THE_MODEL = "Let me think about that. My answer will stand in the chat."
_TO_OWNER = "I crashed several times on a command from {by} in {chat}, so I skipped it. The log has the details."
_BROKEN = "That command broke inside Daybook; the log has the details. Nothing was lost; please try again."


class CommandAudience(enum.Enum):
    """Who may give a command. What tells of the owner's affairs is for the owner's private chats only."""

    EVERYONE = enum.auto()
    OWNER_IN_PRIVATE = enum.auto()


class CommandError(Exception):
    """The command could not be carried out; the text says why and what to do."""


def reason(problem: Exception) -> str:
    """A failure in words for people. The system's own words may name a path of this machine; they go to the log
    only."""
    return problem.strerror or "the disk refuses" if isinstance(problem, OSError) else str(problem)


class PassToModel(Exception):
    """The command leaves the message to the model."""


@dataclass(frozen=True, slots=True)
class Services:
    """What commands may use. `default_agent` answers where no route says otherwise; `to_owner` as in `TurnServices`;
    `dispatch` starts a command or turn for a message in the inbox."""

    database: Database
    clock: Clock
    access: Access
    inbox: Inbox
    outbox: Outbox
    outgoing: OutboundFiles
    pairing: Pairing
    choices: Preferences
    turns: TurnQueue
    agents: Mapping[str, Agent]
    default_agent: str
    channels: Mapping[str, Channel]
    sources: Sequence[SupervisedSource]
    ledger: UsageLedger
    book: JobService
    questions: Confirmations
    approvals: Approvals
    rewording: EditedMessages
    forgetting: Redaction
    daily: DailySummary
    in_hand: ActiveWork
    to_owner: Callable[[str, str], Awaitable[list[Draft]]]
    dispatch: Callable[[InboxRow], None]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """One command as it was given. `words`: the text after its name. `until_answered` is left when the answer is on
    disk, so that a later message is answered after it."""

    words: str
    row: InboxRow
    conversation: SessionRoute
    services: Services
    until_answered: AsyncExitStack

    @property
    def agent(self) -> Agent:
        return self.services.agents[self.conversation.session.agent]

    @property
    def name(self) -> str:
        """The id of this command, the same over restarts."""
        return f"command:{self.row.message.address.channel}:{self.row.message.id}"

    async def begin(self, *, alone: bool = False) -> None:
        """Counts an attempt that a crash may cut off; `alone`: waits until no turn runs. Raises `StoreUnavailable`."""
        await self.services.inbox.take([self.row], self.name, alone=alone)

    async def tell(self, text: str) -> None:
        """Sends a text before the answer, once over restarts. Raises `StoreUnavailable`."""
        message = self.row.message
        key = f"{self.name}:before:{{}}"
        drafts = self.services.outbox.drafts(key, message.address, text, answer_with=message.answer_with)
        await self.services.outbox.write(drafts)

    async def chosen_model(self) -> str | None:
        """The model chosen with `/model`, None for the configured one."""
        return self.services.choices.model(str(self.conversation.session))

    async def context_report(self) -> ContextReport:
        """The context with which the next turn would begin."""
        conversation = self.conversation
        return await self.agent.context_report(conversation.session, conversation.scope, await self.chosen_model())


@dataclass(frozen=True, slots=True)
class CommandReply:
    """The reply to a command. `replaces`: platform id of our message that it replaces; `settles`: the question that it
    closes; `files` are attached."""

    text: str
    buttons: Buttons = ()
    replaces: str = ""
    settles: StoredQuestion | None = None
    files: tuple[OutboundFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """`run` returns the reply as Markdown, or raises `CommandError` or `PassToModel`. `is_listed`: shown in `/help` and
    menus."""

    name: str
    usage: str
    description: str
    run: Callable[[CommandContext], Awaitable[str | CommandReply]]
    audience: CommandAudience = CommandAudience.EVERYONE
    is_listed: bool = True


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command's name, perhaps unknown, and the text after it."""

    name: str
    words: str


class CommandRunner:
    def __init__(self, table: Sequence[Command]) -> None:
        self._table = {command.name: command for command in table}
        self.services: Services | None = None

    def open(self, services: Services) -> None:
        """Give the commands the house that they ask (it is built after them: menus want the table first)."""
        self.services = services

    @property
    def menu(self) -> tuple[CommandInfo, ...]:
        return tuple(
            CommandInfo(one.name, one.description, one.audience is CommandAudience.OWNER_IN_PRIVATE, one.usage)
            for one in self._table.values()
            if one.is_listed
        )

    def find(self, message: InboundMessage, agent: str) -> ParsedCommand | None:
        """The command in a message, `/new now` as (`new`, `now`), or None. A bare yes or no to an open question is an
        `/answer`; where no model is connected, plain words count too."""
        assert self.services is not None
        question = self.services.questions.answered_by(message)
        if match := _COMMAND.match(message.text.strip()):
            return ParsedCommand(match[1].lower(), (match[2] or "").strip())
        if question is not None:
            return ParsedCommand(_ANSWER, f"{question.id} {message.text.strip()}")
        is_offline = self.services.agents[agent].settings.model.name == OFFLINE
        alone = not message.quote and not message.attachments
        plain = plain_command(message.text) if is_offline and alone else None
        return ParsedCommand(plain.name, plain.words) if plain is not None else None

    async def answer(self, wanted: ParsedCommand, ask: CommandContext) -> CommandReply:
        """Carries out a command and returns its reply, whatever happens. Raises `PassToModel`."""
        conversation = ask.conversation
        command = self._table.get(wanted.name)
        if command is None:
            return CommandReply(self._unknown(wanted.name))
        if command.audience is CommandAudience.OWNER_IN_PRIVATE and not (
            conversation.role is Role.OWNER and conversation.is_private
        ):
            return CommandReply(f"/{command.name} is for my owner, in a private chat.")
        try:
            said = await command.run(ask)
        except CommandError as error:
            return CommandReply(str(error))
        except PassToModel:
            raise
        except Exception:
            log.exception("/%s failed", command.name)
            return CommandReply(_BROKEN)
        return said if isinstance(said, CommandReply) else CommandReply(said)

    async def run(self, wanted: ParsedCommand, row: InboxRow, conversation: SessionRoute) -> None:
        """Carries out a command and commits its reply and end together, or leaves it to the model."""
        assert self.services is not None
        async with AsyncExitStack() as until_answered:
            ask = CommandContext(wanted.words, row, conversation, self.services, until_answered)
            if is_given_up([row]):
                return await self._skip(ask)
            until_answered.enter_context(ask.services.in_hand.working(f"/{wanted.name} in {row.session}", [row.seq]))
            try:
                await self._take_up_again(ask)
            except ShuttingDown:  # the next process takes it up
                return None
            try:
                answer = await self.answer(wanted, ask)
            except PassToModel:
                return await self._leave_to_model(ask)
            return await self._write_down(ask, answer)

    async def _skip(self, ask: CommandContext) -> None:
        """Gives up on a command, and tells its sender and the owner."""
        message = ask.row.message
        log.error("%s is skipped: the process crashed or hung on it repeatedly", ask.name)
        text = _TO_OWNER.format(by=message.sender.name or "?", chat=message.address)
        besides = await ask.services.to_owner(text, f"skipped:{ask.row.seq}")
        await self._write_down(ask, CommandReply(SKIPPED), [one for one in besides if one.address != message.address])

    async def _take_up_again(self, ask: CommandContext) -> None:
        """Counts another attempt at a command during which a process died; after several, nothing runs beside it.
        Raises `ShuttingDown`."""
        if not ask.services.inbox.is_left_over(ask.row):
            return None
        alone = is_suspect([ask.row])
        if alone:
            await ask.until_answered.enter_async_context(ask.services.turns.trial(ask.row))
        while True:
            try:
                return await ask.begin(alone=alone)
            except StoreUnavailable as error:
                log.error("a command in %s waits for the disk: %s", ask.row.message.address, error)
                await asyncio.sleep(_DISK_WAIT)

    async def _write_down(self, ask: CommandContext, answer: CommandReply, besides: Sequence[Draft] = ()) -> None:
        """Commits the reply. `besides`: messages to others, in the same commit."""
        row, message, conversation, services = ask.row, ask.row.message, ask.conversation, ask.services
        channel = services.channels[message.address.channel]
        quotes = channel.pace(message.address).quotes or not conversation.is_private
        await services.outbox.cut(message.address, answer.text)
        drafts = services.outbox.drafts(
            f"{ask.name}:{{}}",
            message.address,
            answer.text,
            reply_to=message.platform_id if quotes and not answer.replaces else "",
            edits=answer.replaces,
            buttons=answer.buttons,
            answer_with=message.answer_with,
            files=answer.files,
        )
        settles = answer.settles
        while True:
            try:
                await ask.begin()
                async with services.outbox.sending(drafts) as begin:
                    all_drafts = [*drafts, *besides]
                    await services.inbox.finish([row], "command", all_drafts, settles.id if settles else "", begin)
                return services.outbox.wake(besides)
            except StoreUnavailable as error:
                log.error("the answer to a command in %s waits for the disk: %s", message.address, error)
                await asyncio.sleep(_DISK_WAIT)

    async def _leave_to_model(self, ask: CommandContext) -> None:
        """Leaves the message to the model; where the platform expects an answer to the sender alone, they are told."""
        try:
            if ask.row.message.answer_with:
                await ask.tell(_FOR_THE_MODEL)
        except StoreUnavailable as error:
            log.error("the sender of a command in %s could not be told: %s", ask.row.message.address, error)
        ask.services.turns.post(ask.row)

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name.lower(), self._table, n=1, cutoff=0.5)
        hint = f" Did you mean /{near[0]}?" if near else ""
        return f"There is no /{name}.{hint} /help lists what there is."

    def help(self, conversation: SessionRoute) -> str:
        owner = conversation.role is Role.OWNER and conversation.is_private
        lines = [
            f"- `/{command.name}{' ' + command.usage if command.usage else ''}` {command.description}"
            for command in self._table.values()
            if command.is_listed and (owner or command.audience is CommandAudience.EVERYONE)
        ]
        return "\n".join(["Write to me as you would to a person. Besides, there is:", "", *lines])
