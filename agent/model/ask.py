"""Asking a model for one whole answer."""

from __future__ import annotations

from agent.model.base import Completed, Model, ModelError, ModelRequest, Outdated
from agent.model.closing import closing


async def ask(model: Model, request: ModelRequest) -> Completed:
    """Ask for an answer that is not shown to anybody. Raises `ModelError`: `Outdated` where the request may not be sent
    any more."""
    if not request.is_current():
        raise Outdated
    answer: Completed | None = None
    async with closing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, Completed):
                answer = event
    if answer is None:
        raise ModelError("The model's answer ended before it was complete.")
    return answer
