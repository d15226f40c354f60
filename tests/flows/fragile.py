"""`python -m tests.flows.fragile --home DIR gateway`: the gateway in a process of its own, whose event loop is brought
to a standstill by words in a message: in a text, as the model is asked; in the name of a file, as it is fetched.

Its environment says after how many seconds a standstill ends it (STANDSTILL_S), how old it is before a message is tried
alone (TRIAL_S), and how long it waits for the rest of an album (PASTE_S). Other commands are the real ones.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.clock import Clock
from agent.model.base import Model, ModelEvent, ModelRequest
from agent.model.client import closing
from channels.message import Attachment, Channel, CommandInfo
from channels.telegram.channel import TelegramChannel
from gateway.app import open_gateway
from gateway.cli import daybook
from gateway.config import Config, ModelConfig, load
from gateway.home import Home
from gateway.models import build_model
from gateway.rpc.server import serve
from gateway.server import Gateway, Timeouts
from gateway.store.database import Database
from gateway.store.usage import UsageLedger
from gateway.supervisor import SECONDS, start_again

COMMAND = (sys.executable, "-m", "tests.flows.fragile")
COMPUTES, WAITS = "compute-for-ever", "wait-for-ever"


def stand_still(text: str) -> None:
    if COMPUTES in text:
        re.match(r"(?:a|a)*b", "a" * 60)  # holds the interpreter for longer than the world stands
    if WAITS in text:
        threading.Event().wait()


@dataclass(frozen=True, slots=True)
class FragileModel:
    model: Model

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        stand_still(str(request.messages[-1]))
        async with closing(self.model.stream(request)) as events:
            async for event in events:
                yield event

    async def context_window(self, model: str) -> int | None:
        return await self.model.context_window(model)

    async def aclose(self) -> None:
        await self.model.aclose()


class FragileTelegram(TelegramChannel):
    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        await super().fetch(attachment, to, most)
        stand_still(attachment.name)


def platforms(config: Config, menu: Sequence[CommandInfo], _: Database) -> list[Channel]:
    telegram = config.channels.telegram
    assert telegram.token is not None
    token, base_url, base_file_url = telegram.token.get_secret_value(), telegram.base_url, telegram.base_file_url
    return [FragileTelegram(token, base_url=base_url, base_file_url=base_file_url, commands=menu)]


def model_of(config: ModelConfig, ledger: UsageLedger, clock: Clock, env_file: str) -> tuple[Model, None]:
    return FragileModel(build_model(config, ledger, clock, env_file)[0]), None


async def live(home: Home) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    usual, given = Timeouts(), os.environ.get
    timeouts = Timeouts(trial=float(given("TRIAL_S", usual.trial)), paste=float(given("PASTE_S", usual.paste)))
    opening = open_gateway(
        home,
        load(home, {}).config,
        channels=True,
        platforms=platforms,
        model_of=model_of,
        timeouts=timeouts,
        on_lost=lambda why: start_again(),
    )
    async with opening as gateway, asyncio.TaskGroup() as group:
        with gateway.watched(float(given("STANDSTILL_S", SECONDS))):
            serving = group.create_task(served(home, gateway))
            await gateway.run(stop)
            serving.cancel()


async def served(home: Home, gateway: Gateway) -> None:
    """For other commands, once it leads."""
    await gateway.leads.wait()
    async with serve(home.socket, gateway.operations, gateway.terminal):
        await asyncio.Event().wait()


if __name__ == "__main__":
    if sys.argv[3] == "gateway":
        logging.basicConfig(level=logging.INFO)
        asyncio.run(live(Home(Path(sys.argv[2]))))
    else:
        daybook()
