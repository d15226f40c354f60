"""JSON of people, channels, servers and messages, complete as the documentation has it
(https://discord.com/developers/docs/resources)."""

from __future__ import annotations

from tests.fakes.discord.errors import JsonObject
from tests.fakes.discord.model import (
    DM,
    FORUM,
    NOT_BY_DEFAULT,
    PERMISSIONS,
    REPLY,
    Attachment,
    Channel,
    Guild,
    Message,
    Role,
    User,
)

LONG_AGO = "2024-01-01T00:00:00.000000+00:00"
DEFAULT = sum(bit for name, bit in PERMISSIONS.items() if name not in NOT_BY_DEFAULT)
MAX_FILE = 10 * 1024 * 1024


def user_json(user: User) -> JsonObject:
    return {
        "id": str(user.id),
        "username": user.name.lower(),
        "global_name": None if user.bot else user.name,
        "discriminator": "0000" if user.bot else "0",
        "avatar": None,
        "avatar_decoration_data": None,
        "banner": None,
        "accent_color": None,
        "public_flags": 0,
        "flags": 0,
        "primary_guild": None,
        "clan": None,
        "collectibles": None,
    } | ({"bot": True} if user.bot else {})


def member_json(guild: Guild, user: User, *, with_user: bool = True) -> JsonObject:
    roles = [str(role.id) for role in guild.roles.values() if user.id in role.members]
    member: JsonObject = {
        "roles": roles,
        "nick": guild.nicks.get(user.id),
        "avatar": None,
        "banner": None,
        "joined_at": LONG_AGO,
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": False,
        "communication_disabled_until": None,
    }
    return member | ({"user": user_json(user)} if with_user else {})


def role_json(guild: Guild, role: Role) -> JsonObject:
    return {
        "id": str(role.id),
        "name": role.name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": 0 if role.id == guild.id else 1,
        "permissions": str(DEFAULT if role.id == guild.id else 0),
        "managed": role.of_bot is not None,
        "mentionable": True,
        "flags": 0,
    } | ({"tags": {"bot_id": str(role.of_bot)}} if role.of_bot is not None else {})


def channel_json(channel: Channel, bot: User) -> JsonObject:
    last = str(max(channel.messages)) if channel.messages else None
    base: JsonObject = {"id": str(channel.id), "type": channel.type, "last_message_id": last, "flags": 0}
    if channel.type == DM:
        return base | {"recipients": [user_json(channel.recipient)] if channel.recipient else []}
    assert channel.guild is not None
    base |= {"guild_id": str(channel.guild.id), "name": channel.name, "rate_limit_per_user": channel.slow_mode}
    if channel.is_thread:
        return base | _thread_json(channel, bot)
    denied = sum(PERMISSIONS[name] for name in channel.denied - NOT_BY_DEFAULT)
    allowed = sum(PERMISSIONS[name] for name in NOT_BY_DEFAULT - channel.denied)
    overwrites = [{"id": str(bot.id), "type": 1, "allow": str(allowed), "deny": str(denied)}]
    base |= {
        "position": list(channel.guild.channels).index(channel.id),
        "permission_overwrites": overwrites,
        "parent_id": None,
        "topic": None,
        "nsfw": False,
    }
    if channel.type == FORUM:
        base |= {"available_tags": [], "default_reaction_emoji": None, "default_sort_order": None}
        base |= {"default_forum_layout": 0, "template": ""}
    return base


def _thread_json(thread: Channel, bot: User) -> JsonObject:
    count = len(thread.messages)
    return {
        "parent_id": str(thread.parent.id) if thread.parent else None,
        "owner_id": str((thread.owner or bot).id),
        "message_count": count,
        "member_count": 2,
        "total_message_sent": count,
        "applied_tags": [],
        "thread_metadata": {
            "archived": thread.archived,
            "auto_archive_duration": 1440,
            "archive_timestamp": LONG_AGO,
            "create_timestamp": LONG_AGO,
            "locked": thread.locked,
        },
    }


def guild_json(guild: Guild, bot: User) -> JsonObject:
    """As GUILD_CREATE carries it: with channels, active threads and only the bot among the members."""
    channels = list(guild.channels.values())
    return {
        "id": str(guild.id),
        "name": guild.name,
        "icon": None,
        "splash": None,
        "discovery_splash": None,
        "owner_id": str(guild.owner.id),
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "roles": [role_json(guild, role) for role in guild.roles.values()],
        "emojis": [],
        "stickers": [],
        "features": [],
        "mfa_level": 0,
        "application_id": None,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "vanity_url_code": None,
        "description": None,
        "banner": None,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": guild.locale,
        "public_updates_channel_id": None,
        "nsfw_level": 0,
        "premium_progress_bar_enabled": False,
        "safety_alerts_channel_id": None,
        "joined_at": LONG_AGO,
        "large": False,
        "unavailable": False,
        "member_count": len(guild.members),
        "voice_states": [],
        "members": [member_json(guild, bot)],
        "channels": [channel_json(one, bot) for one in channels if not one.is_thread],
        "threads": [channel_json(one, bot) for one in channels if one.is_thread and not one.archived],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def attachment_json(attachment: Attachment) -> JsonObject:
    described = {"description": attachment.description} if attachment.description else {}
    return {
        "id": str(attachment.id),
        "filename": attachment.name,
        "size": attachment.size,
        "url": attachment.url,
        "proxy_url": attachment.url.replace("/attachments/", "/proxied/attachments/"),
        "content_type": attachment.content_type,
        **described,
        **attachment.extra,
    }


def message_json(message: Message, bot: User, *, nested: bool = False) -> JsonObject:
    """As REST answers it; the gateway adds `guild_id` and `member`, see `event_json`."""
    made: JsonObject = {
        "id": str(message.id),
        "type": message.type,
        "channel_id": str(message.channel.id),
        "author": user_json(message.author),
        "content": message.content,
        "timestamp": message.timestamp,
        "edited_timestamp": message.edited,
        "tts": False,
        "mention_everyone": message.mention_everyone,
        "mentions": [user_json(user) for user in message.mentions],
        "mention_roles": [str(role.id) for role in message.mention_roles],
        "attachments": [attachment_json(one) for one in message.attachments],
        "embeds": message.embeds,
        "components": message.components,
        "pinned": False,
        "flags": message.flags,
    }
    if message.reactions:
        made["reactions"] = [_reaction_json(emoji, who, bot) for emoji, who in message.reactions.items()]
    if message.nonce is not None and not nested:
        made["nonce"] = message.nonce
    if message.webhook:
        made["webhook_id"] = str(message.author.id)
    if message.thread is not None:
        made["thread"] = channel_json(message.thread, bot)
    if message.interaction is not None:
        made |= {"interaction_metadata": message.interaction, "application_id": str(bot.id)}
    return made | _reference_json(message, bot, nested=nested) | message.extra


def _reference_json(message: Message, bot: User, *, nested: bool) -> JsonObject:
    target = message.reference
    if target is None:
        return {}
    reference: JsonObject = {"type": 0, "channel_id": str(target.channel.id), "message_id": str(target.id)}
    if target.channel.guild is not None:
        reference["guild_id"] = str(target.channel.guild.id)
    made: JsonObject = {"message_reference": reference}
    if message.type == REPLY and not nested:
        made["referenced_message"] = None if target.deleted else message_json(target, bot, nested=True)
    return made


def _reaction_json(emoji: str, who: set[int], bot: User) -> JsonObject:
    return {
        "emoji": {"id": None, "name": emoji},
        "count": len(who),
        "count_details": {"burst": 0, "normal": len(who)},
        "burst_colors": [],
        "me_burst": False,
        "burst_me": False,
        "me": bot.id in who,
        "burst_count": 0,
    }


def event_json(message: Message, bot: User) -> JsonObject:
    """As MESSAGE_CREATE and MESSAGE_UPDATE carry it."""
    made = message_json(message, bot)
    guild = message.channel.guild
    made["channel_type"] = message.channel.type
    if guild is not None:
        made["guild_id"] = str(guild.id)
        if not message.webhook:
            made["member"] = member_json(guild, message.author, with_user=False)
        for user in made["mentions"]:
            user["member"] = member_json(guild, guild.members[int(user["id"])], with_user=False)
    return made


def hide_content(made: JsonObject) -> JsonObject:
    """What is left without the message content intent
    (https://discord.com/developers/docs/events/gateway#message-content-intent)."""
    hidden = made | {"content": "", "embeds": [], "attachments": [], "components": []}
    hidden.pop("poll", None)
    return hidden


def content_is_visible(message: Message, bot: User) -> bool:
    """To a bot without that intent: DMs, its own messages, and those that mention it."""
    return message.channel.type == DM or message.author is bot or bot in message.mentions
