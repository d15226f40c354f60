"""What the Messages API refuses with 400, as far as it can be told from one request (anthropic-version 2026-10-21)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

JsonObject = dict[str, Any]

MAX_BODY = 32 * 1024 * 1024
MAX_MESSAGES = 100_000
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_IMAGE_SIDE = 8_000
MAX_IMAGE_SIDE_OF_MANY = 2_000
MANY_IMAGES = 20
IMAGE_TOKENS = 1_600
MAX_CACHE_MARKS = 4
EFFORTS = ("low", "medium", "high", "xhigh", "max")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_FIELDS = {
    *("model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "stop_sequences", "metadata"),
    *("thinking", "output_config", "cache_control", "service_tier", "container", "context_management"),
    *("mcp_servers", "inference_geo", "diagnostics", "speed"),
}
_USER_BLOCKS = {"text", "image", "document", "tool_result", "search_result"}
_SEARCH_KEYS = {"type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location", "cache_control"}
_SERVER_BLOCKS = {"server_tool_use", "web_search_tool_result"}
_ASSISTANT_BLOCKS = {"text", "thinking", "redacted_thinking", "tool_use"} | _SERVER_BLOCKS


@dataclass(frozen=True, slots=True)
class FakeModelInfo:
    """Limits in tokens. `adaptive`: of the generation that always thinks (no forced tool, no prefill, no budget)."""

    id: str
    max_input_tokens: int = 1_000_000
    max_tokens: int = 128_000
    adaptive: bool = True
    max_images: int = 600


class Rejected(Exception):
    """The request is refused. `status` and `type` as the API answers them."""

    def __init__(self, message: str, *, status: int = 400, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def blocks_of(message: JsonObject) -> list[JsonObject]:
    """The content as a list of blocks, whichever way it was written."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def check(body: JsonObject, info: FakeModelInfo) -> None:
    """Raise `Rejected` for the first thing that the API would refuse."""
    _check_fields(body, info)
    _check_tools(body, info)
    _check_system(body)
    _check_messages(body["messages"])
    _check_tool_pairs(body["messages"])
    _check_ending(body["messages"], info)
    _check_cache_marks(body)
    _check_images(body["messages"], info)
    _check_signatures(body)
    tokens = estimate(body)
    if tokens > info.max_input_tokens:
        raise Rejected(f"prompt is too long: {tokens} tokens > {info.max_input_tokens} maximum")


def estimate(value: object) -> int:
    """Tokens of a piece of JSON: four characters each, and a fixed number for a picture."""
    return -(-len(json.dumps(_without_pixels(value), ensure_ascii=False)) // 4)


def _without_pixels(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get("type") == "image":
            return "x" * 4 * IMAGE_TOKENS
        return {key: _without_pixels(part) for key, part in value.items()}
    return [_without_pixels(part) for part in value] if isinstance(value, list) else value


def without_marks(value: Any) -> Any:
    """The same JSON without `cache_control` anywhere, and with plain string content as a block."""
    if isinstance(value, dict):
        plain = {key: without_marks(part) for key, part in value.items() if key != "cache_control"}
        if "role" in plain and isinstance(plain.get("content"), str):
            plain["content"] = [{"type": "text", "text": plain["content"]}]
        return plain
    return [without_marks(part) for part in value] if isinstance(value, list) else value


def system_blocks(body: JsonObject) -> list[JsonObject]:
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else system


def signature(body: JsonObject, messages_before: Sequence[JsonObject], thinking: str) -> str:
    """Bound to the model, system, tools, every earlier message, and the thinking itself."""
    prefix = [body["model"], system_blocks(body), body.get("tools") or [], list(messages_before), thinking]
    text = json.dumps(without_marks(prefix), sort_keys=True, ensure_ascii=False)
    return "fake-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _check_fields(body: JsonObject, info: FakeModelInfo) -> None:
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            raise Rejected(f"{name}: Field required")
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            raise Rejected(f"{name}: sampling parameters are not supported in this API version")
    for name in body:
        if name not in _FIELDS:
            raise Rejected(f"{name}: Extra inputs are not permitted")
    max_tokens = body["max_tokens"]
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 0:
        raise Rejected("max_tokens: Input should be a valid integer")
    if max_tokens > info.max_tokens:
        raise Rejected(f"max_tokens: {max_tokens} > {info.max_tokens}, which is the maximum for {info.id}")
    thinking = body.get("thinking")
    if thinking is not None:
        kind = thinking.get("type")
        if kind not in ("enabled", "disabled", "adaptive"):
            raise Rejected(f"thinking.type: unknown value {kind!r}")
        if info.adaptive and kind != "adaptive":
            raise Rejected(f"thinking.type: {kind!r} is not supported by {info.id}; use output_config.effort")
        if not info.adaptive and kind == "adaptive":
            raise Rejected("adaptive thinking is not supported on this model")
        if thinking.get("display", "omitted") not in ("omitted", "summarized"):
            raise Rejected("thinking.display: unknown value")
    effort = (body.get("output_config") or {}).get("effort")
    if effort is not None and (effort not in EFFORTS or not info.adaptive):
        raise Rejected(f"output_config.effort: {effort!r} is not supported by {info.id}")


def _check_tools(body: JsonObject, info: FakeModelInfo) -> None:
    seen: set[str] = set()
    for index, tool in enumerate(body.get("tools") or []):
        name = tool.get("name", "")
        if not _TOOL_NAME.match(name):
            raise Rejected(f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if name in seen:
            raise Rejected("tools: Tool names must be unique.")
        seen.add(name)
        if (tool.get("type"), name) == ("web_search_20250305", "web_search"):
            if unknown := set(tool) - _SEARCH_KEYS:
                raise Rejected(f"tools.{index}.web_search_20250305.{min(unknown)}: Extra inputs are not permitted")
            continue
        if (tool.get("input_schema") or {}).get("type") != "object":
            raise Rejected(f"tools.{index}.custom.input_schema.type: Input should be 'object'")
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not seen:
        raise Rejected("tool_choice may only be specified while providing tools")
    if info.adaptive and choice.get("type") in ("any", "tool"):
        raise Rejected("tool_choice: forced tool use is not supported with thinking")


def _check_system(body: JsonObject) -> None:
    if "system" in body and not isinstance(body["system"], str | list):
        raise Rejected("system: Input should be a valid string or list")
    if isinstance(body.get("system"), list):
        for block in body["system"]:
            _check_text("system", block)


def _check_text(where: str, block: JsonObject) -> None:
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        raise Rejected(f"{where}: text content blocks must have a text")
    if not text:
        raise Rejected(f"{where}: text content blocks must be non-empty")
    if not text.strip():
        raise Rejected(f"{where}: text content blocks must contain non-whitespace text")


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise Rejected("messages: at least one message is required")
    if len(messages) > MAX_MESSAGES:
        raise Rejected(f"messages: too many messages: {len(messages)} > {MAX_MESSAGES}")
    previous = ""
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in ("user", "assistant", "system"):
            raise Rejected(f"messages.{index}.role: Input should be 'user', 'assistant' or 'system'")
        if index == 0 and role != "user":
            raise Rejected('messages: first message must use the "user" role')
        if role == "system" and previous != "user":
            raise Rejected(f"messages.{index}: a system message must follow a user message")
        if role == previous:
            raise Rejected(f"messages: roles must alternate, but found multiple {role!r} roles in a row at {index}")
        previous = role
        _check_content(index, role, message)


def _check_content(index: int, role: str, message: JsonObject) -> None:
    content = message.get("content")
    if not isinstance(content, str | list):
        raise Rejected(f"messages.{index}.content: Input should be a valid string or list")
    if not content:
        raise Rejected(f"messages.{index}: all messages must have non-empty content")
    allowed = _ASSISTANT_BLOCKS if role == "assistant" else _USER_BLOCKS
    for position, block in enumerate(blocks_of(message)):
        kind = block.get("type")
        if kind not in allowed:
            raise Rejected(f"messages.{index}.content.{position}: {kind!r} is not allowed in a {role} message")
        if kind == "text":
            _check_text("messages", block)
            if role == "user" and block.get("citations"):
                raise Rejected(f"messages.{index}.content.{position}.citations: not allowed on user text")
        if kind == "tool_result":
            _check_result_content(index, position, block)


def _check_result_content(index: int, position: int, block: JsonObject) -> None:
    content = block.get("content", "")
    if block.get("is_error") and isinstance(content, list) and any(part.get("type") != "text" for part in content):
        where = f"messages.{index}.content.{position}.tool_result"
        raise Rejected(f"{where}: all content must be type `text` if `is_error` is true")
    for part in content if isinstance(content, list) else []:
        if part.get("type") == "text":
            _check_text(f"messages.{index}.tool_result", part)


def _check_tool_pairs(messages: list[JsonObject]) -> None:
    asked: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        blocks = blocks_of(message)
        results = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
        if results and any(block.get("type") != "tool_result" for block in blocks[: len(results)]):
            raise Rejected(f"messages.{index}: tool_result blocks must come first in the content")
        missing = [call for call in asked if call not in results]
        if missing:
            raise Rejected(
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )
        for result in results:
            if result not in asked:
                raise Rejected(f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {result}")
            if results.count(result) > 1:
                raise Rejected(f"messages.{index}: each tool_use must have a single result: {result}")
        asked = []
        for block in blocks:
            if block.get("type") != "tool_use":
                continue
            call = block.get("id") or ""
            if not _TOOL_ID.match(call) or not _TOOL_NAME.match(block.get("name") or ""):
                raise Rejected(f"messages.{index}: tool_use needs an id and a name of [a-zA-Z0-9_-]")
            if not isinstance(block.get("input"), dict):
                raise Rejected(f"messages.{index}: tool_use.input: Input should be a valid dictionary")
            if call in seen:
                raise Rejected("messages: `tool_use` ids must be unique")
            seen.add(call)
            asked.append(call)
    if asked:
        raise Rejected(
            f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            + ", ".join(asked)
        )


def _check_ending(messages: list[JsonObject], info: FakeModelInfo) -> None:
    if messages[-1]["role"] != "assistant":
        return
    last = blocks_of(messages[-1])[-1]
    if last.get("type") == "text" and last["text"] != last["text"].rstrip():
        raise Rejected("messages: final assistant content cannot end with trailing whitespace")
    if info.adaptive and last.get("type") not in _SERVER_BLOCKS:
        raise Rejected(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _marked(body: JsonObject) -> Iterator[JsonObject]:
    yield from (tool for tool in body.get("tools") or [] if tool.get("cache_control"))
    yield from (block for block in system_blocks(body) if block.get("cache_control"))
    for message in body["messages"]:
        yield from (block for block in blocks_of(message) if block.get("cache_control"))


def _check_cache_marks(body: JsonObject) -> None:
    marked = list(_marked(body))
    marks = [block["cache_control"] for block in marked] + (
        [body["cache_control"]] if body.get("cache_control") else []
    )
    if len(marks) > MAX_CACHE_MARKS:
        raise Rejected(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    for mark in marks:
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            raise Rejected("cache_control: unknown type or ttl")
    ttls = [mark.get("ttl", "5m") for mark in marks]
    if "1h" in ttls and "5m" in ttls and ttls.index("5m") < len(ttls) - 1 - ttls[::-1].index("1h"):
        raise Rejected("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
    for block in marked:
        if block.get("type") == "text" and not block.get("text"):
            raise Rejected("cache_control cannot be set for empty text blocks")
        if block.get("type") in ("thinking", "redacted_thinking"):
            raise Rejected("cache_control cannot be set for thinking blocks")


def _images(messages: list[JsonObject]) -> Iterator[tuple[str, JsonObject]]:
    """Every picture, after the place that the API names it by."""
    for index, message in enumerate(messages):
        for position, block in enumerate(blocks_of(message)):
            content = block.get("content")
            inner = content if block.get("type") == "tool_result" and isinstance(content, list) else []
            for part in [block, *inner]:
                if part.get("type") == "image":
                    yield f"messages.{index}.content.{position}.image", part


_MAGIC = {"image/png": b"\x89PNG\r\n", "image/jpeg": b"\xff\xd8", "image/gif": b"GIF8", "image/webp": b"RIFF"}


def _check_images(messages: list[JsonObject], info: FakeModelInfo) -> None:
    images = list(_images(messages))
    if len(images) > info.max_images:
        raise Rejected(f"messages: too many images: {len(images)} > {info.max_images}")
    limit = MAX_IMAGE_SIDE_OF_MANY if len(images) > MANY_IMAGES else MAX_IMAGE_SIDE
    for where, image in images:
        source = image.get("source") or {}
        if source.get("type") not in ("base64", "url", "file"):
            raise Rejected(f"{where}.source: Input tag {source.get('type')!r} does not match any of the expected tags")
        if extra := image.keys() - {"type", "source", "cache_control"}:
            raise Rejected(f"{where}.{min(extra)}: Extra inputs are not permitted")
        if source["type"] != "base64":
            continue
        where = f"{where}.source.base64"
        media_type = source.get("media_type")
        if media_type not in _MAGIC:
            raise Rejected(f"{where}.media_type: Input should be one of {', '.join(_MAGIC)}")
        try:
            data = base64.b64decode(source.get("data", ""), validate=True)
        except (binascii.Error, ValueError):
            raise Rejected(f"{where}.data: invalid base64") from None
        if len(data) > MAX_IMAGE_BYTES:
            raise Rejected(f"{where}: image exceeds 5 MB maximum: {len(data)} bytes > {MAX_IMAGE_BYTES} bytes")
        if not data.startswith(_MAGIC[media_type]):
            raise Rejected(
                f"{where}: image was specified using the {media_type} media type, but does not appear to be one"
            )
        if max(_image_size(where, data)) > limit:
            raise Rejected(f"{where}: image dimensions exceed max allowed size: {limit} pixels")


def _image_size(where: str, data: bytes) -> tuple[int, int]:
    """Width and height. Raises `Rejected` where it is not a whole picture."""
    try:
        with Image.open(io.BytesIO(data)) as picture:
            if max(picture.size) <= MAX_IMAGE_SIDE:
                picture.load()
            return picture.size
    except (OSError, SyntaxError, ValueError):
        raise Rejected(f"{where}: Could not process image") from None


def _check_signatures(body: JsonObject) -> None:
    messages = body["messages"]
    for index, message in enumerate(messages):
        for position, block in enumerate(blocks_of(message)):
            if block.get("type") != "thinking":
                continue
            where = f"messages.{index}.content.{position}"
            signed = block.get("signature")
            if not isinstance(signed, str) or not signed.startswith("fake-"):
                raise Rejected(f"{where}: Invalid `signature` in `thinking` block")
            if signed != signature(body, messages[:index], block.get("thinking", "")):
                raise Rejected(f"{where}: thinking block is bound to a different conversation")
