"""`daybook chat`: a conversation with the agent in this terminal."""

from __future__ import annotations

import io
import re
import sys

import click

from channels.terminal import MAIN_CHAT
from gateway.cli.context import CliContext, run
from gateway.cli.repl import Repl, open_chat
from gateway.cli.screen import Screen
from gateway.cli.stdin import InputLines, line_editing
from gateway.config import Config
from gateway.home import Home


def _session(_: click.Context, __: click.Parameter, name: str) -> str:
    if not re.fullmatch(r"[\w-]{1,64}", name):
        raise click.BadParameter("a name of letters, digits, - and _")
    return name


@click.command("chat")
@click.option("-m", "--message", metavar="TEXT", help="One message; only the reply goes to stdout.")
@click.option("--session", default=MAIN_CHAT, callback=_session, help="A talk of its own, by name.")
@click.pass_obj
def chat_command(place: CliContext, message: str | None, session: str) -> None:
    """Talk to the agent, in the running gateway or without one. Ctrl-C stops an answer, Ctrl-D leaves.

    With standard input from elsewhere, each line of it is a message.
    """
    config = place.quiet_config()
    if message is not None and not message.strip():
        raise click.UsageError("-m wants a text")
    if run(_chat(place.home, config, message, session)):
        sys.exit(1)


async def _chat(home: Home, config: Config, message: str | None, session: str) -> bool:
    """Runs the chat; True where an answer was an error."""
    at_terminal = message is None and sys.stdin.isatty() and sys.stdout.isatty()
    screen = Screen(sys.stdout, sys.stderr, live=at_terminal)
    async with open_chat(home, config, session, screen, lasting=message is None) as talk:
        conversation = Repl(talk, screen)
        if message is not None:
            await conversation.ask(message)
        elif at_terminal:
            with line_editing():
                async with conversation.stopping_with_ctrl_c():
                    await conversation.at_terminal(InputLines(sys.stdin, prompt=True))
        else:
            await conversation.pipe(piped_lines())
        return conversation.failed


def piped_lines() -> InputLines:
    """Standard input as lines, whatever bytes are in it."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return InputLines(sys.stdin, prompt=False)
