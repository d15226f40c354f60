"""`daybook completion`: prints what makes a shell complete `daybook`'s commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from agent.languages.sentences import said
from gateway.terminal.context import terminal_language

_HOW = {
    "bash": "echo 'eval \"$(daybook completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(daybook completion zsh)\"' >> ~/.zshrc",
    "fish": "daybook completion fish > ~/.config/fish/completions/daybook.fish",
}


@click.command(
    "completion", epilog="To have it in every new shell:\n\n\b\n" + "\n".join(f"  {how}" for how in _HOW.values())
)
@click.argument("shell", type=click.Choice(list(_HOW)))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Let your shell complete commands."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(said(terminal_language(), "{shell} can't complete commands here.", shell=shell))
    root = ctx.find_root().command
    click.echo(found(root, {}, "daybook", "_DAYBOOK_COMPLETE").source())
