"""Ask the running gateway; without one, act alone under the home's lock, through the same operations."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent.model.base import Json
from gateway.app import open_gateway
from gateway.cli.place import Place, run
from gateway.cli.talk import STARTING
from gateway.config import Config
from gateway.control import NotRunning, OperationError, Params, connect
from gateway.home import Home, HomeBusy
from gateway.store.database import StoreUnavailable


@dataclass(frozen=True, slots=True)
class Answer:
    """`running`: a running gateway gave it."""

    value: Json
    running: bool


def ask(place: Place, operation: str, **params: Json) -> Answer:
    """For commands: prints nothing, raises what ends them."""
    config = place.quiet_config()
    return run(asked(place.home, config, operation, params))


async def asked(home: Home, config: Config, operation: str, params: Params) -> Answer:
    """Raises `OperationError`, and `HomeError` where the home cannot be used."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + STARTING
    while True:
        try:
            async with connect(home.socket) as connection:
                return Answer(await connection.call(operation, params), running=True)
        except NotRunning:
            pass
        try:
            async with open_gateway(home, config, channels=False) as gateway:
                return Answer(await gateway.operations[operation](params), running=False)
        except StoreUnavailable as error:
            raise OperationError(str(error)) from error
        except HomeBusy:
            if loop.time() > give_up:
                raise
            await asyncio.sleep(0.1)


def rows(value: Json) -> list[dict[str, Json]]:
    """A list of objects, as most operations answer."""
    return [dict(row) for row in value if isinstance(row, dict)] if isinstance(value, list) else []
