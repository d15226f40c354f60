"""The page's chats on disk: values and the storage protocol."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from channels.message import Button

Buttons = tuple[tuple[Button, ...], ...]


class MessageAuthor(enum.StrEnum):
    PERSON = "person"
    DAYBOOK = "daybook"


@dataclass(frozen=True, slots=True)
class ShownFile:
    name: str
    media_type: str = ""
    path: Path | None = None
    """One sent by us."""
    handle: str = ""
    """An upload (see `Uploads`)."""


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A message in a chat."""

    number: int
    """Increases over all chats."""
    id: str
    """Chosen by the page, or derived from our message's key."""
    chat: str
    by: MessageAuthor
    text: str
    """As typed, or Markdown."""
    at: str
    """ISO 8601, UTC."""
    reply_to: str = ""
    """`id` of the answered message, if not the preceding one."""
    turn: str = ""
    """The turn whose preview it replaces."""
    is_error: bool = False
    buttons: Buttons = ()
    files: tuple[ShownFile, ...] = ()
    replaces: str = ""
    """`id` of the message that it is a new version of."""
    replaced_by: str = ""
    """`id` of the message with which the version that it belongs to ended; the chat no longer shows it."""


NAME = "web"
"""Of the channel."""
AGAIN = "again:"
"""Prefix of the inbox's id of a new version; the rest is the replaced message's id, so that there is only one."""


def inbound_id(id: str, replaces: str) -> str:
    """The id in the inbox of a person's message in a chat."""
    return f"{AGAIN}{replaces}" if replaces else id


class NotRecorded(Exception):
    """The record is unavailable. One sentence."""


class ChatRecord(Protocol):
    """Messages of people enter it through `receive`. All methods raise `NotRecorded`."""

    async def recent(self, chat: str, most: int, before: int | None = None) -> Sequence[ChatEntry]:
        """Oldest first; with `before`, only smaller numbers. Without earlier versions."""

    async def earlier(self, id: str) -> Sequence[ChatEntry]:
        """The version that ended with the message `id`, oldest first."""

    async def find(self, id: str) -> ChatEntry | None: ...

    async def keep(self, entry: ChatEntry) -> ChatEntry:
        """Assigns the `number`. An existing entry stays unchanged. On disk when it returns."""

    async def change(self, id: str, text: str, buttons: Buttons) -> ChatEntry | None:
        """None if the entry no longer exists."""

    def watch(self, changed: Callable[[str], Awaitable[None]]) -> None:
        """Calls `changed` with the id of each entry changed by /forget."""

    async def log_out(self, session: str, until: int) -> None:
        """Ends a session, at least until then (seconds since 1970)."""

    async def logged_out(self) -> frozenset[str]: ...

    async def handles(self) -> frozenset[str]: ...
