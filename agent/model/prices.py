"""Prices of models, in USD per million tokens."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType

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


_SEARCH = 0.01
"""USD for one search of the web by Anthropic's server, published as 10 for 1,000; its tokens cost as all others."""
_FREE = TokenPrice(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Prices:
    """`overrides` (config `model.prices`) win, else the list of `genai-prices` counts, which knows the steps of long
    requests."""

    overrides: Mapping[str, TokenPrice] = field(default_factory=dict)
    api_url: str = ""
    """The server of another provider, whose own prices count then."""

    def is_known(self, model: str) -> bool:
        """Blocks for the list's import."""
        return self._own(model) is not None or _listed(model, Usage(input=1), "off", self.api_url) is not None

    def cost(self, usage: Usage, model: str, cache: str = "5m") -> float | None:
        """USD with searches, if known. Blocks unless `prepare` was called."""
        own = self._own(model)
        tokens = _listed(model, usage, cache, self.api_url) if own is None else own.of(usage, cache)
        return None if tokens is None else tokens + usage.searches * _SEARCH

    async def prepare(self, model: str) -> None:
        """Imports the list in a thread, if needed."""
        if self._own(model) is None and not _price_list.cache_info().currsize:
            await asyncio.to_thread(self.is_known, model)

    def _own(self, model: str) -> TokenPrice | None:
        """A configured price by the exact name, else without its date (`claude-sonnet-5-5-20261001`)."""
        known = {"offline": _FREE, **self.overrides}
        return known.get(model) or known.get(_undated(model))


def _undated(model: str) -> str:
    return _DATED.sub("", model)


@cache
def _price_list() -> ModuleType:
    import genai_prices  # noqa: PLC0415 (0.3 s, for models of servers only)

    return genai_prices


def _listed(model: str, usage: Usage, ttl: str, api_url: str) -> float | None:
    prices = _price_list()
    written = {"cache_write_1h_tokens": usage.cache_write} if ttl == "1h" else {}
    counted = prices.Usage(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        **written,
    )
    name = _undated(model)
    try:
        if api_url:
            return float(prices.calc_price(counted, model_ref=name, provider_api_url=api_url).total_price)
        return float(prices.calc_price(counted, model_ref=name, provider_id="anthropic").total_price)
    except LookupError:
        return None
