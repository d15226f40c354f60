"""The way in: judges what a source offers, writes it down and passes it on. Never waits for a model.

A whole batch is on disk, in one commit, before `receive` returns and the source tells its platform so.
"""

from __future__ import annotations

import dataclasses
import logging
import sqlite3
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

from agent.clock import Clock, utc_stamp
from channels.message import Channel, Event, InboundMessage, Migrated, OutboundMessage, SendError, UnreadableEvent
from gateway.commands.context import CommandRunner
from gateway.messages.edited import EditedMessages
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.messages.outbox import Outbox
from gateway.messages.suspects import PreviousProcess
from gateway.policy.access import Access, Admitted, ContextOnly, Ignored, Role, Unknown
from gateway.policy.sessions import SessionPolicy
from gateway.store import access_rows, chat_rows, inbox_rows, outbox_rows
from gateway.store.database import Database, StoreUnavailable
from gateway.store.inbox_rows import InboxRow
from gateway.turns.queue import TurnQueue
from gateway.turns.reactions import Acknowledgement
from gateway.turns.user_message import user_message_id

_WINDOW = timedelta(minutes=1)
_KEPT = 1_000
"""Members remembered at once; who has been silent for a window is forgotten first."""


class SenderRate:
    """At most `per_minute` calls of one sender in one chat within any minute. The rest is only overheard. Moments are
    UTC."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], deque[datetime]] = {}
        self._told: dict[tuple[str, str], datetime] = {}

    def allows(self, chat: str, sender: str, now: datetime, per_minute: int) -> bool:
        """True where a call may be answered; it is counted then."""
        if len(self._calls) >= _KEPT:
            self._calls = {key: calls for key, calls in self._calls.items() if calls and _is_recent(calls[-1], now)}
        calls = self._calls.setdefault((chat, sender), deque())
        while calls and not _is_recent(calls[0], now):
            calls.popleft()
        if len(calls) >= per_minute:
            return False
        calls.append(now)
        return True

    def should_tell(self, chat: str, sender: str, now: datetime) -> bool:
        """True where the sender should hear that they call too often: once a minute."""
        self._told = {key: at for key, at in self._told.items() if _is_recent(at, now)}
        if (chat, sender) in self._told:
            return False
        self._told[chat, sender] = now
        return True


def _is_recent(call: datetime, now: datetime) -> bool:
    """True for a call of the last minute. One in the future was counted before the clock was put back, and is not."""
    return timedelta() <= now - call < _WINDOW


log = logging.getLogger(__name__)

_PAIRING = (
    "Hello! I'm somebody's personal assistant and don't know you yet. If that somebody is you, run\n\n"
    "`daybook pair approve {code}`\n\n"
    "on the machine where I live; otherwise send my owner this code: {code}\n\nIt is good for one hour."
)
_DISK = (
    "My disk takes no more writing (it may be full), so I could not even keep your message. "
    "I'll take it as soon as there is room again."
)
_TOO_OFTEN = "That is faster than I may answer you here. I read along, and answer you again in a minute."
_NOT_LISTED = "Here I answer only those whom my owner has listed, and you are not among them."
_NO_CODE = (
    "I'm somebody's personal assistant and don't know you yet. I have no new code for you now: use the one that you "
    "were given, or ask again in an hour."
)
_NOBODY_ELSE = "I'm somebody's personal assistant, and answer nobody else here."

Spawn = Callable[[Awaitable[None], str], None]


class Router:
    """`spawn` runs a command as a task and owns it."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        access: Access,
        sessions: SessionPolicy,
        inbox: Inbox,
        outbox: Outbox,
        turns: TurnQueue,
        commands: CommandRunner,
        rewording: EditedMessages,
        acknowledgement: Acknowledgement,
        channels: Mapping[str, Channel],
        spawn: Spawn,
    ) -> None:
        self._database = database
        self._clock = clock
        self._access = access
        self._sessions = sessions
        self._inbox = inbox
        self._outbox = outbox
        self._turns = turns
        self._commands = commands
        self._rewording = rewording
        self._acknowledgement = acknowledgement
        self._rates = SenderRate()
        self._channels = channels
        self._spawn = spawn
        self._told_of_disk: set[str] = set()

    async def resume(self, last_run: PreviousProcess) -> None:
        """Continues with what the last process left open. Messages of a channel that is off wait for it."""
        for row in await self._inbox.load(last_run):
            if row.message.address.channel in self._channels:
                self.dispatch(row)

    async def receive(self, events: Sequence[Event]) -> None:
        """Implements `channels.message.Receive`. Raises `StoreUnavailable` where nothing could be kept."""
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
                    if event.edit:
                        arrivals = [_reworded(arrival, event) for arrival in arrivals]
                        await self._reword(event)
                    elif arrival := await self._judge(event):
                        arrivals.append(arrival)
        if not arrivals and not unreadable:
            return
        try:
            rows = await self._inbox.admit(self._bound(arrivals), unreadable)
        except StoreUnavailable:
            await self._tell_of_disk(arrivals)
            raise
        self._told_of_disk.clear()
        for row in rows:
            if not row.overheard:
                self.dispatch(row)

    async def _judge(self, message: InboundMessage) -> AdmittedMessage | None:
        verdict = self._access.decide(message)
        match verdict:
            case Admitted():
                conversation = self._sessions.conversation(message, verdict)
                too_often = verdict.role is Role.MEMBER and await self._is_too_often(message)
                if too_often and message.due is not None:
                    return None  # the schedule offers it again
                if not too_often or not message.answer_with:
                    return AdmittedMessage(message, str(conversation.session), overheard=too_often)
                self._turn_away(message, _TOO_OFTEN)
            case ContextOnly() if message.answer_with:
                self._turn_away(message, _NOT_LISTED)
            case ContextOnly():
                conversation = self._sessions.conversation(message, None)
                return AdmittedMessage(message, str(conversation.session), overheard=True)
            case Unknown(asks):
                if asks:
                    await self._offer_pairing(message)
                else:
                    self._turn_away(message, _NO_CODE)
            case Ignored(why):
                log.info("a message in %s is ignored: %s", message.address, why)
                self._turn_away(message, _NOBODY_ELSE)
        return None

    def _bound(self, arrivals: Sequence[AdmittedMessage]) -> list[AdmittedMessage]:
        """Assigns a turn id to every message that can start a turn immediately."""
        many = Counter(one.session for one in arrivals)
        return [
            dataclasses.replace(one, turn=user_message_id(one.message))
            if many[one.session] == 1 and self._begins_turn(one)
            else one
            for one in arrivals
        ]

    def _begins_turn(self, arrival: AdmittedMessage) -> bool:
        message = arrival.message
        waits = arrival.overheard or message.album or message.continues or not self._turns.is_idle(arrival.session)
        return not waits and (message.due is not None or self._commands.find(message, _agent(arrival.session)) is None)

    def _turn_away(self, message: InboundMessage, text: str) -> None:
        """Answers a menu command that is not allowed, visibly to its sender alone and without a trace on disk, which
        strangers could fill."""
        if message.answer_with:
            self._spawn(self._told(message, text), f"turning away a command in {message.address}")

    async def _told(self, message: InboundMessage, text: str) -> None:
        channel = self._channels[message.address.channel]
        key = f"away:{message.address.channel}:{message.id}"
        try:
            await channel.send(OutboundMessage(message.address, text, key=key, reply_to=message.answer_with))
        except SendError as unsent:
            log.info("a command in %s stays unanswered: %s", message.address, unsent)

    async def _reword(self, edited: InboundMessage) -> None:
        """Updates a waiting message; if it was read already, its sender is asked."""
        if not await self._inbox.reword(edited) and isinstance(self._access.decide(edited), Admitted):
            await self._rewording.offer(edited)

    async def _is_too_often(self, message: InboundMessage) -> bool:
        rule = self._access.rule(message)
        chat, sender, now = self._access.chat_of(message), message.sender.id, self._clock.instant()
        if rule is None or self._rates.allows(chat, sender, now, rule.per_minute):
            return False
        if message.due is None and not message.answer_with and self._rates.should_tell(chat, sender, now):
            key = f"rate:{message.address.channel}:{message.id}:{{}}"
            drafts = self._outbox.drafts(key, message.address, _TOO_OFTEN, reply_to=message.platform_id)
            await self._outbox.write(drafts)
        return True

    def dispatch(self, row: InboxRow) -> None:
        """Starts its command, or posts the message to its session's lane."""
        if row.message.due is None and (wanted := self._commands.find(row.message, _agent(row.session))):
            conversation = self._sessions.of_row(row)
            self._spawn(self._commands.run(wanted, row, conversation), f"/{wanted.name} in {row.session}")
        else:
            self._turns.post(row)
            self._acknowledgement.kept(row)

    async def _offer_pairing(self, message: InboundMessage) -> None:
        request = self._access.new_request(message.address.channel, message.sender.id, message.sender.name)
        text = _PAIRING.format(code=request.code)
        drafts = self._outbox.drafts(
            f"pair:{request.code}:{{}}", message.address, text, answer_with=message.answer_with
        )
        now, today = utc_stamp(self._clock.now()), self._clock.today().isoformat()

        def write(connection: sqlite3.Connection) -> None:
            access_rows.request(connection, request)
            chat_rows.spoke(connection, message, now, today)
            outbox_rows.add(connection, drafts, now)

        await self._database.run(write)
        self._access.asked(request)
        self._outbox.wake(drafts)
        log.info("%s asks for access (daybook pair list)", message.address)  # a log is shown to others: no code

    async def _migrate(self, event: Migrated) -> None:
        """Moves a chat's session, rules and waiting replies to its new id."""
        channel, old, new = event.old.channel, event.old.chat_id, event.new.chat_id
        await self._database.run(inbox_rows.move_chat, channel, old, new)
        self._access.chat_moved(channel, old, new)
        self._outbox.wake_chat(event.new)
        log.info("%s has moved to %s", event.old, event.new)

    async def _tell_of_disk(self, arrivals: Sequence[AdmittedMessage]) -> None:
        """Reports a failing disk once for each chat and outage, directly, since nothing can be written down."""
        for address in {arrival.message.address for arrival in arrivals if not arrival.overheard}:
            channel = self._channels.get(address.channel)
            if channel is None or str(address) in self._told_of_disk:
                continue
            self._told_of_disk.add(str(address))
            try:
                await channel.send(OutboundMessage(address, _DISK, key=f"disk:{address}:error"))
            except SendError as unsent:
                log.error("the disk refuses writes, and %s could not be told: %s", address, unsent)


def _reworded(arrival: AdmittedMessage, edited: InboundMessage) -> AdmittedMessage:
    """The message in its new version, if it is the edited one."""
    message = arrival.message
    if (message.address, message.platform_id, message.sender.id) != (
        edited.address,
        edited.platform_id,
        edited.sender.id,
    ):
        return arrival
    return dataclasses.replace(arrival, message=dataclasses.replace(message, text=edited.text))


def _agent(session: str) -> str:
    """The name of the session's agent."""
    return session.partition("/")[0]
