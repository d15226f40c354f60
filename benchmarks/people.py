"""What both benchmarks share: numbered messages, a model that repeats the numbers, and what people got to see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tests.fakes.telegram import Call, FakeTelegram

NUMBER = re.compile(r"\bn(\d+)\b")
"""How a message names itself: `n17`. The header of a turn holds nothing of the kind."""

JsonObject = dict[str, Any]


def numbers(text: str) -> list[int]:
    return [int(found) for found in NUMBER.findall(text)]


def asked_now(body: JsonObject) -> list[int]:
    """Numbers in what people wrote since the model's last finished answer: the steps of a tool are in between."""
    newest: list[int] = []
    for message in reversed(body["messages"]):
        blocks = message["content"] if isinstance(message["content"], list) else []
        if message["role"] == "user":
            texts = [message["content"]] if not blocks else [one["text"] for one in blocks if one["type"] == "text"]
            newest = numbers("\n".join(texts)) + newest
        elif not any(one["type"] == "tool_use" for one in blocks):
            break
    return newest


def in_tool(body: JsonObject) -> bool:
    """The request brings a tool's result."""
    content = body["messages"][-1]["content"]
    return isinstance(content, list) and any(one["type"] == "tool_result" for one in content)


class NewCalls:
    """The platform's log from where it was last looked at."""

    def __init__(self, telegram: FakeTelegram) -> None:
        self._telegram = telegram
        self._seen = len(telegram.calls)

    def __iter__(self) -> Iterator[Call]:
        while self._seen < len(self._telegram.calls):
            self._seen += 1
            yield self._telegram.calls[self._seen - 1]


def answered(calls: Iterable[Call]) -> Iterator[int]:
    """Numbers in messages that reached a chat for good: sent or edited, drafts not."""
    for call in calls:
        if call.status == 200 and call.method in ("sendMessage", "editMessageText"):
            yield from numbers(call.params.text("text"))
