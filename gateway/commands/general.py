"""Commands about Daybook, and its people."""

from __future__ import annotations

from datetime import date

from agent.clock import Clock
from agent.memory.provenance import without_mark
from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError
from gateway.commands.reports import times
from gateway.i18n import one_line
from gateway.policy.access import NoSuchCode, Role
from gateway.spoken_time import spoken, spoken_day
from gateway.store.inbox_rows import InboxRow

_PURPOSES = {
    "chat": "answers",
    "job": "jobs",
    "task": "tasks",
    "daily": "summaries",
    "journal": "daily log",
    "flush": "saving to memory",
    "compaction": "shortening conversations",
    "consolidation": "filing old conversations",
    "image": "pictures",
    "web_search": "web searches",
}
"""What people read for the purposes of calls."""
_TASK_CHARS = 200


async def status(context: CommandContext) -> str:
    services, session = context.services, str(context.route.session)
    report = await context.context_report()
    window = report.budget.window
    until = (await services.ledger.waits.ends()).get(report.model)
    waits = f", waiting until {services.clock.local(until):%H:%M:%S}, as its server asks" if until is not None else ""
    lines = [
        f"- Conversation: {'answering now' if services.turns.is_running(session) else 'idle'}",
        f"- Context: {report.projected:,} of {window:,} tokens ({report.projected / window:.0%})",
        f"- Saved to memory: {times(report.flushes)} in this conversation, next at {report.budget.flush_at:,} tokens",
        f"- Shortened: {times(report.compactions)}, next at {report.budget.compact_at:,} tokens",
        f"- Model: `{report.model}`{waits}",
        *(_task(row, services.clock) for row in services.turns.tasks_of(session)),
    ]
    if context.route.role is Role.OWNER and context.route.is_private:
        waiting, unsent = await services.inbox.counts(), await services.outbox.counts()
        others = waiting.waiting - 1  # this command waits too, until it is answered
        states = (f"{one.source.name} {one.status.state}" for one in services.sources if not one.is_part)
        lines += [
            f"- Channels: {', '.join(states)}",
            f"- Waiting: {others} to answer, {unsent.waiting} to send; {unsent.repeated} possibly sent twice",
            f"- Spent today: ${services.ledger.spent_today:.4f}",
        ]
    return "\n".join(lines)


def _task(row: InboxRow, clock: Clock) -> str:
    since = spoken(row.message.sent_at, clock.now(), clock.zone)
    return f"- Working on: {one_line(without_mark(row.message.text), _TASK_CHARS)} (begun {since})"


async def usage(context: CommandContext) -> str:
    sums = await context.services.ledger.sums(7)
    if not sums:
        return "I didn't use a model in the last seven days."
    days: dict[str, list[float]] = {}
    for one in sums:
        day = days.setdefault(one.day, [0, 0, 0, 0.0])
        day[0] += one.calls
        day[1] += one.input + one.cache_read + one.cache_write
        day[2] += one.output
        day[3] += one.cost
    today = context.services.clock.today()
    lines = [
        f"- {spoken_day(date.fromisoformat(day), today)}: {calls:.0f} calls, {read:,.0f} tokens in, "
        f"{written:,.0f} out, ${cost:.4f}"
        for day, (calls, read, written, cost) in sorted(days.items(), reverse=True)
    ]
    purposes: dict[str, list[float]] = {}
    for one in sums:
        purpose = purposes.setdefault(one.purpose, [0, 0.0])
        purpose[0] += one.calls
        purpose[1] += one.cost
    shares = (
        f"{_PURPOSES.get(name, name)} ${cost:.4f} ({calls:.0f} {'call' if calls == 1 else 'calls'})"
        for name, (calls, cost) in sorted(purposes.items())
    )
    lines.append(f"- By purpose: {'; '.join(shares)}")
    unknown = sum(one.unpriced for one in sums)
    note = f"\n\nI don't know the price of the models of {unknown} calls." if unknown else ""
    return "The last seven days:\n\n" + "\n".join(lines) + note


async def whoami(context: CommandContext) -> str:
    message, route = context.row.message, context.route
    roles = {Role.OWNER: "my owner", Role.PERSON: "a person I know", Role.MEMBER: "a member of this group"}
    return "\n".join(
        [
            f"- You are {message.sender.name or message.sender.id}, {roles[route.role]}",
            f"- Your id: `{message.address.channel}:{message.sender.id}`",
            f"- This chat: `{message.address}`",
            f"- This conversation: `{route.session}`, with the memory of `{route.scope.name}`",
        ]
    )


async def pair(context: CommandContext) -> str:
    if not context.argument:
        waiting = context.services.access.requests()
        if not waiting:
            return "No one is waiting. `/pair CODE` approves someone."
        return "\n".join(f"- `{one.code}`: {one.name} ({one.channel}:{one.user_id})" for one in waiting)
    try:
        person = await context.services.pairing.approve(context.argument)
    except NoSuchCode as error:
        raise CommandError("That code isn't valid. Codes expire after one hour.") from error
    return f"{person.name} ({person.channel}:{person.user_id}) can talk to me now."


COMMANDS = (
    Command("status", "", "what is going on", status),
    Command("usage", "", "tokens and cost of the last days", usage, CommandAudience.OWNER_IN_PRIVATE),
    Command("whoami", "", "who I think you are, and your id", whoami),
    Command("pair", "[CODE]", "approve someone by their code", pair, CommandAudience.OWNER_IN_PRIVATE),
)
