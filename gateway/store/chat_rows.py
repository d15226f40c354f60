"""Chats: where to send, what people chose there, and the last position seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.languages.codes import Language, of_locale
from agent.memory.scope import Audience
from channels.message import Address, ChatKind, InboundMessage
from gateway import i18n
from gateway.i18n import ChatLanguage
from gateway.store.claims import scope_name
from gateway.store.connection import Connection, Row


@dataclass(frozen=True, slots=True)
class KnownChat:
    address: Address
    kind: ChatKind
    parent_chat: str
    user_id: str
    """Who wrote last."""
    user_name: str
    server: str = ""
    title: str = ""
    """A group's name, else that person's."""
    language: Language | None = None
    """The language its people write in."""
    is_clear: bool = False
    """True if sentences told that language, not greetings alone."""
    chosen: Language | None = None
    """The language chosen with `/language`."""
    platforms: Language | None = None
    """The language of who wrote last, as the platform or the browser says."""
    is_owners: bool = False
    """True for a private chat of the owner."""


def language_in(chats: Sequence[KnownChat], address: Address) -> Language:
    """The language of our sentences in a chat: the chosen one, else what its people clearly write, else what the
    platform says, else what greetings are in; else that of the owner's latest chat, else English. Of each kind its
    thread's counts, else the latest of the chat, else that of the person's other private chats on the channel if it was
    chosen there."""
    there = [
        chat for chat in chats if (chat.address.channel, chat.address.chat_id) == (address.channel, address.chat_id)
    ]
    here = [*(chat for chat in there if chat.address.thread_id == address.thread_id), *there]
    person = {chat.user_id for chat in there if chat.kind is ChatKind.PRIVATE}
    others = [
        chat.chosen
        for chat in chats
        if chat.address.channel == address.channel and chat.kind is ChatKind.PRIVATE and chat.user_id in person
    ]
    owners = (_languages([chat]) for chat in chats if chat.is_owners)
    wishes = ((chat.chosen for chat in here), others, _languages(here), itertools.chain.from_iterable(owners))
    found = (wish for wish in itertools.chain.from_iterable(wishes) if wish is not None)
    return next(found, Language.ENGLISH)


def _languages(chats: Sequence[KnownChat]) -> Iterator[Language | None]:
    yield from (chat.chosen for chat in chats)
    yield from (chat.language for chat in chats if chat.is_clear)
    yield from (chat.platforms for chat in chats)
    yield from (chat.language for chat in chats)


def choose_language(connection: Connection, message: InboundMessage, language: Language | None) -> None:
    """Sets the language of a message's group, or of all private chats of its sender on its channel. None: the
    language that they write in."""
    address = message.address
    if message.kind is ChatKind.GROUP:
        which, of = "chat_id = ?", address.chat_id
    else:
        which, of = f"kind = '{ChatKind.PRIVATE}' AND user_id = ?", message.sender.id
    connection.execute(
        f"UPDATE chat SET chosen_language = ? WHERE channel = ? AND {which}", (language or "", address.channel, of)
    )


def spoke(connection: Connection, message: InboundMessage, at: str, today: str, session: str = "") -> None:
    """Records where somebody writes, and in which language. `today`: the user's day, ISO 8601. `session` as in the
    inbox."""
    address = message.address
    row = connection.execute(f"SELECT * FROM chat WHERE {_IS_CHAT}", _key(address)).fetchone()
    before = ChatLanguage() if row is None else ChatLanguage(of_locale(row["language"]), row["language_day"])
    language = i18n.after(before, message, today)
    platforms = of_locale(message.sender.language) or ("" if row is None else row["platform_language"])
    is_owners = message.kind is ChatKind.PRIVATE and scope_name(session) == Audience.OWNER
    connection.execute(f"DELETE FROM chat WHERE {_IS_CHAT}", _key(address))
    connection.execute(
        "INSERT INTO chat (channel, account, chat_id, thread_id, kind, parent_chat, user_id, user_name,"
        " last_at, server, title, language, language_day, chosen_language, platform_language, is_owners)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *_key(address),
            message.kind,
            message.parent_chat,
            message.sender.id,
            message.sender.name,
            at,
            message.server,
            message.group_name if message.kind is ChatKind.GROUP else message.sender.name,
            language.language or "",
            language.day,
            "" if row is None else row["chosen_language"],
            platforms,
            int(is_owners),
        ),
    )


_IS_CHAT = "channel = ? AND account = ? AND chat_id = ? AND thread_id = ?"


def _key(address: Address) -> tuple[str, str, str, str]:
    return (address.channel, address.account, address.chat_id, address.thread_id or "")


def language(connection: Connection, address: Address) -> Language:
    """The language of our sentences in a chat: `language_in` the stored chats."""
    return language_in(_telling(connection, address), address)


def _telling(connection: Connection, address: Address) -> list[KnownChat]:
    """The chats that decide a chat's language: itself, its person's other private chats, the owner's."""
    rows = connection.execute(
        "SELECT * FROM chat WHERE is_owners = 1 OR (channel = ? AND chat_id = ?) OR (channel = ? AND kind = ? AND"
        " user_id IN (SELECT user_id FROM chat WHERE channel = ? AND chat_id = ? AND kind = ?))"
        " ORDER BY last_at DESC, rowid DESC",
        (
            *(address.channel, address.chat_id),
            *(address.channel, ChatKind.PRIVATE),
            *(address.channel, address.chat_id, ChatKind.PRIVATE),
        ),
    )
    return [_chat(row) for row in rows]


def language_after(connection: Connection, message: InboundMessage, today: str) -> Language:
    """The language of a message's chat once that message counts; it may be the first there. `today` as in `spoke`."""
    row = connection.execute(f"SELECT * FROM chat WHERE {_IS_CHAT}", _key(message.address)).fetchone()
    before = ChatLanguage() if row is None else ChatLanguage(of_locale(row["language"]), row["language_day"])
    after = i18n.after(before, message, today)
    this = KnownChat(
        message.address,
        message.kind,
        message.parent_chat,
        message.sender.id,
        message.sender.name,
        language=after.language,
        is_clear=bool(after.day),
        chosen=None if row is None else of_locale(row["chosen_language"]),
        platforms=of_locale(message.sender.language) or (None if row is None else of_locale(row["platform_language"])),
    )
    others = [chat for chat in _telling(connection, message.address) if chat.address != message.address]
    return language_in((this, *others), message.address)


def known(connection: Connection) -> tuple[KnownChat, ...]:
    return tuple(_chat(row) for row in connection.execute("SELECT * FROM chat ORDER BY last_at DESC, rowid DESC"))


def private_chat(connection: Connection, channel: str, user_id: str) -> Address | None:
    """The chat where a person last wrote in private."""
    row = connection.execute(
        "SELECT * FROM chat WHERE channel = ? AND user_id = ? AND kind = ? ORDER BY last_at DESC, rowid DESC LIMIT 1",
        (channel, user_id, ChatKind.PRIVATE),
    ).fetchone()
    return None if row is None else _chat(row).address


def moved(connection: Connection, channel: str, old: str, new: str) -> None:
    """Changes a chat's id, and drops the old one's threads."""
    rows = connection.execute(
        "SELECT account, thread_id FROM chat WHERE channel = ? AND chat_id = ? ORDER BY last_at, rowid", (channel, old)
    )
    for account, latest in {row["account"]: row["thread_id"] for row in rows}.items():
        connection.execute(
            "DELETE FROM chat WHERE channel = ? AND account = ?"
            " AND (chat_id = ? AND thread_id = '' OR chat_id = ? AND thread_id != ?)",
            (channel, account, new, old, latest),
        )
        connection.execute(
            "UPDATE chat SET chat_id = ?, thread_id = '' WHERE channel = ? AND account = ? AND chat_id = ?",
            (new, channel, account, old),
        )


def _chat(row: Row) -> KnownChat:
    address = Address(row["channel"], row["chat_id"], row["thread_id"] or None, row["account"])
    return KnownChat(
        address,
        ChatKind(row["kind"]),
        row["parent_chat"],
        row["user_id"],
        row["user_name"],
        row["server"],
        row["title"],
        of_locale(row["language"]),
        bool(row["language_day"]),
        of_locale(row["chosen_language"]),
        of_locale(row["platform_language"]),
        bool(row["is_owners"]),
    )


_CHOOSE = (
    "INSERT INTO choice (session, name, value) VALUES (?, ?, ?)"
    " ON CONFLICT (session, name) DO UPDATE SET value = excluded.value"
)


def choose(connection: Connection, of: str, name: str, value: str | None) -> None:
    """Stores a choice of a session or chat; None removes it."""
    if value is None:
        connection.execute("DELETE FROM choice WHERE session = ? AND name = ?", (of, name))
    else:
        connection.execute(_CHOOSE, (of, name, value))


def chosen(connection: Connection, name: str) -> dict[str, str]:
    """The choices of that name, by session or chat."""
    rows = connection.execute("SELECT session, value FROM choice WHERE name = ?", (name,))
    return {row["session"]: row["value"] for row in rows}


SeenRow = tuple[str, str, str]
"""A chat, its server, its last message that is on disk."""


def load_seen(connection: Connection, channel: str) -> list[SeenRow]:
    rows = connection.execute("SELECT chat_id, server, message_id FROM seen WHERE channel = ?", (channel,))
    return [(row["chat_id"], row["server"], row["message_id"]) for row in rows]


def note_seen(connection: Connection, channel: str, rows: Sequence[SeenRow]) -> None:
    """Stores the newer of the given and known positions; ids are numbers that grow with time."""
    connection.executemany(
        "INSERT INTO seen (channel, chat_id, server, message_id) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (channel, chat_id) DO UPDATE SET message_id = excluded.message_id"
        " WHERE CAST(excluded.message_id AS BIGINT) > CAST(seen.message_id AS BIGINT)",
        [(channel, *row) for row in rows],
    )


def forget_seen(connection: Connection, channel: str, chat_id: str) -> None:
    connection.execute("DELETE FROM seen WHERE channel = ? AND chat_id = ?", (channel, chat_id))
