"""Ids of people and chats, and their forms as text and as names of folders: nothing else writes or reads these.

An id is the platform's and opaque; it is not empty. The name of a channel has letters, digits and `_` only.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import unquote

from agent.languages.sentences import Sentence

_ESCAPED = re.compile(r":|%(?=[0-9A-Fa-f]{2})|^\s|\s\Z|[^\S ]")
"""What would not be read as it was written."""
_NOT_IN_NAMES = re.compile(r"[^a-z0-9_.@!$+=-]")
"""Also capitals, which some file systems don't tell from small letters."""
_LONGEST_NAME = 200


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def _text(channel: str, *ids: str) -> str:
    return ":".join((channel, *(_ESCAPED.sub(_percent, id) for id in ids)))


@dataclass(frozen=True, slots=True, order=True)
class PersonId:
    """A person's account. As text `telegram:11111`; a `:` in the id is written `%3A`, and read as it is, too."""

    channel: str
    id: str

    def __str__(self) -> str:
        return _text(self.channel, self.id)

    @classmethod
    def parse(cls, text: str) -> PersonId:
        """Reads `channel:id`; without a colon there is no id."""
        channel, _, id = text.strip().partition(":")
        return cls(channel, unquote(id))

    @property
    def folder(self) -> str:
        """The person's folder while nobody named them: `telegram-11111`."""
        return folder_name(self.channel, self.id)


@dataclass(frozen=True, slots=True)
class Address:
    channel: str
    chat_id: str
    thread_id: str | None = None
    account: str = ""

    def __str__(self) -> str:
        return _text(self.channel, self.chat_id, *([self.thread_id] if self.thread_id is not None else []))

    @classmethod
    def parse(cls, text: str) -> Address:
        """Reads `channel:chat_id[:thread_id]`. Raises `ValueError` with a sentence for its writer."""
        parts = text.strip().split(":")
        if len(parts) not in (2, 3) or not all(parts):
            raise ValueError(
                Sentence(
                    "{text} is not a chat address; write `channel:chat_id` or `channel:chat_id:thread_id`",
                    text=repr(text),
                )
            )
        channel, chat, *thread = parts
        return cls(channel, unquote(chat), unquote(thread[0]) if thread else None)


def folder_name(channel: str, id: str) -> str:
    """The folder of a person or group: `telegram--100123`. Different ids have different folders on every disk."""
    return _name(f"{channel}-{id}")


def thread_folder(id: str) -> str:
    """The folder of a thread's session below its group's."""
    return _name(id) if id.strip(".") else id.replace(".", "%2E")


def _name(id: str) -> str:
    name = _NOT_IN_NAMES.sub(_percent, id)
    return (
        name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}~{hashlib.sha256(id.encode()).hexdigest()[:32]}"
    )
