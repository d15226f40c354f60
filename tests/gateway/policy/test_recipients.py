"""Which chat an address means."""

from __future__ import annotations

import pytest

from channels.ids import PersonId
from channels.manifest import ChannelRules, GroupRule
from channels.message import Address, ChatKind
from gateway.policy.access import Access
from gateway.policy.recipients import ChatDirectory
from gateway.store.chat_rows import KnownChat
from gateway.store.database import Database
from tests.gateway.conftest import ALICE, GROUP, OWNER, STRANGER, Moment

ROOM = KnownChat(
    Address("discord", "500", account="bot"), ChatKind.GROUP, "", "7", "Bob", server="900", title="general"
)


@pytest.fixture
def chats(database: Database, moment: Moment) -> ChatDirectory:
    rules = {"telegram": ChannelRules(groups={GROUP: GroupRule()}, allow=frozenset({ALICE}))}
    return ChatDirectory(Access(database, moment.clock, rules, frozenset({PersonId("telegram", OWNER)}), {}), [ROOM])


@pytest.mark.parametrize(
    ("text", "kind", "user"),
    [
        (f"telegram:{GROUP}", ChatKind.GROUP, ""),
        (f"telegram:{GROUP}:7", ChatKind.GROUP, ""),
        (f"telegram:{ALICE}", ChatKind.PRIVATE, ALICE),
        (f"telegram:{OWNER}", ChatKind.PRIVATE, OWNER),
        ("terminal:main", ChatKind.PRIVATE, "owner"),
    ],
)
def test_what_nobody_has_spoken_in_is_told_by_the_configuration(
    chats: ChatDirectory, text: str, kind: ChatKind, user: str
) -> None:
    chat = chats.at(Address.parse(text))
    assert chat is not None
    assert (str(chat.address), chat.kind, chat.user_id) == (text, kind, user)


def test_a_thread_of_a_known_chat_has_its_account_and_server(chats: ChatDirectory) -> None:
    chat = chats.at(Address("discord", "500", "3"))
    assert chat is not None
    assert (chat.address, chat.server) == (Address("discord", "500", "3", "bot"), "900")


@pytest.mark.parametrize("text", [f"telegram:{STRANGER}", "telegram:-100999", "discord:501", f"discord:{OWNER}"])
def test_what_is_neither_known_nor_configured_is_no_chat(chats: ChatDirectory, text: str) -> None:
    assert chats.at(Address.parse(text)) is None


def test_a_chat_that_moved_is_found_by_its_old_id(chats: ChatDirectory) -> None:
    chats.access.chat_moved("telegram", GROUP, "-100777")
    chat = chats.at(Address("telegram", GROUP))
    assert chat is not None
    assert (chat.address.chat_id, chat.kind) == ("-100777", ChatKind.GROUP)
