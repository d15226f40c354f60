"""Every call is in the ledger, with its cost, also where it broke off."""

from __future__ import annotations

from collections.abc import AsyncIterator

import genai_prices
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.anthropic.model import AnthropicModel
from agent.model.base import Message, ModelError, ModelEvent, ModelRequest, Started, TextDelta, Usage, UsageRecord
from agent.model.client import MeteredModel, ResilientModel, closing
from agent.model.prices import Prices, TokenPrice
from agent.model.scripted import ScriptedAnswer, ScriptedModel
from tests.fakes.anthropic import FakeAnthropic

MODEL = "claude-sonnet-5-5"
REQUEST = ModelRequest(
    MODEL, ("rules",), (Message("user", ({"type": "text", "text": "Hello"},)),), (), 100, "chat", "owner"
)


class Book:
    def __init__(self) -> None:
        self.entries: list[UsageRecord] = []

    def record(self, entry: UsageRecord) -> None:
        self.entries.append(entry)


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
async def fake() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as fake:
        yield fake


@pytest.fixture
async def metered(fake: FakeAnthropic, book: Book) -> AsyncIterator[MeteredModel]:
    model = MeteredModel(AnthropicModel(fake.api_key, fake.base_url), book, Prices())
    yield model
    await model.aclose()


async def events_of(model: MeteredModel | ResilientModel) -> list[ModelEvent]:
    return [event async for event in model.stream(REQUEST)]


async def test_a_call_is_recorded_with_purpose_session_and_cost(book: Book) -> None:
    usage = Usage(input=1_000_000, output=100_000, cache_read=1_000_000, cache_write=1_000_000)
    await events_of(MeteredModel(ScriptedModel(ScriptedAnswer("Hi", usage=usage)), book, Prices()))
    (entry,) = book.entries
    assert (entry.model, entry.purpose, entry.session, entry.usage) == (MODEL, "chat", "owner", usage)
    assert entry.cost == pytest.approx(2.0 + 1.0 + 0.1 + 2.5)


async def test_a_broken_call_is_recorded_with_what_it_used(
    fake: FakeAnthropic, book: Book, metered: MeteredModel
) -> None:
    fake.cut(after=3)
    fake.answer("word " * 200, usage={"input_tokens": 500})
    with pytest.raises(ModelError):
        await events_of(metered)
    (entry,) = book.entries
    assert entry.usage.input == 500
    assert entry.usage.output > 50
    assert entry.cost is not None and entry.cost > 0


async def test_a_stopped_call_is_recorded(fake: FakeAnthropic, book: Book, metered: MeteredModel) -> None:
    fake.hold(after=1)
    fake.answer("one two three", usage={"input_tokens": 500})
    async with closing(metered.stream(REQUEST)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert [entry.usage.input for entry in book.entries] == [500]


async def test_each_try_is_recorded_once(fake: FakeAnthropic, book: Book, metered: MeteredModel) -> None:
    async def at_once(_: float) -> None: ...

    fake.cut(after=1)
    fake.fail(529)
    fake.answer("one two three")
    await events_of(ResilientModel(metered, sleep=at_once))
    assert len(book.entries) == 2, "the refused try cost nothing"


async def test_the_counting_event_stays_inside(metered: MeteredModel) -> None:
    assert not any(isinstance(event, Started) for event in await events_of(metered))


def test_an_hours_cache_costs_twice_the_input_to_write() -> None:
    usage = Usage(cache_write=1_000_000)
    assert Prices().cost(usage, MODEL, "1h") == pytest.approx(4.0)
    assert Prices().cost(usage, MODEL, "5m") == pytest.approx(2.5)


def test_prices_are_found_by_exact_and_dated_name_only() -> None:
    prices = Prices()
    million = Usage(output=1_000_000)
    assert prices.cost(million, "claude-opus-5-5-20261001") == prices.cost(million, "claude-opus-5-5") == 20.0
    assert not prices.is_known("claude-opus-5-55") and prices.cost(million, "claude-opus-5-55") is None
    assert not prices.is_known("llama3") and prices.cost(Usage(input=5), "llama3") is None


def test_models_that_are_not_built_in_have_the_price_of_the_list() -> None:
    assert Prices().is_known("claude-opus-5")
    assert Prices().cost(Usage(input=1_000_000), "claude-opus-5") == pytest.approx(5.0)
    assert Prices().cost(Usage(cache_write=1_000_000), "claude-opus-5", "1h") == pytest.approx(10.0)


@pytest.mark.parametrize(("model", "below", "above"), [("claude-sonnet-4-5", 3.0, 6.0), ("claude-haiku-5-5", 0.1, 0.5)])
def test_above_the_price_step_a_call_costs_more(model: str, below: float, above: float) -> None:
    prices = Prices()
    assert prices.cost(Usage(input=100_000), model) == pytest.approx(0.1 * below)
    assert prices.cost(Usage(input=900_000), model) == pytest.approx(0.9 * above)
    assert prices.cost(Usage(input=100_000, cache_read=800_000), model) == pytest.approx(0.1 * above + 0.08 * above)


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-2", "claude-haiku-4-5"])
@given(usage=st.builds(Usage, *[st.integers(0, 90_000)] * 4))
def test_the_list_is_the_only_source_of_prices(model: str, usage: Usage) -> None:
    counted = genai_prices.Usage(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    listed = genai_prices.calc_price(counted, model_ref=model, provider_id="anthropic").total_price
    assert Prices().cost(usage, model) == pytest.approx(float(listed))


def test_sonnet_reads_from_the_cache_for_a_twentieth() -> None:
    assert Prices().cost(Usage(cache_read=1_000_000), "claude-sonnet-5-5") == pytest.approx(0.10)


def test_the_offline_model_costs_nothing() -> None:
    assert Prices().is_known("offline") and Prices().cost(Usage(input=5), "offline") == 0.0


@pytest.mark.parametrize(
    ("address", "model", "cost"),
    [
        ("https://api.openai.com/v1", "gpt-5-mini", 0.25),
        ("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", 3.0),
        ("http://127.0.0.1:11434/v1", "gpt-5-mini", None),
        ("http://127.0.0.1:11434/v1", "claude-sonnet-5-5", None),
    ],
)
def test_a_server_of_another_provider_has_its_own_prices(address: str, model: str, cost: float | None) -> None:
    prices = Prices(api_url=address)
    assert prices.is_known(model) == (cost is not None)
    assert prices.cost(Usage(input=100_000), model) == (pytest.approx(cost / 10) if cost else None)


def test_configured_prices_stand_before_the_built_in_ones() -> None:
    prices = Prices(
        {"claude-opus-5-5": TokenPrice(1.0, 2.0, cache_write=3.0, cache_read=4.0), "llama3": TokenPrice(0.0, 0.0)}
    )
    assert prices.cost(Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000), "claude-opus-5-5", "1h") == pytest.approx(
        10.0
    )
    assert prices.cost(Usage(input=5), "llama3") == 0.0
