"""`daybook gateway`: runs in the foreground until it is asked to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Coroutine, Iterator

import click

from channels.terminal import MAIN_CHAT
from gateway import log_setup
from gateway.app import open_gateway
from gateway.cli.chat import piped_lines
from gateway.cli.context import CliContext, run
from gateway.cli.repl import HomeWait, LocalChat, Repl
from gateway.cli.screen import Screen
from gateway.cli.stdin import InputLines, line_editing
from gateway.config import Config, secrets_of
from gateway.home import Home, HomeBusy, allow_many, version
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import OperationError
from gateway.rpc.server import serve
from gateway.server import Gateway
from gateway.store.database import StoreUnavailable
from gateway.supervisor import watching

news = logging.getLogger(__name__)

_SIGNALS = [signal.SIGINT, signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])

_PAGE_WAIT = 60.0
"""Seconds that the greeting waits for the page to listen or to fail, which takes a moment unless the disk hangs."""


@click.command("gateway")
@click.option("--terminal", is_flag=True, help="Talk to it here, too; Ctrl-D ends it.")
@click.pass_obj
def gateway_command(place: CliContext, terminal: bool) -> None:
    """Run until SIGINT or SIGTERM, then finish what is being answered, deliver what is ready, and exit 0.

    A second signal ends at once; nothing is lost by it.
    """
    config = place.config()
    allow_many()
    watched = terminal and sys.stdin.isatty() and sys.stdout.isatty()
    log_setup.set_up("warning" if watched else config.log.level, config.log.format, secrets_of(config))
    run(_run(place.home, config, terminal=terminal, watched=watched))


async def _run(home: Home, config: Config, *, terminal: bool, watched: bool) -> None:
    stop = asyncio.Event()
    with _stopped_by_signals(stop):
        async with contextlib.AsyncExitStack() as stack:
            gateway = await _opened(home, config, stack)
            await stack.enter_async_context(serve(home.socket, gateway.operations, gateway.terminal))
            stack.enter_context(watching(home.stack))
            news.info("Daybook %s runs, process %d, home %s", version(), os.getpid(), home.path)
            async with asyncio.TaskGroup() as group:
                group.create_task(gateway.run(stop), name="gateway")
                if terminal:
                    await _attended(gateway, stop, watched=watched)
            news.info("stopped")


async def _opened(home: Home, config: Config, stack: contextlib.AsyncExitStack) -> Gateway:
    """The home's gateway, closed with `stack`. Waits for a command that acts alone in the home. Raises `HomeBusy` at
    once where another gateway runs; `OperationError`."""
    wait = HomeWait(news.info, silent=0)
    while True:
        try:
            return await stack.enter_async_context(open_gateway(home, config, channels=True))
        except StoreUnavailable as error:
            raise OperationError(str(error)) from error
        except HomeBusy as busy:
            if await _is_served(home):
                raise
            await wait.again(busy)


async def _is_served(home: Home) -> bool:
    try:
        async with connect(home.socket):
            return True
    except NotRunning:
        return False
    except OperationError:
        return True


@contextlib.contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """The first signal stops in order, the second at once (everything that matters is on disk already)."""
    loop = asyncio.get_running_loop()

    def stopped() -> None:
        if stop.is_set():
            os._exit(1)
        news.info("stopping; what is being answered is finished first (a second signal ends at once)")
        stop.set()

    for one in _SIGNALS:
        loop.add_signal_handler(one, stopped)
    try:
        yield
    finally:
        for one in _SIGNALS:
            loop.remove_signal_handler(one)


async def _attended(gateway: Gateway, stop: asyncio.Event, *, watched: bool) -> None:
    """Chats in this terminal while the gateway runs. A person's Ctrl-D ends it; the end of a pipe does not."""
    screen = Screen(sys.stdout, sys.stderr, live=watched)
    with gateway.terminal.attach(MAIN_CHAT, screen):
        conversation = Repl(LocalChat(gateway, MAIN_CHAT, stop), screen)
        if watched:
            click.echo("You are talking to Daybook. /help lists the commands, Ctrl-C stops an answer, Ctrl-D ends.")
            if address := await _page_address(gateway, stop):
                click.echo(f"In your browser: {address} (it asks for a token; `daybook web` shows it).")
            with line_editing():
                async with conversation.stopping_with_ctrl_c(leave=stop):
                    await conversation.at_terminal(InputLines(sys.stdin, prompt=True))
            stop.set()
        else:
            await _unless(stop, conversation.pipe(piped_lines()))
            await stop.wait()


async def _page_address(gateway: Gateway, stop: asyncio.Event) -> str:
    """The page's address; empty where there is none, it cannot be opened now (the log says why), or `stop` is set
    first."""
    if gateway.web is None:
        return ""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PAGE_WAIT):
            await _unless(stop, gateway.web.begun.wait())
    return gateway.web.address


async def _unless(stop: asyncio.Event, work: Coroutine[object, object, object]) -> None:
    """Works until done or `stop` is set."""
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        working.cancel()
    if working.done() and not working.cancelled():
        working.result()
