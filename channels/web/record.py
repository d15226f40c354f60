"""What stands in the page's chats: kept on disk, so that a page that is opened later, or again, shows the same."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from channels.message import Button

Buttons = tuple[tuple[Button, ...], ...]


class By(enum.StrEnum):
    """Who has said something."""

    PERSON = "person"
    DAYBOOK = "daybook"


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of a message. `path`: of what we have sent; `handle`: of what was uploaded (see `Uploads`)."""

    name: str
    media_type: str = ""
    path: Path | None = None
    handle: str = ""


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A message as it stands in a chat.

    number    grows from message to message, over all chats
    id        of the sayer's own choice, or made of the key of what we have sent
    text      as it was typed, or Markdown
    at        ISO 8601, UTC
    reply_to  `id` of the message that it answers, where that is not the one before
    turn      names the turn whose preview it replaces
    """

    number: int
    id: str
    chat: str
    by: By
    text: str
    at: str
    reply_to: str = ""
    turn: str = ""
    is_error: bool = False
    buttons: Buttons = ()
    files: tuple[ShownFile, ...] = ()


class NotRecorded(Exception):
    """The disk took nothing. One sentence."""


class ChatRecord(Protocol):
    """What a person says comes into it as they are heard: it stands there once `receive` has returned (a press of a
    button does not). All methods raise `NotRecorded`."""

    async def recent(self, chat: str, most: int, before: int | None = None) -> Sequence[ChatEntry]:
        """The newest messages of a chat, oldest first; those with a smaller `number` than `before`."""

    async def find(self, id: str) -> ChatEntry | None: ...

    async def keep(self, entry: ChatEntry) -> ChatEntry:
        """Write down what we say; its `number` is given now. What is there already under that id stays as it is. On
        disk when it returns."""

    async def change(self, id: str, text: str, buttons: Buttons) -> ChatEntry | None:
        """Put another text in place of what we said. None: it is not there any more."""

    def watch(self, changed: Callable[[str], Awaitable[None]]) -> None:
        """From now on, call `changed` with the id of each entry that reads otherwise though nobody has called `change`
        (something in it was forgotten)."""

    async def log_out(self, session: str, until: int) -> None:
        """A session counts no more; it may be forgotten after that moment (seconds since 1970)."""

    async def logged_out(self) -> frozenset[str]:
        """The sessions that count no more."""

    async def handles(self) -> frozenset[str]:
        """Of every uploaded file that a message names."""
