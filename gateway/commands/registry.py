"""All commands, in the order in which people see them."""

from __future__ import annotations

from gateway.commands import answers, daily, general, group, memory, schedule, search, session
from gateway.commands.context import Command, CommandContext, CommandRunner
from gateway.messages.edited import KIND as REWORDED
from gateway.tools.approvals import KIND as APPROVAL


def all_commands() -> CommandRunner:
    async def help_(ask: CommandContext) -> str:
        return commands.help(ask.conversation)

    first = Command("help", "", "what I understand", help_)
    takers = {memory.FORGET: memory.take_forget, REWORDED: answers.take_rewording, APPROVAL: answers.take_approval}
    answer = answers.command(takers)
    told = (*schedule.COMMANDS, *daily.COMMANDS, *answers.COMMANDS)
    rest = (*session.COMMANDS, *search.COMMANDS, *memory.COMMANDS, *told, *general.COMMANDS)
    commands = CommandRunner((first, *rest, *group.COMMANDS, answer))
    return commands
