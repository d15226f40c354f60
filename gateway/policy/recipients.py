"""The chats to which a conversation may send messages.

The owner's private session: the owner's own chats, configured groups, approved people. Another person's: their own
chats. A group's: itself. Nobody learns of a chat that is not theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.formats.untrusted import label
from agent.memory.scope import Audience
from channels.message import Address, ChatKind, InboundMessage
from channels.registry import MANIFESTS
from gateway.policy.access import LOCAL_CHANNELS, Access, Role
from gateway.policy.sessions import SessionRoute
from gateway.store.chat_rows import KnownChat

_OWNER = "owner"


@dataclass(frozen=True, slots=True)
class ChatDirectory:
    access: Access
    known: Sequence[KnownChat]
    """The chats with messages, latest first."""

    def at(self, address: Address) -> KnownChat | None:
        """The chat of an address, by any id it had."""
        channel, thread = address.channel, address.thread_id
        chat_id = self.access.current_chat_id(channel, address.chat_id)
        for chat in self.known:
            if (chat.address.channel, chat.address.chat_id) == (channel, chat_id):
                return replace(chat, address=replace(chat.address, thread_id=thread))
        there = replace(address, chat_id=chat_id)
        if self.access.lists_group(channel, chat_id):
            return KnownChat(there, ChatKind.GROUP, "", "", "")
        if channel in LOCAL_CHANNELS:
            return local_chat(channel, chat_id, thread)
        return self.of_person(channel, chat_id, thread) if self.access.is_named(channel, chat_id) else None

    @staticmethod
    def of_person(channel: str, user_id: str, thread: str | None = None) -> KnownChat | None:
        """The private chat of a person who has never written; None if the platform gives it an id of its own."""
        if channel not in MANIFESTS or not MANIFESTS[channel].has_chats_by_person:
            return None
        return KnownChat(Address(channel, user_id, thread), ChatKind.PRIVATE, "", user_id, "")


def local_chat(channel: str, chat_id: str, thread: str | None = None) -> KnownChat:
    """A chat on this machine: its only person is the owner."""
    return KnownChat(Address(channel, chat_id, thread), ChatKind.PRIVATE, "", _OWNER, "")


_LISTED = 20


class RecipientRefused(Exception):
    """No such chat for this conversation: a sentence for the sender, with the chats there are. `names`: foreign names
    in it."""

    def __init__(self, message: str, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)


@dataclass(frozen=True, slots=True)
class Recipients:
    access: Access
    channels: Collection[str]
    known: Sequence[KnownChat]
    """Chats with messages, latest first."""
    here: InboundMessage
    """Where the conversation takes place."""
    route: SessionRoute

    def find(self, to: str) -> Address:
        """The chat of an address, of a name among `people`, or of nothing (this chat). Raises `RecipientRefused`."""
        if not to.strip():
            return self.here.address
        chat = next(filter(self._may, self._meant(to.strip())), None)
        if chat is None:
            raise self._refusal(to)
        if chat.address.channel not in self.channels:
            raise RecipientRefused(f"{chat.address} cannot be reached: {chat.address.channel} is off.")
        return chat.address

    def _meant(self, to: str) -> Iterator[KnownChat]:
        if ":" in to:
            try:
                addresses = [Address.parse(to)]
            except ValueError as error:
                raise RecipientRefused(f"{error}.") from error
        else:
            person = to.casefold()
            yield from (chat for chat in self.known if self._person(chat).casefold() == person)
            addresses = [Address(account.channel, account.id) for account in self.access.accounts(to)]
        yield from filter(None, map(self._chats.at, addresses))

    @property
    def _chats(self) -> ChatDirectory:
        return ChatDirectory(self.access, self.known)

    def _may(self, chat: KnownChat) -> bool:
        match self.route.scope.audience:
            case Audience.GROUP:
                return chat.kind is ChatKind.GROUP and self._group(chat) == self._own_group()
            case Audience.PERSON:
                return self._role(chat) is Role.PERSON and self._person(chat) == self.route.person
            case Audience.OWNER if chat.kind is ChatKind.GROUP:
                return self.access.lists_group(
                    chat.address.channel, chat.parent_chat or chat.address.chat_id, chat.server
                )
            case Audience.OWNER:
                return self._role(chat) is not None

    def _role(self, chat: KnownChat) -> Role | None:
        if chat.kind is ChatKind.GROUP:
            return None
        return self.access.role_in_private(chat.address.channel, chat.user_id)

    def _person(self, chat: KnownChat) -> str:
        is_private = chat.kind is ChatKind.PRIVATE and chat.address.channel not in LOCAL_CHANNELS
        return self.access.person(chat.address.channel, chat.user_id) if is_private else ""

    def _group(self, chat: KnownChat) -> tuple[str, str]:
        channel = chat.address.channel
        return channel, self.access.first_chat_id(channel, chat.parent_chat or chat.address.chat_id)

    def _own_group(self) -> tuple[str, str]:
        channel = self.here.address.channel
        return channel, self.access.first_chat_id(channel, self.here.parent_chat or self.here.address.chat_id)

    def _refusal(self, to: str) -> RecipientRefused:
        if self.route.scope.audience is Audience.GROUP:
            return RecipientRefused(
                "From a group, messages can only go to the group itself; leave `to` away for this chat."
            )
        others = list(self._others())
        shown = [f"{chat.address} ({self._words(chat)})" for chat in others]
        where = "; ".join(shown[:_LISTED]) + ("; and more" if len(shown) > _LISTED else "")
        return RecipientRefused(
            f"There is no chat {label(to)!r} to which you can write from here. There are: {where or 'only this one'}.",
            [chat.title for chat in others[:_LISTED] if chat.title and self._role(chat) is not self.route.role],
        )

    def _others(self) -> Iterator[KnownChat]:
        seen: set[tuple[str, str]] = set()
        listed = (
            chat
            for channel in sorted(self.channels)
            for group in self.access.listed_groups(channel)
            if (chat := self._chats.at(Address(channel, group)))
        )
        for other in (*self.known, *listed):
            name = (other.address.channel, other.address.chat_id)
            if other.address.channel in self.channels and name not in seen and self._may(other):
                seen.add(name)
                yield other

    def _words(self, chat: KnownChat) -> str:
        return f"group {label(chat.title)}".strip() if chat.kind is ChatKind.GROUP else label(chat.title) or "private"
