"""The outbox: a reply is on disk before it is sent, its receipt after, in order per chat (invariant 3).

certainly not sent   again, after the server's delay
perhaps sent         once more, marked where the platform would not recognise the key; an edit is repeated at will
too long             in smaller pieces
refused              recorded as failed, and the chat is informed unless it is unreachable
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Concatenate, ParamSpec, TypeVar

from agent.clock import Clock, utc_stamp
from agent.formats.plain_text import repair_surrogates
from agent.formats.sqlite import StorageUnavailable
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence, translated
from channels.message import (
    Address,
    Channel,
    ChatGone,
    NotSent,
    OutboundFile,
    OutboundMessage,
    OutcomeUnknown,
    Refused,
    SendError,
    TooLong,
)
from channels.split import split
from channels.tasks import backoff
from gateway.messages.lanes import KeyedLocks, Lane, Lanes
from gateway.store import chat_rows, outbox_rows
from gateway.store.claims import SOLE, Chat, ChatClaim, Claims
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.outbox_rows import Buttons, Draft, OutboxCounts, OutboxRow, SpeechRow

log = logging.getLogger(__name__)

REPEAT_MARK = Sentence("↻ (may be a repeat) ")
"""Stands before a text that was perhaps sent already."""
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 300.0
"""Seconds between tries where the server names no delay."""
_UNREACHABLE_WAIT = 0.2
"""Seconds between looks whether somebody has come back (opened the terminal)."""
CUT_AT_ONCE = 1_000
"""Characters up to which a text is cut on the loop: that takes a few milliseconds at most."""

_SHORTEST_CUT = 250
"""Characters. A platform that takes no piece of so many is not one for which a text can be cut."""
_NOTICE = "undelivered:"
"""Begins the key of a notice; that of the message it is about follows."""

FirstChat = Callable[[str, str], str]
T = TypeVar("T")
P = ParamSpec("P")
Sleep = Callable[[float], Awaitable[None]]
Begin = Callable[[Connection], None]


def _as_it_is(_: str, chat_id: str) -> str:
    return chat_id


def with_speech(speech: SpeechRow | None, begin: Begin) -> Begin:
    """Adds the speech of an answer to the commit of its text, `begin`."""
    if speech is None:
        return begin

    def write(connection: Connection) -> None:
        outbox_rows.add_speech(connection, speech)
        begin(connection)

    return write


class Outbox:
    """`first_chat`: the id under which a chat was first known."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        channels: Mapping[str, Channel],
        sleep: Sleep = asyncio.sleep,
        first_chat: FirstChat = _as_it_is,
        claims: Claims = SOLE,
    ) -> None:
        self._database = database
        self._clock = clock
        self._channels = channels
        self._sleep = sleep
        self._first_chat = first_chat
        self._claims = claims
        self._ending = False
        self._chats: Lanes[Chat, Address] = Lanes(self._serve)
        self._beginning: KeyedLocks[Chat] = KeyedLocks()
        self._begun: dict[Chat, tuple[OutboxRow, ...]] = {}

    def drafts(
        self,
        key: str,
        address: Address,
        text: str,
        *,
        reply_to: str = "",
        edits: str = "",
        repeat: bool = False,
        buttons: Buttons = (),
        files: Sequence[OutboundFile] = (),
        answer_with: str = "",
    ) -> list[Draft]:
        """Splits a reply into messages of its platform. The first answers `reply_to` (or each, `answer_with`) and
        replaces the preview `edits`; the last text has the `buttons`; files follow. `repeat`: it may be in the chat
        already."""
        channel, text = self._channels.get(address.channel), repair_surrogates(text)
        texts = channel.split(text) if channel else [text]
        before, _, after = key.rpartition("{}")
        pieces = [*((piece, None) for piece in texts), *(("", file) for file in files)]
        return [
            Draft(
                key=f"{before}{number}{after}",
                address=address,
                text=piece,
                reply_to=answer_with or ("" if number else reply_to),
                edits="" if number or file else edits,
                repeat=repeat and not number,
                buttons=buttons if number == len(texts) - 1 else (),
                file=file,
            )
            for number, (piece, file) in enumerate(pieces)
        ]

    async def cut(self, address: Address, text: str) -> None:
        """Splits a text in a thread, so that `drafts` finds it cached."""
        if (channel := self._channels.get(address.channel)) and len(text) > CUT_AT_ONCE:
            await asyncio.to_thread(channel.split, text)

    async def write(self, drafts: list[Draft], also: Begin = lambda _: None) -> None:
        """Commits messages that answer nothing in the inbox, with `also`, and sends them."""
        now = utc_stamp(self._clock.now())
        async with self.sending(drafts) as begin:

            def write(connection: Connection) -> None:
                outbox_rows.add(connection, drafts, now)
                also(connection)
                begin(connection)

            await self._database.run(write)

    @asynccontextmanager
    async def sending(self, drafts: list[Draft]) -> AsyncIterator[Begin]:
        """Wraps the commit of drafts, which must call the yielded `Begin`; then they are sent. If nothing waits for
        their chat, that commit also begins the first send."""
        address = drafts[0].address if drafts else None
        if address is None or not self._may_begin(address):
            yield lambda _: None
            self.wake(drafts)
            return
        chat, taken = self._chat(address), list[tuple[OutboxRow, ...]]()

        def begin(connection: Connection) -> None:
            taken.append(outbox_rows.take_up(connection, address, utc_stamp(self._clock.now())))

        async with self._beginning.alone(chat):
            yield begin
            self._begun[chat] = taken[0]
        self.wake(drafts)

    def wake(self, drafts: Sequence[Draft]) -> None:
        for address in dict.fromkeys(draft.address for draft in drafts):
            self.wake_chat(address)

    def wake_chat(self, address: Address) -> None:
        self._chats.post(self._chat(address), address)

    def is_clear(self, address: Address) -> bool:
        return self._chats.get(self._chat(address)) is None

    def _may_begin(self, address: Address) -> bool:
        """True if a draft would be sent at once, not before rows of the last process are looked through."""
        channel = self._channels.get(address.channel)
        return (
            self._chats.is_running
            and self._claims.holds_chat(self._chat(address))
            and self.is_clear(address)
            and channel is not None
            and channel.capabilities(address).is_reachable
        )

    def _chat(self, address: Address) -> Chat:
        return address.channel, address.account, self._first_chat(address.channel, address.chat_id)

    async def run(self) -> None:
        """Sends until cancelled, first messages of the last process, unless others share the home (`take_up`)."""
        if not self._claims.is_shared:
            for row in await self._written(outbox_rows.open_rows):
                await self._take_over(row)
                self.wake_chat(row.address)
        await self._chats.run()

    def take_up(self, chats: Sequence[Address]) -> None:
        """Sends the messages on disk for chats, unless another process of the home does."""
        for address in chats:
            if self.is_clear(address):
                self.wake_chat(address)

    @property
    def busy(self) -> Sequence[Chat]:
        return self._chats.keys

    async def _take_over(self, row: OutboxRow) -> None:
        """Has a message sent again that another process was sending: it may have arrived."""
        if row.sending and not row.edits:
            repeat = not self._is_known(row)
            await self._written(outbox_rows.again, row.seq, "the process ended in the act", repeat=repeat)

    async def _is_ours(self, chat: Chat, chats: Sequence[Address]) -> bool:
        """Claims a chat. False if another process of the home sends to it."""
        if self._claims.holds_chat(chat):
            return True
        claim = await self._written(self._claims.claim_chat, chat)
        if claim is ChatClaim.OTHERS:
            return False
        self._claims.hold_chat(chat)
        for address in chats if claim is ChatClaim.NEW else ():
            for row in await self._written(outbox_rows.open_rows, address):
                await self._take_over(row)
        return True

    async def drained(self) -> None:
        """Waits until all that can be sent now is sent."""
        self._ending = True
        await self._chats.idle()

    async def counts(self) -> OutboxCounts:
        return await self._database.run(outbox_rows.counts)

    async def _serve(self, lane: Lane[Chat, Address]) -> None:
        woken = lane.take_where(lambda _: True)
        channel = self._channels.get(woken[0].channel)
        if channel is None:
            log.warning("a reply for %s waits: that channel is off", woken[0])
            return
        chats = list({address.chat_id: address for address in woken}.values())
        if not await self._is_ours(lane.key, chats):
            return
        async with self._beginning.alone(lane.key):
            begun = self._begun.pop(lane.key, ())
        if begun and len(woken) == 1:
            found = begun
        elif len(chats) == 1 and channel.capabilities(chats[0]).is_reachable:
            found = await self._written(outbox_rows.take_up, chats[0], utc_stamp(self._clock.now()))
        else:
            found = tuple([row for address in chats for row in await self._written(outbox_rows.open_rows, address)])
        rows = {row.seq: row for row in found}
        for seq in sorted(rows):
            try:
                if not await self._deliver(rows[seq], channel):
                    return
            except TooLong as error:
                await self._cut_smaller(rows[seq], str(error))
                for address in chats:
                    self.wake_chat(address)
                return

    async def _is_there(self, channel: Channel, address: Address) -> bool:
        while not channel.capabilities(address).is_reachable:
            if self._ending:
                return False
            await self._sleep(_UNREACHABLE_WAIT)
        return True

    def _is_known(self, row: OutboxRow) -> bool:
        """True if the platform would recognise a second send."""
        channel = self._channels.get(row.address.channel)
        if channel is None or not row.begun_at:
            return False
        age = self._clock.instant() - datetime.fromisoformat(row.begun_at)
        window = timedelta(seconds=channel.repeat_window(_message(row, row.text)))
        return timedelta() <= age < window  # less than none: the clock was put back, and nobody knows how old it is

    async def _deliver(self, row: OutboxRow, channel: Channel) -> bool:
        """Delivers a message or gives up; False if the process ends before. Raises `TooLong` where smaller pieces may
        do."""
        edits, repeat, doubted, tries, begun = row.edits, row.repeat, row.doubted, row.attempts, row.sending
        while begun or await self._is_there(channel, row.address):
            text = f"{await self._repeat_mark(row)}{row.text}" if repeat and not edits else row.text
            message = _message(row, text)
            tries += 1
            try:
                if not edits and not begun:
                    await self._written(outbox_rows.begin, row.seq, utc_stamp(self._clock.now()))
                begun = False
                platform_id = await self._handed_over(channel, message, edits)
            except NotSent as error:
                reason, wait = str(error), error.retry_after or backoff(tries, _FIRST_WAIT, _LONGEST_WAIT)
                await self._written(outbox_rows.again, row.seq, reason)
                log.warning("a reply to %s is sent again in %.0f s: %s", row.address, wait, reason)
                await self._sleep(wait)
            except Refused as error:
                if isinstance(error, TooLong) and row.file is None and len(row.text) >= 2 * _SHORTEST_CUT:
                    raise
                reason = str(error)
                if not edits:
                    is_told = not isinstance(error, ChatGone) and not (row.file and row.file.is_voice)
                    await self._give_up(row, reason, is_told=is_told)
                    return True
                edits = ""
                await self._written(outbox_rows.again, row.seq, reason, anew=True)
            except OutcomeUnknown as error:
                reason = str(error)
                log.warning("it is not known whether a reply to %s arrived: %s", row.address, reason)
                if not edits:
                    if doubted:
                        await self._give_up(row, reason)
                        return True
                    repeat = doubted = True
                await self._written(outbox_rows.again, row.seq, reason, repeat=doubted)
                await self._sleep(backoff(tries, _FIRST_WAIT, _LONGEST_WAIT))
            else:
                now = utc_stamp(self._clock.now())
                await self._written(outbox_rows.receipt, row.seq, platform_id, now)
                return True
        return False

    async def _repeat_mark(self, row: OutboxRow) -> object:
        return translated(await self._written(chat_rows.language, row.address), REPEAT_MARK)

    async def _cut_smaller(self, row: OutboxRow, reason: str) -> None:
        pieces = await asyncio.to_thread(split, row.text, len, len(row.text) * 3 // 5)
        log.warning("a reply to %s is sent in %d pieces: %s", row.address, len(pieces), reason)
        await self._written(outbox_rows.cut, row, pieces, utc_stamp(self._clock.now()))

    async def _give_up(self, row: OutboxRow, reason: str, *, is_told: bool = True) -> None:
        """Records a failure. `is_told`: the chat is informed, once a text."""
        log.error("a reply to %s cannot be delivered: %s", row.address, reason)
        key = f"{_NOTICE}{row.key.rpartition(':')[0]}:{{}}"

        def write(connection: Connection) -> None:
            outbox_rows.give_up(connection, row.seq, reason)
            if is_told and not row.key.startswith(_NOTICE):
                language = chat_rows.language(connection, row.address)
                text = LANGUAGES[language].chat.undelivered.format(why=translated(language, reason))
                notice = self.drafts(key, row.address, text, reply_to=row.reply_to)
                outbox_rows.add(connection, notice, utc_stamp(self._clock.now()))

        await self._written(write)
        self.wake_chat(row.address)

    @staticmethod
    async def _handed_over(channel: Channel, message: OutboundMessage, edits: str) -> str:
        """Sends or edits. An unexpected error must not block the chat: an edit becomes a message, a message perhaps
        sent."""
        try:
            if not edits:
                return await channel.send(message)
            await channel.edit(edits, message)
        except SendError:
            raise
        except Exception as bug:
            log.exception("%s failed unexpectedly while sending", channel.name)
            kind = Refused if edits else OutcomeUnknown
            raise kind(f"{channel.name} broke: {type(bug).__name__}") from bug
        return edits

    async def _written(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`Database.run`, repeated until the disk accepts."""
        tries = 0
        while True:
            try:
                return await self._database.run(work, *args, **kwargs)
            except StorageUnavailable as error:
                tries += 1
                log.error("the outbox waits for the disk: %s", error)
                await self._sleep(backoff(tries, _FIRST_WAIT, _LONGEST_WAIT))


def _message(row: OutboxRow, text: str) -> OutboundMessage:
    return OutboundMessage(row.address, text, row.key, row.reply_to, row.buttons, row.file)
