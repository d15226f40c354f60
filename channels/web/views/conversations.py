"""Conversations: listed by title, searched by words, named and archived."""

from __future__ import annotations

from collections.abc import Mapping

from channels.web.views.view import Call, Values, View

_LISTED = 200
_FOUND = 40


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    """`id`: the conversation to show; `q`: words to look for; `archived`: archived ones; `aside`: those of tasks."""
    if id := query.get("id"):
        return {"shown": await call("sessions.show", {"id": id})}
    words, in_archive, is_aside = query.get("q", "").strip(), "archived" in query, "aside" in query
    every = [row for row in await call("sessions.list", {}) if row["messages"]]
    aside = [row for row in every if row["aside"]]
    others = [row for row in every if not row["aside"]]
    rows = aside if is_aside else [row for row in others if words or row["archived"] == in_archive]
    hits = []
    if words:
        titled = words.casefold()
        rows = [row for row in every if titled in row["title"].casefold()]
        found = await call("memory.search", {"query": words, "n": _FOUND, "for_people": True})
        hits = [hit for hit in found["hits"] if hit["path"].startswith("sessions/")]
    return {
        "words": words,
        "rows": rows[:_LISTED],
        "hits": hits,
        "more": max(0, len(rows) - _LISTED),
        "in_archive": in_archive,
        "archived": sum(row["archived"] for row in others),
        "is_aside": is_aside,
        "aside": len(aside),
    }


VIEW = View("conversations", "Conversations", _read, has_script=True)
