"""Finds the command in a message and runs it.

Commands are answered at once, beside a running turn, and never wait for a model, except `/compact`, which says so.
"""

from __future__ import annotations

import asyncio
import difflib
import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language, of_locale
from agent.languages.order_words import OrderKind
from agent.languages.orders import may_change_reminder
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence, said
from agent.languages.table import LanguageTable
from agent.languages.terms import fold
from agent.model.offline.intent import SEPARATOR, plain_command
from agent.model.offline.model import NAME as OFFLINE
from channels.message import CommandInfo, InboundMessage
from gateway.commands.context import (
    Command,
    CommandAudience,
    CommandContext,
    CommandError,
    CommandReply,
    PassToModel,
    Services,
)
from gateway.messages.suspects import SKIPPED, ShuttingDown, is_given_up, is_suspect
from gateway.policy.access import Role
from gateway.policy.sessions import SessionRoute
from gateway.scheduling.words import phrases
from gateway.store import chat_rows
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Draft
from gateway.turns.services import language_now

log = logging.getLogger(__name__)

_COMMAND = re.compile(r"/([^\W\d_]\w*)(?:[.!?…。！？]*|\s+(.*))\Z", re.DOTALL)
"""A command alone may end as a sentence does: whoever writes "/stop!" wants nothing but that."""
_DISK_WAIT = 5.0
"""Seconds between tries while the disk takes nothing."""
_MOST_NAMED = 100
"""Characters of a line that may name a reminder and a time: a longer line says more."""
_ANSWER = "answer"
"""The command that takes a bare yes or no."""


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command's name, perhaps unknown, and its argument."""

    name: str
    argument: str


class CommandTable:
    def __init__(self, commands: Sequence[Command]) -> None:
        self._commands = {command.name: command for command in commands}
        named = [(fold(word), name) for table in LANGUAGES.values() for name, word in _words(table)]
        self._names = {**dict(named), **{name: name for name in self._commands}}
        self._words: dict[str, list[str]] = defaultdict(list)
        for table in LANGUAGES.values():
            for name, word in _words(table):
                self._words[name] += (word.lower(), fold(word))
        unspaced = {word for table in LANGUAGES.values() if not table.spaced for _, word in _words(table)}
        longest_first = "|".join(map(re.escape, sorted(unspaced, key=len, reverse=True)))
        self._unspaced = re.compile(rf"/({longest_first})(.+)\Z", re.DOTALL)

    def get(self, name: str) -> Command | None:
        return self._commands.get(name)

    def parse(self, text: str) -> ParsedCommand | None:
        """The command that a text is, by its English name, in whichever language it is typed: `/new now`, `/hilfe`,
        `/提醒明天九点开会`; an unknown command by the name as typed."""
        match = _COMMAND.match(text)
        name = self._names.get(fold(match[1])) if match else None
        if match and name:
            return ParsedCommand(name, (match[2] or "").strip())
        if begun := self._unspaced.match(text):
            return ParsedCommand(self._names[fold(begun[1])], begun[2].strip())
        return ParsedCommand(match[1].lower(), (match[2] or "").strip()) if match else None

    @property
    def menu(self) -> tuple[CommandInfo, ...]:
        return tuple(
            CommandInfo(
                command.name,
                Sentence(command.description),
                command.audience is CommandAudience.OWNER_IN_PRIVATE,
                Sentence(command.usage),
                tuple(dict.fromkeys(self._words[command.name])),
            )
            for command in self._commands.values()
            if command.is_listed
        )

    def help(self, context: CommandContext) -> str:
        owner = context.route.role is Role.OWNER and context.route.is_private
        lines = [
            self._line(command, context.language)
            for command in self._commands.values()
            if command.is_listed and (owner or command.audience is CommandAudience.EVERYONE)
        ]
        head = context.said("Just write to me as you would to a person. There are also commands:")
        return "\n".join([head, "", *lines])

    def _line(self, command: Command, language: Language) -> str:
        usage = f" {said(language, command.usage)}" if command.usage else ""
        own = LANGUAGES[language].command_names.get(command.name, "").partition("|")[0]
        also = f" (`/{own}`)" if own else ""
        return f"- `/{command.name}{usage}`{also} {said(language, command.description)}"

    def unknown(self, name: str, context: CommandContext) -> str:
        known = [*self._commands, *(word for _, word in _words(LANGUAGES[context.language]))]
        if near := difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5):
            return context.said("I don't know /{name}. Did you mean /{near}? See /help.", name=name, near=near[0])
        return context.said("I don't know /{name}. See /help.", name=name)


def _words(table: LanguageTable) -> Iterator[tuple[str, str]]:
    """English names of commands, each with a word of the language."""
    yield from ((name, word) for name, words in table.command_names.items() for word in words.split("|"))


def _plain(text: str) -> ParsedCommand | None:
    """The order in plain words. A text that is no order may still name a reminder and another time."""
    plain = plain_command(text)
    if plain is None:
        is_short = len(text) <= _MOST_NAMED and "\n" not in text.strip()
        is_told = is_short and (phrases.says_time(text) or may_change_reminder(text))
        return _order(OrderKind.NAMED) if is_told else None
    if plain.name == OrderKind.UNDO:
        return _order(OrderKind.UNDO)
    if plain.language is not None and SEPARATOR not in plain.words:
        return ParsedCommand("order", f"{plain.name} {plain.language} {plain.words}")
    return ParsedCommand(plain.name, plain.words)


def _order(kind: OrderKind) -> ParsedCommand:
    """An order that finds out its language by itself."""
    return ParsedCommand("order", f"{kind} {Language.ENGLISH}")


class CommandRunner:
    def __init__(self, table: CommandTable, services: Services) -> None:
        self._table = table
        self._services = services

    def find(self, message: InboundMessage, agent: str) -> ParsedCommand | None:
        """The command in a message. A bare yes or no to an open question is an `/answer`; where no model is connected,
        plain words count too."""
        question = self._services.questions.answered_by(message)
        if typed := self._table.parse(message.text.strip()):
            return typed
        if question is not None:
            return ParsedCommand(_ANSWER, f"{question.id} {message.text.strip()}")
        is_offline = self._services.kernel.agents[agent].settings.model.name == OFFLINE
        alone = not message.quote and not message.attachments
        return _plain(message.text) if is_offline and alone else None

    async def answer(self, parsed: ParsedCommand, context: CommandContext) -> CommandReply:
        """Returns the reply of a command, whatever happens. Raises `PassToModel`."""
        route = context.route
        command = self._table.get(parsed.name)
        if command is None:
            return CommandReply(self._table.unknown(parsed.name, context))
        if command.audience is CommandAudience.OWNER_IN_PRIVATE and not (route.role is Role.OWNER and route.is_private):
            return CommandReply(context.said("/{name} works only for my owner, in a private chat.", name=command.name))
        try:
            answer = await command.run(context)
        except CommandError as error:
            return CommandReply(context.shown(error.args[0]))
        except PassToModel:
            raise
        except Exception:
            log.exception("/%s failed", command.name)
            return CommandReply(
                context.said(
                    "That command failed inside Daybook. Nothing was lost; please try again. The log has the details."
                )
            )
        reply = answer if isinstance(answer, CommandReply) else CommandReply(answer)
        return replace(reply, text=context.shown(reply.text))

    async def run(self, parsed: ParsedCommand, row: InboxRow, route: SessionRoute) -> Sequence[InboxRow]:
        """Carries out a command and commits its reply and end together, or leaves it to the model. Returns the messages
        to dispatch next."""
        async with AsyncExitStack() as until_answered:
            # Nothing is waited for before the command has begun: it would be overtaken.
            address = row.message.address
            language = of_locale(row.language)
            language = language or await language_now(self._services.kernel.database, chat_rows.language, address)
            context = CommandContext(parsed.argument, row, route, self._services, language, until_answered)
            if is_given_up([row]):
                await self._skip(context)
                return ()
            until_answered.enter_context(
                context.services.active_work.working(f"/{parsed.name} in {row.session}", [row.seq])
            )
            try:
                await self._take_up_again(context)
            except ShuttingDown:  # the next process takes it up
                return ()
            try:
                answer = await self.answer(parsed, context)
            except PassToModel:
                await self._leave_to_model(context)
                return ()
            await self._write_down(context, answer)
            return answer.then

    async def _skip(self, context: CommandContext) -> None:
        message = context.row.message
        log.error("%s is skipped: the process crashed or hung on it repeatedly", context.name)
        text = Sentence(
            "I crashed several times on a command from {by} in {chat}, so I skipped it. The log has the details.",
            by=message.sender.name or "?",
            chat=message.address,
        )
        besides = await context.kernel.reports.to_owner(text, f"skipped:{context.row.seq}")
        elsewhere = [draft for draft in besides if draft.address != message.address]
        await self._write_down(context, CommandReply(context.shown(SKIPPED)), elsewhere)

    async def _take_up_again(self, context: CommandContext) -> None:
        """Counts another attempt at a command during which a process died; from the second on, alone. Raises
        `ShuttingDown`."""
        if not context.kernel.inbox.is_left_over(context.row):
            return None
        alone = is_suspect([context.row])
        if alone:
            await context.until_answered.enter_async_context(context.services.turns.trial(context.row))
        while True:
            try:
                return await context.begin(alone=alone)
            except StorageUnavailable as error:
                log.error("a command in %s waits for the disk: %s", context.row.message.address, error)
                await asyncio.sleep(_DISK_WAIT)

    async def _write_down(self, context: CommandContext, answer: CommandReply, besides: Sequence[Draft] = ()) -> None:
        """Commits the reply with messages to others (`besides`)."""
        row, message, route, services = context.row, context.row.message, context.route, context.services
        channel = services.kernel.channels[message.address.channel]
        quotes = channel.capabilities(message.address).quotes or not route.is_private
        await services.kernel.outbox.cut(message.address, answer.text)
        drafts = services.kernel.outbox.drafts(
            f"{context.name}:{{}}",
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
                await context.begin()
                async with services.kernel.outbox.sending(drafts) as begin:
                    all_drafts = [*drafts, *besides]
                    await services.kernel.inbox.finish(
                        [row], "command", all_drafts, settles.id if settles else "", begin
                    )
                return services.kernel.outbox.wake(besides)
            except StorageUnavailable as error:
                log.error("the answer to a command in %s waits for the disk: %s", message.address, error)
                await asyncio.sleep(_DISK_WAIT)

    async def _leave_to_model(self, context: CommandContext) -> None:
        """Leaves the message to the model, with a word to the sender where the platform expects an answer."""
        try:
            if context.row.message.answer_with:
                await context.tell(context.said("Let me think about that. I'll answer in the chat."))
        except StorageUnavailable as error:
            log.error("the sender of a command in %s could not be told: %s", context.row.message.address, error)
        context.services.turns.post(context.row)
