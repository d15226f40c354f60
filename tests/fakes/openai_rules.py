"""What a chat completions server refuses with 400, as OpenAI's does, as far as it can be told from one request."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

from tests.fakes.anthropic_rules import FakeModelInfo, JsonObject, Rejected

_FIELDS = {
    *("model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "tools", "tool_choice"),
    *("parallel_tool_calls", "reasoning_effort", "response_format", "user", "seed", "store", "metadata"),
}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_PARTS = {"system": {"text"}, "developer": {"text"}, "user": {"text", "image_url"}, "tool": {"text"}}
_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "refusal", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}


def check_completion(body: JsonObject, info: FakeModelInfo, reasoning: str = "") -> None:
    """Raise `Rejected` for the first thing that the API would refuse. `reasoning`: a field that it takes back."""
    for name in ("model", "messages"):
        if name not in body:
            raise Rejected(f"you must provide a {name} parameter")
    for name in body:
        if name not in _FIELDS:
            raise Rejected(f"Unrecognized request argument supplied: {name}")
    if "stream_options" in body and not body.get("stream"):
        raise Rejected("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    if body.get("reasoning_effort") not in (None, *_EFFORTS):
        raise Rejected(f"Invalid value: {body['reasoning_effort']!r}. Supported values are: 'low', 'medium', 'high'.")
    _check_limit(body, info)
    _check_tools(body)
    if not isinstance(body["messages"], list) or not body["messages"]:
        raise Rejected("Invalid 'messages': empty array. Expected an array with minimum length 1.")
    for index, message in enumerate(body["messages"]):
        _check_message(index, message, reasoning)
    _check_calls(body["messages"])
    size = tokens_of(body)
    if size > info.max_input_tokens:
        most = info.max_input_tokens
        raise Rejected(
            f"This model's maximum context length is {most} tokens. However, your messages resulted in {size} tokens.",
            kind="context_length_exceeded",
        )


def tokens_of(value: Any) -> int:
    """Tokens of a piece of JSON: four characters each, and a fixed number for a picture."""
    return -(-len(re.sub(r"base64,[A-Za-z0-9+/=]+", "x" * 6_400, json.dumps(value, ensure_ascii=False))) // 4)


def _check_limit(body: JsonObject, info: FakeModelInfo) -> None:
    for field in ("max_tokens", "max_completion_tokens"):
        most = body.get(field)
        if most is None:
            continue
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise Rejected(f"Invalid '{field}': integer below minimum value.")
        if most > info.max_tokens:
            raise Rejected(
                f"{field} is too large: {most}. This model supports at most {info.max_tokens} completion tokens, "
                f"whereas you provided {most}."
            )
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise Rejected("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")


def _check_tools(body: JsonObject) -> None:
    if "tools" not in body:
        if "tool_choice" in body:
            raise Rejected("'tool_choice' is only allowed when 'tools' are specified.")
        return
    tools = body["tools"]
    if not isinstance(tools, list) or not tools:
        raise Rejected("Invalid 'tools': empty array. Expected an array with minimum length 1.")
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        function = tool.get("function") or {}
        if tool.get("type") != "function" or set(tool) - {"type", "function"}:
            raise Rejected(f"Invalid value for 'tools[{index}]'")
        if not _NAME.match(function.get("name") or "") or function["name"] in seen:
            raise Rejected(f"Invalid 'tools[{index}].function.name': string does not match pattern, or is not unique.")
        seen.add(function["name"])
        if function.get("parameters", {"type": "object"}).get("type") != "object":
            raise Rejected(f"Invalid schema for function '{function['name']}': it must be of type 'object'")


def _check_message(index: int, message: JsonObject, reasoning: str) -> None:
    role = message.get("role")
    if role not in _KEYS:
        raise Rejected(f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user' and 'tool'.")
    for name in message:
        if name not in _KEYS[role] and not (role == "assistant" and reasoning and name == reasoning):
            raise Rejected(f"Additional properties are not allowed ('{name}' was unexpected) - 'messages.{index}'")
    content = message.get("content")
    if role == "assistant":
        if content is None and not message.get("tool_calls"):
            raise Rejected(f"Invalid value for 'content': expected a string, got null. (messages.[{index}].content)")
        if content is not None and not isinstance(content, str):
            raise Rejected(f"Invalid type for 'messages[{index}].content'")
        return
    if not isinstance(content, str | list) or content == []:
        raise Rejected(f"Invalid value for 'content': expected a string, got null. (messages.[{index}].content)")
    for part in content if isinstance(content, list) else ():
        if part.get("type") not in _PARTS[role]:
            raise Rejected(f"Invalid value: '{part.get('type')}'. (messages[{index}].content, role {role})")
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            raise Rejected(f"Missing required parameter: 'messages[{index}].content[0].text'.")
        if part["type"] == "image_url":
            _check_picture(part.get("image_url"))


def _check_picture(given: Any) -> None:
    url = given.get("url") if isinstance(given, dict) else None
    if not isinstance(url, str):
        raise Rejected("Invalid type for 'image_url': expected an object with a url.")
    if url.startswith("https://"):
        return
    if not _DATA.match(url):
        raise Rejected("You uploaded an unsupported image. Please make sure your image is of png, jpeg, gif or webp.")
    try:
        base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error:
        raise Rejected("Invalid base64 image_url.") from None


def _check_calls(messages: list[JsonObject]) -> None:
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise Rejected(
                    f"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    f"'tool_calls'. (messages.[{index}])"
                )
            open_calls.remove(message["tool_call_id"])
            continue
        _check_answered(open_calls)
        calls = message.get("tool_calls")
        if calls is not None and (not isinstance(calls, list) or not calls):
            raise Rejected(f"Invalid 'messages[{index}].tool_calls': empty array.")
        for call in calls or ():
            function = call.get("function") or {}
            if not isinstance(call.get("id"), str) or not 0 < len(call["id"]) <= 40 or call.get("type") != "function":
                raise Rejected(f"Invalid 'messages[{index}].tool_calls[0].id'")
            if not _NAME.match(function.get("name") or "") or not isinstance(function.get("arguments"), str):
                raise Rejected(f"Invalid 'messages[{index}].tool_calls[0].function'")
            open_calls.append(call["id"])
        if len(set(open_calls)) < len(open_calls):
            raise Rejected(f"Invalid 'messages[{index}].tool_calls': ids must be unique")
    _check_answered(open_calls)


def _check_answered(open_calls: list[str]) -> None:
    if open_calls:
        raise Rejected(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_calls)}"
        )
