"""Memory: its files to read and edit, its changes, a search, and what the model sees of it now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from channels.web.views.view import Call, JsonValue, Values, View

_CHANGES = 8
_FILE_CHANGES = 50
_FOUND = 20
_ALL_CHANGES = 500
"""Looked through for those of one file."""


@dataclass(frozen=True, slots=True)
class WindowPart:
    """A part of the bar that shows how full the model's window is; `start` and `share` in percent."""

    name: str
    tokens: int
    start: float
    share: float


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    """`path`: a file, with `edit` to change it or `history` for its changes; `folder`; `change`; `q`; `sees`."""
    if change := query.get("change"):
        return {"mode": "change", "change": await call("memory.diff", {"id": change})}
    if path := query.get("path"):
        return await _file(call, path, query)
    if words := query.get("q", "").strip():
        found = await call("memory.search", {"query": words, "n": _FOUND, "for_people": True})
        return {"mode": "found", "words": words, "found": found}
    if "sees" in query:
        return {"mode": "sees", **_bar(await call("memory.context", {}))}
    folder = query.get("folder", "")
    listed = await call("memory.folder", {"path": folder})
    top = not folder
    return {
        "mode": "folder",
        "listed": listed,
        "up": folder.rpartition("/")[0],
        "changes": await call("memory.log", {"n": _CHANGES}) if top else [],
        "promises": await call("memory.open", {}) if top else [],
    }


async def _file(call: Call, path: str, query: Mapping[str, str]) -> Values:
    if "history" in query:
        changes = [change for change in await call("memory.log", {"n": _ALL_CHANGES}) if change["path"] == path]
        return {"mode": "history", "path": path, "changes": changes[:_FILE_CHANGES]}
    if "new" in query:
        return {"mode": "edit", "file": {"path": path, "text": "", "hash": "", "size": 0}}
    file = await call("memory.read", {"path": path})
    return {"mode": "edit" if "edit" in query else "file", "file": file, "is_markdown": path.endswith(".md")}


def _bar(report: JsonValue) -> Values:
    parts: list[WindowPart] = []
    start = 0.0
    for part in report["parts"]:
        share = 100 * part["tokens"] / max(1, report["window"])
        parts.append(WindowPart(part["name"], part["tokens"], start, share))
        start += share
    return {"parts": parts, "used": report["used"], "window": report["window"], "files": report["files"]}


VIEW = View("memory", "Memory", _read, has_script=True)
