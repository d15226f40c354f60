"""The platform behind the Bot API: chats, people, messages and the queue of updates. Knows no HTTP."""

from __future__ import annotations

import itertools
import time
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypedDict

from tests.fakes.bell import Bell
from tests.fakes.telegram.markup import MAX_TEXT, cut, found_entities, units
from tests.fakes.telegram.wire import ApiError, JsonObject
from tests.files import picture

ChatType = Literal["private", "group", "supergroup"]

GENERAL_TOPIC = 1
FIRST_UPDATE_ID = 700_000_001
DRAFT_SECONDS = 30.0
NOT_BY_DEFAULT = frozenset(("chat_member", "message_reaction", "message_reaction_count"))
"""Kinds of updates that come only when `allowed_updates` names them."""


class MarkedText(TypedDict):
    text: str
    entities: list[JsonObject]


@dataclass(slots=True)
class Message:
    """A message as a person sees it now. `at` is the monotonic second of the send, `edits` how often it was edited."""

    id: int
    chat: int
    thread: int | None
    sender: JsonObject
    text: str
    date: int
    entities: list[JsonObject] = field(default_factory=list)
    reply_to: int | None = None
    markup: JsonObject | None = None
    edits: int = 0
    edit_date: int | None = None
    at: float = 0.0
    extra: JsonObject = field(default_factory=dict)

    @property
    def caption(self) -> str:
        return str(self.extra.get("caption", ""))

    @property
    def buttons(self) -> list[list[JsonObject]]:
        return list((self.markup or {}).get("inline_keyboard", []))


@dataclass(frozen=True, slots=True)
class Draft:
    """One call of sendMessageDraft that was taken. An empty text shows a placeholder."""

    chat: int
    thread: int | None
    draft_id: int
    text: str
    entities: list[JsonObject]
    at: float


@dataclass(frozen=True, slots=True)
class Typing:
    chat: int
    thread: int | None
    action: str
    at: float


@dataclass(slots=True)
class MessageIds:
    """Supergroups count their own messages; all private chats and plain groups of a bot share one count."""

    last: int = 0

    def next(self) -> int:
        self.last += 1
        return self.last

    def taken(self, message_id: int) -> int:
        self.last = max(self.last, message_id)
        return message_id


@dataclass(slots=True)
class Chat:
    id: int
    type: ChatType
    title: str
    messages: dict[int, Message] = field(default_factory=dict)
    topics: set[int] = field(default_factory=set)
    draft: Draft | None = None
    forbidden: str = ""
    moved_to: int | None = None
    ids: MessageIds = field(default_factory=lambda: MessageIds())
    is_forum: bool = False
    refused_kinds: set[str] = field(default_factory=set)
    longest_text: int = MAX_TEXT
    refused_text: dict[str, str] = field(default_factory=dict)
    """What a text must not have in it, and the words of the refusal."""

    def json(self) -> JsonObject:
        if self.type == "private":
            return {"id": self.id, "type": "private", "first_name": self.title}
        forum = {"is_forum": True} if self.is_forum else {}
        return {"id": self.id, "type": self.type, "title": self.title} | forum


class World:
    """What people do in Telegram, and what they see. Every method may be called from any thread."""

    def __init__(self, bot_id: int, username: str, *, first_update_id: int = FIRST_UPDATE_ID) -> None:
        self.bot_id = bot_id
        self.username = username
        self.bell = Bell()
        self.confirmed_offset = 0
        self.drafts: list[Draft] = []
        self.typing: list[Typing] = []
        self.commands: dict[str, list[JsonObject]] = {}
        self.reactions: dict[tuple[int, int], list[JsonObject]] = {}
        self.callback_answers: dict[str, JsonObject] = {}
        self.open_callbacks: set[str] = set()
        self.files: dict[str, tuple[str, bytes | int]] = {}
        self.chats: dict[int, Chat] = {}
        self.users: dict[int, JsonObject] = {}
        self.languages: dict[int, str] = {}
        """Of people's apps; English by default."""
        self.allowed_updates: frozenset[str] | None = None
        self._queue: deque[JsonObject] = deque()
        self._update_ids = itertools.count(first_update_id)
        self._private_ids = MessageIds()
        self._album_ids = itertools.count(1)

    # What people do

    def say(
        self,
        text: str | None,
        *,
        chat: int = 11111,
        user: int | None = None,
        name: str = "Alice",
        thread: int | None = None,
        chat_type: ChatType | None = None,
        entities: list[JsonObject] | None = None,
        reply_to: int | None = None,
        message_id: int | None = None,
        caption: str = "",
        **extra: Any,
    ) -> JsonObject:
        """A person writes to the bot; returns the update that is queued.

        A positive chat is private, a negative one a supergroup. Where `entities` is None, commands, @mentions and links
        are found as Telegram finds them, in a `caption` always. `thread` is a topic, made when it is new (1: the
        General topic of a forum, whose messages carry no thread). Further fields of the message (photo,
        forward_origin…) are taken as they are; `from_bot=True` makes the sender a bot.
        """
        if text is not None and units(text) > MAX_TEXT:
            raise ValueError(f"clients cut a text at {MAX_TEXT} units; use paste()")
        if caption:
            extra |= {"caption": caption, "caption_entities": found_entities(caption)}
        with self.bell.lock:
            place = self._visited(chat, name, thread, chat_type)
            sender = self._person(
                user or (chat if chat > 0 else 11111), name, is_bot=bool(extra.pop("from_bot", False))
            )
            message = Message(
                id=place.ids.next() if message_id is None else place.ids.taken(message_id),
                chat=chat,
                thread=None if thread == GENERAL_TOPIC else thread,
                sender=sender,
                text=text or "",
                date=int(time.time()),
                entities=found_entities(text or "") if entities is None else entities,
                reply_to=reply_to,
                at=time.monotonic(),
                extra=extra,
            )
            place.messages[message.id] = message
            return self._queued("message", self.message_json(message))

    def paste(self, text: str, *, chat: int = 11111, name: str = "Alice") -> list[JsonObject]:
        """A long text, cut at 4096 units by the client, one update for each piece."""
        return [self.say(piece, chat=chat, name=name) for piece in cut(text)]

    def edit(
        self, message_id: int, text: str, *, chat: int = 11111, entities: list[JsonObject] | None = None
    ) -> JsonObject:
        """A person edits their own message; returns the update. Raises `KeyError` where there is none."""
        with self.bell.lock:
            message = self.chats[chat].messages[message_id]
            message.text, message.edits, message.edit_date = text, message.edits + 1, int(time.time())
            message.entities = found_entities(text) if entities is None else entities
            return self._queued("edited_message", self.message_json(message))

    def press(self, message_id: int, data: str, *, chat: int = 11111, user: int | None = None) -> str:
        """A person presses a button under the bot's message; returns the id of the callback query."""
        with self.bell.lock:
            message = self.chats[chat].messages[message_id]
            if data not in [button.get("callback_data") for row in message.buttons for button in row]:
                raise ValueError(f"message {message_id} has no button with the data {data!r}")
            query = f"{message_id}{self._private_ids.next():010d}"
            self.open_callbacks.add(query)
            sender = self._person(user or (chat if chat > 0 else 11111), "Alice")
            press = {"id": query, "from": sender, "chat_instance": str(chat), "data": data}
            self._queued("callback_query", press | {"message": self.message_json(message)})
            return query

    def push(self, update: JsonObject) -> JsonObject:
        """Queue an update as it is, however odd; without an `update_id` it gets the next."""
        with self.bell.lock:
            update = {"update_id": next(self._update_ids)} | update
            self._queue.append(update)
            self.bell.ring()
            return update

    def migrate(self, old_chat: int, new_chat: int) -> None:
        """A group becomes a supergroup: both service messages are queued, and the old id refuses sends from now on."""
        with self.bell.lock:
            old = self._visited(old_chat, "", None, "group")
            self.say(None, chat=old_chat, chat_type="group", migrate_to_chat_id=new_chat)
            self._visited(new_chat, "", None, "supergroup").title = old.title
            self.say(None, chat=new_chat, migrate_from_chat_id=old_chat)
            old.moved_to = new_chat

    def block(self, user: int) -> None:
        """The person blocks the bot: sends to them are refused, and the bot is told."""
        self._forbid(user, "bot was blocked by the user")

    def kick(self, chat: int) -> None:
        """The bot is thrown out of a group."""
        self._forbid(chat, "bot was kicked from the supergroup chat")

    def unblock(self, chat: int) -> None:
        with self.bell.lock:
            self.chats[chat].forbidden = ""

    def add_chat(self, chat: int, *, name: str = "Alice", thread: int | None = None) -> None:
        """A chat that the bot knows, without a message: someone pressed Start long ago."""
        with self.bell.lock:
            self._visited(chat, name, thread, None)

    def add_file(self, content: bytes | int, name: str = "file.bin") -> str:
        """A file that can be fetched; a number stands for that many bytes that nobody needs to hold. Returns the
        `file_id` to put into a message."""
        with self.bell.lock:
            file_id = f"AgACAgIAAx{len(self.files):06d}"
            self.files[file_id] = (f"documents/file_{len(self.files)}_{name}", content)
            return file_id

    def add_local_file(self, path: Path) -> str:
        """A file on the disk of a Bot API server that runs with --local. Returns its `file_id`."""
        with self.bell.lock:
            file_id = f"AgACAgIAAx{len(self.files):06d}"
            self.files[file_id] = (str(path), path.stat().st_size)
            return file_id

    def sent_file(self, message: Message) -> tuple[str, bytes]:
        """The name (empty for a photo) and the bytes of a file that the bot has sent. Raises `KeyError`."""
        extra = message.extra
        kind = next(one for one in ("document", "voice", "audio", "photo") if one in extra)
        told = extra[kind][-1] if kind == "photo" else extra[kind]
        _, content = self.files[told["file_id"]]
        assert isinstance(content, bytes)
        return told.get("file_name", ""), content

    def allow_no(self, chat: int, *kinds: str) -> None:
        """An administrator forbids what the bot may send (`photo`, `document`), or a person wants no `voice`."""
        with self.bell.lock:
            self.chats[chat].refused_kinds.update(kinds)

    def refuse_text(self, chat: int, *, longest: int = MAX_TEXT, **parts: str) -> None:
        """Take no text there that is longer (in UTF-16 units), or that holds one of the parts: each with the words of
        its refusal."""
        with self.bell.lock:
            self.chats[chat].longest_text = longest
            self.chats[chat].refused_text = dict(parts)

    def add_album(self, chat: int, *captions: str, **said: Any) -> list[JsonObject]:
        """A person sends photos as an album, each with a caption or an empty one."""
        with self.bell.lock:
            album = f"1{next(self._album_ids):016d}"
            return [
                self.say(None, chat=chat, media_group_id=album, photo=[self._photo()], caption=one, **said)
                for one in captions
            ]

    def _photo(self) -> JsonObject:
        content = picture(90, 60, "JPEG")
        id = self.add_file(content, "photo.jpg")
        return {"file_id": id, "file_unique_id": id[-8:], "width": 90, "height": 60, "file_size": len(content)}

    def mention(self, text: str) -> MarkedText:
        """Text that calls the bot, for `say(**mention("hi"))`: `{bot}` becomes the mention, else that stands first."""
        before, found, after = text.partition("{bot}")
        if not found:
            before, after = "", f" {text}"
        mention = f"@{self.username}"
        entity = {"type": "mention", "offset": units(before), "length": units(mention)}
        return {"text": before + mention + after, "entities": [entity]}

    # What people see

    def messages(self, chat: int, thread: int | None = None) -> list[Message]:
        """The bot's messages that stand in a chat now, oldest first; of one topic where `thread` is given."""
        with self.bell.lock:
            known = self.chats.get(chat)
            return [
                replace(message)
                for message in (known.messages.values() if known else ())
                if message.sender["id"] == self.bot_id and thread in (None, message.thread)
            ]

    def draft(self, chat: int) -> Draft | None:
        """The draft that stands in a private chat now: gone after 30 s and with the bot's next message."""
        with self.bell.lock:
            shown = self.chats[chat].draft if chat in self.chats else None
            return shown if shown and time.monotonic() - shown.at < DRAFT_SECONDS else None

    @property
    def pending(self) -> list[JsonObject]:
        """Updates that the bot has not confirmed."""
        with self.bell.lock:
            return list(self._queue)

    # What the Bot API needs

    def confirm(self, offset: int) -> None:
        """Forget the updates before `offset`; a negative one keeps that many of the newest."""
        with self.bell.lock:
            if offset < 0:
                while len(self._queue) > -offset:
                    self._queue.popleft()
            elif offset > 0:
                while self._queue and self._queue[0]["update_id"] < offset:
                    self._queue.popleft()
                self.confirmed_offset = offset

    def batch(self, limit: int) -> list[JsonObject]:
        with self.bell.lock:
            return list(itertools.islice(self._queue, limit))

    def drop_pending(self) -> None:
        with self.bell.lock:
            self._queue.clear()

    def chat(self, chat_id: object) -> Chat:
        """The chat of a call that wants to write to it. Raises `ApiError`."""
        if chat_id is None or chat_id == "":
            raise ApiError("chat_id is empty")
        found = self.chats.get(chat_id) if isinstance(chat_id, int) else None
        if found is None:
            raise ApiError("chat not found")
        if found.moved_to is not None:
            moved = {"migrate_to_chat_id": found.moved_to}
            raise ApiError("group chat was upgraded to a supergroup chat", parameters=moved)
        if found.forbidden:
            raise ApiError(found.forbidden, 403)
        return found

    def bot_json(self) -> JsonObject:
        return {"id": self.bot_id, "is_bot": True, "first_name": "Daybook", "username": self.username}

    def message_json(self, message: Message) -> JsonObject:
        chat = self.chats[message.chat]
        answer: JsonObject = {"message_id": message.id, "from": message.sender, "chat": chat.json()}
        answer["date"] = message.date
        if message.thread is not None:
            answer |= {"message_thread_id": message.thread, "is_topic_message": True}
        if message.edit_date is not None:
            answer["edit_date"] = message.edit_date
        # In a topic what is no reply is told as one to the message that opened the topic; bots trip over that.
        quoted = chat.messages.get(message.reply_to or message.thread or 0)
        if quoted is not None and quoted is not message:
            answer["reply_to_message"] = self.message_json(quoted)
            answer["reply_to_message"].pop("reply_to_message", None)
        if message.text:
            answer["text"] = message.text
            if message.entities:
                answer["entities"] = message.entities
        if message.buttons:
            answer["reply_markup"] = message.markup
        return answer | message.extra

    def _queued(self, kind: str, content: JsonObject) -> JsonObject:
        update = {"update_id": next(self._update_ids), kind: content}
        wanted = kind in self.allowed_updates if self.allowed_updates is not None else kind not in NOT_BY_DEFAULT
        if wanted:
            self._queue.append(update)
        self.bell.ring()
        return update

    def _visited(self, chat: int, name: str, thread: int | None, chat_type: ChatType | None) -> Chat:
        kind: ChatType = chat_type or ("private" if chat > 0 else "supergroup")
        known = self.chats.get(chat)
        if known is None:
            title = name if kind == "private" else f"Group {-chat}"
            known = self.chats[chat] = Chat(chat, kind, title)
            if kind != "supergroup":
                known.ids = self._private_ids
        if thread is not None and kind != "private":
            known.is_forum = True
        if thread is not None and thread not in (GENERAL_TOPIC, *known.topics):
            self._open_topic(known, thread)
        return known

    def _open_topic(self, chat: Chat, thread: int) -> None:
        """A topic begins with a service message, whose id it carries."""
        chat.topics.add(thread)
        created = {"forum_topic_created": {"name": f"Topic {thread}", "icon_color": 7322096}}
        opener = self._person(chat.id if chat.id > 0 else 11111, "Alice")
        chat.messages[chat.ids.taken(thread)] = Message(
            thread, chat.id, thread, opener, "", int(time.time()), extra=created
        )

    def _person(self, user: int, name: str, *, is_bot: bool = False) -> JsonObject:
        person = {"id": user, "is_bot": is_bot, "first_name": name}
        person["language_code"] = self.languages.get(user, "en")
        self.users[user] = person
        return person

    def _forbid(self, chat: int, why: str) -> None:
        with self.bell.lock:
            place = self._visited(chat, "Alice", None, None)
            place.forbidden = why
            status = "kicked" if place.type == "private" else "left"
            self._queued(
                "my_chat_member",
                {
                    "chat": place.json(),
                    "from": self._person(chat if chat > 0 else 11111, "Alice"),
                    "date": int(time.time()),
                    "old_chat_member": {"user": self.bot_json(), "status": "member"},
                    "new_chat_member": {"user": self.bot_json(), "status": status}
                    | ({"until_date": 0} if status == "kicked" else {}),
                },
            )
