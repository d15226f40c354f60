"""All commands, in the order in which people see them."""

from __future__ import annotations

from gateway.commands import (
    answers,
    chat_settings,
    daily,
    general,
    memory,
    orders,
    schedule,
    search,
    session,
    timezone,
)
from gateway.commands.context import Command, CommandContext
from gateway.commands.runner import CommandTable
from gateway.messages.edited import KIND as REWORDED
from gateway.tools.pending_effect import KIND as APPROVAL


def all_commands() -> CommandTable:
    async def help_(context: CommandContext) -> str:
        return commands.help(context)

    answer_handlers = {
        memory.FORGET: memory.take_forget,
        REWORDED: answers.take_rewording,
        APPROVAL: answers.take_approval,
    }
    commands = CommandTable(
        (
            Command("help", "", "list the commands", help_),
            *session.COMMANDS,
            *search.COMMANDS,
            *memory.COMMANDS,
            *schedule.COMMANDS,
            *orders.COMMANDS,
            *daily.COMMANDS,
            *timezone.COMMANDS,
            *answers.COMMANDS,
            *general.COMMANDS,
            *chat_settings.COMMANDS,
            answers.command(answer_handlers),
        )
    )
    return commands
