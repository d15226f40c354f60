"""Reads the answers of one server, whichever API it speaks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator

from agent.languages.sentences import Sentence
from agent.model.anthropic.stream import AnswerAssembler, Event
from agent.model.base import ModelEvent, ModelRequest, NoContent
from agent.model.markup import MarkupFilter

_log = logging.getLogger(__name__)

_MOST_SILENCES = 10
"""Times the longest silence of a server that an answer may go without content, whatever else is sent meanwhile."""
_CONTENT = ("text", "thinking", "partial_json", "signature", "citation")


class AnswerReader:
    """`timeout_s`: the longest silence of the server; `is_makers`: it reads thoughts and calls out of the text itself.

    A model that once ended thoughts without having begun them is expected to: its text waits for their end, from then
    on, so that none is shown for a moment.
    """

    def __init__(self, timeout_s: float, *, is_makers: bool) -> None:
        self._longest_s = _MOST_SILENCES * timeout_s
        self._is_makers = is_makers
        self._guessed: set[str] = set()
        self._told: set[str] = set()

    async def read(
        self, events: AsyncGenerator[Event, None], request: ModelRequest
    ) -> AsyncGenerator[ModelEvent, None]:
        """Yields an answer with its `Completed` last. Raises `ModelError`."""
        filters: list[MarkupFilter] = []
        tools = frozenset(tool.name for tool in request.tools)

        def markup() -> MarkupFilter:
            filters.append(MarkupFilter(tools, guesses=request.model in self._guessed))
            return filters[-1]

        answer = AnswerAssembler(request.model, None if self._is_makers else markup)
        async with contextlib.aclosing(self._with_content(events)) as told:
            async for event in told:
                for read in answer.feed(event):
                    yield read
        for read in answer.rest():
            yield read
        if any(text.ended_unbegun for text in filters):
            self._guessed.add(request.model)
        if any(text.missed_calls for text in filters) and request.model not in self._told:
            self._told.add(request.model)
            _log.warning("%s writes calls of tools into its text: its server needs a tool parser", request.model)
        yield answer.completed()

    async def _with_content(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Passes events on. Raises `NoContent` where none has content for long: pings and empty pieces have none."""
        loop = asyncio.get_running_loop()
        left = self._longest_s
        async with contextlib.aclosing(events):
            while True:
                began = loop.time()
                try:
                    async with asyncio.timeout(left):
                        event = await anext(events, None)
                except TimeoutError as error:
                    said = Sentence(
                        "The model's server kept the connection open for {seconds} seconds and said nothing.",
                        seconds=f"{self._longest_s:g}",
                    )
                    raise NoContent(said, overloaded=True) from error
                if event is None:
                    return
                left = self._longest_s if _has_content(event) else left - (loop.time() - began)
                yield event


def _has_content(event: Event) -> bool:
    part = event.get("content_block") or event.get("delta")
    if not isinstance(part, dict):
        return bool(part)
    return part.get("type") == "tool_use" or any(part.get(field) for field in _CONTENT)
