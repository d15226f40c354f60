"""Who may speak: owners, people, groups' members, and strangers who ask. Decided by numeric id, never by name.

Decisions are made from memory; a change (an approval, a request) is on disk first.
"""

from __future__ import annotations

import enum
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from agent.clock import Clock, utc_stamp
from channels.message import ChatKind, InboundMessage, Origin
from gateway.i18n import CODE_LETTERS
from gateway.store import access_rows, inbox_rows
from gateway.store.access_rows import Approved, PairingRequest
from gateway.store.database import Database

CODE_LENGTH = 8
CODE_LIFETIME = timedelta(hours=1)
OPEN_CODES_PER_CHANNEL = 3

LOCAL_CHANNELS = frozenset({"terminal", "web"})
"""Channels that reach us only through the owner's own account on this machine (SPEC 1)."""


class Role(enum.StrEnum):
    OWNER = "owner"
    PERSON = "person"  # someone else with a private chat of their own
    MEMBER = "member"  # speaks in a listed group


class DmPolicy(enum.StrEnum):
    PAIRING = "pairing"
    ALLOWLIST = "allowlist"
    OPEN = "open"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class GroupRule:
    """`allow` empty: every member may call the bot. `per_minute`: how often one member is answered within a minute."""

    mention_required: bool = True
    allow: frozenset[str] = frozenset()
    per_minute: int = 30


@dataclass(frozen=True, slots=True)
class ServerRule:
    """One rule for a server's channels; `channels` empty: for all of them."""

    rule: GroupRule = GroupRule()
    channels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ChannelRules:
    """`groups` by chat id, `servers` by the id of the community of their chats."""

    dm_policy: DmPolicy = DmPolicy.PAIRING
    allow: frozenset[str] = frozenset()
    groups: Mapping[str, GroupRule] = field(default_factory=dict)
    servers: Mapping[str, ServerRule] = field(default_factory=dict)

    def of_server(self, server: str, chat: str) -> GroupRule | None:
        """The rule for a chat of a server, None where it is not listed."""
        found = self.servers.get(server)
        return found.rule if found and (not found.channels or chat in found.channels) else None


@dataclass(frozen=True, slots=True)
class Admitted:
    """A message to act on. `person`: the sender's name among `people`, else `<channel>-<id>`."""

    role: Role
    person: str


@dataclass(frozen=True, slots=True)
class ContextOnly:
    """A message in a listed group that is not for the bot: context for the next one that is."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A private message of a person without approval; `asks`: there is room for a pairing request of theirs."""

    asks: bool


@dataclass(frozen=True, slots=True)
class Ignored:
    why: str


Verdict = Admitted | ContextOnly | Unknown | Ignored


class NoSuchCode(Exception):
    """The pairing code is unknown, used, or older than an hour."""


Write = Callable[[sqlite3.Connection], None]


def _as_configured(_: str) -> None:
    return None


def _nothing(_: sqlite3.Connection) -> None:
    pass


class Access:
    """`owners` and the accounts in `people` are written `channel:id`."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        rules: Mapping[str, ChannelRules],
        owners: frozenset[str],
        people: Mapping[str, frozenset[str]],
        activation: Callable[[str], str | None] = _as_configured,
    ) -> None:
        """`activation`: what a group (`channel:chat_id`) chose in place of its configured `mention`."""
        self._activation = activation
        self._database = database
        self._clock = clock
        self._rules = rules
        self._configured_owners = owners
        self._person_of_account = {account: person for person, accounts in people.items() for account in accounts}
        self._owner_people = {self._person_of_account[one] for one in owners if one in self._person_of_account}
        self._approved: dict[str, Approved] = {}
        self._requests: dict[str, PairingRequest] = {}
        self._first_chat: dict[tuple[str, str], str] = {}

    async def load(self) -> None:
        """Reads approvals, requests and moved chats."""
        now = utc_stamp(self._clock.now())
        approved = await self._database.run(access_rows.approved)
        requests = await self._database.run(access_rows.requests, now)
        moved = await self._database.run(inbox_rows.moved_chats)
        self._approved = {f"{one.channel}:{one.user_id}": one for one in approved}
        self._requests = {one.code: one for one in requests}
        for channel, old, new in moved:
            self.chat_moved(channel, old, new)

    # chats -----------------------------------------------------------------------------------------------------

    def chat_moved(self, channel: str, old: str, new: str) -> None:
        self._first_chat[channel, new] = self.first_chat_id(channel, old)

    def first_chat_id(self, channel: str, chat_id: str) -> str:
        """The id under which a chat was first known: its sessions, folder and rules keep it when the chat moves."""
        return self._first_chat.get((channel, chat_id), chat_id)

    def current_chat_id(self, channel: str, chat_id: str) -> str:
        """The present id of a chat, by any that it had."""
        first = self.first_chat_id(channel, chat_id)
        ids = [new for (of, new), known in self._first_chat.items() if (of, known) == (channel, first)]
        return ids[-1] if ids else chat_id

    def lists_group(self, channel: str, chat_id: str, server: str = "") -> bool:
        """True where the configuration has a rule for a group, by any id that it had. `server`: its community."""
        return self._listed(channel, chat_id, server) is not None

    def listed_groups(self, channel: str) -> tuple[str, ...]:
        """The configured ids of groups."""
        return tuple(self._rules.get(channel, ChannelRules()).groups)

    def _listed(self, channel: str, chat_id: str, server: str) -> GroupRule | None:
        rules = self._rules.get(channel, ChannelRules())
        return (
            rules.groups.get(chat_id)
            or rules.groups.get(self.first_chat_id(channel, chat_id))
            or rules.of_server(server, chat_id)
        )

    # who -------------------------------------------------------------------------------------------------------

    def accounts(self, person: str) -> tuple[str, ...]:
        """`channel:id` of every account of a person among the people."""
        return tuple(account for account, name in self._person_of_account.items() if name == person)

    def person(self, channel: str, user_id: str) -> str:
        return self._person_of_account.get(f"{channel}:{user_id}", f"{channel}-{user_id}")

    def is_owner(self, channel: str, user_id: str) -> bool:
        if channel in LOCAL_CHANNELS:
            return True
        account = f"{channel}:{user_id}"
        if account in self._configured_owners or self._person_of_account.get(account) in self._owner_people:
            return True
        return self._is_approved_owner(account)

    def _is_approved_owner(self, account: str) -> bool:
        person = self._person_of_account.get(account)
        return any(
            one.role == Role.OWNER and (known == account or self._person_of_account.get(known, "") == person)
            for known, one in self._approved.items()
        )

    @property
    def owner_people(self) -> frozenset[str]:
        """The owner's names: those among `people`, and those at their approval."""
        approved = (one.name for one in self._approved.values() if one.role == Role.OWNER)
        return frozenset((*self._owner_people, *approved))

    @property
    def owner_accounts(self) -> tuple[str, ...]:
        """`channel:id`, the configured ones first."""
        approved = (known for known, one in self._approved.items() if one.role == Role.OWNER)
        return (*sorted(self._configured_owners), *approved)

    @property
    def has_owner(self) -> bool:
        return bool(self._configured_owners) or any(one.role == Role.OWNER for one in self._approved.values())

    # verdicts --------------------------------------------------------------------------------------------------

    def role_in_private(self, channel: str, user_id: str) -> Role | None:
        """The role of a person in a private chat; None for a stranger."""
        if self.is_owner(channel, user_id):
            return Role.OWNER
        policy = self._rules.get(channel, ChannelRules()).dm_policy
        if policy is DmPolicy.OFF:
            return None
        return Role.PERSON if policy is DmPolicy.OPEN or self.is_named(channel, user_id) else None

    def is_named(self, channel: str, user_id: str) -> bool:
        """True where the configuration or an approval names the person, not only an open door admits them."""
        account = f"{channel}:{user_id}"
        rules = self._rules.get(channel, ChannelRules())
        listed = user_id in rules.allow or account in self._configured_owners
        return listed or account in self._approved or account in self._person_of_account

    def decide(self, message: InboundMessage) -> Verdict:
        if message.sender.is_bot:
            return Ignored("it was written by a bot")
        channel, user = message.address.channel, message.sender.id
        rules = self._rules.get(channel, ChannelRules())
        if message.kind is ChatKind.GROUP:
            return self._decide_group(message)
        if role := self.role_in_private(channel, user):
            return Admitted(role, self.person(channel, user))
        if rules.dm_policy is DmPolicy.OFF:
            return Ignored("private chats are off")
        if rules.dm_policy is DmPolicy.ALLOWLIST:
            return Ignored("the sender is not on the allow-list")
        if message.origin is Origin.JOB:
            return Ignored("nobody has approved its person")
        return Unknown(asks=self._may_ask(channel, user))

    def _decide_group(self, message: InboundMessage) -> Verdict:
        rule = self.rule(message)
        if rule is None:
            return Ignored("the group is not listed")
        if message.origin is Origin.JOB:
            return Admitted(Role.MEMBER, "")
        allowed = not rule.allow or message.sender.id in rule.allow
        if allowed and (message.calls_bot or not rule.mention_required):
            owner = self.is_owner(message.address.channel, message.sender.id)
            person = self.person(message.address.channel, message.sender.id)
            return Admitted(Role.OWNER if owner else Role.MEMBER, person)
        return ContextOnly()

    def chat_of(self, message: InboundMessage) -> str:
        """A group's stable name, whatever its thread and present id: `channel:chat_id`."""
        channel = message.address.channel
        return f"{channel}:{self.first_chat_id(channel, message.parent_chat or message.address.chat_id)}"

    def rule(self, message: InboundMessage) -> GroupRule | None:
        """The present rule of a message's group; None where the group is not listed."""
        chat = message.parent_chat or message.address.chat_id
        rule = self._listed(message.address.channel, chat, message.server)
        chosen = self._activation(self.chat_of(message)) if rule is not None else None
        return rule if rule is None or chosen is None else replace(rule, mention_required=chosen == "required")

    # pairing ---------------------------------------------------------------------------------------------------

    def _open_requests(self, channel: str) -> list[PairingRequest]:
        now = utc_stamp(self._clock.now())
        return [one for one in self._requests.values() if one.channel == channel and one.expires_at > now]

    def _may_ask(self, channel: str, user_id: str) -> bool:
        waiting = self._open_requests(channel)
        return len(waiting) < OPEN_CODES_PER_CHANNEL and all(one.user_id != user_id for one in waiting)

    def new_request(self, channel: str, user_id: str, name: str) -> PairingRequest:
        """A request with a new code, not written down yet (see `access_rows.request`, then `asked`)."""
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
        expires = self._clock.now().astimezone(UTC) + CODE_LIFETIME
        return PairingRequest(code, channel, user_id, name, utc_stamp(expires))

    def asked(self, request: PairingRequest) -> None:
        now = utc_stamp(self._clock.now())
        self._requests = {code: one for code, one in self._requests.items() if one.expires_at > now}
        self._requests[request.code] = request

    def requests(self) -> list[PairingRequest]:
        now = utc_stamp(self._clock.now())
        return [one for one in self._requests.values() if one.expires_at > now]

    def approvals(self) -> list[Approved]:
        return list(self._approved.values())

    def asker(self, code: str) -> Approved:
        """The person of a code, as they would be approved: as owner, where the home has none yet. Raises
        `NoSuchCode`."""
        asked = self._requests.get(code.strip().upper())
        if asked is None or datetime.fromisoformat(asked.expires_at) <= self._clock.now():
            raise NoSuchCode(code)
        role = Role.PERSON if self.has_owner else Role.OWNER
        return Approved(asked.channel, asked.user_id, asked.name, role)

    async def let_in(self, person: Approved, also: Write = _nothing) -> None:
        """Approves a person; `also` is in the same commit. Raises `StoreUnavailable`."""
        now = utc_stamp(self._clock.now())

        def write(connection: sqlite3.Connection) -> None:
            access_rows.approve(connection, person, now)
            also(connection)

        await self._database.run(write)
        self._approved[f"{person.channel}:{person.user_id}"] = person
        self._requests = {
            code: one
            for code, one in self._requests.items()
            if (one.channel, one.user_id) != (person.channel, person.user_id)
        }

    def approved(self, account: str) -> Approved | None:
        """The approval of an account, `channel:id` or, where it is unique, the id alone."""
        matches = [one for key, one in self._approved.items() if account in (key, one.user_id)]
        return matches[0] if len(matches) == 1 else None

    async def shut_out(self, person: Approved, also: Write = _nothing) -> None:
        """Revokes an approval; `also` is in the same commit. Raises `StoreUnavailable`."""

        def write(connection: sqlite3.Connection) -> None:
            access_rows.revoke(connection, person.channel, person.user_id)
            also(connection)

        await self._database.run(write)
        self._approved.pop(f"{person.channel}:{person.user_id}", None)
