"""The memory tools that a person's words ask for: for the offline assistant, and for models without tools."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from agent.formats.untrusted import NO_TEXT, person_text
from agent.languages.clauses import order_in
from agent.languages.order_words import MOST_CHARS, OrderKind
from agent.languages.orders import past_day
from agent.languages.remember import asks_to_remember
from agent.model.base import Block, Json, Message, ModelRequest
from agent.model.offline.intent import Intent, IntentKind, understand

_TOOL_OF = {IntentKind.FILE: "memory_append", IntentKind.FIND: "memory_search", IntentKind.TODAY: "memory_get"}


@dataclass(frozen=True, slots=True)
class MemoryCall:
    name: str
    arguments: Mapping[str, Json]


def call_for(text: str, intent: Intent, request: ModelRequest, today: date) -> MemoryCall | None:
    """The call of a tool that the request offers, if the intent needs one."""
    name = _TOOL_OF.get(intent.wish)
    if name is None or name not in {tool.name for tool in request.tools}:
        return None
    match intent.wish:
        case IntentKind.FILE:
            return MemoryCall(name, {"text": text})
        case IntentKind.FIND:
            return MemoryCall(name, {"query": intent.query})
        case _:
            return MemoryCall(name, {"path": f"memory/{today.isoformat()}.md"})


def asked_calls(request: ModelRequest, today: date) -> list[MemoryCall]:
    """The calls that the newest message asks for in words: to remember, to look for. A mere statement asks for none."""
    wanted: list[MemoryCall] = []
    for text in texts_said(request.messages[-1]) if request.messages else ():
        intent = understand(text)
        if intent.wish is IntentKind.FILE and not asks_to_remember(text):
            continue
        call = _call_of_order(text, request, today) or call_for(text, intent, request, today)
        wanted += [call] if call is not None and call not in wanted else []
    return wanted


def _call_of_order(text: str, request: ModelRequest, today: date) -> MemoryCall | None:
    """A day's log and the promises are files; a list is found."""
    order = order_in(" ".join(text.split())) if len(text) <= MOST_CHARS else None
    tools = {tool.name for tool in request.tools}
    match order.kind if order is not None else None:
        case OrderKind.DAY if "memory_get" in tools and (day := past_day(text, today)):
            return MemoryCall("memory_get", {"path": f"memory/{day.isoformat()}.md"})
        case OrderKind.SUM_UP if "memory_get" in tools:
            return MemoryCall("memory_get", {"path": f"memory/{today.isoformat()}.md"})
        case OrderKind.PROMISED if "memory_get" in tools:
            return MemoryCall("memory_get", {"path": "memory/open.md"})
        case OrderKind.SHOW_LIST if "memory_search" in tools:
            return MemoryCall("memory_search", {"query": text})
        case _:
            return None


def texts_said(message: Message) -> list[str]:
    """The person's own words; empty texts for a message without any."""
    if message.role != "user":
        return []
    texts = (str(block.get("text") or "") for block in message.content if block.get("type") == "text")
    said = list(map(person_text, texts))
    return ["" if text == NO_TEXT else text for text in said if text]


def call_blocks(request: ModelRequest, calls: Sequence[MemoryCall], origin: str) -> list[Block]:
    """Calls with unique ids, the same when the request is repeated."""
    return [
        {"type": "tool_use", "id": _id(request, position, origin), "name": call.name, "input": call.arguments}
        for position, call in enumerate(calls)
    ]


def _id(request: ModelRequest, position: int, origin: str) -> str:
    used = [block["id"] for message in request.messages for block in message.content if block.get("type") == "tool_use"]
    digest = hashlib.sha256(f"{request.session}|{len(request.messages)}|{used}|{position}".encode()).hexdigest()
    return f"toolu_{origin}_{digest[:16]}"
