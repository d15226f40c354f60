"""Orders in plain words about lists: add to a list, take off, show it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent.languages.order_words import OrderKind
from agent.languages.orders import PlainOrder, items_in, without_articles
from agent.memory import lists
from agent.memory.files import FileError
from agent.memory.lists import KeptList
from agent.model.offline.intent import SEPARATOR
from gateway.commands import choices
from gateway.commands.context import CommandContext, CommandError, CommandReply
from gateway.i18n import one_line

_MOST_ASKED = 6
_SHOWN = 40


async def change(context: CommandContext, order: PlainOrder) -> CommandReply:
    """Adds to a list, takes off, or shows it. Where several lists may be meant, it asks."""
    try:
        every = await asyncio.to_thread(lists.all_lists, context.route.scope, context.kernel.clock)
        found = lists.named(without_articles(order.name), every) if order.name else every
        found = found or (every if len(every) == 1 and not _is_proper(order) else [])
        if len(found) > 1:
            return await _which(context, order, found)
        if not found and order.kind is not OrderKind.ADD:
            return CommandReply(context.said("I have no such list."))
        title = without_articles(order.name) or context.said("Shopping list")
        return await _done(context, order, found[0] if found else KeptList(title, "", "reference", ()))
    except FileError as error:
        raise CommandError(context.said("I couldn't save that: {why}", why=error)) from error


async def _done(context: CommandContext, order: PlainOrder, old: KeptList) -> CommandReply:
    if order.kind is OrderKind.SHOW_LIST:
        lines = [f"- {item}" for item in old.items] or [context.said("Nothing is on it.")]
        return CommandReply("\n".join([f"{old.name}:", "", *lines]))
    wanted = items_in(order.about, order.language)
    if order.kind is OrderKind.ADD:
        new = [item for item in wanted if item not in old.items]
        await _write(context, old, [*old.items, *new])
        return CommandReply(context.said("{name}: added {items}.", name=old.name, items=", ".join(wanted)))
    gone = [item for word in wanted for item in lists.having(word, old.items)]
    if not gone:
        return CommandReply(context.said("{items} isn't on {name}.", name=old.name, items=", ".join(wanted)))
    await _write(context, old, [item for item in old.items if item not in gone])
    return CommandReply(context.said("{name}: took off {items}.", name=old.name, items=", ".join(gone)))


async def _write(context: CommandContext, old: KeptList, items: Sequence[str]) -> None:
    scope = context.route.scope
    with context.agent.history.author(scope, str(context.route.session)).writes("list"):
        await asyncio.to_thread(lists.with_items, scope, context.kernel.clock, old, items)


async def _which(context: CommandContext, order: PlainOrder, found: Sequence[KeptList]) -> CommandReply:
    offered = [
        (one_line(kept.name, _SHOWN), f"{order.kind} {order.language} {order.about}{SEPARATOR}{kept.name}")
        for kept in found[:_MOST_ASKED]
    ]
    return await choices.asked(context, context.said("Which list?"), offered)


def _is_proper(order: PlainOrder) -> bool:
    """`the packing list` is a list of its own, `the list` is whichever list there is."""
    return len(without_articles(order.name).split()) > 1
