"""Asks the running gateway; without one, acts alone under the home's lock, through the same operations."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass

from agent.model.base import Json
from gateway.app import open_gateway
from gateway.cli.context import CliContext, run
from gateway.cli.repl import HomeWait
from gateway.config import Config
from gateway.home import Home, HomeBusy
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import Operation, OperationError, Params
from gateway.store.database import StoreUnavailable


@dataclass(frozen=True, slots=True)
class RpcAnswer:
    """A result; `running`: it came from a running gateway."""

    value: Json
    running: bool


Call = Callable[[str, Params], Awaitable[Json]]
Beside = Callable[[Call], Coroutine[object, object, None]]
"""Something done while an operation runs, until that ends; it may ask for others."""


def ask(place: CliContext, operation: str, **params: Json) -> RpcAnswer:
    """Calls an operation: prints nothing, raises what ends a command."""
    return ask_beside(place, operation, params, None)


def ask_beside(place: CliContext, operation: str, params: Params, beside: Beside | None) -> RpcAnswer:
    config = place.quiet_config()
    return run(asked(place.home, config, operation, params, beside))


async def asked(home: Home, config: Config, operation: str, params: Params, beside: Beside | None = None) -> RpcAnswer:
    """Calls an operation. Raises `OperationError`, and `HomeError` where the home cannot be used."""

    async def again(other: str, others: Params) -> Json:
        async with connect(home.socket) as connection:
            return await connection.call(other, others)

    wait = HomeWait()
    while True:
        try:
            async with connect(home.socket) as connection:
                return RpcAnswer(await _with(connection.call(operation, params), beside, again), running=True)
        except NotRunning:
            pass
        try:
            async with open_gateway(home, config, channels=False) as gateway:
                return RpcAnswer(await _alone(gateway.operations, operation, params, beside), running=False)
        except StoreUnavailable as error:
            raise OperationError(str(error)) from error
        except HomeBusy as busy:
            await wait.again(busy)


async def _alone(table: Mapping[str, Operation], operation: str, params: Params, beside: Beside | None) -> Json:
    return await _with(table[operation](params), beside, lambda other, others: table[other](others))


async def _with(work: Awaitable[Json], beside: Beside | None, call: Call) -> Json:
    if beside is None:
        return await work
    watching = asyncio.ensure_future(beside(call))
    try:
        return await work
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError, NotRunning, OperationError):
            await watching


def rows(value: Json) -> list[dict[str, Json]]:
    """A list of objects, the result of most operations."""
    return [dict(row) for row in value if isinstance(row, dict)] if isinstance(value, list) else []
