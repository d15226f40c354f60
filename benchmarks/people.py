"""What benchmarks share: numbered messages, a model that repeats the numbers, and what people got to see."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gateway.messages.outbox import REPEAT_MARK
from tests.fakes.telegram import Call, FakeTelegram

NUMBER = re.compile(r"\bn(\d+)\b")
"""How a message names itself: `n17`. The header of a turn holds nothing of the kind."""

THE_END = "That is all."
"""The last words of every answer: a text without them is only the beginning of one."""

JsonObject = dict[str, Any]
K = TypeVar("K")


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


# What stands in the chats at the end


@dataclass(frozen=True, slots=True)
class Seen:
    """How the numbers were answered. `marked`: a second time, and marked as perhaps a repeat; `twice`: without the
    mark; `disorder`: an answer behind that of a later message."""

    once: int
    marked: int
    twice: Sequence[int]
    never: Sequence[int]
    disorder: Sequence[str]
    half_written: int


def seen(written: Mapping[K, Sequence[int]], texts: Mapping[K, Sequence[str]]) -> Seen:
    """`written`: the numbers of each chat; `texts`: what the bot's messages read there, in their order."""
    plain = _counted(text for chat in texts.values() for text in chat if not is_marked(text))
    marked = _counted(text for chat in texts.values() for text in chat if is_marked(text))
    everything = sorted(number for numbers_of in written.values() for number in numbers_of)
    return Seen(
        once=sum(plain[number] + marked[number] == 1 for number in everything),
        marked=sum(marked[number] > 0 and plain[number] <= 1 < plain[number] + marked[number] for number in everything),
        twice=[number for number in everything if plain[number] > 1],
        never=[number for number in everything if not plain[number] and not marked[number]],
        disorder=[f"n{late} after n{early} in {chat}" for chat in texts for early, late in _disorder(texts[chat])],
        half_written=sum(bool(numbers(text)) and not answers(text) for chat in texts.values() for text in chat),
    )


def _counted(texts: Iterable[str]) -> Counter[int]:
    return Counter(number for text in texts for number in answers(text))


def is_marked(text: str) -> bool:
    return text.startswith(REPEAT_MARK.strip())


def answers(text: str) -> set[int]:
    """The numbers that a text answers; none where it is only the beginning of an answer."""
    return set(numbers(text)) if text.endswith(THE_END) else set()


def _disorder(texts: Iterable[str]) -> list[tuple[int, int]]:
    """Pairs that came in the wrong order; what came a second time is no matter of order."""
    highest, known, wrong = 0, set[int](), list[tuple[int, int]]()
    for text in texts:
        new = answers(text) - known
        known |= new
        wrong += [(highest, number) for number in sorted(new) if number < highest]
        highest = max([highest, *new])
    return wrong


def given_up(database: Path) -> dict[tuple[str, str], list[set[int]]]:
    """Per channel and chat, the numbers of each turn that the gateway says it ended with an error text."""
    turns: dict[tuple[str, str, str], set[int]] = {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for channel, chat, turn, message in connection.execute(
            "SELECT channel, chat_id, turn, message FROM inbox WHERE outcome = 'error'"
        ):
            turns.setdefault((channel, chat, turn), set()).update(numbers(message))
    chats: dict[tuple[str, str], list[set[int]]] = {}
    for (channel, chat, _), named in turns.items():
        chats.setdefault((channel, chat), []).append(named)
    return chats
