"""Texts that need a vector, newest first."""

from __future__ import annotations

from agent.search.rows import TextRow
from agent.search.store import IndexStore


class PendingTexts:
    """For one index file and model at a time. Raises as `IndexStore`."""

    def __init__(self) -> None:
        self._source: tuple[str, int] | None = None
        self._newest = 0
        self._left: list[tuple[int, int]] = []
        """Texts that were not looked at yet, by their first passages: above one number, up to the other. The newest are
        last."""
        self._done: tuple[tuple[int, int], str] | None = None

    def next(self, store: IndexStore, model: str, most: int) -> list[TextRow]:
        """Distinct texts to embed. If none, vectors of removed texts and other models are dropped."""
        if self._done == (store.state, model):
            return []
        named, source = store.vectors.name_all(), (model, store.vectors.dropped)
        if named or self._source != source:
            self._source, self._newest, self._left = source, 0, []
        newest = store.vectors.newest_text
        if newest > self._newest:
            self._left.append((self._newest, newest))
            self._newest = newest
        while self._left:
            above, to = self._left.pop()
            rows = store.vectors.missing(model, above, to, most)
            if rows:
                self._left.append((above, rows[0].first))  # they may be requested again
                return list({row.key: row for row in rows}.values())
        store.vectors.drop(model)
        self._done = (store.state, model)
        return []
