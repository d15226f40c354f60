"""Which agent answers a message: the most specific route that fits it; of several, the first that is written.

Kinds of chats are compared before kinds of places: a chat itself, the chat that a thread is in, a person, a server, an
account. A thread so follows its parent, unless it has a route of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from channels.message import InboundMessage
from gateway.config.model import Route

FirstChat = Callable[[str, str], str]


class Routes:
    """`default` answers where no route fits. `first_chat`: the id under which a channel's chat was first known, so that
    a route holds for a chat that has moved."""

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
