"""The REST endpoints that a chat bot needs, with the refusals of the original
(https://discord.com/developers/docs/reference)."""

from __future__ import annotations

import re
import unicodedata
from typing import Any
from urllib.parse import unquote

from tests.fakes.discord.errors import ApiError, JsonObject, invalid, throttled
from tests.fakes.discord.gateway import Gateway
from tests.fakes.discord.model import (
    COMPONENTS_V2,
    DM,
    FORUM,
    PLAIN_TYPES,
    REPLY,
    SUPPRESS_EMBEDS,
    VOICE_MESSAGE,
    Attachment,
    Channel,
    Message,
    User,
)
from tests.fakes.discord.payloads import MAX_FILE, channel_json, guild_json, member_json, message_json, user_json
from tests.fakes.discord.rules import MAX_FILES, check_message
from tests.fakes.discord.wire import NO_CONTENT, Request, Routes

SETTABLE = SUPPRESS_EMBEDS | 1 << 12 | VOICE_MESSAGE | COMPONENTS_V2
"""Flags that a bot may set on a message; others are ignored."""


class Rest(Gateway):
    """A gateway with what REST keeps beside the world."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.nonce_seconds = 300.0
        self._nonces: dict[str, tuple[float, Message]] = {}
        self._last_sent: dict[int, float] = {}

    def seen_json(self, message: Message) -> JsonObject:
        """A message as REST gives it to this bot."""
        made = message_json(message, self.bot)
        return made if "message_content" in self.privileged else self.hidden(made, message)

    def visible(self, channel_id: int) -> Channel:
        channel = self.channels.get(channel_id)
        if channel is None:
            raise ApiError(10003)
        if channel.lacks("view_channel"):
            raise ApiError(50001)
        return channel

    def need(self, channel: Channel, permission: str) -> None:
        if channel.lacks(permission):
            raise ApiError(50013)

    def message(self, channel: Channel, message_id: int) -> Message:
        message = channel.messages.get(message_id)
        if message is None or message.only_for is not None:
            raise ApiError(10008)
        return message

    def own_message(self, channel: Channel, message_id: int) -> Message:
        message = self.message(channel, message_id)
        if message.author is not self.bot:
            raise ApiError(50005)
        return message


routes: Routes[Rest] = Routes()


# The bot itself


@routes.add("GET", "/gateway")
def gateway(fake: Rest, request: Request) -> Any:
    return {"url": fake.gateway_url}


@routes.add("GET", "/gateway/bot")
def gateway_bot(fake: Rest, request: Request) -> Any:
    return {"url": fake.gateway_url, "shards": fake.recommended_shards, "session_start_limit": fake.starts.json()}


@routes.add("GET", "/users/@me")
def me(fake: Rest, request: Request) -> Any:
    return user_json(fake.bot) | {"verified": True, "mfa_enabled": False, "locale": "en-US", "email": None}


@routes.add("GET", "/oauth2/applications/@me")
@routes.add("GET", "/applications/@me")
def application(fake: Rest, request: Request) -> Any:
    return {
        "id": str(fake.bot.id),
        "name": fake.bot.name,
        "icon": None,
        "description": "",
        "summary": "",
        "type": None,
        "bot": user_json(fake.bot),
        "bot_public": False,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": fake.application_flags,
        "approximate_guild_count": len(fake.guilds),
        "owner": user_json(next((guild.owner for guild in fake.guilds.values()), User(1, "Owner"))),
        "team": None,
        "hook": True,
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "integration_types_config": {"0": {}},
    }


@routes.add("GET", "/users/{user}")
def user(fake: Rest, request: Request) -> Any:
    found = fake.users.get(request.id("user"))
    if found is None:
        raise ApiError(10013)
    return user_json(found)


@routes.add("POST", "/users/@me/channels")
def create_dm(fake: Rest, request: Request) -> Any:
    recipient = str(request.body().get("recipient_id"))
    found = fake.users.get(int(recipient)) if recipient.isdigit() else None
    if found is None:
        raise ApiError(10013)
    if found.bot:
        raise ApiError(50007)
    return channel_json(fake.dm(found), fake.bot)


@routes.add("GET", "/users/@me/guilds")
def my_guilds(fake: Rest, request: Request) -> Any:
    return [{"id": str(one.id), "name": one.name, "icon": None, "owner": False} for one in fake.guilds.values()]


# Servers and channels


@routes.add("GET", "/guilds/{guild}")
def get_guild(fake: Rest, request: Request) -> Any:
    found = fake.guilds.get(request.id("guild"))
    if found is None:
        raise ApiError(10004)
    left_out = ("channels", "threads", "members", "presences", "voice_states", "joined_at", "unavailable")
    return {key: value for key, value in guild_json(found, fake.bot).items() if key not in left_out}


@routes.add("GET", "/guilds/{guild}/channels")
def guild_channels(fake: Rest, request: Request) -> Any:
    found = fake.guilds.get(request.id("guild"))
    if found is None:
        raise ApiError(10004)
    return guild_json(found, fake.bot)["channels"]


@routes.add("GET", "/guilds/{guild}/threads/active")
def active_threads(fake: Rest, request: Request) -> Any:
    found = fake.guilds.get(request.id("guild"))
    if found is None:
        raise ApiError(10004)
    return {"threads": guild_json(found, fake.bot)["threads"], "members": [], "has_more": False}


@routes.add("GET", "/guilds/{guild}/members/{user}")
def guild_member(fake: Rest, request: Request) -> Any:
    found = fake.guilds.get(request.id("guild"))
    if found is None:
        raise ApiError(10004)
    who = found.members.get(request.id("user"))
    if who is None:
        raise ApiError(10007)
    return member_json(found, who)


@routes.add("GET", "/channels/{channel}")
def get_channel(fake: Rest, request: Request) -> Any:
    return channel_json(fake.visible(request.id("channel")), fake.bot)


@routes.add("PATCH", "/channels/{channel}")
def edit_channel(fake: Rest, request: Request) -> Any:
    channel, body = fake.visible(request.id("channel")), request.body()
    if not channel.is_thread:
        raise ApiError(50013)
    if "name" in body:
        channel.name = _name(body)
    channel.archived = bool(body.get("archived", channel.archived))
    channel.locked = bool(body.get("locked", channel.locked))
    fake.channel_changed(channel)
    return channel_json(channel, fake.bot)


@routes.add("POST", "/channels/{channel}/threads")
def start_thread(fake: Rest, request: Request) -> Any:
    channel, body = fake.visible(request.id("channel")), request.body()
    if channel.guild is None or channel.is_thread:
        raise ApiError(50024)
    fake.need(channel, "send_messages" if channel.type == FORUM else "create_public_threads")
    name = _name(body)
    if channel.type != FORUM:
        private = body.get("type", 12) == 12
        return channel_json(channel.thread(name, private=private, owner=fake.bot), fake.bot)
    first = body.get("message")
    if not isinstance(first, dict):
        raise invalid("message", "BASE_TYPE_REQUIRED", "This field is required")
    check_message(first, 0)
    thread = channel.thread(name, owner=fake.bot)
    inner = Request("POST", request.path, {}, first, request.files)
    message = write(fake, inner, thread, id=thread.id)
    return channel_json(thread, fake.bot) | {"message": message_json(message, fake.bot)}


@routes.add("POST", "/channels/{channel}/messages/{message}/threads")
def start_thread_on(fake: Rest, request: Request) -> Any:
    channel = fake.visible(request.id("channel"))
    fake.need(channel, "create_public_threads")
    if channel.guild is None or channel.is_thread:
        raise ApiError(50024)
    message = fake.message(channel, request.id("message"))
    if message.thread is not None:
        raise ApiError(160004)
    return channel_json(channel.thread(_name(request.body()), starter=message, owner=fake.bot), fake.bot)


@routes.add("PUT", "/channels/{channel}/thread-members/@me")
def join_thread(fake: Rest, request: Request) -> Any:
    if not fake.visible(request.id("channel")).is_thread:
        raise ApiError(50024)
    return NO_CONTENT


def _name(body: JsonObject) -> str:
    name = body.get("name")
    if not isinstance(name, str) or not 1 <= len(name) <= 100:
        raise invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
    return name


@routes.add("POST", "/channels/{channel}/typing")
def typing(fake: Rest, request: Request) -> Any:
    channel = fake.visible(request.id("channel"))
    _check_may_write(fake, channel)
    fake.show_typing(channel, fake.bot)
    return NO_CONTENT


# Messages


@routes.add("GET", "/channels/{channel}/messages")
def history(fake: Rest, request: Request) -> Any:
    """Newest first, whichever end the page is cut from."""
    channel = fake.visible(request.id("channel"))
    if channel.type == FORUM:
        raise ApiError(50008)
    text = request.query.get("limit", "50")
    if not text.isdigit() or not 1 <= int(text) <= 100:
        raise invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
    if channel.lacks("read_message_history"):
        return []
    limit = int(text)
    before, after, around = (request.snowflake(name) for name in ("before", "after", "around"))
    found = [one for id, one in sorted(channel.messages.items(), reverse=True) if one.only_for is None]
    if after is not None:
        found = [one for one in found if one.id > after][-limit:]
    elif before is not None:
        found = [one for one in found if one.id < before]
    elif around is not None:
        half = limit // 2
        newer = [one for one in found if one.id > around][-half:] if half else []
        found = newer + [one for one in found if one.id <= around]
    return [fake.seen_json(one) for one in found[:limit]]


@routes.add("GET", "/channels/{channel}/messages/{message}")
def get_message(fake: Rest, request: Request) -> Any:
    channel = fake.visible(request.id("channel"))
    fake.need(channel, "read_message_history")
    return fake.seen_json(fake.message(channel, request.id("message")))


@routes.add("POST", "/channels/{channel}/messages")
def send(fake: Rest, request: Request) -> Any:
    channel = fake.visible(request.id("channel"))
    _check_may_write(fake, channel)
    return message_json(write(fake, request, channel), fake.bot)


@routes.add("PATCH", "/channels/{channel}/messages/{message}")
def edit(fake: Rest, request: Request) -> Any:
    channel = fake.visible(request.id("channel"))
    message = fake.own_message(channel, request.id("message"))
    if channel.archived:
        raise ApiError(50083)
    rewrite(fake, request, message)
    return message_json(message, fake.bot)


@routes.add("DELETE", "/channels/{channel}/messages/{message}")
def delete(fake: Rest, request: Request) -> Any:
    channel = fake.visible(request.id("channel"))
    message = fake.message(channel, request.id("message"))
    if message.author is not fake.bot:
        if channel.type == DM:
            raise ApiError(50003, 403, "Cannot execute action on a DM channel")
        fake.need(channel, "manage_messages")
    fake.remove_message(message)
    return NO_CONTENT


@routes.add("PUT", "/channels/{channel}/messages/{message}/reactions/{emoji}/@me")
def react(fake: Rest, request: Request) -> Any:
    channel = fake.visible(request.id("channel"))
    message = fake.message(channel, request.id("message"))
    emoji = _emoji(request)
    fake.need(channel, "read_message_history")
    fake.need(channel, "add_reactions")
    if channel.type == DM and channel.recipient is not None and channel.recipient.dms_closed:
        raise ApiError(90001, 403, "Reaction blocked")
    if emoji not in message.reactions and len(message.reactions) >= 20:
        raise ApiError(30010, 400, "Maximum number of reactions reached (20)")
    fake.add_reaction(message, fake.bot, emoji)
    return NO_CONTENT


@routes.add("DELETE", "/channels/{channel}/messages/{message}/reactions/{emoji}/@me")
def unreact(fake: Rest, request: Request) -> Any:
    channel = fake.visible(request.id("channel"))
    message = fake.message(channel, request.id("message"))
    fake.remove_reaction(message, fake.bot, _emoji(request))
    return NO_CONTENT


def _emoji(request: Request) -> str:
    emoji = unquote(request.ids["emoji"])
    symbols = all(unicodedata.category(sign)[0] in "SMC" or sign in "0123456789#*" for sign in emoji)
    if not symbols or not any(ord(sign) > 127 for sign in emoji):
        raise ApiError(10014)
    return emoji


# What sends and edits have in common with the answers to interactions


def write(
    fake: Rest,
    request: Request,
    channel: Channel,
    *,
    id: int | None = None,
    settable: int = SETTABLE,
    **fields: Any,
) -> Message:
    """Send what the body says. Raises `ApiError`."""
    body = request.body()
    flags = int(body.get("flags") or 0) & settable
    check_message(body, flags)
    nonce = body.get("nonce")
    if body.get("enforce_nonce") and nonce is not None and (known := _sent_before(fake, str(nonce))):
        return known
    reference = _reference(fake, channel, body.get("message_reference"))
    content = str(body.get("content") or "").strip()
    files = attachments(fake, request, channel, [])
    if not (content or files or body.get("embeds") or body.get("components") or body.get("sticker_ids")):
        raise ApiError(50006)
    message = fake.add_message(
        channel,
        fake.bot,
        content,
        id=id,
        allowed=body.get("allowed_mentions"),
        type=fields.pop("type", REPLY if reference else 0),
        reference=reference,
        attachments=files,
        embeds=body.get("embeds") or [],
        components=body.get("components") or [],
        flags=flags,
        nonce=nonce,
        **fields,
    )
    if nonce is not None:
        fake._nonces[str(nonce)] = (fake.now(), message)
    return message


def rewrite(fake: Rest, request: Request, message: Message) -> None:
    """Edit what the body names; the rest stays. Raises `ApiError`."""
    body = request.body()
    flags = message.flags
    if body.get("flags") is not None:
        flags = message.flags & ~SUPPRESS_EMBEDS | int(body["flags"]) & (SUPPRESS_EMBEDS | COMPONENTS_V2)
    check_message(body, flags)
    changed: dict[str, Any] = {"flags": flags}
    if "content" in body:
        changed["content"] = str(body["content"] or "").strip()
    if "embeds" in body:
        changed["embeds"] = body["embeds"] or []
    if "components" in body:
        changed["components"] = body["components"] or []
    if "attachments" in body or request.files:
        changed["attachments"] = attachments(fake, request, message.channel, message.attachments)
    left = [changed.get(name, getattr(message, name)) for name in ("content", "embeds", "components", "attachments")]
    if not any(left):
        raise ApiError(50006)
    if body.get("allowed_mentions") is not None:
        message.allowed_mentions = body["allowed_mentions"]
    fake.change_message(message, **changed)


def attachments(fake: Rest, request: Request, channel: Channel, kept: list[Attachment]) -> list[Attachment]:
    """Those kept of the old ones, and the uploads. Raises `ApiError`."""
    if request.files:
        fake.need(channel, "attach_files")
    if any(len(file.content) > MAX_FILE for file in request.files.values()):
        raise ApiError(40005)
    named = request.body().get("attachments")
    wanted = named if named is not None else [{"id": one.id} for one in kept] + [{"id": n} for n in request.files]
    if len(wanted) > MAX_FILES:
        raise invalid("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_FILES} or fewer in length.")
    old = {one.id: one for one in kept}
    made = []
    for index, one in enumerate(wanted):
        number = int(one["id"])
        if number in old:
            made.append(old[number])
        elif number in request.files:
            made.append(fake.attach(channel, request.files[number], one.get("description")))
        else:
            raise invalid(f"attachments.{index}.id", "ATTACHMENT_NOT_FOUND", "Attachment data not found")
    return made


def _check_may_write(fake: Rest, channel: Channel) -> None:
    if channel.type == FORUM:
        raise ApiError(50008)
    if channel.type == DM and channel.recipient is not None and channel.recipient.dms_closed:
        raise ApiError(50007)
    fake.need(channel, "send_messages_in_threads" if channel.is_thread else "send_messages")
    if channel.locked:
        raise ApiError(160005)
    if channel.slow_mode:
        _check_slow_mode(fake, channel)


def _check_slow_mode(fake: Rest, channel: Channel) -> None:
    last = max((one.at for one in channel.messages.values() if one.author is fake.bot), default=-1e9)
    if (left := last + channel.slow_mode - fake.now()) > 0:
        raise throttled(left, code=20016)


def _sent_before(fake: Rest, nonce: str) -> Message | None:
    at, message = fake._nonces.get(nonce, (0.0, None))
    fresh = message is not None and fake.now() - at < fake.nonce_seconds and not message.deleted
    return message if fresh else None


def _reference(fake: Rest, channel: Channel, reference: Any) -> Message | None:
    if not isinstance(reference, dict):
        return None
    target = channel.messages.get(int(reference.get("message_id") or 0))
    if target is None or target.only_for is not None:
        if reference.get("fail_if_not_exists", True):
            raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return None
    if channel.lacks("read_message_history"):
        raise ApiError(160002)
    if target.type not in PLAIN_TYPES:
        raise invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
    return target


def is_public(path: str) -> bool:
    """These take their right from the token in the path."""
    return re.match(r"/(gateway$|interactions/|webhooks/\d+/)", path) is not None
