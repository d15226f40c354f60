"""What a server takes of a request, learnt from its refusals. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from agent.model.base import OTHER_THINKING, InvalidRequest, ModelRequest
from agent.model.errors import ServerMessage

OPENAI_URL = "https://api.openai.com/v1"
_VERSION = re.compile(r"v\d[a-z0-9]{0,8}\Z")


def api_root(base_url: str | None) -> str:
    """The address with its version: `/v1` unless it names one."""
    root = (base_url or OPENAI_URL).rstrip("/").removesuffix("/chat/completions")
    is_versioned = any(_VERSION.match(part) for part in urlsplit(root).path.split("/"))
    return root if is_versioned else f"{root}/v1"


LimitField = Literal["max_tokens", "max_completion_tokens"]

_NO_TOOLS = re.compile(
    r"(?:does not|doesn't|do not|don't|cannot|can't) support (?:the )?[`'\"]?"
    r"(?:tools?\b|tool[ _-](?:use|call)|function)"
    r"|(?:tools?|tool[ _-](?:use|calls?|calling|choice)|function[ _-]call(?:s|ing)?)[`'\"]? (?:is|are) "
    r"(?:not (?:supported|available|enabled|allowed)|unsupported|disabled)"
    r"|no endpoints found that support tool use|tools? param requires|enable-auto-tool-choice"
    r"|(?:unsupported|unknown|unrecognized|unexpected) (?:request )?(?:parameter|argument|field|keyword)\S{0,3} "
    r"[`'\"]?tools\b|\btools: extra inputs are not permitted",
    re.IGNORECASE,
)
"""Ollama, DeepSeek, Groq, OpenRouter, llama.cpp, vLLM, and servers that do not know the field."""
_NO_SYSTEM = re.compile(
    r"system role (?:is )?not supported|role [`'\"]?system[`'\"]? (?:is )?not|only user,? (?:and )?assistant",
    re.IGNORECASE,
)
"""Templates of Gemma and of early Mistral."""
_UNKNOWN = re.compile(
    r"unsupported|not supported|n't support|unknown|unrecognized|unexpected|extra (?:inputs|fields)|not permitted"
    r"|invalid|additional propert",
    re.IGNORECASE,
)
_REASONING = re.compile(r"\breasoning(?:_content)?\b")
_MISSING = re.compile(r"missing|must be (?:passed|provided)|is required")
"""Kimi and DeepSeek, of calls of earlier turns too."""
_AFTER_TOOL = re.compile(r"unexpected role '?user'? after role '?tool", re.IGNORECASE)
"""Mistral."""
_EFFORT = re.compile(r"reasoning[_ .]effort", re.IGNORECASE)
_USAGE = re.compile(r"stream_options|include_usage")
_REFUSING = (400, 404, 422, 500, 501)
"""Statuses that servers refuse a field with."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """`limit`: the field for the longest answer; `reasoning`: of which answers it takes that back. The others: true if
    it takes tools, a system message, `stream_options`, `reasoning_effort`, a user's message after results."""

    limit: LimitField = "max_tokens"
    tools: bool = True
    system: bool = True
    usage: bool = True
    effort: bool = True
    user_after_tool: bool = True
    reasoning: Literal["turn", "all", "none"] = "turn"


class FeatureRefused(InvalidRequest):
    """The same request may do in another dialect."""

    def __init__(self, message: str, dialect: Dialect) -> None:
        super().__init__(message)
        self.dialect = dialect


def learnt(dialect: Dialect, status: int, said: ServerMessage, request: ModelRequest) -> Dialect | None:
    """The dialect without what a refusal blames, if that was sent."""
    if status not in _REFUSING:
        return None
    text, lower = said.all, said.all.lower()
    if dialect.tools and request.tools and _NO_TOOLS.search(text):
        return replace(dialect, tools=False)
    if dialect.system and request.system and _NO_SYSTEM.search(text):
        return replace(dialect, system=False)
    if dialect.user_after_tool and _AFTER_TOOL.search(text):
        return replace(dialect, user_after_tool=False)
    if dialect.reasoning == "turn" and _REASONING.search(lower) and _MISSING.search(lower):
        return replace(dialect, reasoning="all")
    if status == 500 or not _UNKNOWN.search(text):
        return None
    if dialect.usage and _USAGE.search(lower):
        return replace(dialect, usage=False)
    if dialect.effort and request.effort is not None and _EFFORT.search(lower):
        return replace(dialect, effort=False)
    if dialect.limit == "max_tokens" and "max_completion_tokens" in lower:
        return replace(dialect, limit="max_completion_tokens")
    if dialect.limit == "max_completion_tokens" and "max_completion_tokens" in lower and "value" not in lower:
        return replace(dialect, limit="max_tokens")
    if dialect.reasoning != "none" and _REASONING.search(lower) and _sends_reasoning(request):
        return replace(dialect, reasoning="none")
    return None


def reasoning_field(block: Mapping[str, object]) -> str:
    """The field in which a thinking block came; empty if it came from elsewhere."""
    signature = str(block.get("signature") or "")
    return signature.removeprefix(OTHER_THINKING) if signature.startswith(OTHER_THINKING) else ""


def _sends_reasoning(request: ModelRequest) -> bool:
    return any(reasoning_field(block) for message in request.messages for block in message.content)
