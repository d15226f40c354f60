"""Which chat an address means, and what is known of it: those that were spoken in, and those that can be told from
the configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from channels.message import Address, ChatKind
from gateway.access import LOCAL_CHANNELS, Access
from gateway.store.chat_rows import KnownChat

_BY_PERSON = frozenset({"telegram"})
"""Channels in which a person's private chat has the person's own id."""
_OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Chats:
    """`known`: the chats that were spoken in, the one used last first."""

    access: Access
    known: Sequence[KnownChat]

    def at(self, address: Address) -> KnownChat | None:
        """The chat of an address, by any id that it had; None where it cannot be told what stands there."""
        channel, thread = address.channel, address.thread_id
        chat_id = self.access.current_chat_id(channel, address.chat_id)
        for one in self.known:
            if (one.address.channel, one.address.chat_id) == (channel, chat_id):
                return replace(one, address=replace(one.address, thread_id=thread))
        there = replace(address, chat_id=chat_id)
        if self.access.lists_group(channel, chat_id):
            return KnownChat(there, ChatKind.GROUP, "", "", "")
        if channel in LOCAL_CHANNELS:
            return local_chat(channel, chat_id, thread)
        return self.of_person(channel, chat_id, thread) if self.access.is_named(channel, chat_id) else None

    @staticmethod
    def of_person(channel: str, user_id: str, thread: str | None = None) -> KnownChat | None:
        """The private chat of somebody who has never written; None on a platform where it has an id of its own."""
        if channel not in _BY_PERSON:
            return None
        return KnownChat(Address(channel, user_id, thread), ChatKind.PRIVATE, "", user_id, "")


def local_chat(channel: str, chat_id: str, thread: str | None = None) -> KnownChat:
    """A chat on this machine: there is nobody but the owner."""
    return KnownChat(Address(channel, chat_id, thread), ChatKind.PRIVATE, "", _OWNER, "")
