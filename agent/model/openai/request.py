"""The body of `POST /chat/completions`, made of Messages API blocks. Pure.

Reasoning goes back within its turn only, in the field that it came in: some servers demand it between tool calls, none
reads it later. What other providers signed or ran themselves is left out or put in words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.model.base import Block, Json, Message, ModelRequest, text_in, without_blocks
from agent.model.openai.dialect import Dialect, reasoning_field

ChatMessage = dict[str, Json]
NO_TOOLS = (
    "You cannot call tools here, whatever is said about them elsewhere. What the person asks you to remember is "
    "written down for you, and your notes are searched for you where a question needs it. Answer in words only."
)
NO_TOOLS_FLUSH = (
    "You cannot call tools now. Answer instead with what should be written down, one fact a line, or with NO_REPLY "
    "alone if there is nothing."
)
_ID_LENGTH = 9
_ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_EFFORTS = {"max": "xhigh"}
_PICTURE = "[The picture is in the next message]"


def body_of(request: ModelRequest, dialect: Dialect) -> dict[str, Json]:
    messages = request.messages if dialect.tools else _in_words(request.messages)
    system = [text for text in request.system if text.strip()]
    if request.tools and not dialect.tools:
        system.append(NO_TOOLS_FLUSH if request.purpose == "flush" else NO_TOOLS)
    chat = _merged(_chat(messages, dialect))
    if system and dialect.system:
        chat.insert(0, {"role": "system", "content": "\n\n".join(system)})
    elif system:
        chat = _merged([{"role": "user", "content": "\n\n".join(system)}, *chat])
    body: dict[str, Json] = {"model": request.model, "messages": chat, "stream": True}
    body[dialect.limit] = request.max_tokens
    if dialect.usage:
        body["stream_options"] = {"include_usage": True}
    tools = [tool for tool in request.tools if not tool.server]
    if tools and dialect.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in tools
        ]
    if request.effort is not None and dialect.effort:
        body["reasoning_effort"] = _EFFORTS.get(request.effort, request.effort)
    return body


def call_id(id: str) -> str:
    """Nine letters and digits, always the same for an id: Mistral takes no others."""
    number = int.from_bytes(hashlib.sha256(id.encode("utf-8", "replace")).digest()[:8])
    letters: list[str] = []
    for _ in range(_ID_LENGTH):
        number, letter = divmod(number, len(_ID_LETTERS))
        letters.append(_ID_LETTERS[letter])
    return "".join(letters)


def _chat(messages: Sequence[Message], dialect: Dialect) -> Iterator[ChatMessage]:
    turn = max((at for at, message in enumerate(messages) if _begins_turn(message)), default=0)
    for at, message in enumerate(messages):
        if message.role == "assistant":
            yield from _assistant(message.content, dialect, in_turn=at > turn)
        else:
            yield from _user(message.content, dialect)


def _begins_turn(message: Message) -> bool:
    return message.role == "user" and not any(block.get("type") == "tool_result" for block in message.content)


def _assistant(content: Iterable[Block], dialect: Dialect, *, in_turn: bool) -> Iterator[ChatMessage]:
    reasons = dialect.reasoning == "all" or (dialect.reasoning == "turn" and in_turn)
    texts: list[str] = []
    calls: list[Json] = []
    reasoning: dict[str, str] = {}
    for block in content:
        match block.get("type"):
            case "text":
                texts.append(str(block.get("text") or ""))
            case "tool_use":
                arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
                function: Json = {"name": str(block.get("name")), "arguments": arguments}
                calls.append({"id": call_id(str(block.get("id"))), "type": "function", "function": function})
            case "thinking" if reasons and (field := reasoning_field(block)):
                reasoning[field] = reasoning.get(field, "") + str(block.get("thinking") or "")
            case "server_tool_use" | "web_search_tool_result":
                texts.append(_server_tool(block))
    text = "".join(texts)
    if not text and not calls:
        return
    if calls and not reasoning and dialect.reasoning == "all":
        reasoning = {"reasoning_content": " "}  # another model's calls have none
    said: ChatMessage = {"role": "assistant", "content": text or None, **reasoning}
    yield said | {"tool_calls": calls} if calls else said


def _user(content: Iterable[Block], dialect: Dialect) -> Iterator[ChatMessage]:
    # results first, as they follow their calls; their pictures can only be in a message of the user
    parts: list[ChatMessage] = []
    has_results = False
    for block in content:
        match block.get("type"):
            case "tool_result":
                has_results = True
                text, pictures = _result(block)
                yield {"role": "tool", "tool_call_id": call_id(str(block.get("tool_use_id"))), "content": text}
                parts += pictures
            case "image":
                parts += _picture(block)
            case "text" if block.get("text"):
                parts.append({"type": "text", "text": str(block["text"])})
    if parts and has_results and not dialect.user_after_tool:
        yield {"role": "assistant", "content": "OK."}
    if parts:
        yield {"role": "user", "content": _content(parts)}


def _result(block: Block) -> tuple[str, list[ChatMessage]]:
    content = block.get("content")
    if isinstance(content, str):
        text, pictures = content, list[ChatMessage]()
    else:
        inner = _inner(block)
        pictures = [picture for part in inner if part.get("type") == "image" for picture in _picture(part)]
        texts = [str(part.get("text")) for part in inner if part.get("type") == "text"]
        text = "\n".join([*texts, _PICTURE] if pictures else texts)
    return (f"Error: {text}" if block.get("is_error") else text) or "(nothing)", pictures


def _picture(block: Block) -> list[ChatMessage]:
    source = block.get("source")
    if not isinstance(source, Mapping):
        return []
    if source.get("type") == "url":
        url = str(source.get("url"))
    else:
        url = f"data:{source.get('media_type')};base64,{source.get('data')}"
    return [{"type": "image_url", "image_url": {"url": url}}]


def _content(parts: list[ChatMessage]) -> Json:
    if all(part["type"] == "text" for part in parts):  # many templates take no list
        return "\n\n".join(str(part["text"]) for part in parts)
    return parts


def _merged(chat: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Neighbouring messages of the user as one, for templates that demand turns."""
    merged: list[ChatMessage] = []
    for message in chat:
        if merged and message["role"] == "user" == merged[-1]["role"]:
            merged[-1] = {"role": "user", "content": _content(_parts(merged[-1]) + _parts(message))}
        else:
            merged.append(message)
    return merged


def _parts(message: ChatMessage) -> list[ChatMessage]:
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [dict(part) for part in content if isinstance(part, Mapping)] if isinstance(content, Sequence) else []


def _server_tool(block: Block) -> str:
    given, found = block.get("input"), block.get("content")
    if block.get("type") == "server_tool_use":
        query = given.get("query") if isinstance(given, Mapping) else None
        return f"\n[Searched the web: {query}]\n" if query else ""
    pages = [page for page in found if isinstance(page, Mapping)] if isinstance(found, Sequence) else []
    return "".join(f"[Found: {page.get('title')} {page.get('url')}]\n" for page in pages if page.get("url"))


def _in_words(messages: Sequence[Message]) -> tuple[Message, ...]:
    names = {
        str(block.get("id")): str(block.get("name"))
        for message in messages
        for block in message.content
        if block.get("type") == "tool_use"
    }
    told: list[Message] = []
    for message in messages:
        content: list[Block] = []
        for block in message.content:
            if block.get("type") == "tool_result":
                text, pictures = _result(block)
                name = names.get(str(block.get("tool_use_id")), "a tool")
                content.append({"type": "text", "text": f"[Result of {name}]\n{text.replace(_PICTURE, '').strip()}"})
                content += [part for part in _inner(block) if part.get("type") == "image"] if pictures else []
            elif block.get("type") == "tool_use":
                arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
                content.append({"type": "text", "text": f"[Used {block.get('name')} {arguments}]"})
            else:
                content.append(block)
        told.append(Message(message.role, tuple(content)))
    return without_blocks(told, lambda block: block.get("type") == "text" and not text_in([block]).strip())


def _inner(block: Block) -> list[Block]:
    content = block.get("content")
    inner = content if isinstance(content, Sequence) and not isinstance(content, str) else []
    return [part for part in inner if isinstance(part, Mapping)]
