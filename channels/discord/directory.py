"""Names of servers, channels, threads and roles, and the parents of threads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from channels.json_fields import Json, get, object_of, objects_of, strings_of, text_of

THREAD_TYPES = frozenset({10, 11, 12})
"""Announcement, public and private threads; a forum's post is a public one."""
_PRIVATE_TYPES = frozenset({1, 3})
_UNCHOSEN = "en-US"


@dataclass(frozen=True, slots=True)
class DiscordChat:
    id: str
    server: str = ""
    """Empty for a private chat."""
    name: str = ""
    parent: str = ""
    newest: str = ""

    @property
    def is_private(self) -> bool:
        return not self.server

    @property
    def listed_as(self) -> str:
        return self.parent or self.id


@dataclass(slots=True)
class _Server:
    name: str = ""
    roles: dict[str, str] = field(default_factory=dict)
    own_roles: frozenset[str] = frozenset()
    given_roles: frozenset[str] = frozenset()
    chats: set[str] = field(default_factory=set)
    language: str = ""


class Directory:
    def __init__(self, bot_id: str) -> None:
        self._bot_id = bot_id
        self._servers: dict[str, _Server] = {}
        self._chats: dict[str, DiscordChat] = {}

    def chat(self, chat_id: str) -> DiscordChat | None:
        return self._chats.get(chat_id)

    def of_server(self, server: str) -> list[DiscordChat]:
        known = self._servers.get(server)
        return [self._chats[chat_id] for chat_id in sorted(known.chats)] if known else []

    @property
    def newest(self) -> str:
        """The newest message that any chat had when it was announced; "0" if there was none."""
        return max((chat.newest for chat in self._chats.values() if chat.newest.isdecimal()), key=int, default="0")

    def title(self, chat: DiscordChat) -> str:
        server = self._servers.get(chat.server)
        parent = self._chats.get(chat.parent)
        room = f"#{parent.name} › {chat.name}" if parent else f"#{chat.name}" if chat.name else ""
        return " ".join(part for part in (server.name if server else "", room) if part)

    def language(self, server: str) -> str:
        """The language that a server's people chose; empty for English, the default."""
        known = self._servers.get(server)
        return known.language if known else ""

    def role(self, server: str, role_id: str) -> str:
        known = self._servers.get(server)
        return known.roles.get(role_id, "") if known else ""

    def own_roles(self, server: str) -> frozenset[str]:
        """Roles of the bot alone: Discord makes one for each bot on a server."""
        known = self._servers.get(server)
        return known.own_roles if known else frozenset()

    def roles_of_bot(self, server: str) -> frozenset[str]:
        known = self._servers.get(server)
        return (known.own_roles | known.given_roles) - {server} if known else frozenset()

    # Gateway events

    def server_seen(self, data: Json) -> str:
        """Applies GUILD_CREATE; returns the server."""
        server = get(data, "id", str) or ""
        self.server_gone(server)
        self._servers[server] = _Server()
        self.server_changed(data)
        for member in objects_of(data, "members"):
            self.member_changed({**member, "guild_id": server})
        for name in ("channels", "threads"):
            for channel in objects_of(data, name):
                self.chat_seen(channel, server)
        return server

    def server_changed(self, data: Json) -> None:
        server = self._servers.get(get(data, "id", str) or "")
        if server:
            roles = list(objects_of(data, "roles"))
            server.name, locale = text_of(data, "name"), text_of(data, "preferred_locale")
            server.language = "" if locale == _UNCHOSEN else locale
            server.roles = {get(role, "id", str) or "": text_of(role, "name") for role in roles}
            server.own_roles = frozenset(get(role, "id", str) or "" for role in roles if self._is_own(role))

    def member_changed(self, data: Json) -> None:
        """Applies GUILD_MEMBER_UPDATE, sent for the bot itself even without the members intent."""
        server = self._servers.get(get(data, "guild_id", str) or "")
        person = object_of(data, "user")
        if server and person and get(person, "id", str) == self._bot_id and isinstance(data.get("roles"), list):
            server.given_roles = frozenset(strings_of(data, "roles"))

    def server_gone(self, server: str) -> None:
        known = self._servers.pop(server, None)
        for chat in known.chats if known else ():
            self._chats.pop(chat, None)

    def chat_seen(self, data: Json, server: str = "") -> DiscordChat | None:
        chat_id = get(data, "id", str)
        if chat_id is None:
            return None
        kind = get(data, "type", int)
        server = "" if kind in _PRIVATE_TYPES else get(data, "guild_id", str) or server
        if not server and kind not in _PRIVATE_TYPES:
            return None
        parent = get(data, "parent_id", str) or "" if kind in THREAD_TYPES else ""
        chat = DiscordChat(chat_id, server, text_of(data, "name"), parent, get(data, "last_message_id", str) or "")
        self._chats[chat_id] = chat
        if server in self._servers:
            self._servers[server].chats.add(chat_id)
        return chat

    def chat_gone(self, data: Json) -> str:
        chat_id = get(data, "id", str) or ""
        chat = self._chats.pop(chat_id, None)
        if chat and chat.server in self._servers:
            self._servers[chat.server].chats.discard(chat_id)
        return chat_id

    def role_seen(self, data: Json) -> None:
        server = self._servers.get(get(data, "guild_id", str) or "")
        role = object_of(data, "role")
        if server and role and (role_id := get(role, "id", str)):
            server.roles[role_id] = text_of(role, "name")
            if self._is_own(role):
                server.own_roles |= {role_id}

    def role_gone(self, data: Json) -> None:
        server = self._servers.get(get(data, "guild_id", str) or "")
        role_id = get(data, "role_id", str) or ""
        if server:
            server.roles.pop(role_id, None)
            server.own_roles -= {role_id}
            server.given_roles -= {role_id}

    def private(self, chat_id: str) -> DiscordChat:
        chat = self._chats.get(chat_id) or DiscordChat(chat_id)
        if not chat.is_private:
            chat = replace(chat, server="", parent="")
        return chat

    def _is_own(self, role: Json) -> bool:
        tags = object_of(role, "tags")
        return tags is not None and get(tags, "bot_id", str) == self._bot_id
