"""`/remind` and `/jobs`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from agent.model.offline.model import NAME as OFFLINE
from channels.message import Origin
from gateway import recurrence as when_
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply, PassToModel
from gateway.i18n import STRINGS, Strings, one_line
from gateway.recurrence import At, Cron, InvalidWhen, local, resolved
from gateway.scheduling import phrases, reminders
from gateway.scheduling.job import Job, JobKind
from gateway.scheduling.requests import JobListing, JobRefused, JobRequest, Requester
from gateway.store import chat_rows
from gateway.store.run_rows import RunStatus
from gateway.tools.schedule import asker_of

T = TypeVar("T")

_LISTED = 40
_SHOWN = 60
_ERROR_SHOWN = 160
_ONE_MESSAGE = 1500
"""Characters that are one message on every platform, with what is added to them."""
_BELATED = timedelta(hours=12)
"""A command that waited for so long in all is still answered from the moment at which it was written."""
_HOW = (
    "Say when and what: `/remind in 20 minutes tea`, `/remind tomorrow 15:00 call Ann`, "
    "`/remind every weekday at 8 vitamins`."
)


async def remind(ask: CommandContext) -> str:
    if not ask.words:
        raise CommandError(_HOW)
    try:
        understood = phrases.read(ask.words, _said_at(ask))
        if understood is None and _is_offline(ask):
            understood = phrases.read_at_end(ask.words, _said_at(ask))
    except InvalidWhen as error:
        raise CommandError(f"{error}.") from error
    if understood is None:
        if _is_offline(ask):
            raise CommandError(f"I don't understand when that is, and no language model is connected to ask. {_HOW}")
        raise PassToModel
    if not understood.rest:
        raise CommandError(f"What shall I remind you of? {_HOW}")
    wish = JobRequest(text=understood.rest, when=when_.fields(understood.when))
    booked = await _asked(ask.services.book.add(_asker(ask), wish))
    again = f"{when_.in_words(booked.job.when)}, next" if isinstance(booked.job.when, Cron | when_.Every) else ""
    where = "here" if booked.is_here else "in the chat where you wrote to me last"
    how = " ".join(filter(None, [f"{where},", again, booked.soon]))
    id = booked.job.id
    return f"I'll remind you {how.rstrip(',')}: {booked.said}. (`{id}`; `/jobs delete {id}` takes it back.)"


def _is_offline(ask: CommandContext) -> bool:
    return ask.agent.settings.model.name == OFFLINE


async def jobs(ask: CommandContext) -> str | CommandReply:
    verb, _, id = ask.words.partition(" ")
    if not verb:
        return _listed(await ask.services.book.rows(_asker(ask)))
    act = _VERBS.get(verb.lower())
    if act is None or not id.strip():
        raise CommandError(f"I know `/jobs`, and `/jobs VERB ID` with {', '.join(_VERBS)}.")
    return await _asked(act(ask, id.strip().strip("`")))


async def _pause(ask: CommandContext, id: str) -> str:
    job = await ask.services.book.switch(_asker(ask), id, enabled=False)
    return f"`{job.id}` is paused; `/jobs resume {job.id}` lets it go on."


async def _resume(ask: CommandContext, id: str) -> str:
    job = await ask.services.book.switch(_asker(ask), id, enabled=True)
    return f"`{job.id}` goes on; next: {ask.services.book.next_run(job) or 'never'}."


async def _delete(ask: CommandContext, id: str) -> str:
    job = await ask.services.book.remove(_asker(ask), id)
    return f"`{job.id}` is deleted: {one_line(job.text, _SHOWN)}"


async def _snooze(ask: CommandContext, words: str) -> CommandReply:
    name, _, time = words.partition(" ")
    try:
        understood = phrases.read(f"in {time}", _said_at(ask)) or phrases.read(time, _said_at(ask))
    except InvalidWhen as error:
        raise CommandError(f"{error}.") from error
    if understood is None or understood.rest or not isinstance(understood.when, At):
        raise CommandError(f"For how long? `/jobs snooze {name} 10m`, or `tomorrow 9:00`.")
    zone = ask.services.clock.zone
    booked = await ask.services.book.snooze(_asker(ask), name.strip("`"), resolved(understood.when.moment, zone))
    return _answered(ask, booked.job.text, f"⏰ {(await _words(ask)).again.format(when=booked.said)}")


async def _done(ask: CommandContext, name: str) -> CommandReply:
    return _answered(ask, await ask.services.book.done(_asker(ask), name), f"✓ {(await _words(ask)).is_done}")


async def _words(ask: CommandContext) -> Strings:
    return STRINGS[await ask.services.database.run(chat_rows.language, ask.row.message.address)]


def _answered(ask: CommandContext, reminder: str, said: str) -> CommandReply:
    """After a button was pressed, the reminder's message shows what was chosen; one long enough for several messages
    stays as it is."""
    pressed = ask.row.message.platform_id if ask.row.message.origin is Origin.COMMAND else ""
    if pressed and len(reminder) <= _ONE_MESSAGE:
        return CommandReply(f"{reminders.shown(reminder)}\n\n_{said}_", replaces=pressed)
    return CommandReply(f"{reminders.shown(one_line(reminder, _SHOWN))}\n\n_{said}_")


async def _run(ask: CommandContext, id: str) -> str:
    job = await ask.services.book.run(_asker(ask), id)
    return f"`{job.id}` runs now."


_Verb = Callable[[CommandContext, str], Awaitable[str | CommandReply]]
_VERBS: Mapping[str, _Verb] = {
    "pause": _pause,
    "resume": _resume,
    "delete": _delete,
    "remove": _delete,
    "run": _run,
    "snooze": _snooze,
    "done": _done,
}


def _asker(ask: CommandContext) -> Requester:
    return asker_of(ask.row, ask.conversation)


def _said_at(ask: CommandContext) -> datetime:
    """When the command was sent, on the user's clock: a command that is repeated after a crash means the same."""
    clock, sent_at = ask.services.clock, ask.row.message.sent_at
    return clock.local(sent_at) if timedelta() <= clock.instant() - sent_at <= _BELATED else clock.now()


async def _asked(work: Awaitable[T]) -> T:
    try:
        return await work
    except JobRefused as error:
        raise CommandError(str(error)) from error


def _listed(rows: Sequence[JobListing]) -> str:
    if not rows:
        return "There are no jobs and reminders here. " + _HOW
    known = sorted(rows, key=lambda row: (row.next_run is None, row.next_run or row.job.id))
    lines = [_line(row) for row in known[:_LISTED]]
    if len(known) > _LISTED:
        lines.append(f"- and {len(known) - _LISTED} more (`daybook schedule list` shows all)")
    return "\n".join([*lines, "", "`/jobs pause ID`, `resume ID`, `delete ID`, `run ID`, `snooze ID 10m`, `done ID`"])


def _line(row: JobListing) -> str:
    text = f": {one_line(row.job.text, _SHOWN)}" if row.job.text else ""
    return f"- `{row.job.id}` {_when(row)}{_last(row)}{text}"


def _when(row: JobListing) -> str:
    """The time of a job; for one that comes once, that time."""
    job = row.job
    if isinstance(job.when, At) and job.enabled and row.next_run is not None:
        return f"once, {local(row.next_run, row.zone)}"
    if row.next_run is None:
        return f"{when_.in_words(job.when)}, {_resting(job)}"
    when = when_.in_words(job.when) if job.enabled else "in the jobs of its chats"
    return f"{when}, next {local(row.next_run, row.zone)}"


def _resting(job: Job) -> str:
    if job.enabled:
        return "no next run"
    return "off" if job.kind is JobKind.BUILT_IN else "paused"


def _last(row: JobListing) -> str:
    if row.last is None:
        return ""
    said = f"; last {local(row.last.moment, row.zone)}: {row.last.state}"
    is_trouble = row.last.state in (RunStatus.FAILED, RunStatus.WAITING) and row.last.error
    return f"{said} ({one_line(row.last.error, _ERROR_SHOWN)})" if is_trouble else said


COMMANDS = (
    Command("remind", "WHEN WHAT", "remind you, as in `/remind tomorrow 15:00 call Ann`", remind),
    Command("jobs", "[pause|resume|delete|run|snooze|done ID]", "reminders and jobs, and when they are due", jobs),
)
