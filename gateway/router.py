"""The way in: judges what a source offers, stores it and passes it on.

A whole batch is on disk, in one commit, before `receive` returns and the source confirms it to its platform.
"""

from __future__ import annotations

import dataclasses
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta

from agent.clock import utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence, said, translated
from agent.languages.system_errors import again, cannot
from channels.message import (
    Event,
    InboundMessage,
    Migrated,
    Origin,
    OutboundMessage,
    SendError,
    UnreadableEvent,
)
from gateway.commands.runner import CommandRunner, ParsedCommand
from gateway.kernel import Kernel
from gateway.messages.active_work import EndedProcess
from gateway.messages.edited import EditedMessages
from gateway.messages.inbox import AdmittedMessage
from gateway.policy.access import Admitted, ContextOnly, Ignored, Role, Unknown
from gateway.store import access_rows, chat_rows, inbox_rows, outbox_rows
from gateway.store.connection import Connection
from gateway.store.inbox_rows import InboxRow
from gateway.turns.preview import Acknowledgement
from gateway.turns.queue import TurnQueue
from gateway.turns.services import language_now
from gateway.turns.user_message import user_message_id

_WINDOW = timedelta(minutes=1)
_DISORDER = timedelta(seconds=1)
"""By which two messages of a sender may come in another order than they were sent."""
_KEPT = 1_000
"""Members remembered at once; who has been silent for a window is forgotten first."""


class SenderRate:
    """At most `per_minute` calls of one sender in a chat within any minute; the rest is only overheard. All times are
    those of sending: after an outage, the messages of hours arrive at one moment."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], list[datetime]] = {}
        self._told: dict[tuple[str, str], datetime] = {}

    def allows(self, chat: str, sender: str, sent_at: datetime, per_minute: int) -> bool:
        """True if a call may be answered, and counts it."""
        if len(self._calls) >= _KEPT:
            self._calls = {key: calls for key, calls in self._calls.items() if calls and _is_near(calls[-1], sent_at)}
        calls = [call for call in self._calls.get((chat, sender), ()) if _is_near(call, sent_at)]
        self._calls[chat, sender] = calls
        if len(calls) >= per_minute:
            return False
        calls.append(sent_at)
        return True

    def should_tell(self, chat: str, sender: str, sent_at: datetime) -> bool:
        """True once a minute for a sender who calls too often."""
        self._told = {key: at for key, at in self._told.items() if _is_near(at, sent_at)}
        if (chat, sender) in self._told:
            return False
        self._told[chat, sender] = sent_at
        return True


def _is_near(call: datetime, sent_at: datetime) -> bool:
    """A call that is a little later came earlier, by another connection; one much later is of another clock."""
    return -_DISORDER < sent_at - call < _WINDOW


log = logging.getLogger(__name__)

_PAIRING = Sentence(
    "Hi! I'm a private assistant and we haven't met. If I'm yours, run\n\n"
    "`daybook pair approve {code}`\n\n"
    "on the computer I run on. Otherwise send my owner this code: {code}\n\nIt is valid for one hour."
)
_TOO_OFTEN = Sentence("That's more than I can answer here. I'm still reading, and will answer again in a minute.")
_NOT_LISTED = Sentence("Here I only answer people my owner has listed, and you aren't one of them.")
_NO_CODE = Sentence(
    "I'm a private assistant and we haven't met. I can't give you a new code right now: please use the one you have, "
    "or ask again in an hour."
)
_NOBODY_ELSE = Sentence("I'm a private assistant, and I only answer people my owner has approved.")

Spawn = Callable[[Awaitable[None], str], None]


class Router:
    """`spawn` runs a command as a task and owns it."""

    def __init__(
        self,
        kernel: Kernel,
        turns: TurnQueue,
        commands: CommandRunner,
        edited_messages: EditedMessages,
        acknowledgement: Acknowledgement,
        spawn: Spawn,
    ) -> None:
        self._kernel = kernel
        self._turns = turns
        self._commands = commands
        self._rewording = edited_messages
        self._acknowledgement = acknowledgement
        self._rates = SenderRate()
        self._spawn = spawn
        self._told_of_disk: set[str] = set()

    async def resume(self, ended: Iterable[EndedProcess]) -> None:
        """Continues what `ended` processes left open. What came by a channel that is off waits for it."""
        self._dispatch_known(await self._kernel.inbox.load(ended))

    def take_up(self, rows: Sequence[InboxRow]) -> None:
        """Dispatches messages that this process of several has claimed."""
        self._dispatch_known(self._kernel.inbox.take_up(rows))

    def _dispatch_known(self, rows: Sequence[InboxRow]) -> None:
        for row in rows:
            if self.serves(row):
                self._dispatch(row)

    def serves(self, row: InboxRow) -> bool:
        """False for what came by a channel that is off."""
        return row.message.address.channel in self._kernel.channels

    async def receive(self, events: Sequence[Event]) -> None:
        """Implements `channels.message.Receive`. Raises `StorageUnavailable` where nothing could be kept."""
        arrivals: list[AdmittedMessage] = []
        unreadable: list[UnreadableEvent] = []
        for event in events:
            match event:
                case UnreadableEvent():
                    log.warning("%s: an event could not be read: %s", event.channel, event.why)
                    unreadable.append(event)
                case Migrated():
                    await self._migrate(event)
                case InboundMessage():
                    event = _as_said(event)
                    if event.edit:
                        arrivals = [_reworded(arrival, event) for arrival in arrivals]
                        await self._reword(event)
                    elif arrival := await self._judge(event):
                        arrivals.append(arrival)
        if not arrivals and not unreadable:
            return
        try:
            rows = await self._kernel.inbox.admit(self._with_turns(arrivals), unreadable)
        except StorageUnavailable as error:
            await self._tell_of_disk(arrivals, error)
            raise
        self._told_of_disk.clear()
        for row in rows:
            self._dispatch(row)

    async def _judge(self, message: InboundMessage) -> AdmittedMessage | None:
        verdict = self._kernel.access.decide(message)
        match verdict:
            case Admitted():
                route = self._kernel.sessions.route(message, verdict)
                too_often = verdict.role is Role.MEMBER and await self._is_too_often(message)
                if too_often and message.due is not None:
                    return None  # the schedule offers it again
                if not too_often or not message.answer_with:
                    return AdmittedMessage(message, str(route.session), overheard=too_often)
                self._turn_away(message, _TOO_OFTEN)
            case ContextOnly() if message.answer_with:
                self._turn_away(message, _NOT_LISTED)
            case ContextOnly():
                route = self._kernel.sessions.route(message, None)
                return AdmittedMessage(message, str(route.session), overheard=True)
            case Unknown(asks):
                if asks:
                    await self._offer_pairing(message)
                else:
                    self._turn_away(message, _NO_CODE)
            case Ignored(why):
                log.info("a message in %s is ignored: %s", message.address, why)
                self._turn_away(message, _NOBODY_ELSE)
        return None

    def _with_turns(self, arrivals: Sequence[AdmittedMessage]) -> list[AdmittedMessage]:
        """Assigns a turn id to every message that can start a turn at once."""
        many = Counter(arrival.session for arrival in arrivals)
        return [
            dataclasses.replace(arrival, turn=user_message_id(arrival.message))
            if many[arrival.session] == 1 and self._begins_turn(arrival)
            else arrival
            for arrival in arrivals
        ]

    def _begins_turn(self, arrival: AdmittedMessage) -> bool:
        message = arrival.message
        waits = arrival.overheard or message.album or message.continues
        waits = waits or self._kernel.inbox.is_shared or not self._turns.is_idle(arrival.session)
        is_command = message.is_from_person and self._commands.find(message, _agent(arrival.session)) is not None
        return not waits and not is_command

    def _turn_away(self, message: InboundMessage, text: Sentence) -> None:
        """Answers a menu command that is not allowed, visible to its sender alone, with nothing on disk."""
        if message.answer_with:
            self._spawn(self._told(message, text), f"turning away a command in {message.address}")

    async def _told(self, message: InboundMessage, sentence: Sentence) -> None:
        channel = self._kernel.channels[message.address.channel]
        key = f"away:{message.address.channel}:{message.id}"
        text = await self._for_sender(message, sentence)
        try:
            await channel.send(OutboundMessage(message.address, text, key=key, reply_to=message.answer_with))
        except SendError as unsent:
            log.info("could not answer a command in %s: %s", message.address, unsent)

    async def _for_sender(self, message: InboundMessage, sentence: Sentence) -> str:
        """The sentence in the language that the sender's chat has after the message."""
        language = await language_now(
            self._kernel.database, chat_rows.language_after, message, self._kernel.clock.today().isoformat()
        )
        return str(translated(language, sentence))

    async def _reword(self, edited: InboundMessage) -> None:
        """Updates a waiting message; if it was read, its sender is asked."""
        if not await self._kernel.inbox.reword(edited) and isinstance(self._kernel.access.decide(edited), Admitted):
            await self._rewording.offer(edited)

    async def _is_too_often(self, message: InboundMessage) -> bool:
        rule = self._kernel.access.rule(message)
        chat, sender, sent_at = self._kernel.access.chat_of(message), message.sender.id, message.sent_at
        if rule is None or self._rates.allows(chat, sender, sent_at, rule.per_minute):
            return False
        if message.due is None and not message.answer_with and self._rates.should_tell(chat, sender, sent_at):
            key = f"rate:{message.address.channel}:{message.id}:{{}}"
            text = await self._for_sender(message, _TOO_OFTEN)
            drafts = self._kernel.outbox.drafts(key, message.address, text, reply_to=message.platform_id)
            await self._kernel.outbox.write(drafts)
        return True

    def _dispatch(self, row: InboxRow) -> None:
        if row.message.is_from_person and (wanted := self._commands.find(row.message, _agent(row.session))):
            self._spawn(self._run_command(wanted, row), f"/{wanted.name} in {row.session}")
        else:
            self._turns.post(row)
            self._acknowledgement.kept(row)

    async def _run_command(self, wanted: ParsedCommand, row: InboxRow) -> None:
        for next_row in await self._commands.run(wanted, row, self._kernel.sessions.of_row(row)):
            self._dispatch(next_row)

    async def _offer_pairing(self, message: InboundMessage) -> None:
        now, today = utc_stamp(self._kernel.clock.now()), self._kernel.clock.today().isoformat()
        await self._kernel.database.run(chat_rows.spoke, message, now, today)  # before the answer, for its language
        request = self._kernel.access.new_request(message.address.channel, message.sender.id, message.sender.name)
        text = await self._for_sender(message, Sentence(_PAIRING, code=request.code))
        drafts = self._kernel.outbox.drafts(
            f"pair:{request.code}:{{}}", message.address, text, answer_with=message.answer_with
        )

        def write(connection: Connection) -> None:
            access_rows.request(connection, request)
            outbox_rows.add(connection, drafts, now)

        await self._kernel.database.run(write)
        self._kernel.access.asked(request)
        self._kernel.outbox.wake(drafts)
        log.info("%s asks for access (daybook pair list)", message.address)  # a log is shown to others: no code

    async def _migrate(self, event: Migrated) -> None:
        """Moves a chat's session, rules and waiting replies to its new id."""
        channel, old, new = event.old.channel, event.old.chat_id, event.new.chat_id
        await self._kernel.database.run(inbox_rows.move_chat, channel, old, new)
        self._kernel.access.chat_moved(channel, old, new)
        self._kernel.outbox.wake_chat(event.new)
        log.info("%s has moved to %s", event.old, event.new)

    async def _tell_of_disk(self, arrivals: Sequence[AdmittedMessage], error: StorageUnavailable) -> None:
        """Reports a failing disk once for each chat and outage, directly: nothing can be stored."""
        for address in {arrival.message.address for arrival in arrivals if not arrival.overheard}:
            channel = self._kernel.channels.get(address.channel)
            if channel is None or str(address) in self._told_of_disk:
                continue
            self._told_of_disk.add(str(address))
            text = said(
                await language_now(self._kernel.database, chat_rows.language, address),
                "I couldn't save your message: {why}. I'll get to it as soon as {again}.",
                why=cannot(error),
                again=again(error),
            )
            try:
                await channel.send(OutboundMessage(address, text, key=f"disk:{address}:error"))
            except SendError as unsent:
                log.error("could not save a message, nor tell %s so: %s", address, unsent)


def _as_said(message: InboundMessage) -> InboundMessage:
    """A pressed example is no command: it counts as written by whoever pressed it."""
    if message.origin is not Origin.COMMAND or message.text.startswith("/"):
        return message
    return dataclasses.replace(message, origin=Origin.CHAT, platform_id="", answer_with="")


def _reworded(arrival: AdmittedMessage, edited: InboundMessage) -> AdmittedMessage:
    message = arrival.message
    if (message.address, message.platform_id, message.sender.id) != (
        edited.address,
        edited.platform_id,
        edited.sender.id,
    ):
        return arrival
    return dataclasses.replace(arrival, message=dataclasses.replace(message, text=edited.text))


def _agent(session: str) -> str:
    return session.partition("/")[0]
