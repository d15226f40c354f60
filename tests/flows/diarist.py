"""A model that keeps a journal, sums up a day, and otherwise says "Fine."; so plainly that a story can be checked.

What somebody said as `I'll WHAT by YYYY-MM-DD` is a promise, and `WHAT is done` closes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.fakes.anthropic_answers import Answer, JsonObject, Say, Use

_SAID = re.compile(r"^(\d\d:\d\d) ([^:]+): (.+)$", re.MULTILINE)
_PROMISE = re.compile(r"I'll (.+?) by (\d{4}-\d{2}-\d{2})")
_DONE = re.compile(r"(.+) is done")
_OPEN = re.compile(r"^([a-z2-7]{5}) (.+)$", re.MULTILINE)
_BULLET = re.compile(r"^- (\d\d:\d\d .+)$", re.MULTILINE)


class Diarist:
    """`journals` and `summaries`: the bodies that it was asked with. `heartbeat`: what it says to a list."""

    def __init__(self, heartbeat: str = "HEARTBEAT_OK") -> None:
        self.journals: list[str] = []
        self.summaries: list[str] = []
        self.heartbeats: list[str] = []
        self._heartbeat = heartbeat

    def __call__(self, body: JsonObject) -> Answer | str:
        system = "".join(block["text"] for block in body["system"])
        shown = "\n".join(block["text"] for block in body["messages"][-1]["content"] if block["type"] == "text")
        if "assistant's journal" in system:
            self.journals.append(shown)
            return Answer((Use("write_journal", _journal(shown)),))
        if "daily summary" in system:
            self.summaries.append(shown)
            return Answer((Say((f"A full day. {' / '.join(_BULLET.findall(shown))}",)),))
        if "list of things to watch for" in system:
            self.heartbeats.append(shown)
            return self._heartbeat
        return "Fine."


def _journal(shown: str) -> dict[str, Any]:
    said = list(_SAID.finditer(shown))
    closed = [id for one in said if (done := _DONE.fullmatch(one[3])) for id in _ids(shown, done[1])]
    return {
        "entries": [{"time": one[1], "text": f"{one[2]} said {one[3]}"} for one in said if one[2] != "Assistant"],
        "promises": [
            {"who": one[2], "what": promise[1], "due": promise[2]}
            for one in said
            if (promise := _PROMISE.search(one[3]))
        ],
        "closed": closed,
    }


def _ids(shown: str, what: str) -> Iterator[str]:
    return (one[1] for one in _OPEN.finditer(shown) if what.lower() in one[2].lower())
