"""Many chats on two platforms, whose people write, edit, attach, press and command; and what they got to see."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from benchmarks.people import numbers
from tests import files
from tests.fakes.discord import Channel, FakeDiscord, User
from tests.fakes.discord import Message as DiscordMessage
from tests.fakes.telegram import FakeTelegram

COMMANDS = ("help", "whoami", "context")
"""Everybody's, answered without a model."""
MEMBERS = 3
"""People who write in a group."""

File = tuple[str, bytes, str]
"""A name, the bytes, a media type."""


class Chat(Protocol):
    """One chat, as its people use it."""

    @property
    def name(self) -> str:
        """The chat's address, `channel:chat_id`."""

    @property
    def is_private(self) -> bool: ...

    async def say(self, text: str, file: File | None) -> None: ...

    async def reword(self, words: str) -> None:
        """Add words to what was said last."""

    async def command(self, name: str) -> None:
        """Give a command from the menu."""

    async def press(self, ending: str) -> bool:
        """Press a button whose data ends so, where one stands in the chat."""

    def texts(self) -> list[str]:
        """What the bot's messages read now, in their order."""


@dataclass(slots=True)
class TelegramChat:
    telegram: FakeTelegram
    id: int
    users: Sequence[int]
    chance: random.Random
    _last: tuple[int, str] = (0, "")

    @property
    def name(self) -> str:
        return f"telegram:{self.id}"

    @property
    def is_private(self) -> bool:
        return self.id > 0

    async def say(self, text: str, file: File | None) -> None:
        user = self.chance.choice(self.users)
        if file is None:
            said = self.telegram.say(text, chat=self.id, user=user, name=f"Person {user}")
        else:
            name, content, media_type = file
            file_id = self.telegram.add_file(content)
            document = {"file_id": file_id, "file_unique_id": file_id, "file_name": name, "mime_type": media_type}
            said = self.telegram.say(
                None, chat=self.id, user=user, name=f"Person {user}", caption=text, document=document
            )
        self._last = (int(said["message"]["message_id"]), text) if file is None else (0, "")

    async def reword(self, words: str) -> None:
        message, text = self._last
        if message:
            self.telegram.edit(message, f"{text} {words}", chat=self.id)

    async def command(self, name: str) -> None:
        self.telegram.say(f"/{name}", chat=self.id, user=self.users[0], name=f"Person {self.users[0]}")

    async def press(self, ending: str) -> bool:
        for message in self.telegram.messages(self.id):
            for button in itertools.chain(*message.buttons):
                if str(button.get("callback_data", "")).endswith(ending):
                    self.telegram.press(message.id, button["callback_data"], chat=self.id, user=self.users[0])
                    return True
        return False

    def texts(self) -> list[str]:
        return [message.text for message in self.telegram.messages(self.id)]


@dataclass(slots=True)
class DiscordChat:
    discord: FakeDiscord
    channel: Channel
    users: Sequence[User]
    chance: random.Random
    _last: DiscordMessage | None = None

    @property
    def name(self) -> str:
        return f"discord:{self.channel.id}"

    @property
    def is_private(self) -> bool:
        return self.channel.guild is None

    async def say(self, text: str, file: File | None) -> None:
        attachments = [file] if file else []
        author = self.chance.choice(self.users)
        self._last = await self.discord.say(author, self.channel, text, attachments=attachments)

    async def reword(self, words: str) -> None:
        if self._last is not None:
            await self.discord.edit(self._last, f"{self._last.content} {words}")

    async def command(self, name: str) -> None:
        await self.discord.slash(self.users[0], self.channel, name)

    async def press(self, ending: str) -> bool:
        for message in self._own():
            for button in message.buttons:
                if button.endswith(ending):
                    await self.discord.press(self.users[0], message, button)
                    return True
        return False

    def texts(self) -> list[str]:
        return [message.content for message in self._own()]

    def _own(self) -> Iterator[DiscordMessage]:
        return (one for one in self.discord.messages(self.channel) if one.author is self.discord.bot)


FILES: tuple[File, ...] = (
    ("notes.txt", b"The boat is blue.", "text/plain"),
    ("photo.png", files.picture(), "image/png"),
    ("letter.docx", files.docx("Dear all,", "the boat is blue."), "application/octet-stream"),
    ("broken.pdf", b"%PDF-1.7 and nothing else", "application/pdf"),
    ("../../etc/passwd", b"\x00\x01\x02\x03", "image/jpeg"),
)


@dataclass(slots=True)
class Town:
    """`written`: the numbers said in each chat, in order; `did`: how often people did what."""

    chats: Sequence[Chat]
    chance: random.Random
    written: dict[str, list[int]] = field(default_factory=dict)
    did: Counter[str] = field(default_factory=Counter)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def say(self, chat: Chat, file: File | None = None) -> None:
        number = next(self._numbers)
        self.written.setdefault(chat.name, []).append(number)
        self.did["messages"] += 1
        await chat.say(f"This is n{number}, please confirm.", file)

    async def act(self, chat: Chat) -> None:
        """Somebody does something: mostly they write."""
        what = self.chance.random()
        if what < 0.04:
            self.did["attachments"] += 1
            await self.say(chat, self.chance.choice(FILES))
        elif what < 0.08:
            self.did["commands"] += 1
            await chat.command(self.chance.choice(COMMANDS))
        elif what < 0.12 and chat.is_private:
            self.did["edits"] += 1
            await self.say(chat)
            await chat.reword("At once!")
        elif what < 0.16 and chat.is_private:
            await chat.reword("It is urgent.")
            self.did["edits"] += 1
        elif what < 0.24 and await chat.press(" no"):
            self.did["presses"] += 1
        else:
            await self.say(chat)

    def answered_all(self) -> bool:
        """Every number stands in its chat, whatever else does."""
        return all(
            set(of).issubset(number for text in chat.texts() for number in numbers(text))
            for chat in self.chats
            if (of := self.written.get(chat.name))
        )


def chats(telegram: FakeTelegram, discord: FakeDiscord, count: int, chance: random.Random) -> list[Chat]:
    """Half of them on either platform; there, one in eight is a group, and on Discord one in eight a thread."""
    half, groups = count // 2, count // 16
    guild = discord.guild("Home")
    members = [discord.user(f"Member {number}") for number in range(MEMBERS)]
    made: list[Chat] = []
    for number in range(half - groups):
        made.append(TelegramChat(telegram, 21_000 + number, (21_000 + number,), chance))
    for number in range(groups):
        users = [31_000 + MEMBERS * number + member for member in range(MEMBERS)]
        made.append(TelegramChat(telegram, -1_001_000_000_000 - number, users, chance))
    for number in range(count - half - 2 * groups):
        person = discord.user(f"Person {number}")
        made.append(DiscordChat(discord, discord.dm(person), (person,), chance))
    for number in range(groups):
        room = guild.text(f"room-{number}")
        made.append(DiscordChat(discord, room, members, chance))
        made.append(DiscordChat(discord, room.thread(f"thread-{number}"), members, chance))
    return made
