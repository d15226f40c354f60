"""Finds the command in a message and runs it.

Commands are answered at once, beside a running turn, and never wait for a model, except `/compact`, which says so.
"""

from __future__ import annotations

import asyncio
import difflib
import logging
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.sentences import translated
from agent.model.offline.intent import plain_command
from agent.model.offline.model import NAME as OFFLINE
from channels.message import Address, CommandInfo, InboundMessage
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
from gateway.store import chat_rows
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Draft

log = logging.getLogger(__name__)

_COMMAND = re.compile(r"/([A-Za-z][A-Za-z_]*)(?:[.!?…。！？]*|\s+(.*))\Z", re.DOTALL)
"""A command alone may end as a sentence does: whoever writes "/stop!" wants nothing but that."""
_DISK_WAIT = 5.0
"""Seconds between tries while the disk takes nothing."""
_ANSWER = "answer"
"""The command that takes a bare yes or no."""
_FOR_THE_MODEL = "Let me think about that. I'll answer in the chat."
_TO_OWNER = "I crashed several times on a command from {by} in {chat}, so I skipped it. The log has the details."
_BROKEN = "That command failed inside Daybook. Nothing was lost; please try again. The log has the details."


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command's name, perhaps unknown, and its argument."""

    name: str
    argument: str


class CommandTable:
    def __init__(self, commands: Sequence[Command]) -> None:
        self._commands = {command.name: command for command in commands}

    def get(self, name: str) -> Command | None:
        return self._commands.get(name)

    @property
    def menu(self) -> tuple[CommandInfo, ...]:
        return tuple(
            CommandInfo(one.name, one.description, one.audience is CommandAudience.OWNER_IN_PRIVATE, one.usage)
            for one in self._commands.values()
            if one.is_listed
        )

    def help(self, route: SessionRoute) -> str:
        owner = route.role is Role.OWNER and route.is_private
        lines = [
            f"- `/{command.name}{' ' + command.usage if command.usage else ''}` {command.description}"
            for command in self._commands.values()
            if command.is_listed and (owner or command.audience is CommandAudience.EVERYONE)
        ]
        return "\n".join(["Just write to me as you would to a person. There are also commands:", "", *lines])

    def unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name.lower(), self._commands, n=1, cutoff=0.5)
        hint = f" Did you mean /{near[0]}?" if near else ""
        return f"I don't know /{name}.{hint} See /help."


class CommandRunner:
    def __init__(self, table: CommandTable, services: Services) -> None:
        self._table = table
        self._services = services

    def find(self, message: InboundMessage, agent: str) -> ParsedCommand | None:
        """The command in a message, `/new now` as (`new`, `now`). A bare yes or no to an open question is an `/answer`;
        where no model is connected, plain words count too."""
        question = self._services.questions.answered_by(message)
        if match := _COMMAND.match(message.text.strip()):
            return ParsedCommand(match[1].lower(), (match[2] or "").strip())
        if question is not None:
            return ParsedCommand(_ANSWER, f"{question.id} {message.text.strip()}")
        is_offline = self._services.agents[agent].settings.model.name == OFFLINE
        alone = not message.quote and not message.attachments
        plain = plain_command(message.text) if is_offline and alone else None
        return ParsedCommand(plain.name, plain.words) if plain is not None else None

    async def answer(self, parsed: ParsedCommand, context: CommandContext) -> CommandReply:
        """Returns the reply of a command, whatever happens. Raises `PassToModel`."""
        route = context.route
        command = self._table.get(parsed.name)
        if command is None:
            return CommandReply(self._table.unknown(parsed.name))
        if command.audience is CommandAudience.OWNER_IN_PRIVATE and not (route.role is Role.OWNER and route.is_private):
            return CommandReply(f"/{command.name} works only for my owner, in a private chat.")
        try:
            said = await command.run(context)
        except CommandError as error:
            return CommandReply(str(translated(context.language, error.args[0])))
        except PassToModel:
            raise
        except Exception:
            log.exception("/%s failed", command.name)
            return CommandReply(_BROKEN)
        return said if isinstance(said, CommandReply) else CommandReply(str(translated(context.language, said)))

    async def run(self, parsed: ParsedCommand, row: InboxRow, route: SessionRoute) -> Sequence[InboxRow]:
        """Carries out a command and commits its reply and end together, or leaves it to the model. Returns the messages
        to dispatch next."""
        async with AsyncExitStack() as until_answered:
            language = await self._language(row.message.address)
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

    async def _language(self, address: Address) -> Language:
        try:
            return await self._services.database.run(chat_rows.language, address)
        except StorageUnavailable:  # the command waits for the disk itself
            return Language.ENGLISH

    async def _skip(self, context: CommandContext) -> None:
        message = context.row.message
        log.error("%s is skipped: the process crashed or hung on it repeatedly", context.name)
        text = _TO_OWNER.format(by=message.sender.name or "?", chat=message.address)
        besides = await context.services.to_owner(text, f"skipped:{context.row.seq}")
        await self._write_down(
            context, CommandReply(SKIPPED), [one for one in besides if one.address != message.address]
        )

    async def _take_up_again(self, context: CommandContext) -> None:
        """Counts another attempt at a command during which a process died, from the second alone. Raises
        `ShuttingDown`."""
        if not context.services.inbox.is_left_over(context.row):
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
        channel = services.channels[message.address.channel]
        quotes = channel.capabilities(message.address).quotes or not route.is_private
        await services.outbox.cut(message.address, answer.text)
        drafts = services.outbox.drafts(
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
                async with services.outbox.sending(drafts) as begin:
                    all_drafts = [*drafts, *besides]
                    await services.inbox.finish([row], "command", all_drafts, settles.id if settles else "", begin)
                return services.outbox.wake(besides)
            except StorageUnavailable as error:
                log.error("the answer to a command in %s waits for the disk: %s", message.address, error)
                await asyncio.sleep(_DISK_WAIT)

    async def _leave_to_model(self, context: CommandContext) -> None:
        """Leaves the message to the model, with a word to the sender where the platform expects an answer."""
        try:
            if context.row.message.answer_with:
                await context.tell(_FOR_THE_MODEL)
        except StorageUnavailable as error:
            log.error("the sender of a command in %s could not be told: %s", context.row.message.address, error)
        context.services.turns.post(context.row)
