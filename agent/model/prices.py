"""Prices of models, in USD per million tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.model.base import Usage

_MILLION = 1_000_000
_DATED = re.compile(r"[-@:](\d{8}|latest)\Z")


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """USD per million tokens. Unset cache prices follow Anthropic's rule: reading costs a tenth of the input price,
    writing 1.25 times it for 5 minutes and twice for an hour."""

    input: float
    output: float
    cache_write: float | None = None
    cache_read: float | None = None

    def of(self, usage: Usage, cache: str = "5m") -> float:
        """USD for a call. `cache`: how long the server was asked to keep the prefix (5m, 1h, off)."""
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
"""Anthropic's published prices, November 2026. A model that is not here has no known price: none is guessed."""


@dataclass(frozen=True, slots=True)
class Prices:
    """`overrides` (config `model.prices`) win over the built-in ones."""

    overrides: Mapping[str, TokenPrice] = field(default_factory=dict)

    def price(self, model: str) -> TokenPrice | None:
        """By the exact name, else by the name without its date (`claude-sonnet-5-5-20261001`)."""
        known = {**CURRENT, **self.overrides}
        return known.get(model) or known.get(_DATED.sub("", model))

    def cost(self, usage: Usage, model: str, cache: str = "5m") -> float | None:
        """USD of a call, or None where the model's price is not known."""
        price = self.price(model)
        return None if price is None else price.of(usage, cache)
