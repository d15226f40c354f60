"""All commands, in the order in which people are shown them."""

from __future__ import annotations

from gateway.approvals import KIND as APPROVAL
from gateway.commands import (
    Ask,
    Command,
    Commands,
    answers,
    approvals,
    daily,
    general,
    group,
    memory,
    rewording,
    schedule,
    search,
    session,
)
from gateway.rewording import KIND as REWORDED


def all_commands() -> Commands:
    async def help_(ask: Ask) -> str:
        return commands.help(ask.conversation)

    first = Command("help", "", "what I understand", help_)
    takers = {memory.FORGET: memory.take_forget, REWORDED: rewording.take, APPROVAL: approvals.take}
    answer = answers.command(takers)
    told = (*schedule.COMMANDS, *daily.COMMANDS, *approvals.COMMANDS)
    rest = (*session.COMMANDS, *search.COMMANDS, *memory.COMMANDS, *told, *general.COMMANDS)
    commands = Commands((first, *rest, *group.COMMANDS, answer))
    return commands
