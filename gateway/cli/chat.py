"""`daybook chat`: a conversation with the agent in this terminal."""

from __future__ import annotations

import io
import re
import sys

import click

from agent.languages.sentences import said
from channels.terminal import MAIN_CHAT
from gateway.config import Config
from gateway.home import Home
from gateway.terminal.context import CliContext, run, terminal_language
from gateway.terminal.repl import Repl, open_chat
from gateway.terminal.screen import Screen
from gateway.terminal.stdin import InputLines, has_cursor


def _session(_: click.Context, __: click.Parameter, name: str) -> str:
    if not re.fullmatch(r"[\w-]{1,64}", name):
        raise click.BadParameter(said(terminal_language(), "Use letters, digits, - and _, at most 64."))
    return name


@click.command("chat")
@click.option("-m", "--message", metavar="TEXT", help="Send one message; only the reply goes to stdout.")
@click.option("--session", default=MAIN_CHAT, callback=_session, help="Name of a separate conversation.")
@click.pass_obj
def chat_command(context: CliContext, message: str | None, session: str) -> None:
    """Chat with Daybook in this terminal.

    Ctrl-C stops a reply, Ctrl-D quits. When input is piped in, each line is a message.
    """
    config = context.quiet_config()
    if message is not None and not message.strip():
        raise click.UsageError(context.said("-m needs a text."))
    if run(_chat(context.home, config, message, session)):
        sys.exit(1)


async def _chat(home: Home, config: Config, message: str | None, session: str) -> bool:
    """Runs the chat; True where an answer was an error."""
    if message is None and has_cursor():
        return await _at_prompt(home, config, session)
    at_terminal = message is None and sys.stdin.isatty() and sys.stdout.isatty()
    screen = Screen(sys.stdout, sys.stderr, live=at_terminal)
    async with open_chat(home, config, session, screen, lasting=message is None) as connection:
        repl = Repl(connection, screen)
        if message is not None:
            await repl.ask(message)
        elif at_terminal:
            async with repl.stopping_with_ctrl_c():
                await repl.at_terminal(InputLines(sys.stdin, prompt=True))
        else:
            await repl.pipe(piped_lines())
        return repl.failed


async def _at_prompt(home: Home, config: Config, session: str) -> bool:
    from gateway.terminal.prompt import PromptTerminal  # noqa: PLC0415  (a tenth of a second that pipes need not wait)

    home.create()
    terminal = PromptTerminal(home, sys.stdout)
    async with open_chat(home, config, session, terminal, lasting=True) as connection:
        await terminal.converse(connection, handles_sigint=True)
    return terminal.failed


def piped_lines() -> InputLines:
    """Standard input as lines, whatever bytes are in it."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return InputLines(sys.stdin, prompt=False)
