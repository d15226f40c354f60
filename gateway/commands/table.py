"""All commands, in the order in which people are shown them."""

from __future__ import annotations

from gateway.commands import Ask, Command, Commands, general, search, session


def all_commands() -> Commands:
    async def help_(ask: Ask) -> str:
        return commands.help(ask.conversation)

    commands = Commands(
        (Command("help", "", "what I understand", help_), *session.COMMANDS, *search.COMMANDS, *general.COMMANDS)
    )
    return commands
