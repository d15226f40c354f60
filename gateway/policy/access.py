"""Who may speak: owners, people, members of groups, and strangers who ask. Decided by numeric id, never by name.

Decisions are made from memory; a change is on disk first.
"""

from __future__ import annotations

import enum
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from agent.clock import Clock, utc_stamp
from agent.languages.sentences import Sentence
from channels.ids import Address, PersonId
from channels.manifest import ChannelRules, DmPolicy, GroupRule
from channels.message import ChatKind, InboundMessage, Origin
from gateway.i18n import CODE_LETTERS
from gateway.store import access_rows, inbox_rows
from gateway.store.access_rows import Approved, PairingRequest
from gateway.store.connection import Connection
from gateway.store.database import Database

CODE_LENGTH = 8
CODE_LIFETIME = timedelta(hours=1)
OPEN_CODES_PER_CHANNEL = 3

LOCAL_CHANNELS = frozenset({"terminal", "web"})
"""Channels that reach us only through the owner's own account on this machine."""


class Role(enum.StrEnum):
    OWNER = "owner"
    PERSON = "person"  # someone else with a private chat of their own
    MEMBER = "member"  # speaks in a listed group


@dataclass(frozen=True, slots=True)
class Admitted:
    role: Role
    person: str
    """The sender's name among `people`, else `<channel>-<id>`."""


@dataclass(frozen=True, slots=True)
class ContextOnly:
    """A message in a listed group that is not for the bot: context for the next one that is."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A private message of a stranger."""

    asks: bool
    """There is room for a pairing request."""


@dataclass(frozen=True, slots=True)
class Ignored:
    why: str


Verdict = Admitted | ContextOnly | Unknown | Ignored


@dataclass(frozen=True, slots=True)
class KnownAccount:
    """An account that the configuration or an approval names. `role` None: it may not write in private now.
    `is_approved`: by a code, so that it can be revoked."""

    account: PersonId
    person: str
    role: Role | None
    name: str = ""
    is_approved: bool = False


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group, or a server's channels, with the rule in force."""

    channel: str
    id: str
    rule: GroupRule
    is_server: bool = False


class NoSuchCode(Exception):
    pass


Write = Callable[[Connection], None]


def _as_configured(_: str) -> None:
    return None


def _nothing(_: Connection) -> None:
    pass


class Access:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        rules: Mapping[str, ChannelRules],
        owners: frozenset[PersonId],
        people: Mapping[str, frozenset[PersonId]],
        activation: Callable[[str], str | None] = _as_configured,
    ) -> None:
        """`activation`: what a group (`channel:chat_id`) chose over its configured `mention`."""
        self._activation = activation
        self._database = database
        self._clock = clock
        self._rules = rules
        self._configured_owners = owners
        self._person_of_account = {account: person for person, accounts in people.items() for account in accounts}
        self._owner_people = {self._person_of_account[owner] for owner in owners if owner in self._person_of_account}
        self._approved: dict[PersonId, Approved] = {}
        self._requests: dict[str, PairingRequest] = {}
        self._declined: dict[PersonId, str] = {}
        """Until when an account may not ask again."""
        self._first_chat: dict[tuple[str, str], str] = {}

    async def load(self) -> None:
        now = utc_stamp(self._clock.now())

        def read(
            connection: Connection,
        ) -> tuple[Sequence[Approved], Sequence[PairingRequest], Sequence[tuple[str, str, str]]]:
            approved, requests = access_rows.approved(connection), access_rows.requests(connection, now)
            return approved, requests, inbox_rows.moved_chats(connection)

        approved, requests, moved = await self._database.run(read)  # at once: what changes meanwhile comes later
        self._approved = {PersonId(approval.channel, approval.user_id): approval for approval in approved}
        self._requests = {request.code: request for request in requests}
        for channel, old, new in moved:
            self.chat_moved(channel, old, new)

    # chats -----------------------------------------------------------------------------------------------------

    def chat_moved(self, channel: str, old: str, new: str) -> None:
        self._first_chat[channel, new] = self.first_chat_id(channel, old)

    def first_chat_id(self, channel: str, chat_id: str) -> str:
        """The id under which a chat was first known: sessions, folder and rules keep it when the chat moves."""
        return self._first_chat.get((channel, chat_id), chat_id)

    def current_chat_id(self, channel: str, chat_id: str) -> str:
        """The present id of a chat, by any it had."""
        first = self.first_chat_id(channel, chat_id)
        ids = [new for (of, new), known in self._first_chat.items() if (of, known) == (channel, first)]
        return ids[-1] if ids else chat_id

    def lists_group(self, channel: str, chat_id: str, server: str = "") -> bool:
        """True if the configuration has a rule for a group, by any id it had. `server`: its server."""
        return self._listed(channel, chat_id, server) is not None

    def listed_groups(self, channel: str) -> tuple[str, ...]:
        return tuple(self._rules.get(channel, ChannelRules()).groups)

    def _listed(self, channel: str, chat_id: str, server: str) -> GroupRule | None:
        rules = self._rules.get(channel, ChannelRules())
        return (
            rules.groups.get(chat_id)
            or rules.groups.get(self.first_chat_id(channel, chat_id))
            or rules.of_server(server, chat_id)
        )

    # who -------------------------------------------------------------------------------------------------------

    def accounts(self, person: str) -> tuple[PersonId, ...]:
        return tuple(account for account, name in self._person_of_account.items() if name == person)

    def person(self, channel: str, user_id: str) -> str:
        return self._of_account(PersonId(channel, user_id))

    def _of_account(self, account: PersonId) -> str:
        return self._person_of_account.get(account, account.folder)

    def is_owner(self, channel: str, user_id: str) -> bool:
        if channel in LOCAL_CHANNELS:
            return True
        account = PersonId(channel, user_id)
        if account in self._configured_owners or self._person_of_account.get(account) in self._owner_people:
            return True
        person = self._person_of_account.get(account)
        return any(
            approval.role == Role.OWNER and (known == account or self._person_of_account.get(known, "") == person)
            for known, approval in self._approved.items()
        )

    @property
    def owner_people(self) -> frozenset[str]:
        """The owner's names, in `people` and at approvals."""
        approved = (approval.name for approval in self._approved.values() if approval.role == Role.OWNER)
        return frozenset((*self._owner_people, *approved))

    @property
    def owner_accounts(self) -> tuple[PersonId, ...]:
        """The owner's accounts, configured ones first."""
        approved = (known for known, approval in self._approved.items() if approval.role == Role.OWNER)
        return (*sorted(self._configured_owners), *approved)

    @property
    def has_owner(self) -> bool:
        return bool(self._configured_owners) or any(approval.role == Role.OWNER for approval in self._approved.values())

    def known_accounts(self) -> Sequence[KnownAccount]:
        """Known accounts, configured owners first."""
        allowed = (PersonId(channel, user) for channel, rules in self._rules.items() for user in sorted(rules.allow))
        found, configured = [], (*sorted(self._configured_owners), *self._person_of_account)
        for account in dict.fromkeys((*configured, *allowed, *self._approved)):
            approval, role = self._approved.get(account), self.role_in_private(account.channel, account.id)
            name = approval.name if approval else ""
            found.append(KnownAccount(account, self._of_account(account), role, name, approval is not None))
        return found

    def group_list(self) -> Sequence[ListedGroup]:
        found = []
        for channel, rules in self._rules.items():
            for id, rule in rules.groups.items():
                chosen = self._activation(str(Address(channel, id)))
                required = rule.mention_required if chosen is None else chosen == "required"
                found.append(ListedGroup(channel, id, replace(rule, mention_required=required)))
            found += (ListedGroup(channel, id, server.rule, is_server=True) for id, server in rules.servers.items())
        return found

    # verdicts --------------------------------------------------------------------------------------------------

    def role_in_private(self, channel: str, user_id: str) -> Role | None:
        if self.is_owner(channel, user_id):
            return Role.OWNER
        policy = self._rules.get(channel, ChannelRules()).dm_policy
        if policy is DmPolicy.OFF:
            return None
        return Role.PERSON if policy is DmPolicy.OPEN or self.is_named(channel, user_id) else None

    def is_named(self, channel: str, user_id: str) -> bool:
        """True if the configuration or an approval names the person."""
        account = PersonId(channel, user_id)
        rules = self._rules.get(channel, ChannelRules())
        listed = user_id in rules.allow or account in self._configured_owners
        return listed or account in self._approved or account in self._person_of_account

    def decide(self, message: InboundMessage) -> Verdict:
        if message.sender.is_bot:
            return Ignored(Sentence("it was written by a bot"))
        channel, user = message.address.channel, message.sender.id
        rules = self._rules.get(channel, ChannelRules())
        if message.kind is ChatKind.GROUP:
            return self._decide_group(message)
        if role := self.role_in_private(channel, user):
            return Admitted(role, self.person(channel, user))
        if rules.dm_policy is DmPolicy.OFF:
            return Ignored(Sentence("private chats are off"))
        if rules.dm_policy is DmPolicy.ALLOWLIST:
            return Ignored(Sentence("the sender is not on the allow-list"))
        if message.origin is Origin.JOB:
            return Ignored(Sentence("nobody has approved its person"))
        return Unknown(asks=self._may_ask(channel, user, message.sent_at))

    def _decide_group(self, message: InboundMessage) -> Verdict:
        rule = self.rule(message)
        if rule is None:
            return Ignored(Sentence("the group is not listed"))
        if message.origin is Origin.JOB:
            return Admitted(Role.MEMBER, "")
        allowed = not rule.allow or message.sender.id in rule.allow
        if allowed and (message.calls_bot or not rule.mention_required):
            owner = self.is_owner(message.address.channel, message.sender.id)
            person = self.person(message.address.channel, message.sender.id)
            return Admitted(Role.OWNER if owner else Role.MEMBER, person)
        return ContextOnly()

    def chat_of(self, message: InboundMessage) -> str:
        """A group's name, whatever its thread and present id."""
        channel = message.address.channel
        return str(Address(channel, self.first_chat_id(channel, message.parent_chat or message.address.chat_id)))

    def rule(self, message: InboundMessage) -> GroupRule | None:
        chat = message.parent_chat or message.address.chat_id
        rule = self._listed(message.address.channel, chat, message.server)
        chosen = self._activation(self.chat_of(message)) if rule is not None else None
        return rule if rule is None or chosen is None else replace(rule, mention_required=chosen == "required")

    # pairing ---------------------------------------------------------------------------------------------------

    def _may_ask(self, channel: str, user_id: str, sent_at: datetime) -> bool:
        waiting = [request for request in self.requests() if request.channel == channel]
        asked_at = utc_stamp(min(sent_at, self._clock.instant()))
        is_declined = self._declined.get(PersonId(channel, user_id), "") > asked_at
        has_asked = is_declined or any(request.user_id == user_id for request in waiting)
        return len(waiting) < OPEN_CODES_PER_CHANNEL and not has_asked

    def new_request(self, channel: str, user_id: str, name: str) -> PairingRequest:
        """A request with a new code, still to be stored (`access_rows.request`, then `asked`)."""
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
        expires = self._clock.now().astimezone(UTC) + CODE_LIFETIME
        return PairingRequest(code, channel, user_id, name, utc_stamp(expires))

    def asked(self, request: PairingRequest) -> None:
        now = utc_stamp(self._clock.now())
        self._requests = {code: known for code, known in self._requests.items() if known.expires_at > now}
        self._requests[request.code] = request

    async def decline(self, code: str) -> PairingRequest:
        """Closes a request; its person cannot ask again in the hour of its code, or until a restart. Raises
        `NoSuchCode`, `StorageUnavailable`."""
        asked = next((request for request in self.requests() if request.code == code.strip().upper()), None)
        if asked is None:
            raise NoSuchCode(code)
        await self._database.run(access_rows.decline, asked.code)
        self._requests.pop(asked.code, None)
        self._declined[PersonId(asked.channel, asked.user_id)] = asked.expires_at
        return asked

    def requests(self) -> list[PairingRequest]:
        now = utc_stamp(self._clock.now())
        return [request for request in self._requests.values() if request.expires_at > now]

    def approvals(self) -> list[Approved]:
        return list(self._approved.values())

    def asker(self, code: str) -> Approved:
        """The person of a code as they would be approved: as owner if there is none. Raises `NoSuchCode`."""
        asked = self._requests.get(code.strip().upper())
        if asked is None or datetime.fromisoformat(asked.expires_at) <= self._clock.now():
            raise NoSuchCode(code)
        role = Role.PERSON if self.has_owner else Role.OWNER
        return Approved(asked.channel, asked.user_id, asked.name, role)

    async def let_in(self, person: Approved, also: Write = _nothing) -> None:
        """Approves a person, with `also` in the same commit. Raises `StorageUnavailable`."""
        now = utc_stamp(self._clock.now())

        def write(connection: Connection) -> None:
            access_rows.approve(connection, person, now)
            also(connection)

        await self._database.run(write)
        self._approved[PersonId(person.channel, person.user_id)] = person
        self._requests = {
            code: request
            for code, request in self._requests.items()
            if (request.channel, request.user_id) != (person.channel, person.user_id)
        }

    def approved(self, account: str) -> Approved | None:
        """The approval of an account, `channel:id` or, if unique, the id alone."""
        wanted = PersonId.parse(account)
        matches = [approval for known, approval in self._approved.items() if known == wanted or known.id == account]
        return matches[0] if len(matches) == 1 else None

    async def shut_out(self, person: Approved, also: Write = _nothing) -> None:
        """Revokes an approval, with `also` in the same commit. Raises `StorageUnavailable`."""

        def write(connection: Connection) -> None:
            access_rows.revoke(connection, person.channel, person.user_id)
            also(connection)

        await self._database.run(write)
        self._approved.pop(PersonId(person.channel, person.user_id), None)
