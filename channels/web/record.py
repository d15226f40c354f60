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
    """A file of a message. `path`: one sent by us; `handle`: an upload (see `Uploads`)."""

    name: str
    media_type: str = ""
    path: Path | None = None
    handle: str = ""


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A message in a chat.

    number    increases over all chats
    id        chosen by the page, or derived from our message's key
    text      as typed, or Markdown
    at        ISO 8601, UTC
    reply_to  `id` of the answered message, if not the preceding one
    turn      the turn whose preview it replaces
    """

    number: int
    id: str
    chat: str
    by: MessageAuthor
    text: str
    at: str
    reply_to: str = ""
    turn: str = ""
    is_error: bool = False
    buttons: Buttons = ()
    files: tuple[ShownFile, ...] = ()


class NotRecorded(Exception):
    """The record is unavailable. One sentence."""


class ChatRecord(Protocol):
    """A person's messages enter it through `receive` (button presses do not). All methods raise `NotRecorded`."""

    async def recent(self, chat: str, most: int, before: int | None = None) -> Sequence[ChatEntry]:
        """Oldest first; with `before`, only smaller numbers."""

    async def find(self, id: str) -> ChatEntry | None: ...

    async def keep(self, entry: ChatEntry) -> ChatEntry:
        """Assigns the `number`. An existing entry with that id stays unchanged. On disk when it returns."""

    async def change(self, id: str, text: str, buttons: Buttons) -> ChatEntry | None:
        """None if the entry no longer exists."""

    def watch(self, changed: Callable[[str], Awaitable[None]]) -> None:
        """Calls `changed` with the id of each entry changed by /forget."""

    async def log_out(self, session: str, until: int) -> None:
        """Stores that a session is invalid, at least until that moment (seconds since 1970)."""

    async def logged_out(self) -> frozenset[str]: ...

    async def handles(self) -> frozenset[str]: ...
