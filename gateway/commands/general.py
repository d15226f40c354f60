"""Commands about Daybook, and its people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from agent.languages.examples import ABILITIES
from agent.languages.moments import day_in
from agent.languages.sentences import Sentence
from agent.memory.provenance import without_mark
from agent.model.offline.model import NAME as OFFLINE
from agent.model.offline.model import greeting_in
from channels.ids import PersonId
from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError, CommandReply
from gateway.commands.reports import times
from gateway.i18n import example_buttons, one_line
from gateway.policy.access import NoSuchCode, Role
from gateway.store.inbox_rows import InboxRow
from gateway.store.usage import UsageSum

_PURPOSES = {
    "chat": Sentence("answers"),
    "job": Sentence("jobs"),
    "task": Sentence("tasks"),
    "daily": Sentence("summaries"),
    "journal": Sentence("daily log"),
    "flush": Sentence("saving to memory"),
    "compaction": Sentence("shortening conversations"),
    "consolidation": Sentence("filing old conversations"),
    "image": Sentence("pictures"),
    "web_search": Sentence("web searches"),
}
"""The purposes of model calls, in words for people."""
_TASK_CHARS = 200


async def status(context: CommandContext) -> str:
    services, session = context.services, str(context.route.session)
    report = await context.context_report()
    budget, number = report.budget, context.number
    answering, idle = context.said("Conversation: answering now"), context.said("Conversation: idle")
    lines = [
        answering if services.turns.is_running(session) else idle,
        context.said(
            "Context: {used} of {window} tokens ({share}%)",
            used=number(report.projected),
            window=number(budget.window),
            share=number(100 * report.projected / budget.window),
        ),
        context.said(
            "Saved to memory: {times} in this conversation, next at {size} tokens",
            times=times(report.flushes),
            size=number(budget.flush_at),
        ),
        context.said(
            "Shortened: {times}, next at {size} tokens", times=times(report.compactions), size=number(budget.compact_at)
        ),
        await _model(context, report.model),
        *(_task(row, context) for row in services.turns.tasks_of(session)),
    ]
    if context.route.role is Role.OWNER and context.route.is_private:
        waiting, unsent = await services.kernel.inbox.counts(), await services.kernel.outbox.counts()
        states = (
            f"{channel.source.name} {context.shown(Sentence(str(channel.status.state)))}"
            for channel in services.sources
            if not channel.is_part
        )
        lines += [
            context.said("Channels: {channels}", channels=", ".join(states)),
            context.said(
                "Waiting: {waiting} to answer, {unsent} to send; {twice} possibly sent twice",
                waiting=waiting.waiting - 1,  # this command waits too, until it is answered
                unsent=unsent.waiting,
                twice=unsent.repeated,
            ),
            context.said("Spent today: ${cost}", cost=number(services.kernel.ledger.spent_today, 4)),
        ]
    return "\n".join(f"- {line}" for line in lines)


async def _model(context: CommandContext, name: str) -> str:
    until = (await context.kernel.ledger.waits.ends()).get(name)
    if until is None:
        return context.said("Model: `{name}`", name=name)
    time = f"{context.kernel.clock.local(until):%H:%M:%S}"
    return context.said("Model: `{name}`, waiting until {time}, as its server asks", name=name, time=time)


def _task(row: InboxRow, context: CommandContext) -> str:
    task = one_line(without_mark(row.message.text), _TASK_CHARS)
    since = context.moment(row.message.sent_at)
    return context.said("Working on: {task} (begun {since})", task=task, since=since)


async def usage(context: CommandContext) -> str:
    sums = await context.kernel.ledger.sums(7)
    if not sums:
        return context.said("I didn't use a model in the last seven days.")
    by_day: dict[str, list[UsageSum]] = {}
    by_purpose: dict[str, list[UsageSum]] = {}
    for total in sums:
        by_day.setdefault(total.day, []).append(total)
        by_purpose.setdefault(total.purpose, []).append(total)
    lines = [_day(context, date.fromisoformat(day), of) for day, of in sorted(by_day.items(), reverse=True)]
    purposes = "; ".join(_purpose(context, name, of) for name, of in sorted(by_purpose.items()))
    lines.append(context.said("By purpose: {purposes}", purposes=purposes))
    unknown = sum(total.unpriced for total in sums)
    note = context.said("I don't know the price of the models of {count} calls.", count=context.number(unknown))
    listed = "\n".join(f"- {line[:1].upper()}{line[1:]}" for line in lines)
    return "\n\n".join([context.said("The last seven days:"), listed, *([note] if unknown else [])])


def _day(context: CommandContext, day: date, sums: Sequence[UsageSum]) -> str:
    return context.said(
        "{day}: {calls}, {read} tokens in, {written} out, ${cost}",
        day=day_in(context.language, day, context.kernel.clock.today()),
        calls=_calls(context, sums),
        read=context.number(sum(total.input + total.cache_read + total.cache_write for total in sums)),
        written=context.number(sum(total.output for total in sums)),
        cost=context.number(sum(total.cost for total in sums), 4),
    )


def _purpose(context: CommandContext, name: str, sums: Sequence[UsageSum]) -> str:
    cost, calls = context.number(sum(total.cost for total in sums), 4), _calls(context, sums)
    return context.said("{purpose} ${cost} ({calls})", purpose=_PURPOSES.get(name, name), cost=cost, calls=calls)


def _calls(context: CommandContext, sums: Sequence[UsageSum]) -> str:
    count = sum(total.calls for total in sums)
    return context.said("1 call") if count == 1 else context.said("{count} calls", count=context.number(count))


async def whoami(context: CommandContext) -> str:
    message, route = context.row.message, context.route
    name = message.sender.name or message.sender.id
    roles = {
        Role.OWNER: Sentence("You are {name}, my owner", name=name),
        Role.PERSON: Sentence("You are {name}, a person I know", name=name),
        Role.MEMBER: Sentence("You are {name}, a member of this group", name=name),
    }
    lines = [
        context.shown(roles[route.role]),
        context.said("Your id: `{id}`", id=PersonId(message.address.channel, message.sender.id)),
        context.said("This chat: `{chat}`", chat=message.address),
        context.said("This conversation: `{session}`", session=route.session),
        context.said("Its memory: `{memory}`", memory=route.scope.name),
    ]
    return "\n".join(f"- {line}" for line in lines)


async def start(context: CommandContext) -> CommandReply:
    """Answers `/start`, which Telegram sends when its button to begin is pressed."""
    is_offline = context.agent.settings.model.name == OFFLINE
    text = greeting_in(context.language) if is_offline else ABILITIES.in_language(context.language)
    return CommandReply(text, example_buttons(context.language))


async def pair(context: CommandContext) -> str:
    if not context.argument:
        waiting = context.kernel.access.requests()
        if not waiting:
            return context.said("No one is waiting. `/pair CODE` approves someone.")
        return "\n".join(
            f"- `{request.code}`: {request.name} ({PersonId(request.channel, request.user_id)})" for request in waiting
        )
    try:
        person = await context.services.pairing.approve(context.argument)
    except NoSuchCode as error:
        raise CommandError(Sentence("That code isn't valid. Codes expire after one hour.")) from error
    who = f"{person.name} ({PersonId(person.channel, person.user_id)})"
    return context.said("{person} can talk to me now.", person=who)


COMMANDS = (
    Command("start", "", "", start, is_listed=False),
    Command("status", "", "what is going on", status),
    Command("usage", "", "tokens and cost of the last days", usage, CommandAudience.OWNER_IN_PRIVATE),
    Command("whoami", "", "who I think you are, and your id", whoami),
    Command("pair", "[CODE]", "approve someone by their code", pair, CommandAudience.OWNER_IN_PRIVATE),
)
