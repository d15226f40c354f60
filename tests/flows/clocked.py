"""`python -m tests.flows.clocked --home DIR gateway`: the gateway in a process of its own, on a clock that stands in
the file `now` beside the home, without waiting between two tries at the model; its web may be on loopback. Other
commands are the real ones."""

from __future__ import annotations

import asyncio
import functools
import logging
import signal
import sys
from datetime import datetime
from pathlib import Path

from agent.clock import Clock
from gateway.app import open_gateway
from gateway.cli import daybook
from gateway.config import load
from gateway.home import Home
from gateway.models import build_model
from gateway.rpc.server import serve
from tests.flows.life_web import rules

COMMAND = (sys.executable, "-m", "tests.flows.clocked")


def set_clock(home: Path, moment: datetime) -> None:
    fresh = home.parent / "now.new"
    fresh.write_text(moment.isoformat(), encoding="utf-8")
    fresh.replace(home.parent / "now")


async def live(home: Home) -> None:
    now = home.path.parent / "now"
    config = load(home, {}).config
    clock = Clock(config.zone, lambda: datetime.fromisoformat(now.read_text(encoding="utf-8")))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    model_of = functools.partial(build_model, sleep=_without_waiting)
    async with (
        open_gateway(home, config, channels=True, clock=clock, model_of=model_of, web_rules=rules()) as gateway,
        serve(home.socket, gateway.operations, gateway.terminal),
    ):
        await gateway.run(stop)


async def _without_waiting(_: float) -> None:
    await asyncio.sleep(0)


if __name__ == "__main__":
    if sys.argv[3] == "gateway":
        logging.basicConfig(level=logging.INFO)
        asyncio.run(live(Home(Path(sys.argv[2]))))
    else:
        daybook()
