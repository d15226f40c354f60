"""Prices of models, in USD per million tokens."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.model.base import Usage

_MILLION = 1_000_000
_DATED = re.compile(r"[-@:](\d{8}|latest)\Z")


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """USD per million tokens. Unset cache prices follow Anthropic's: reading a tenth of the input price, writing 1.25
    times for 5 minutes, twice for an hour."""

    input: float
    output: float
    cache_write: float | None = None
    cache_read: float | None = None

    def of(self, usage: Usage, cache: str = "5m") -> float:
        """USD for a call. `cache`: 5m, 1h or off."""
        write = self.input * (2.0 if cache == "1h" else 1.25) if self.cache_write is None else self.cache_write
        read = self.input * 0.1 if self.cache_read is None else self.cache_read
        total = (
            usage.input * self.input + usage.output * self.output + usage.cache_write * write + usage.cache_read * read
        )
        return total / _MILLION


CURRENT: Mapping[str, TokenPrice] = {
    "claude-fable-5-2": TokenPrice(10.0, 50.0),
    "claude-fable-5-1": TokenPrice(10.0, 50.0),
    "claude-mythos-5-2": TokenPrice(10.0, 50.0),
    "claude-opus-5-5": TokenPrice(4.0, 20.0),
    "claude-sonnet-5-5": TokenPrice(2.0, 10.0),
    "claude-haiku-5-5": TokenPrice(0.10, 0.50),
    "claude-opus-4-5": TokenPrice(5.0, 25.0),
    "claude-sonnet-4-5": TokenPrice(3.0, 15.0),
    "claude-haiku-4-5": TokenPrice(1.0, 5.0),
    "offline": TokenPrice(0.0, 0.0),
}
"""Anthropic's published prices, November 2026, for requests below the first price step."""

_SEARCH = 0.01
"""USD for one search of the web by Anthropic's server, published as 10 for 1,000; its tokens cost as all others."""
_FIRST_STEP = 100_000
"""Input tokens up to which no model costs more than in `CURRENT`. Some cost two to five times as much above a step."""


@dataclass(frozen=True, slots=True)
class Prices:
    """`overrides` (config `model.prices`) win; else the built-in prices, and `genai-prices` for Anthropic's other
    models and above the first price step. The dearer counts: a budget must not be overrun."""

    overrides: Mapping[str, TokenPrice] = field(default_factory=dict)
    api_url: str = ""
    """The server of another provider, whose own prices count then."""

    def is_known(self, model: str) -> bool:
        """Blocks for the package's import with models not built in."""
        return self._own(model) is not None or _listed(model, Usage(input=1), "off", self.api_url) is not None

    def cost(self, usage: Usage, model: str, cache: str = "5m") -> float | None:
        """USD with searches, if known. Blocks unless `prepare` was called."""
        tokens = self._cost_of_tokens(usage, model, cache)
        return None if tokens is None else tokens + usage.searches * _SEARCH

    def _cost_of_tokens(self, usage: Usage, model: str, cache: str) -> float | None:
        own = self._own(model)
        if own is not None and not self._needs_list(model, usage):
            return own.of(usage, cache)
        listed = _listed(model, usage, cache, self.api_url)
        costs = [listed, own.of(usage, cache) if own is not None else None]
        return max((one for one in costs if one is not None), default=None)

    async def prepare(self, usage: Usage, model: str) -> None:
        """Imports the package's list in a thread, if needed."""
        if self._needs_list(model, usage):
            await asyncio.to_thread(_listed, model, usage, "off", self.api_url)

    def _own(self, model: str) -> TokenPrice | None:
        """The price by the exact name, else without its date (`claude-sonnet-5-5-20261001`)."""
        known = {**({} if self.api_url else CURRENT), **self.overrides}
        return known.get(model) or known.get(_undated(model))

    def _needs_list(self, model: str, usage: Usage) -> bool:
        if model in self.overrides or _undated(model) in self.overrides or model == "offline":
            return False
        return self._own(model) is None or usage.input + usage.cache_read + usage.cache_write > _FIRST_STEP


def _undated(model: str) -> str:
    return _DATED.sub("", model)


def _listed(model: str, usage: Usage, cache: str, api_url: str) -> float | None:
    import genai_prices  # noqa: PLC0415 (0.3 s, only for calls that the built-in prices do not cover)

    written = {"cache_write_1h_tokens": usage.cache_write} if cache == "1h" else {}
    counted = genai_prices.Usage(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        **written,
    )
    name = _undated(model)
    try:
        if api_url:
            return float(genai_prices.calc_price(counted, model_ref=name, provider_api_url=api_url).total_price)
        return float(genai_prices.calc_price(counted, model_ref=name, provider_id="anthropic").total_price)
    except LookupError:
        return None
