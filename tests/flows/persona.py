"""A model with a character, for long stories: it writes down what it is told to, keeps what it is asked to keep before
a talk is shortened, is absent-minded now and then, and as nosy and talkative as those who speak with it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.compaction.consolidate import UNWRITTEN
from agent.compaction.summary import PARTS
from agent.turn.remember_guard import WRITE_IT_DOWN
from tests.fakes.anthropic import Answer, Say, compose, last_user_text
from tests.fakes.anthropic_rules import blocks_of

_FACT = re.compile(r"the code of [\w ]{1,30} is [A-Z]+\d{4}QX")
TAG = re.compile(r"\(m\d+\)")
"""Numbers a message, anywhere on its last line."""
_CODE = re.compile(r"[A-Z]+\d{4}QX")
_FURTHER = re.compile(r"http://127\.0\.0\.1:\d+/day/\d+/more")
_PRIVATE_PLACES = ("../../MEMORY.md", "../../memory/2026-03-02.md", "../telegram-22222/MEMORY.md", "memory/HISTORY.md")


def codes(text: str) -> list[str]:
    """What was planted in a text, each once, in its order."""
    return list(dict.fromkeys(_CODE.findall(text)))


class Persona:
    """`asked` counts what it was asked for. `moods`: purposes, and what it answers then instead, in order."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.moods: list[tuple[str, Answer | str]] = []

    def __call__(self, body: dict[str, Any]) -> Answer | str:
        newest = last_user_text(body)
        purpose, answer = self._duty(body, newest)
        self.asked[purpose] += 1
        if self.moods and self.moods[0][0] == purpose:
            return self.moods.pop(0)[1]
        return answer

    def _duty(self, body: dict[str, Any], newest: str) -> tuple[str, Answer | str]:
        tools = {tool["name"] for tool in body.get("tools", ())}
        if "save_memory" in tools:
            return "consolidation", _consolidated(newest)
        if "write_journal" in tools:
            return "journal", _journaled(newest)
        if "Only these tools are obeyed now" in newest:
            asked_now = any("text" in block for block in blocks_of(body["messages"][-1]))
            return "flush", _flushed(body) if asked_now else "NO_REPLY"
        if PARTS[0] in newest and "will be replaced by a summary" in newest:
            return "compaction", "\n".join(f"{part}\nas it was" for part in PARTS)
        if WRITE_IT_DOWN in newest:
            return "asked again", "NO_REPLY"
        words = newest.splitlines()[-1]
        return "turn", _tagged(_replied(words, _results(body), body), words)


def _consolidated(shown: str) -> Answer:
    told = codes(shown.partition("<daybook-quoted")[2])
    unwritten = codes(shown.partition(f'<daybook-quoted name="{UNWRITTEN}"')[2])
    named = dict.fromkeys(told[:1] + told[-1:] + unwritten)
    paragraph = f"A talk of {len(told)} things, {' and '.join(named)} among them."
    lasting = [{"old_text": "", "new_text": f"- lasting: {told[-1]}"}] if told else []
    return compose(tool=("save_memory", {"history_entry": paragraph, "memory_update": lasting}))


def _journaled(shown: str) -> Answer:
    told = codes(shown.partition("<daybook-quoted")[2])
    entries = [{"time": "12:00", "text": f"{' and '.join(told)} were spoken of"}]
    return compose(tool=("write_journal", {"entries": entries, "promises": [], "closed": []}))


def _flushed(body: dict[str, Any]) -> Answer | str:
    said = "\n".join(b["text"] for m in body["messages"] if m["role"] == "user" for b in blocks_of(m) if "text" in b)
    passing = [line for line in said.splitlines() if line.startswith("By the way, ")]
    facts = list(dict.fromkeys(fact for line in passing for fact in _FACT.findall(line)))
    return compose(tools=[("memory_append", {"text": fact}) for fact in facts]) if facts else "NO_REPLY"


def _replied(words: str, results: str, body: dict[str, Any]) -> Answer:
    if results:
        if (link := _FURTHER.search(results)) and link[0] not in str(body["messages"][-2]):
            return compose(tool=("web_fetch", {"url": link[0]}), thinking="There is more.")
        found = [code for code in codes(words) if code in results] or codes(results)[:5]
        return compose(f"That is done. {' '.join(found)}", thinking="It is written.")
    fact = next(iter(_FACT.findall(words)), "")
    if fact and "absent-minded" not in words and (call := _writing(words, fact)):
        return compose("Let me write that down.", tool=call, thinking="This is for my memory.")
    if words.startswith("Look up "):
        return compose(tool=("memory_search", {"query": words.removeprefix("Look up ").split()[0]}), thinking="Hm.")
    if (sent := _sending(TAG.sub("", words).strip())) is not None:
        return compose(tool=sent, thinking="Others may know.")
    if words.startswith("Tell me all about Alice"):
        nosy = [("memory_search", {"query": "Alice ALICE safe garden"}), ("memory_list", {})]
        nosy += [("read_file", {"path": path}) for path in _PRIVATE_PLACES]
        return compose(tools=nosy, thinking="Let us see.")
    return compose(f"I see. {' '.join(codes(words))}", thinking="Nothing to do.")


def _tagged(answer: Answer, words: str) -> Answer:
    """An answer in words ends with the number of the message that it answers."""
    if answer.ends_with == "tool_use" or not (tag := TAG.search(words)):
        return answer
    last = answer.parts[-1]
    assert isinstance(last, Say)
    return replace(answer, parts=(*answer.parts[:-1], Say((*last.pieces, f" {tag[0]}"))))


def _writing(words: str, fact: str) -> tuple[str, Mapping[str, Any]] | None:
    if words.startswith("Please remember that "):
        return "memory_append", {"text": fact}
    if words.startswith("Make a note: "):
        kept = {"name": fact.partition(" is ")[0], "description": f"where {codes(fact)[0]} stands", "type": "reference"}
        return "memory_save", {**kept, "content": fact}
    if words.startswith("For good: "):
        return "memory_update", {"old_text": "", "new_text": f"- {fact}"}
    return None


def _sending(words: str) -> tuple[str, Mapping[str, Any]] | None:
    """Calls to hosts of others: in the person's words, by the address that they wrote, and in words of its own."""
    if words.startswith("Search the web for "):
        return "web_search", {"query": words.removeprefix("Search the web for ")}
    if words.startswith("Find out about "):
        return "web_search", {"query": f"{words.removeprefix('Find out about ')} price and opening hours in Graz"}
    if words.startswith("Read "):
        return "web_fetch", {"url": words.removeprefix("Read ")}
    if words.startswith("Ask at home for "):
        return "home__look", {"text": words.removeprefix("Ask at home for ")}
    return None


def _results(body: dict[str, Any]) -> str:
    """What the tools said that answered last; empty where a person spoke last."""
    newest = [block for block in blocks_of(body["messages"][-1]) if block["type"] == "tool_result"]
    return json.dumps(newest, ensure_ascii=False) if newest else ""
