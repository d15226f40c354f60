"""Where a job reports to, and messages to the owner about the schedule. Decided for every run, for chats come and
go."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from agent.languages.codes import Language
from channels.message import Address, ChatKind, DueJob, InboundMessage, Origin, Sender
from channels.terminal import MAIN_CHAT
from gateway.messages.outbox import Outbox
from gateway.policy.access import LOCAL_CHANNELS, Access, Admitted, Ignored, Verdict
from gateway.policy.recipients import ChatDirectory, local_chat
from gateway.scheduling.job import OWNER
from gateway.store import chat_rows
from gateway.store.chat_rows import KnownChat, language_in
from gateway.store.database import Database
from gateway.store.outbox_rows import Draft

SENDER = "Schedule"
_ANY = datetime(1970, 1, 1, tzinfo=UTC)


class NoTarget(Exception):
    """There is no such chat, or not any more. One sentence."""


@dataclass(frozen=True, slots=True)
class Target:
    """`person`: whose private chat it is, if it is one."""

    address: Address
    kind: ChatKind
    person: str = ""
    parent_chat: str = ""
    server: str = ""

    @classmethod
    def of(cls, chat: KnownChat) -> Target:
        person = chat.user_id if chat.kind is ChatKind.PRIVATE else ""
        return cls(chat.address, chat.kind, person, chat.parent_chat, chat.server)

    def message(self, id: str, text: str, due: DueJob, at: datetime) -> InboundMessage:
        """The message that a due job sends into that chat."""
        return InboundMessage(
            id=id,
            address=self.address,
            kind=self.kind,
            sender=Sender(self.person or "schedule", SENDER),
            text=text,
            sent_at=at,
            origin=Origin.JOB,
            parent_chat=self.parent_chat,
            server=self.server,
            due=due,
        )


@dataclass(frozen=True, slots=True)
class Targets:
    """`known`: the chats with messages, the latest first. `channels`: those that are on."""

    access: Access
    channels: Collection[str]
    known: Sequence[KnownChat]

    def find(self, to: str) -> Target:
        """The target of `to`. Raises `NoTarget`."""
        if to == OWNER:
            return self.owner()
        address = Address.parse(to)
        if address.channel not in self.channels:
            raise NoTarget(f"{to} cannot be reached: {address.channel} is off")
        chat = ChatDirectory(self.access, self.known).at(address)
        if chat is None:
            raise NoTarget(
                f"I know no chat {address} in which somebody may talk to me; they must write to me there once"
            )
        target = Target.of(chat)
        if not isinstance(verdict := self._verdict(target), Admitted):
            why = verdict.why if isinstance(verdict, Ignored) else "nobody there may talk to me"
            raise NoTarget(f"I may not write to {to}: {why}")
        return target

    def language(self, address: Address) -> Language:
        """The language of our own sentences in a chat; English by default."""
        chat_id = self.access.current_chat_id(address.channel, address.chat_id)
        return language_in(self.known, replace(address, chat_id=chat_id))

    def owner(self) -> Target:
        """The owner's chat: where they wrote last on a platform, else the first known one, else the terminal or page.
        Raises `NoTarget`."""
        found = next(iter(self._of_owner()), None)
        if found is None:
            raise NoTarget("I know no chat of my owner's yet; write to me once")
        return found

    def of_owner(self) -> Sequence[Address]:
        """The known private chats of the owner."""
        return [target.address for target in self._of_owner()]

    def _of_owner(self) -> Iterator[Target]:
        private = [
            chat for chat in self.known if chat.kind is ChatKind.PRIVATE and chat.address.channel in self.channels
        ]
        mine = [chat for chat in private if self.access.is_owner(chat.address.channel, chat.user_id)]
        yield from (Target.of(chat) for chat in mine if chat.address.channel not in LOCAL_CHANNELS)
        for channel, _, id in (account.partition(":") for account in self.access.owner_accounts):
            if channel in self.channels and (chat := ChatDirectory.of_person(channel, id)):
                yield Target.of(chat)
        yield from (Target.of(chat) for chat in mine if chat.address.channel in LOCAL_CHANNELS)
        for channel in sorted(LOCAL_CHANNELS & set(self.channels)):
            yield Target.of(local_chat(channel, MAIN_CHAT))

    def _verdict(self, target: Target) -> Verdict:
        return self.access.decide(target.message("", "", DueJob("", _ANY), _ANY))


log = logging.getLogger(__name__)


class OwnerReports:
    """`channels`: the names of those that are on."""

    def __init__(self, database: Database, access: Access, outbox: Outbox, channels: Collection[str]) -> None:
        self._database = database
        self._access = access
        self._outbox = outbox
        self.channels = channels

    async def targets(self) -> Targets:
        """The chats that are known now."""
        return Targets(self._access, self.channels, await self._database.run(chat_rows.known))

    async def to_owner(self, text: str, key: str) -> list[Draft]:
        """The drafts that tell the owner a text; none where they cannot be reached."""
        try:
            target = (await self.targets()).find(OWNER)
        except NoTarget as error:
            log.error("the owner cannot be told: %s", error)
            return []
        return self._outbox.drafts(f"{key}:{{}}", target.address, text)

    async def tell_owner(self, text: str, key: str) -> None:
        if drafts := await self.to_owner(text, key):
            await self._outbox.write(drafts)
