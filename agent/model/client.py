"""Wrappers around a model: retries and fallbacks, metering, asking for one whole answer."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from agent.languages.sentences import Sentence, joined
from agent.model.base import (
    REFUSED,
    THINKING,
    CallLedger,
    Completed,
    Message,
    Model,
    ModelError,
    ModelEvent,
    ModelNotFound,
    ModelRequest,
    NoContent,
    Restarted,
    StaleRequest,
    Started,
    TextDelta,
    ThinkingRejected,
    TryLater,
    Usage,
    UsageRecord,
    split_provider,
    without_blocks,
)
from agent.model.offline.model import NAME as OFFLINE
from agent.model.prices import Prices
from agent.settings import ModelSettings


@contextlib.asynccontextmanager
async def closing(stream: AsyncIterator[ModelEvent]) -> AsyncIterator[AsyncIterator[ModelEvent]]:
    """Closes `stream` on leaving, which ends the call."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


_CHARS_PER_TOKEN = 4


class MeteredModel:
    """Records every call that began. Inside `ResilientModel`, so that each try counts."""

    def __init__(self, model: Model, ledger: CallLedger, prices: Prices) -> None:
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
                    elif call.usage is not None:
                        await self._prices.prepare(call.model)
        finally:
            self._record(call, request)

    async def context_window(self, model: str) -> int | None:
        return await self._model.context_window(model)

    async def aclose(self) -> None:
        await self._model.aclose()

    def _record(self, call: _Call, request: ModelRequest) -> None:
        if (usage := call.usage) is None:
            return
        cost = self._prices.cost(usage, call.model, request.cache)
        self._ledger.record(UsageRecord(call.model, request.purpose, request.session, usage, cost))


class _Call:
    """A call's usage, once the server began: until it is complete, at least what the text so far has."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._told: Usage | None = None
        self._characters = 0

    @property
    def usage(self) -> Usage | None:
        if self._told is None:
            return None
        written = max(self._told.output, self._characters // _CHARS_PER_TOKEN)
        return dataclasses.replace(self._told, output=written)

    def note(self, event: ModelEvent) -> None:
        match event:
            case Started(usage, model) | Completed(usage=usage, model=model):
                self._told, self.model, self._characters = usage, model, 0
            case TextDelta(text):
                self._characters += len(text)
            case _:
                pass


async def ask_once(
    model: Model,
    settings: ModelSettings,
    system: str,
    shown: str,
    *,
    most_tokens: int,
    purpose: str,
    session: str,
    is_current: Callable[[], bool],
) -> str | None:
    """The answer to one question; None if it is refused or no model is set up. Raises `ModelError`."""
    request = ModelRequest(
        model=settings.name,
        system=(system,),
        messages=(Message("user", ({"type": "text", "text": shown},)),),
        tools=(),
        max_tokens=min(most_tokens, settings.max_tokens),
        purpose=purpose,
        session=session,
        effort=settings.effort,
        cache="off",
        is_current=is_current,
    )
    answer = await ask(model, request)
    return None if answer.model == OFFLINE or answer.stop_reason == REFUSED else answer.text


async def ask(model: Model, request: ModelRequest) -> Completed:
    """An answer that is shown to nobody. Raises `ModelError`."""
    if not request.is_current():
        raise StaleRequest
    answer: Completed | None = None
    async with closing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, Completed):
                answer = event
    if answer is None:
        raise ModelError(Sentence("The model's answer was cut off."))
    return answer


def has_thinking(request: ModelRequest) -> bool:
    return any(block.get("type") in THINKING for message in request.messages for block in message.content)


def without_thinking(request: ModelRequest) -> ModelRequest:
    messages = without_blocks(request.messages, lambda block: block.get("type") in THINKING)
    return dataclasses.replace(request, messages=messages)


FIRST_WAIT = 1.0
"""Seconds before the first retry where the server names none; doubled for each further one."""
SERVER_JITTER = 0.25
"""Share by which the server's own delay is stretched at most, so that many clients do not come back at one moment."""

LONGEST_WAIT = 60.0
"""Seconds that a call waits for a server; a longer delay ends it."""

_LATER = Sentence("I tried several times. Please send your message again in a few minutes.")


class RoutedModel:
    """Models of several providers: `openai:NAME` is asked there, any other name at the `usual` one."""

    def __init__(self, models: Mapping[str, Model], usual: str) -> None:
        self._models = models
        self._usual = usual

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        model, name = self._routed(request.model)
        async with closing(model.stream(dataclasses.replace(request, model=name))) as events:
            async for event in events:
                yield event

    async def context_window(self, model: str) -> int | None:
        routed, name = self._routed(model)
        return await routed.context_window(name)

    async def aclose(self) -> None:
        for model in self._models.values():
            await model.aclose()

    def _routed(self, name: str) -> tuple[Model, str]:
        provider, bare = split_provider(name, self._models)
        return self._models[provider or self._usual], bare


class ServerWaits(Protocol):
    """How long each model's server wants no more calls. Nothing raises."""

    def left(self, model: str) -> float:
        """Seconds until its server may be called."""

    def standing(self, model: str) -> object:
        """The wait that stands, for `end`."""

    async def begin(self, model: str, seconds: float) -> object:
        """Begins a wait and returns it once the next process knows it, too; None where a longer one stands."""

    def end(self, model: str, wait: object) -> None:
        """Ends that wait, but none that began after it."""


class ResilientModel:
    """Tries every model at most `attempts` times, with no wait longer than `longest_wait` seconds.

    `TryLater` is retried, but for `NoContent`. After its tries an overloaded model gives way to the next of
    `fallbacks`, an unknown one at once; one whose server is not there or wants no more calls to the next of another of
    `providers`. Before each new try comes `Restarted`. Another model gets no thinking, nor does a server that refused
    it, once. What a server asks to wait is waited for by every call (`waits`). Raises `StaleRequest`.
    """

    def __init__(
        self,
        model: Model,
        fallbacks: Sequence[str] = (),
        *,
        providers: Sequence[str] = (),
        attempts: int = 4,
        longest_wait: float = LONGEST_WAIT,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        waits: ServerWaits | None = None,
    ) -> None:
        if attempts < 1:
            raise ValueError("a model needs at least one attempt")
        self._model = model
        self._fallbacks = tuple(fallbacks)
        self._providers = providers
        self._attempts = attempts
        self._longest_wait = longest_wait
        self._sleep = sleep
        self._jitter = jitter
        self._waits = waits

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        names = list(dict.fromkeys((request.model, *self._fallbacks)))
        tries = _Tries(request, names, self._attempts)
        restarted, wait = self._asked_to_wait(request.model)
        while True:
            while restarted is not None:
                yield restarted
                await self._sleep(restarted.wait)
                if self._waits is not None:
                    self._waits.end(restarted.model, wait)
                restarted, wait = self._asked_to_wait(restarted.model)  # another call may have been asked meanwhile
            if not request.is_current():
                raise StaleRequest
            try:
                async with closing(self._model.stream(tries.request)) as events:
                    async for event in events:
                        yield event
                return
            except ThinkingRejected as error:
                if not has_thinking(tries.request):
                    raise error
                tries.drop_thinking()
                why = Sentence("Continuing without the model's earlier thinking.")
                restarted = Restarted(why, 0.0, tries.request.model)
            except ModelNotFound as error:
                restarted = self._next_model(tries, error)
            except TryLater as error:
                restarted = self._again(tries, error)
                if self._waits is not None and error.retry_after is not None and restarted.wait:
                    wait = await self._waits.begin(restarted.model, restarted.wait)

    async def context_window(self, model: str) -> int | None:
        return await self._model.context_window(model)

    async def aclose(self) -> None:
        await self._model.aclose()

    def _asked_to_wait(self, model: str) -> tuple[Restarted | None, object]:
        if self._waits is None or not (seconds := min(self._longest_wait, self._waits.left(model))):
            return None, None
        why = Sentence("The model's server has asked me to wait. Trying again in {span}.", span=duration(seconds))
        return Restarted(why, seconds, model), self._waits.standing(model)

    def _next_model(self, tries: _Tries, error: ModelNotFound | TryLater) -> Restarted:
        if not tries.names_left:
            raise error
        tries.move_on()
        name = tries.request.model
        return Restarted(Sentence("{why} Switching to {model}.", why=str(error), model=name), 0.0, name)

    def _again(self, tries: _Tries, error: TryLater) -> Restarted:
        too_long = error.retry_after is not None and error.retry_after > self._longest_wait
        if tries.left > 0 and not too_long and not isinstance(error, NoContent):
            wait = self._wait(tries.made, error.retry_after)
            tries.repeat()
            why = Sentence("{why} Trying again in {span}.", why=str(error), span=duration(wait))
            return Restarted(why, wait, tries.request.model)
        if not error.overloaded:
            tries.skip(lambda name: self._provider(name) == self._provider(tries.request.model))
        if tries.names_left:
            return self._next_model(tries, error)
        when: Sentence = _LATER
        if error.retry_after is not None and too_long:
            when = Sentence("Try again in {span}.", span=duration(error.retry_after))
        said = joined([str(error), when], " ")
        raise TryLater(said, retry_after=error.retry_after, overloaded=error.overloaded) from error

    def _provider(self, name: str) -> str:
        """The first of `providers` is the one of bare names."""
        return split_provider(name, self._providers)[0] or next(iter(self._providers), "")

    def _wait(self, made: int, retry_after: float | None) -> float:
        """What the server asks for, at most the longest wait."""
        if retry_after is not None:
            return min(self._longest_wait, retry_after * (1 + SERVER_JITTER * self._jitter()))
        backoff: float = FIRST_WAIT * 2 ** (made - 1)
        return min(self._longest_wait, backoff * (0.5 + 0.5 * self._jitter()))


class _Tries:
    def __init__(self, request: ModelRequest, names: list[str], attempts: int) -> None:
        self.request = request
        self.names_left = names[1:]
        self.made = 1
        self._attempts = attempts

    @property
    def left(self) -> int:
        return self._attempts - self.made

    def repeat(self) -> None:
        self.made += 1

    def skip(self, is_useless: Callable[[str], bool]) -> None:
        while self.names_left and is_useless(self.names_left[0]):
            self.names_left.pop(0)

    def move_on(self) -> None:
        self.request = dataclasses.replace(without_thinking(self.request), model=self.names_left.pop(0))
        self.made = 1

    def drop_thinking(self) -> None:
        self.request = without_thinking(self.request)


def duration(seconds: float) -> Sentence:
    """A span for people, rounded up: `1 second`, `3 minutes`, `2 hours`."""
    if seconds >= 2 * 3600:
        return Sentence("{count} hours", count=-int(-seconds // 3600))
    if seconds >= 2 * 60:
        return Sentence("{count} minutes", count=-int(-seconds // 60))
    count = max(1, -int(-seconds // 1))
    return Sentence("1 second") if count == 1 else Sentence("{count} seconds", count=count)
