"""`daybook gateway`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass

import click

from agent.formats.sqlite import StorageUnavailable
from agent.languages.examples import ABILITIES, FIRST
from agent.languages.sentences import said
from channels.terminal import MAIN_CHAT
from gateway import file_system, log_setup
from gateway.app import open_gateway
from gateway.cli.chat import piped_lines
from gateway.cli.greeting import greeting, settled
from gateway.cli.process import ProcessOperations
from gateway.cli.zone import with_zone
from gateway.config import Config, secrets_of
from gateway.home import Home, HomeBusy, allow_many, version
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import OperationError
from gateway.rpc.server import serve
from gateway.server import Gateway
from gateway.supervisor import start_again
from gateway.terminal.browser import has_browser, open_link
from gateway.terminal.context import CliContext, run, terminal_language, typed
from gateway.terminal.repl import HomeWait, LocalChat, Repl
from gateway.terminal.rpc import rows
from gateway.terminal.screen import Screen
from gateway.terminal.stdin import InputLines, has_cursor

log = logging.getLogger(__name__)

_RESTARTED = "DAYBOOK_RESTARTED"
"""Set in the environment of a gateway that was restarted from its page."""
_SIGNALS = [signal.SIGINT, signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])


@click.command("gateway")
@click.option("--terminal", is_flag=True, help="Chat here, too; Ctrl-D quits.")
@click.option("--no-browser", is_flag=True, help="With --terminal: don't open the page in your browser.")
@click.pass_obj
def gateway_command(context: CliContext, terminal: bool, no_browser: bool) -> None:
    """Run Daybook in the foreground until you stop it.

    Ctrl-C or SIGTERM lets it finish the current replies; a second one quits at once, and nothing is lost.
    """
    file_system.wait_for(context.home.path)
    config = context.config()
    streams = (sys.stdin, sys.stdout) if terminal else (sys.stdout, sys.stderr)
    is_watched = all(stream.isatty() for stream in streams)
    is_again = os.environ.pop(_RESTARTED, "") != ""
    if terminal and is_watched and not is_again:
        config = with_zone(context, config)
    allow_many()
    console = log_setup.set_up(config.log.level, config.log.format, secrets_of(config), zone=config.zone)
    person = _Person(console, no_browser or is_again) if is_watched else None  # the page is open
    if person and (terminal or config.log.level != "debug"):
        console.setLevel("WARNING")  # the greeting says the rest, `daybook logs` all of it
    if run(_run(context.home, config, terminal=terminal, person=person)):
        _start_again()


@dataclass(frozen=True, slots=True)
class _Person:
    """The person who started it at a terminal and watches. `console`: the log's handler."""

    console: logging.StreamHandler[log_setup.LogStream]
    no_browser: bool


async def _run(home: Home, config: Config, *, terminal: bool, person: _Person | None) -> bool:
    """Runs the gateway until it stops; True if it is to start again."""
    stop, again = asyncio.Event(), asyncio.Event()

    def restart() -> None:
        log.info("Restarting after the current replies.")
        again.set()
        stop.set()

    with _stopped_by_signals(stop):
        async with contextlib.AsyncExitStack() as stack:
            leave = _start_again if config.database_url is not None else _stay
            stack.enter_context(file_system.watching(home.path, leave))
            process = ProcessOperations(home, restart)
            gateway = await _opened_before(stop, _opened(home, config, process, stack))
            if gateway is None:
                return False
            try:
                log_setup.keep(home.log_file)
            except OSError as error:
                log.warning("the log is not kept for `daybook logs`: %s", error)
            is_alone = gateway.leads.is_set()
            if is_alone:
                await stack.enter_async_context(serve(home.socket, gateway.operations, gateway.terminal))
            stack.enter_context(gateway.watched())
            log.info("Daybook %s is running (process %d, home %s)", version(), os.getpid(), home.path)
            async with asyncio.TaskGroup() as group:
                group.create_task(gateway.run(stop), name="gateway")
                if not is_alone:
                    await _unless(stop, gateway.leads.wait())
                if not is_alone and gateway.leads.is_set():
                    await stack.enter_async_context(serve(home.socket, gateway.operations, gateway.terminal))
                if person:
                    await _unless(stop, _greet(gateway, config, home, person, terminal=terminal))
                if terminal:
                    await _attended(gateway, home, stop, person)
            log.info("stopped")
    return again.is_set()


async def _opened(home: Home, config: Config, process: ProcessOperations, stack: contextlib.AsyncExitStack) -> Gateway:
    """The home's gateway, closed with `stack`. Waits while another command uses the home. Raises `HomeBusy` if a
    gateway runs already, `OperationError`."""
    wait = HomeWait(log.info, silent=0)
    while True:
        try:
            return await stack.enter_async_context(
                open_gateway(home, config, channels=True, process=process.table(), on_lost=_begin_anew)
            )
        except StorageUnavailable as error:
            raise OperationError(str(error)) from error
        except HomeBusy as busy:
            if await _is_served(home):
                raise
            await wait.again(busy)


async def _opened_before(stop: asyncio.Event, opening: Coroutine[object, object, Gateway]) -> Gateway | None:
    """The gateway, in this task; None if `stop` is set while it waits for its turn."""
    try:
        async with asyncio.timeout(None) as limit:
            watching = asyncio.create_task(_expire(limit, stop))
            try:
                return await opening
            finally:
                watching.cancel()
    except TimeoutError:
        if not limit.expired():
            raise
        return None


async def _expire(limit: asyncio.Timeout, stop: asyncio.Event) -> None:
    await stop.wait()
    limit.reschedule(asyncio.get_running_loop().time())


def _begin_anew(why: str) -> None:
    log.error("the database is lost: %s. Starting again.", why)
    _start_again()


def _stay() -> None:
    """Goes on, because nobody else could serve the home meanwhile."""


def _start_again() -> None:
    """As `supervisor.start_again`; the page is not opened again."""
    os.environ[_RESTARTED] = "1"
    start_again()


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
    """The first signal stops in order, the second at once."""
    loop = asyncio.get_running_loop()

    def stopped() -> None:
        if stop.is_set():
            os._exit(1)
        log.info("Stopping after the current reply (Ctrl-C again to quit now).")
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stopped)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def _greet(gateway: Gateway, config: Config, home: Home, person: _Person, *, terminal: bool) -> None:
    """Says what is connected and what to do next; with the terminal, opens the page."""
    await settled(gateway)
    language, web = terminal_language(), typed(home, "web")
    for line in await greeting(gateway, config, home, language):
        click.echo(line)
    if not terminal:
        logs = typed(home, "logs", "--follow")
        click.echo(said(language, "`{web}` opens the page; `{logs}` shows what happens.", web=web, logs=logs))
        click.echo(said(language, "Ctrl-C stops Daybook."))
        return
    if gateway.web is not None and (link := gateway.web.new_link()):
        click.echo(
            said(language, "This link opens the page, logged in. It works once; `{web}` makes another:", web=web)
        )
        click.echo(f"  {link}\n")
        if not person.no_browser and has_browser(os.environ):
            try:
                await asyncio.to_thread(open_link, home, gateway.web.new_link())
            except OSError as error:
                log.warning("the browser didn't open: %s", error)
    if not rows(await gateway.operations["sessions.list"]({})):
        click.echo(f"{ABILITIES.in_language(language)}\n{said(language, 'For example:')}")
        click.echo("\n".join(f"  {example.in_language(language)}" for example in FIRST))
    click.echo(said(language, "Type a message, or /help. (Ctrl-C stops a reply, Ctrl-D quits.)"))


async def _attended(gateway: Gateway, home: Home, stop: asyncio.Event, person: _Person | None) -> None:
    """Chats in this terminal. Ctrl-D ends the gateway; the end of a pipe does not."""
    if person and has_cursor():
        from gateway.terminal.prompt import PromptTerminal  # noqa: PLC0415  (a start without a terminal need not wait)

        prompt = PromptTerminal(home, sys.stdout)
        person.console.setStream(prompt)
        with gateway.terminal.attach(MAIN_CHAT, prompt):
            await prompt.converse(LocalChat(gateway, MAIN_CHAT, stop), handles_sigint=False)
        stop.set()
        return
    screen = Screen(sys.stdout, sys.stderr, live=person is not None)
    with gateway.terminal.attach(MAIN_CHAT, screen):
        repl = Repl(LocalChat(gateway, MAIN_CHAT, stop), screen)
        if person:
            person.console.setStream(screen)
            async with repl.stopping_with_ctrl_c(leave=stop):
                await repl.at_terminal(InputLines(sys.stdin, prompt=True))
            stop.set()
        else:
            await _unless(stop, repl.pipe(piped_lines()))
            await stop.wait()


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
