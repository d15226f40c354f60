"""Which agent answers a message, in which session, and who listens.

The most specific route wins, then the first. The order: a chat itself, the chat of a thread, a person, a server, an
account.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.memory.scope import Audience, Scope, scope_named
from agent.settings import GroupLogs
from agent.values import JOBS, TASKS, SessionKey
from channels.ids import PersonId, folder_name, thread_folder
from channels.message import ChatKind, InboundMessage, Sender
from channels.terminal import MAIN_CHAT
from gateway.config.schema import Route
from gateway.policy.access import LOCAL_CHANNELS, Access, Admitted, Role
from gateway.store.chat_rows import KnownChat
from gateway.store.inbox_rows import InboxRow

FirstChat = Callable[[str, str], str]


class Routes:
    """`first_chat`: the id under which a chat was first known."""

    def __init__(self, routes: Sequence[Route], default: str, first_chat: FirstChat) -> None:
        self._routes = tuple(routes)
        self._default = default
        self._first_chat = first_chat

    def agent(self, message: InboundMessage) -> str:
        fitting = [route for route in self._routes if self._fits(route, message)]
        if not fitting:
            return self._default
        return max(fitting, key=lambda route: self._specificity(route, message)).agent  # the first of equals

    def _fits(self, route: Route, message: InboundMessage) -> bool:
        address = message.address
        return (
            route.channel == address.channel
            and route.account in (None, address.account)
            and route.guild in (None, message.server)
            and (route.chat is None or route.chat in self._chats(message) or route.chat in self._parents(message))
            and route.user in (None, message.sender.id)
        )

    def _specificity(self, route: Route, message: InboundMessage) -> tuple[bool, ...]:
        own = route.chat in self._chats(message)
        return own, route.chat is not None, route.user is not None, route.guild is not None, route.account is not None

    def _chats(self, message: InboundMessage) -> tuple[str, ...]:
        address = message.address
        return address.chat_id, self._first_chat(address.channel, address.chat_id)

    def _parents(self, message: InboundMessage) -> tuple[str, ...]:
        parent = message.parent_chat
        return (parent, self._first_chat(message.address.channel, parent)) if parent else ()


_UNSAFE = re.compile(r"[^\w-]+")


def belongs_to(key: SessionKey, scope: Scope) -> bool:
    audience, _, rest = key.path.partition("/")
    return audience == scope.audience and (scope.audience is Audience.OWNER or rest.split("/")[0] == scope.id)


def scope_meant(text: str, workspace: Path) -> Scope:
    """The scope of a name, as `scope_named`; a person or group may also be written `channel:id`, as people know them.
    Raises `ValueError`."""
    audience, _, id = text.partition(":")
    return scope_named(f"{audience}:{PersonId.parse(id).folder}" if ":" in id else text, workspace)


def is_same_audience(scope: Scope, other: Scope) -> bool:
    """True if the same people listen, whichever agent speaks."""
    return (scope.audience, scope.id) == (other.audience, other.id)


@dataclass(frozen=True, slots=True)
class AgentHome:
    workspace: Path
    group_logs: GroupLogs


@dataclass(frozen=True, slots=True)
class SessionRoute:
    session: SessionKey
    scope: Scope
    role: Role
    """The sender's."""
    person: str

    @property
    def is_private(self) -> bool:
        return self.scope.is_private


class SessionPolicy:
    def __init__(
        self, access: Access, agents: Mapping[str, AgentHome], default_agent: str, routes: Sequence[Route] = ()
    ) -> None:
        self._access = access
        self._routes = Routes(routes, default_agent, access.first_chat_id)
        self._agents = agents

    def route(self, message: InboundMessage, admitted: Admitted | None) -> SessionRoute:
        """`admitted` is None for an overheard message, or after the sender lost access."""
        agent = self._routes.agent(message)
        unadmitted = Role.MEMBER if message.kind is ChatKind.GROUP else Role.PERSON
        role = admitted.role if admitted else unadmitted
        person = self._access.person(message.address.channel, message.sender.id)
        if message.kind is ChatKind.GROUP:
            audience, scope_id, path = self._group(message)
        elif role is Role.OWNER:
            audience, scope_id, path = Audience.OWNER, "", self._owner_path(message)
        else:
            audience, scope_id, path = Audience.PERSON, person, f"person/{person}"
        if message.due is not None:
            path = f"{path}/{JOBS}/{message.due.id}"
        if message.task is not None and message.is_task:
            path = f"{path}/{TASKS}/{message.task.id}"
        home = self._agents[agent]
        scope = Scope(audience, home.workspace, scope_id, home.group_logs)
        return SessionRoute(SessionKey(agent, path), scope, role, person)

    def of_row(self, row: InboxRow) -> SessionRoute:
        return self.of(row.message)

    def of(self, message: InboundMessage) -> SessionRoute:
        verdict = self._access.decide(message)
        return self.route(message, verdict if isinstance(verdict, Admitted) else None)

    def in_chat(self, chat: KnownChat) -> SessionRoute:
        return self.of(
            InboundMessage(
                id="",
                address=chat.address,
                kind=chat.kind,
                sender=Sender(chat.user_id, chat.user_name),
                text="",
                sent_at=datetime.min.replace(tzinfo=UTC),
                parent_chat=chat.parent_chat,
                server=chat.server,
            )
        )

    def scope_of(self, key: SessionKey) -> Scope | None:
        """The scope of a session; None for a job's, a task's or an unknown one."""
        audience, _, rest = key.path.partition("/")
        home = self._agents.get(key.agent)
        if home is None or audience not in tuple(Audience) or key.is_aside:
            return None
        id = "" if audience == Audience.OWNER else rest.split("/")[0]
        try:
            return Scope(Audience(audience), home.workspace, id, home.group_logs)
        except ValueError:
            return None

    def _group(self, message: InboundMessage) -> tuple[Audience, str, str]:
        address = message.address
        first = self._access.first_chat_id(address.channel, message.parent_chat or address.chat_id)
        scope_id = folder_name(address.channel, first)
        thread = address.thread_id or (address.chat_id if message.parent_chat else "")
        return Audience.GROUP, scope_id, f"group/{scope_id}" + (f"/{thread_folder(thread)}" if thread else "")

    @staticmethod
    def _owner_path(message: InboundMessage) -> str:
        chat = message.address.chat_id
        named = message.address.channel in LOCAL_CHANNELS and chat != MAIN_CHAT
        return f"owner/{_UNSAFE.sub('-', chat)}" if named else "owner"
