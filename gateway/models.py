"""Builds a model from its configuration: metered, retried, and within the day's budget."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable

from agent.clock import Clock
from agent.languages.sentences import Sentence, translated
from agent.memory.scope import Audience
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import SILENT, Completed, Model, ModelEvent, ModelRequest, TextDelta, Usage, Warmable
from agent.model.client import MeteredModel, ResilientModel, RoutedModel, closing
from agent.model.offline.model import OfflineModel, language_asked_in
from agent.model.openai.model import OpenAIModel
from agent.silence import NO_REPLY
from agent.values import JOB, TASK
from gateway.config.checks import prices_of
from gateway.config.schema import SERVED, LimitsConfig, ModelConfig
from gateway.store.usage import Account, UsageLedger, account_of

_SPENT = Sentence(
    "Today's budget of ${limit} is used up. Until midnight I work offline: I can take notes and find them again. "
    "(The budget is `model.daily_budget_usd` in config.yaml.)"
)
_SPENT_HERE = Sentence(
    "Today's budget for this chat is used up. Until midnight I work offline: commands work, and I can take notes and "
    "find them again."
)


class BudgetedModel:
    """A model until the day's money is spent (`model.daily_budget_usd`), then the offline one, with one notice a
    day."""

    def __init__(self, model: Model, offline: Model, ledger: UsageLedger, limit: float, clock: Clock) -> None:
        self._model = model
        self._offline = offline
        self._ledger = ledger
        self._limit = limit
        self._clock = clock
        self._told_on = ""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        spent, notice = self._ledger.spent_today >= self._limit, ""
        if (
            spent
            and request.purpose not in (*SILENT, TASK)
            and self._told_on != (today := self._clock.today().isoformat())
        ):
            told = Sentence(_SPENT, limit=f"{self._limit:.2f}")
            self._told_on, notice = today, str(translated(language_asked_in(request), told))
        async with closing(_after(notice, (self._offline if spent else self._model).stream(request))) as events:
            async for event in events:
                yield event

    async def context_window(self, model: str) -> int | None:
        return await self._model.context_window(model)

    async def aclose(self) -> None:
        await self._model.aclose()
        await self._offline.aclose()


class GuestLimitedModel:
    """A model until another person or a group has spent the day's allowance (`limits`); then the offline one answers,
    after one notice a day, and their jobs and tasks are silent. What the owner asks in a group counts for the group."""

    def __init__(self, model: Model, offline: Model, ledger: UsageLedger, limits: LimitsConfig, clock: Clock) -> None:
        self._model = model
        self._offline = offline
        self._ledger = ledger
        self._limits = {str(Audience.PERSON): limits.person_daily_usd, str(Audience.GROUP): limits.group_daily_usd}
        self._clock = clock
        self._told: set[tuple[str, Account]] = set()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        account = account_of(request.session)
        limit = self._limits.get(account[0])
        spent = limit is not None and self._ledger.spent_today_by(account) >= limit
        if spent and request.purpose in (JOB, TASK):
            yield Completed(({"type": "text", "text": NO_REPLY},), "end_turn", Usage(), request.model)
            return
        is_told = spent and request.purpose not in SILENT and self._is_first_today(account)
        notice = str(translated(language_asked_in(request), _SPENT_HERE)) if is_told else ""
        async with closing(_after(notice, (self._offline if spent else self._model).stream(request))) as events:
            async for event in events:
                yield event

    def _is_first_today(self, account: Account) -> bool:
        now = (self._clock.today().isoformat(), account)
        self._told = {told for told in self._told if told[0] == now[0]}
        if now in self._told:
            return False
        self._told.add(now)
        return True

    async def context_window(self, model: str) -> int | None:
        return await self._model.context_window(model)

    async def aclose(self) -> None:
        await self._model.aclose()
        await self._offline.aclose()


async def _after(notice: str, answer: AsyncIterator[ModelEvent]) -> AsyncIterator[ModelEvent]:
    if notice:
        yield TextDelta(notice + "\n\n")
    async with closing(answer) as events:
        async for event in events:
            if notice and isinstance(event, Completed):
                event = dataclasses.replace(event, content=({"type": "text", "text": notice}, *event.content))
            yield event


def limited_for_others(model: Model, limits: LimitsConfig, ledger: UsageLedger, clock: Clock, env_file: str) -> Model:
    """`env_file` as in `build_model`."""
    if limits == LimitsConfig():
        return model
    return GuestLimitedModel(model, OfflineModel(clock, env_file), ledger, limits, clock)


def build_model(
    config: ModelConfig,
    ledger: UsageLedger,
    clock: Clock,
    env_file: str,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> tuple[Model, Warmable | None]:
    """The model of a configuration, and the one to warm up, if any. `env_file`: the home's `.env`, as people see it."""
    offline = OfflineModel(clock, env_file)
    if config.provider == "offline":
        return offline, offline
    own = config.provider
    served = {name: _served(config, name, clock) for name in (own, *(other for other in SERVED if other != own))}
    metered = {name: MeteredModel(client, ledger, prices_of(config, name)) for name, client in served.items()}
    routed = RoutedModel(metered, own)
    model: Model = ResilientModel(routed, config.fallbacks, providers=tuple(served), sleep=sleep, waits=ledger.waits)
    if config.daily_budget_usd is not None:
        model = BudgetedModel(model, offline, ledger, config.daily_budget_usd, clock)
    return model, served[own]


def _served(config: ModelConfig, provider: str, clock: Clock) -> AnthropicModel | OpenAIModel:
    server = config.server(provider)
    key = server.api_key.get_secret_value() if server.api_key else ""
    if provider == "openai":
        return OpenAIModel(key, server.base_url, config.timeout_s, clock=clock)
    return AnthropicModel(key, server.base_url, config.timeout_s)
