"""Tokens and cost: the operation behind `daybook usage`."""

from __future__ import annotations

from collections.abc import Mapping

from agent.model.base import Json
from gateway.commands import House
from gateway.control import Operation, Params
from gateway.operations.parameters import number

_DAYS = 7


class UsageOperations:
    def __init__(self, house: House) -> None:
        self._house = house

    def table(self) -> Mapping[str, Operation]:
        return {"usage": self.usage}

    async def usage(self, parameters: Params) -> Json:
        """`{days?}`: the sums of each day, purpose, session and model."""
        sums = await self._house.ledger.sums(number(parameters, "days") or _DAYS)
        return [
            {
                "day": one.day,
                "purpose": one.purpose,
                "session": one.session,
                "model": one.model,
                "calls": one.calls,
                "input": one.input,
                "output": one.output,
                "cache_read": one.cache_read,
                "cache_write": one.cache_write,
                "cost_usd": round(one.cost, 6),
                "unpriced_calls": one.unpriced,
            }
            for one in sums
        ]
