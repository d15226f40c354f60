"""Where a job reports to, decided for every run; messages to the owner about the schedule."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.sentences import Sentence, translated
from agent.memory.scope import Audience
from channels.message import Address, ChatKind, DueJob, InboundMessage, Origin, Sender
from channels.terminal import MAIN_CHAT
from gateway.messages.outbox import Outbox
from gateway.policy.access import LOCAL_CHANNELS, Access, Admitted, Ignored
from gateway.policy.recipients import ChatDirectory, local_chat
from gateway.policy.sessions import SessionRoute
from gateway.scheduling.job import OWNER
from gateway.store import chat_rows
from gateway.store.chat_rows import KnownChat, language_in
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Draft

log = logging.getLogger(__name__)

SENDER = "Schedule"
_ANY = datetime(1970, 1, 1, tzinfo=UTC)


class NoTarget(Exception):
    """There is no chat to report to now. One sentence."""


@dataclass(frozen=True, slots=True)
class Target:
    address: Address
    kind: ChatKind
    person: str = ""
    """Whose private chat it is, if it is one."""
    parent_chat: str = ""
    server: str = ""

    @classmethod
    def of(cls, chat: KnownChat) -> Target:
        person = chat.user_id if chat.kind is ChatKind.PRIVATE else ""
        return cls(chat.address, chat.kind, person, chat.parent_chat, chat.server)

    def message(self, id: str, text: str, due: DueJob, at: datetime) -> InboundMessage:
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
    access: Access
    channels: Collection[str]
    """The channels that are on."""
    known: Sequence[KnownChat]
    """The chats with messages, latest first."""

    def find(self, to: str) -> Target:
        """The chat of a job's `to`. Raises `NoTarget`."""
        if to == OWNER:
            return self.owner()
        address = Address.parse(to)
        if address.channel not in self.channels:
            raise NoTarget(Sentence("I can't reach {to}: {channel} is switched off", to=to, channel=address.channel))
        target = Target.of(self.chat(to))
        verdict = self.access.decide(target.message("", "", DueJob("", _ANY), _ANY))
        if not isinstance(verdict, Admitted):
            why = verdict.why if isinstance(verdict, Ignored) else Sentence("no one there may talk to me")
            raise NoTarget(Sentence("I'm not allowed to write to {to}: {why}", to=to, why=why))
        return target

    def chat(self, to: str) -> KnownChat:
        """The chat of an address, whether its channel is on or not. Raises `NoTarget`."""
        chat = ChatDirectory(self.access, self.known).at(Address.parse(to))
        if chat is None:
            raise NoTarget(
                Sentence("I don't know the chat {to}; someone who may talk to me has to write to me there first", to=to)
            )
        return chat

    def language(self, address: Address) -> Language:
        """The language of our sentences in a chat."""
        chat_id = self.access.current_chat_id(address.channel, address.chat_id)
        return language_in(self.known, replace(address, chat_id=chat_id))

    @property
    def owners_language(self) -> Language:
        found = next(iter(self._of_owner()), None)
        return Language.ENGLISH if found is None else self.language(found.address)

    def owner(self) -> Target:
        """The owner's last chat on a platform, else the terminal or page. Raises `NoTarget`."""
        found = next(iter(self._of_owner()), None)
        if found is None:
            raise NoTarget(Sentence("I don't know where to reach my owner yet; write to me once"))
        return found

    def of_owner(self) -> Sequence[Address]:
        return [target.address for target in self._of_owner()]

    def _of_owner(self) -> Iterator[Target]:
        private = [
            chat for chat in self.known if chat.kind is ChatKind.PRIVATE and chat.address.channel in self.channels
        ]
        mine = [chat for chat in private if self.access.is_owner(chat.address.channel, chat.user_id)]
        yield from (Target.of(chat) for chat in mine if chat.address.channel not in LOCAL_CHANNELS)
        for account in self.access.owner_accounts:
            if account.channel in self.channels and (chat := ChatDirectory.of_person(account.channel, account.id)):
                yield Target.of(chat)
        yield from (Target.of(chat) for chat in mine if chat.address.channel in LOCAL_CHANNELS)
        for channel in sorted(LOCAL_CHANNELS & set(self.channels)):
            yield Target.of(local_chat(channel, MAIN_CHAT))


class OwnerReports:
    """Messages to the owner. `channels`: the names of the channels that are on."""

    def __init__(self, database: Database, access: Access, outbox: Outbox, channels: Collection[str]) -> None:
        self._database = database
        self._access = access
        self._outbox = outbox
        self.channels = channels

    async def targets(self) -> Targets:
        return Targets(self._access, self.channels, await self._database.run(chat_rows.known))

    async def private_chat(self, row: InboxRow, route: SessionRoute) -> tuple[Address, str]:
        """Where a turn asks the owner something, and their id there: in its own chat if it is their private one. Raises
        `NoTarget`."""
        if route.scope.audience is Audience.OWNER and row.message.kind is ChatKind.PRIVATE:
            return row.message.address, row.message.sender.id
        target = (await self.targets()).owner()
        known = await self._database.run(chat_rows.known)
        never_seen = all(chat.address != target.address for chat in known)
        if never_seen and target.address.channel in LOCAL_CHANNELS and not self._access.has_owner:
            raise NoTarget(Sentence("nobody is configured as the owner"))
        return target.address, target.person

    async def to_owner(self, text: str, key: str) -> list[Draft]:
        """The drafts of a text to the owner, a `Sentence` in the language of the chat to which it goes; none where the
        owner cannot be reached."""
        try:
            targets = await self.targets()
            address = targets.find(OWNER).address
        except NoTarget as error:
            log.error("could not reach the owner: %s", error)
            return []
        return self._outbox.drafts(f"{key}:{{}}", address, str(translated(targets.language(address), text)))

    async def tell_owner(self, text: str, key: str) -> None:
        if drafts := await self.to_owner(text, key):
            await self._outbox.write(drafts)

    async def tell_of_files(self, why: str) -> None:
        """Tells the owner why the workspace takes nothing; if not even that can be written, the log says it."""
        said = Sentence(
            "I can't write down what left a conversation: {why}. I keep it, and try again after each answer.", why=why
        )
        try:
            await self.tell_owner(said, f"files:{secrets.token_hex(4)}")
        except StorageUnavailable as error:
            log.error("could not tell the owner: %s", error)
