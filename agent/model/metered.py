"""Every call of a model noted in the ledger, also one that broke off or was stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator

from agent.model.base import Completed, Ledger, Model, ModelEvent, ModelRequest, Started, TextDelta, Usage, UsageRecord
from agent.model.closing import closing
from agent.model.prices import Prices

_CHARS_PER_TOKEN = 4


class Metered:
    """Stands directly around the model that makes the calls, inside `Resilient`, so that each try is counted. A call
    that the server refused before it began costs nothing and is not noted."""

    def __init__(self, model: Model, ledger: Ledger, prices: Prices) -> None:
        self._model = model
        self._ledger = ledger
        self._prices = prices

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        call = _Call(request.model)
        try:
            async with closing(self._model.stream(request)) as events:
                async for event in events:
                    call.note(event)
                    if not isinstance(event, Started):
                        yield event
        finally:
            self._record(call, request)

    async def context_window(self, model: str) -> int | None:
        return await self._model.context_window(model)

    async def aclose(self) -> None:
        await self._model.aclose()

    def _record(self, call: _Call, request: ModelRequest) -> None:
        if call.usage is None:
            return
        cost = self._prices.cost(call.usage, call.model, request.cache)
        self._ledger.record(UsageRecord(call.model, request.purpose, request.session, call.usage, cost))


class _Call:
    """What one call has used so far; `usage` is None until the server began."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.usage: Usage | None = None
        self._characters = 0

    def note(self, event: ModelEvent) -> None:
        match event:
            case Started(usage, model) | Completed(usage=usage, model=model):
                self.usage, self.model = usage, model
            case TextDelta(text) if self.usage is not None:
                self._characters += len(text)
                written = max(self.usage.output, self._characters // _CHARS_PER_TOKEN)
                self.usage = Usage(self.usage.input, written, self.usage.cache_read, self.usage.cache_write)
            case _:
                pass
