"""Calls operations of the running gateway, or of one opened in this process."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass

import click

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.sentences import Sentence, all_translated, translated
from agent.model.base import Json
from gateway.app import open_gateway
from gateway.config import Config
from gateway.home import HomeBusy
from gateway.operations import ResultReader
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import OperationError, Params, RpcHandler
from gateway.terminal.context import CliContext, run, terminal_language
from gateway.terminal.repl import HomeWait


@dataclass(frozen=True, slots=True)
class RpcAnswer:
    value: Json
    running: bool
    """It came from a running gateway."""
    reader: ResultReader

    @property
    def fields(self) -> Mapping[str, Json]:
        """An object; without fields where it is something else."""
        return self.value if isinstance(self.value, Mapping) else {}

    @property
    def rows(self) -> list[dict[str, Json]]:
        return rows(self.value)


Call = Callable[[str, Params], Awaitable[Json]]
Beside = Callable[[Call], Coroutine[object, object, None]]
"""Work beside an operation, cancelled when that ends; it may call other operations."""


def ask(context: CliContext, operation: str, **params: Json) -> RpcAnswer:
    """Calls an operation. Raises `CommandFailed` and `Misconfigured`."""
    return ask_beside(context, operation, params, None)


def ask_beside(context: CliContext, operation: str, params: Params, beside: Beside | None) -> RpcAnswer:
    config = context.quiet_config()
    is_for_programs = click.get_current_context().params.get("as_json")
    language = Language.ENGLISH if is_for_programs else context.language
    return run(_call(context, config, operation, params, beside, language))


async def _call(
    context: CliContext, config: Config, operation: str, params: Params, beside: Beside | None, language: Language
) -> RpcAnswer:
    """Calls an operation; its sentences are in that language. Raises `OperationError`, and `HomeError` where the home
    cannot be used."""
    home, reader = context.home, ResultReader(language, config.zone)

    async def again(other: str, others: Params) -> Json:
        async with connect(home.socket) as connection:
            return await connection.call(other, others)

    wait = HomeWait()
    while True:
        try:
            async with connect(home.socket) as connection:
                value = await _with(connection.call(operation, params, language), beside, again)
                return RpcAnswer(value, True, reader)
        except NotRunning:
            pass
        try:
            async with open_gateway(home, config, channels=False) as gateway:
                value = await _alone(gateway.operations, operation, params, beside)
                return RpcAnswer(all_translated(language, value), False, reader)
        except StorageUnavailable as error:
            raise OperationError(str(error)) from error
        except HomeBusy as busy:
            await wait.again(busy)


async def _alone(table: Mapping[str, RpcHandler], operation: str, params: Params, beside: Beside | None) -> Json:
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


Sleep = Callable[[float], Awaitable[None]]
_LONG = 0.5
"""Seconds after which a build is worth a bar."""
_REDRAWN = 0.2
_LABELS = {"files": Sentence("Indexing files"), "texts": Sentence("Indexing by meaning")}


async def show_progress(params: Mapping[str, Json], call: Call, sleep: Sleep = asyncio.sleep) -> None:
    """Shows the bar for a build that takes long, until cancelled."""
    await sleep(_LONG)
    now = "files"
    while True:
        what = now
        label = str(translated(terminal_language(), _LABELS[what]))
        with click.progressbar(length=0, label=label, file=sys.stderr, show_pos=True) as bar:
            while now == what:
                value = await call("memory.progress", params)
                found = value if isinstance(value, dict) else {}
                done, of, now = found.get("done"), found.get("of"), str(found.get("what"))
                if isinstance(done, int) and isinstance(of, int) and of and now == what:
                    bar.length = of
                    bar.update(min(done, of) - bar.pos)
                await sleep(_REDRAWN)
