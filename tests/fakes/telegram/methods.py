"""The methods of the Bot API that a chat assistant needs, with the refusals of the original.

Words and order of checks follow tdlib/telegram-bot-api (`Client.cpp`) and what its users report; see each `ApiError`.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable
from pathlib import PurePosixPath

from telegram.constants import ReactionEmoji

from tests.fakes.telegram.markup import checked_buttons, checked_caption, checked_text
from tests.fakes.telegram.wire import ApiError, JsonObject, Params, Upload
from tests.fakes.telegram.world import GENERAL_TOPIC, Chat, Draft, Message, Typing, World

Method = Callable[[World, Params], object]

MAX_DOWNLOAD = 20 * 1024 * 1024
MAX_UPLOAD, MAX_PHOTO = 50 * 1024 * 1024, 10 * 1024 * 1024
MAX_SIDES, MAX_RATIO = 10_000, 20
"""Of a photo: width and height together, and the longer by the shorter side."""
MAX_COMMANDS = 100
REACTIONS = frozenset(str(emoji.value) for emoji in ReactionEmoji)
UPLOADS = frozenset(("video", "voice", "audio", "video_note"))
ACTIONS = (
    frozenset(("typing", "upload_photo", "upload_document", "choose_sticker", "find_location"))
    | {f"record_{media}" for media in UPLOADS}
    | {f"upload_{media}" for media in UPLOADS}
)
CHAT_SCOPES = frozenset(("chat", "chat_administrators", "chat_member"))
SCOPES = CHAT_SCOPES | {"default", "all_private_chats", "all_group_chats", "all_chat_administrators"}


def get_me(world: World, params: Params) -> object:
    return world.bot_json() | {
        "can_join_groups": True,
        "can_read_all_group_messages": True,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": False,
        "allows_users_to_create_topics": False,
    }


def send_message(world: World, params: Params) -> object:
    chat = world.chat(params.get("chat_id"))
    text, entities = _taken_by(chat, params, "Message is too long")
    thread = _thread(chat, params)
    reply_to = _reply(chat, params)
    markup = checked_buttons(params.object("reply_markup"))
    params.object("link_preview_options")
    _check_mentioned(world, entities)
    message = Message(
        id=chat.ids.next(),
        chat=chat.id,
        thread=thread,
        sender=world.bot_json(),
        text=text,
        date=int(time.time()),
        entities=entities,
        reply_to=reply_to,
        markup=markup,
        at=time.monotonic(),
    )
    chat.messages[message.id] = message
    chat.draft = None
    return world.message_json(message)


def _taken_by(chat: Chat, params: Params, too_long: str) -> tuple[str, list[JsonObject]]:
    """Text and entities, where the chat takes them."""
    for part, why in chat.refused_text.items():
        if part in params.text("text"):
            raise ApiError(why)
    return checked_text(
        params.text("text"),
        params.array("entities"),
        params.text("parse_mode"),
        too_long=too_long,
        most=chat.longest_text,
    )


def send_photo(world: World, params: Params) -> object:
    """A picture is looked at: what is none, or is too large or too long a strip, is refused."""
    upload = params.file("photo")
    if isinstance(upload, Upload):
        if len(upload.content) > MAX_PHOTO:
            raise ApiError(f"file is too big: photo of {len(upload.content)} bytes")
        width, height = _sides(upload.content)
        if width + height > MAX_SIDES or max(width, height) > MAX_RATIO * min(width, height):
            raise ApiError("PHOTO_INVALID_DIMENSIONS")
        size = {"width": width, "height": height}
    else:
        size = {"width": 90, "height": 90}
    return _send_file(world, params, "photo", upload, lambda file: [file | size])


def send_document(world: World, params: Params) -> object:
    upload = params.file("document")
    name = {"file_name": PurePosixPath(upload.name).name} if isinstance(upload, Upload) else {}
    return _send_file(world, params, "document", upload, lambda file: file | name)


def send_voice(world: World, params: Params) -> object:
    """Ogg with Opus in it, alone; the original sends other sounds as documents, which no client of ours may rely on."""
    upload = params.file("voice")
    if isinstance(upload, Upload) and upload.content and not _is_opus(upload.content):
        raise ApiError("wrong type of voice: OGG with OPUS is wanted")
    chat = world.chat(params.get("chat_id"))
    if chat.type == "private" and "voice" in chat.refused_kinds:  # a person's own choice
        raise ApiError("VOICE_MESSAGES_FORBIDDEN")
    return _send_file(world, params, "voice", upload, lambda file: file | {"duration": 1, "mime_type": "audio/ogg"})


def _is_opus(content: bytes) -> bool:
    """True if the first packet of the first page (RFC 3533) is the header of Opus (RFC 7845)."""
    if len(content) < 28 or content[:5] != b"OggS\0":
        return False
    return content[27 + content[26] :].startswith(b"OpusHead\x01")


def send_audio(world: World, params: Params) -> object:
    """MP3, for the player of music."""
    upload = params.file("audio")
    is_mp3 = isinstance(upload, Upload) and upload.content.startswith((b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"))
    if isinstance(upload, Upload) and upload.content and not is_mp3:
        raise ApiError("wrong type of audio: MP3 or M4A is wanted")
    return _send_file(world, params, "audio", upload, lambda file: file | {"duration": 1})


def _send_file(
    world: World, params: Params, kind: str, upload: Upload | str, described: Callable[[JsonObject], object]
) -> object:
    chat = world.chat(params.get("chat_id"))
    if kind in chat.refused_kinds:
        raise ApiError(f"not enough rights to send {kind}s to the chat")
    caption, entities = checked_caption(
        params.text("caption"), params.array("caption_entities"), params.text("parse_mode")
    )
    thread = _thread(chat, params)
    reply_to = _reply(chat, params)
    markup = checked_buttons(params.object("reply_markup"))
    if isinstance(upload, Upload):
        if not upload.content:
            raise ApiError("file must be non-empty")
        file_id = world.add_file(upload.content, PurePosixPath(upload.name).name)
    elif not upload:
        raise ApiError(f"there is no {kind} in the request")
    elif upload not in world.files:
        raise ApiError("wrong file identifier/HTTP URL specified")
    else:
        file_id = upload
    message = Message(
        id=chat.ids.next(),
        chat=chat.id,
        thread=thread,
        sender=world.bot_json(),
        text="",
        date=int(time.time()),
        reply_to=reply_to,
        markup=markup,
        at=time.monotonic(),
        extra={kind: described({"file_id": file_id, "file_unique_id": file_id[-8:]})},
    )
    if caption:
        message.extra |= {"caption": caption, "caption_entities": entities}
    chat.messages[message.id] = message
    chat.draft = None
    return world.message_json(message)


def _sides(content: bytes) -> tuple[int, int]:
    """Width and height of a PNG or JPEG. Raises `ApiError` for what is neither (the original reads some more kinds)."""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR" and len(content) > 24:
        width, height = struct.unpack(">II", content[16:24])
        return width, height
    frame = re.search(rb"\xff[\xc0\xc1\xc2]..\x08(....)", content, re.DOTALL)
    if content.startswith(b"\xff\xd8\xff") and frame:
        height, width = struct.unpack(">HH", frame[1])
        return width, height
    raise ApiError("IMAGE_PROCESS_FAILED")


def send_message_draft(world: World, params: Params) -> object:
    chat = world.chat(params.get("chat_id"))
    if params.integer("draft_id") == 0:
        raise ApiError("RANDOM_ID_INVALID")
    if chat.type != "private":
        raise ApiError("TEXTDRAFT_PEER_INVALID")
    text, entities = "", list[JsonObject]()
    if params.text("text"):
        text, entities = checked_text(params.text("text"), params.array("entities"), params.text("parse_mode"))
    thread = _thread(chat, params)
    chat.draft = Draft(chat.id, thread, params.integer("draft_id"), text, entities, time.monotonic())
    world.drafts.append(chat.draft)
    return True


def edit_message_text(world: World, params: Params) -> object:
    message = _own_message(world, params)
    text, entities = _taken_by(world.chat(params.get("chat_id")), params, "MESSAGE_TOO_LONG")
    markup = checked_buttons(params.object("reply_markup"))
    return _edited(world, message, text, entities, markup)


def edit_message_reply_markup(world: World, params: Params) -> object:
    message = _own_message(world, params)
    return _edited(world, message, message.text, message.entities, checked_buttons(params.object("reply_markup")))


def delete_message(world: World, params: Params) -> object:
    chat = world.chat(params.get("chat_id"))
    message = chat.messages.get(params.integer("message_id"))
    if message is None:
        raise ApiError("message to delete not found")
    if message.sender["id"] != world.bot_id and chat.type != "private":
        raise ApiError("message can't be deleted")
    del chat.messages[message.id]
    return True


def send_chat_action(world: World, params: Params) -> object:
    chat = world.chat(params.get("chat_id"))
    action = params.text("action")
    if action not in ACTIONS:
        raise ApiError("Wrong parameter action in request")
    thread = _thread(chat, params, general=True)
    world.typing.append(Typing(chat.id, thread, action, time.monotonic()))
    return True


def set_message_reaction(world: World, params: Params) -> object:
    chat = world.chat(params.get("chat_id"))
    message_id = params.integer("message_id")
    if message_id not in chat.messages:
        raise ApiError("message to react not found")
    reactions = params.array("reaction") or []
    if len(reactions) > 1:
        raise ApiError("REACTIONS_TOO_MANY")
    if any(not isinstance(one, dict) or str(one.get("emoji")) not in REACTIONS for one in reactions):
        raise ApiError("REACTION_INVALID")
    world.reactions[chat.id, message_id] = reactions
    return True


def answer_callback_query(world: World, params: Params) -> object:
    query = str(params.get("callback_query_id", ""))
    if query not in world.open_callbacks:
        raise ApiError("query is too old and response timeout expired or query ID is invalid")
    if len(params.text("text")) > 200:
        raise ApiError("MESSAGE_TOO_LONG")
    world.open_callbacks.remove(query)
    world.callback_answers[query] = dict(params)
    return True


def set_my_commands(world: World, params: Params) -> object:
    commands = params.array("commands")
    if commands is None:
        raise ApiError("Can't parse commands JSON object")
    if len(commands) > MAX_COMMANDS:
        raise ApiError("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not isinstance(command, dict) or not {"command", "description"} <= command.keys():
            raise ApiError("can't parse BotCommand: Can't find field \"command\"")
        if not re.fullmatch(r"/?[a-z0-9_]{1,32}", str(command["command"])):
            raise ApiError("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command["description"])) <= 256:
            raise ApiError("BOT_COMMAND_DESCRIPTION_INVALID")
    world.commands[_scope(world, params)] = commands
    return True


def delete_my_commands(world: World, params: Params) -> object:
    world.commands.pop(_scope(world, params), None)
    return True


def get_my_commands(world: World, params: Params) -> object:
    return world.commands.get(_scope(world, params), [])


def get_chat(world: World, params: Params) -> object:
    return world.chat(params.get("chat_id")).json() | {"accent_color_id": 0, "max_reaction_count": 11}


def get_file(world: World, params: Params) -> object:
    file_id = str(params.get("file_id", ""))
    if not file_id:
        raise ApiError("file_id not specified")
    if file_id not in world.files:
        raise ApiError("wrong file_id or the file is temporarily unavailable")
    path, content = world.files[file_id]
    size = content if isinstance(content, int) else len(content)
    if size > MAX_DOWNLOAD and not PurePosixPath(path).is_absolute():
        raise ApiError("file is too big")
    return {"file_id": file_id, "file_unique_id": file_id[-8:], "file_size": size, "file_path": path}


def get_webhook_info(world: World, params: Params) -> object:
    return {"url": "", "has_custom_certificate": False, "pending_update_count": len(world.pending)}


def delete_webhook(world: World, params: Params) -> object:
    if params.flag("drop_pending_updates"):
        world.drop_pending()
    return True


def set_profile_text(world: World, params: Params) -> object:
    return True


METHODS: dict[str, Method] = {
    "getMe": get_me,
    "sendMessage": send_message,
    "sendMessageDraft": send_message_draft,
    "sendPhoto": send_photo,
    "sendDocument": send_document,
    "sendVoice": send_voice,
    "sendAudio": send_audio,
    "editMessageText": edit_message_text,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "deleteMessage": delete_message,
    "sendChatAction": send_chat_action,
    "setMessageReaction": set_message_reaction,
    "answerCallbackQuery": answer_callback_query,
    "setMyCommands": set_my_commands,
    "deleteMyCommands": delete_my_commands,
    "getMyCommands": get_my_commands,
    "getChat": get_chat,
    "getFile": get_file,
    "getWebhookInfo": get_webhook_info,
    "deleteWebhook": delete_webhook,
    "setMyName": set_profile_text,
    "setMyDescription": set_profile_text,
    "setMyShortDescription": set_profile_text,
}


def _thread(chat: Chat, params: Params, *, general: bool = False) -> int | None:
    """The topic of a call. The General topic of a forum has the id 1 and takes no sends: they go without a topic."""
    thread = params.integer("message_thread_id")
    if thread == 0:
        return None
    if thread not in chat.topics and not (general and thread == GENERAL_TOPIC and chat.is_forum):
        raise ApiError("message thread not found")
    return thread


def _reply(chat: Chat, params: Params) -> int | None:
    reply = params.object("reply_parameters") or {"message_id": params.integer("reply_to_message_id")}
    message_id = reply.get("message_id")
    if not message_id:
        return None
    if not isinstance(message_id, int):
        raise ApiError('can\'t parse ReplyParameters: Field "message_id" must be of type Number')
    if message_id in chat.messages and reply.get("chat_id", chat.id) == chat.id:
        return message_id
    if reply.get("allow_sending_without_reply") or params.flag("allow_sending_without_reply"):
        return None
    raise ApiError("message to be replied not found")


def _check_mentioned(world: World, entities: list[JsonObject]) -> None:
    for entity in entities:
        user = entity.get("user")
        known = isinstance(user, dict) and user.get("id") in list(world.users)
        if entity["type"] == "text_mention" and not known:
            raise ApiError("user not found")


def _own_message(world: World, params: Params) -> Message:
    chat = world.chat(params.get("chat_id"))
    message_id = params.integer("message_id")
    if not message_id:
        raise ApiError("message identifier is not specified")
    message = chat.messages.get(message_id)
    if message is None:
        raise ApiError("message to edit not found")
    if message.sender["id"] != world.bot_id:
        raise ApiError("message can't be edited")
    return message


def _edited(
    world: World, message: Message, text: str, entities: list[JsonObject], markup: JsonObject | None
) -> JsonObject:
    if (text, entities, markup) == (message.text, message.entities, message.markup):
        raise ApiError(
            "message is not modified: specified new message content and reply markup are exactly the same as a current "
            "content and reply markup of the message"
        )
    message.text, message.entities, message.markup = text, entities, markup
    message.edits, message.edit_date = message.edits + 1, int(time.time())
    return world.message_json(message)


def _scope(world: World, params: Params) -> str:
    """The key of a list of commands: `default`, `all_private_chats`, `chat:11111`…, with a language `default/de`."""
    scope = params.object("scope") or {"type": "default"}
    key = kind = str(scope.get("type"))
    if kind not in SCOPES:
        raise ApiError("can't parse BotCommandScope: Unsupported type specified")
    if kind in CHAT_SCOPES:
        key += f":{world.chat(scope.get('chat_id')).id}"
    if kind == "chat_member":
        key += f":{scope.get('user_id')}"
    language = params.text("language_code")
    if language and not re.fullmatch(r"[a-z]{2}", language):
        raise ApiError("Invalid language code specified")
    return f"{key}/{language}" if language else key
