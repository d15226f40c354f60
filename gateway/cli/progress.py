"""A progress bar on stderr while an index is built."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping

import click

from agent.model.base import Json
from gateway.cli.rpc import Call

Sleep = Callable[[float], Awaitable[None]]
_LONG = 0.5
"""Seconds after which a build is worth a bar."""
_REDRAWN = 0.2
_LABELS = {"files": "Indexing files", "texts": "Embedding texts"}


async def show_progress(asked: Mapping[str, Json], call: Call, sleep: Sleep = asyncio.sleep) -> None:
    """Shows the bar for a build that takes long, until cancelled."""
    await sleep(_LONG)
    now = "files"
    while True:
        what = now
        with click.progressbar(length=0, label=_LABELS[what], file=sys.stderr, show_pos=True) as bar:
            while now == what:
                value = await call("memory.progress", asked)
                found = value if isinstance(value, dict) else {}
                done, of, now = found.get("done"), found.get("of"), str(found.get("what"))
                if isinstance(done, int) and isinstance(of, int) and of and now == what:
                    bar.length = of
                    bar.update(min(done, of) - bar.pos)
                await sleep(_REDRAWN)
