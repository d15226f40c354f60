"""Commands about Daybook, and its people."""

from __future__ import annotations

from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError
from gateway.policy.access import NoSuchCode, Role


async def status(ask: CommandContext) -> str:
    services, session = ask.services, str(ask.conversation.session)
    report = await ask.context_report()
    window = report.budget.window
    lines = [
        f"- Talk: {'answering now' if services.turns.is_running(session) else 'idle'}",
        f"- Context: {report.projected:,} of {window:,} tokens ({report.projected / window:.0%})",
        f"- Memory: {report.flushes} flushes, {report.compactions} compactions in this conversation; the next flush at "
        f"{report.budget.flush_at:,}, compaction at {report.budget.compact_at:,} tokens",
        f"- Model: `{report.model}`",
    ]
    if ask.conversation.role is Role.OWNER and ask.conversation.is_private:
        waiting, unsent = await services.inbox.counts(), await services.outbox.counts()
        others = waiting.waiting - 1  # this command waits too, until it is answered
        states = (f"{one.source.name} {one.status.state}" for one in services.sources)
        lines += [
            f"- Channels: {', '.join(states)}",
            f"- Waiting: {others} to answer, {unsent.waiting} to send; {unsent.repeated} sent twice in doubt",
            f"- Spent today: ${services.ledger.spent_today:.4f}",
        ]
    return "\n".join(lines)


async def usage(ask: CommandContext) -> str:
    sums = await ask.services.ledger.sums(7)
    if not sums:
        return "No model has been called in the last seven days."
    days: dict[str, list[float]] = {}
    for one in sums:
        day = days.setdefault(one.day, [0, 0, 0, 0.0])
        day[0] += one.calls
        day[1] += one.input + one.cache_read + one.cache_write
        day[2] += one.output
        day[3] += one.cost
    lines = [
        f"- {day}: {calls:.0f} calls, {read:,.0f} tokens in, {written:,.0f} out, ${cost:.4f}"
        for day, (calls, read, written, cost) in sorted(days.items(), reverse=True)
    ]
    purposes: dict[str, list[float]] = {}
    for one in sums:
        purpose = purposes.setdefault(one.purpose, [0, 0.0])
        purpose[0] += one.calls
        purpose[1] += one.cost
    shares = (f"{name} {calls:.0f} calls, ${cost:.4f}" for name, (calls, cost) in sorted(purposes.items()))
    lines.append(f"- By purpose: {'; '.join(shares)}")
    unknown = sum(one.unpriced for one in sums)
    note = f"\n\n{unknown} calls went to models whose price is not known." if unknown else ""
    return "The last seven days:\n\n" + "\n".join(lines) + note


async def whoami(ask: CommandContext) -> str:
    message = ask.row.message
    roles = {Role.OWNER: "my owner", Role.PERSON: "a person I know", Role.MEMBER: "a member of this group"}
    return "\n".join(
        [
            f"- You are {message.sender.name or message.sender.id}, {roles[ask.conversation.role]}",
            f"- Your id: `{message.address.channel}:{message.sender.id}`",
            f"- This chat: `{message.address}`",
            f"- This conversation: `{ask.conversation.session}`, kept under `{ask.conversation.scope.name}`",
        ]
    )


async def pair(ask: CommandContext) -> str:
    if not ask.words:
        waiting = ask.services.access.requests()
        if not waiting:
            return "Nobody is waiting. `/pair CODE` lets somebody in."
        return "\n".join(f"- `{one.code}`: {one.name} ({one.channel}:{one.user_id})" for one in waiting)
    try:
        person = await ask.services.pairing.approve(ask.words)
    except NoSuchCode as error:
        raise CommandError("No such code is open; codes are good for one hour.") from error
    return f"{person.name} ({person.channel}:{person.user_id}) may talk to me now."


COMMANDS = (
    Command("status", "", "how I am and what is going on", status),
    Command("usage", "", "tokens and cost of the last days", usage, CommandAudience.OWNER_IN_PRIVATE),
    Command("whoami", "", "who you are to me, and your id", whoami),
    Command("pair", "[CODE]", "let somebody in who was given a code", pair, CommandAudience.OWNER_IN_PRIVATE),
)
