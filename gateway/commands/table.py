"""All commands, in the order in which people are shown them."""

from __future__ import annotations

from gateway.commands import Ask, Command, Commands, general, memory, search, session


def all_commands() -> Commands:
    async def help_(ask: Ask) -> str:
        return commands.help(ask.conversation)

    first = Command("help", "", "what I understand", help_)
    commands = Commands((first, *session.COMMANDS, *search.COMMANDS, *memory.COMMANDS, *general.COMMANDS))
    return commands
