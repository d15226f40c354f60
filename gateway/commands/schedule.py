"""`/remind` and `/jobs`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import TypeVar

from agent.clock import Clock
from agent.languages.codes import Language
from agent.languages.moments import moment_in
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence, SentenceSeries, translated
from agent.languages.table import ReminderStrings
from agent.model.offline.model import NAME as OFFLINE
from channels.message import Button, Origin
from gateway import recurrence as when_
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply, PassToModel
from gateway.commands.reminder_moves import cancel_button
from gateway.commands.reminder_names import requester, touched
from gateway.commands.timezone import clock_named
from gateway.i18n import one_line
from gateway.recurrence import At, Cron, InvalidWhen, resolved
from gateway.recurrence_in_words import in_words
from gateway.scheduling import reminders
from gateway.scheduling.builtins import does_by_itself, summary_of
from gateway.scheduling.job import OWNER, Job, JobKind
from gateway.scheduling.requests import JobListing, JobReceipt, JobRefused, JobRequest
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import HourMissing, Timed
from gateway.store.run_rows import RunStatus

T = TypeVar("T")

_LISTED = 40
_SHOWN = 60
_ERROR_SHOWN = 160
_ONE_MESSAGE = 1500
"""Characters that are one message on every platform, together with what is added to them."""
_BELATED = timedelta(hours=12)
"""A command that waited at most for so long is still answered from the moment at which it was written."""
HOUR = "hour"
"""The kind of question for a reminder's hour, whose subject is the rest of the reminder."""
_HOUR = re.compile(r"#(\w{6}) (\d{1,2}:\d\d)")
_HOURS = ("9:00", "12:00", "18:00")
_ANSWER_WITHIN = timedelta(days=1)
_NOT_SET = Sentence("That reminder isn't set any more. `/jobs` shows the ones that are.")


async def remind(context: CommandContext) -> CommandReply:
    language = context.language
    said = LANGUAGES[language].reminders
    text, question = context.argument, None
    if answer := _HOUR.fullmatch(text):
        question = context.services.questions.find(answer[1], context.row.message)
        if question is None or question.kind != HOUR:
            raise CommandError(_NOT_SET)
        text = f"{answer[2]} {question.subject}"
    if not text:
        raise CommandError(said.unclear)
    try:
        phrase = await asyncio.to_thread(phrases.read, text, _sent_at(context), (language,))
    except InvalidWhen as error:
        raise CommandError(Sentence("{why}.", why=str(error))) from error
    is_offline = context.agent.settings.model.name == OFFLINE
    if not is_offline and (phrase is None or not isinstance(phrase.time, Timed)):
        raise PassToModel
    if phrase is None or phrase.time is None:
        raise CommandError(said.unclear)
    language = phrase.language
    said = LANGUAGES[language].reminders
    if not phrase.rest:
        raise CommandError(said.what)
    if isinstance(phrase.time, HourMissing):
        day = phrase.time.day
        return await _ask_hour(context, f"{day} {phrase.rest}" if day is not None else text, said)
    request = JobRequest(text=phrase.rest, when=when_.fields(phrase.time.when), timezone=phrase.time.zone)
    with context.services.questions.answering(question) if question is not None else nullcontext():
        receipt = await _or_command_error(context.services.jobs.add(requester(context), request))
    await touched(context, receipt.job)
    cancel = cancel_button(receipt, language)
    pressed = context.row.message.platform_id if context.row.message.origin is Origin.COMMAND else ""
    text = _confirmed(receipt, language, context.kernel.clock) + await clock_named(context)
    return CommandReply(text, ((cancel,),), pressed, question)


async def _ask_hour(context: CommandContext, subject: str, said: ReminderStrings) -> CommandReply:
    message, questions = context.row.message, context.services.questions
    question = questions.new(HOUR, message.address, message.sender.id, subject, _ANSWER_WITHIN, takes_word=False)
    await questions.put(question)
    return CommandReply(said.asks_hour, (tuple(Button(hour, f"/remind #{question.id} {hour}") for hour in _HOURS),))


def _confirmed(receipt: JobReceipt, language: Language, clock: Clock) -> str:
    assert receipt.due is not None
    comes_again = isinstance(receipt.job.when, Cron | when_.Every)
    if language != Language.ENGLISH:
        said = LANGUAGES[language].reminders
        when = moment_in(language, receipt.due.astimezone(clock.zone), clock.now())
        is_set = (said.set_again if comes_again else said.set).format(when=when)
        elsewhere = "" if receipt.is_here else Sentence(" It comes in the chat where you last wrote to me.")
        return f"{is_set}{translated(language, elsewhere)}{translated(language, receipt.remark)}"
    where = "here" if receipt.is_here else "in the chat where you last wrote to me,"
    once = f"on {receipt.spoken}" if receipt.spoken[0].isupper() else receipt.spoken
    when = f"{in_words(receipt.job.when)}. Next: {receipt.spoken}" if comes_again else once
    return f"I'll remind you {where} {when}.{receipt.remark}"


async def jobs(context: CommandContext) -> str | CommandReply:
    verb, _, id = context.argument.partition(" ")
    if not verb:
        return await _listed(context)
    act = _VERBS.get(verb.lower())
    if act is None or not id.strip():
        raise CommandError(context.said("`/jobs` lists them.") + f" {_how_to_change(context)}")
    return await _or_command_error(act(context, id.strip().strip("`")))


async def _pause(context: CommandContext, id: str) -> str:
    job = await context.services.jobs.switch(requester(context), id, enabled=False)
    return context.said("Paused: {task}. `/jobs resume {id}` starts it again.", task=_task(job), id=job.id)


async def _resume(context: CommandContext, id: str) -> str:
    job = await context.services.jobs.switch(requester(context), id, enabled=True)
    when = context.services.jobs.next_run(job)
    if not when:
        return context.said("Resumed, but that time never comes again: {task}", task=_task(job))
    return context.said("Resumed: {task}. Next: {when}.", task=_task(job), when=when)


async def _delete(context: CommandContext, id: str) -> str:
    job = await context.services.jobs.remove(requester(context), id)
    return context.said("Deleted: {task}", task=_task(job))


async def _cancel(context: CommandContext, mark: str) -> CommandReply:
    """Answers the button under a new reminder; pressed twice, it does nothing more."""
    job = await context.services.jobs.cancel(requester(context), mark)
    said = LANGUAGES[context.language].reminders
    is_gone = translated(context.language, _NOT_SET)
    text = said.cancelled.format(task=one_line(job.text, _SHOWN)) if job is not None else str(is_gone)
    pressed = context.row.message.platform_id if context.row.message.origin is Origin.COMMAND else ""
    return CommandReply(text, replaces=pressed)


async def _snooze(context: CommandContext, arguments: str) -> CommandReply:
    name, _, time = arguments.partition(" ")
    try:
        found = [phrases.read(text, _sent_at(context), (context.language,)) for text in (f"in {time}", time)]
    except InvalidWhen as error:
        raise CommandError(Sentence("{why}.", why=str(error))) from error
    whens = [phrase.time.when for phrase in found if phrase and not phrase.rest and isinstance(phrase.time, Timed)]
    if not whens or not isinstance(whens[0], At):
        raise CommandError(Sentence("For how long? Try `/jobs snooze {id} 10m` or `/jobs snooze {id} 15:00`.", id=name))
    clock = context.kernel.clock
    at = resolved(whens[0].moment, clock.zone)
    receipt = await context.services.jobs.snooze(requester(context), name.strip("`"), at)
    language = context.language
    when = moment_in(language, clock.local(at), clock.now())
    return _reminder_reply(context, receipt.job.text, f"⏰ {LANGUAGES[language].reminders.again.format(when=when)}")


async def _done(context: CommandContext, name: str) -> CommandReply:
    said = LANGUAGES[context.language].reminders.is_done
    return _reminder_reply(context, await context.services.jobs.done(requester(context), name), f"✓ {said}")


def _reminder_reply(context: CommandContext, reminder: str, outcome: str) -> CommandReply:
    """Shows in a reminder's message what was chosen; a reminder in several messages stays as it is."""
    pressed = context.row.message.platform_id if context.row.message.origin is Origin.COMMAND else ""
    if pressed and len(reminder) <= _ONE_MESSAGE:
        return CommandReply(f"{reminders.shown(reminder)}\n\n_{outcome}_", replaces=pressed)
    return CommandReply(f"{reminders.shown(one_line(reminder, _SHOWN))}\n\n_{outcome}_")


async def _run(context: CommandContext, id: str) -> str:
    job = await context.services.jobs.run(requester(context), id)
    return context.said("I'm on it now: {task}", task=_task(job))


_Verb = Callable[[CommandContext, str], Awaitable[str | CommandReply]]
_VERBS: Mapping[str, _Verb] = {
    "pause": _pause,
    "resume": _resume,
    "delete": _delete,
    "cancel": _cancel,
    "remove": _delete,
    "run": _run,
    "snooze": _snooze,
    "done": _done,
}


def _sent_at(context: CommandContext) -> datetime:
    """When the command was sent, on the user's clock, so that it means the same when repeated after a crash."""
    clock, sent_at = context.kernel.clock, context.row.message.sent_at
    return clock.local(sent_at) if timedelta() <= clock.instant() - sent_at <= _BELATED else clock.now()


async def _or_command_error(work: Awaitable[T]) -> T:
    try:
        return await work
    except JobRefused as error:
        raise CommandError(str(error)) from error


async def _listed(context: CommandContext) -> str:
    rows = await context.services.jobs.rows(requester(context))
    if not rows:
        return context.said(
            "You have no reminders or jobs here. Say when and what, as in `/remind in 20 minutes tea`, "
            "`/remind tomorrow 15:00 call Ann` or `/remind every weekday at 8 vitamins`."
        )
    known = sorted(rows, key=lambda row: (row.next_run is None, row.next_run or row.job.id))
    summaries = {summary_of(chat): chat for chat in context.services.preferences.dailies}
    chats = {row.job.id: summaries.get(row.job.id, row.job.to) for row in known[:_LISTED]}
    names = {to: await _chat_named(context, to) for to in set(chats.values())}
    lines = [_line(context, row, names[chats[row.job.id]]) for row in known[:_LISTED]]
    if (more := len(known) - _LISTED) > 0:
        lines.append(context.said("- and {count} more (`daybook schedule list` shows all)", count=more))
    return "\n".join([*lines, "", _how_to_change(context)])


def _how_to_change(context: CommandContext) -> str:
    return context.said(
        "To change one, take its name at the end of the line: `/jobs pause NAME`, `resume NAME`, `delete NAME`, "
        "`run NAME`, `snooze NAME 10m` or `done NAME`."
    )


async def _chat_named(context: CommandContext, to: str) -> str:
    """The name of the chat; empty for this chat, and for the owner, who is asking."""
    jobs = context.services.jobs
    if to == OWNER or await jobs.access.reports_to(to, context.row.message.address):
        return ""
    chat = await jobs.access.chat(to)
    return chat.title if chat is not None and chat.title else to


def _task(job: Job) -> str:
    text = one_line(job.text, _SHOWN)
    return does_by_itself(job.id, text) if job.kind is JobKind.BUILT_IN else text


def _line(context: CommandContext, row: JobListing, chat: str) -> str:
    task, when = translated(context.language, _task(row.job)), f"{_when(context, row)}{_last(context, row)}"
    to = context.said(", to “{chat}”", chat=chat) if chat else ""
    return f"- {task}: {when}{to} (`{row.job.id}`)"


def _when(context: CommandContext, row: JobListing) -> str:
    job, clock = row.job, context.kernel.clock
    next_run = "" if row.next_run is None else moment_in(context.language, clock.local(row.next_run), clock.now())
    if next_run and isinstance(job.when, At) and job.enabled:
        return next_run
    is_regular = job.enabled or row.next_run is None
    when: str = in_words(job.when) if is_regular else Sentence("at the times its chats chose")
    if row.zone.key != clock.zone.key:
        when = SentenceSeries(" ", [when, f"({row.zone.key})"])
    if next_run:
        return context.said("{when}, next {moment}", when=when, moment=next_run)
    if job.enabled:
        return context.said("{when}, but never again", when=when)
    if job.kind is JobKind.BUILT_IN:
        return context.said("{when}, but off", when=when)
    return context.said("{when}, but paused", when=when)


def _last(context: CommandContext, row: JobListing) -> str:
    if row.last is None:
        return ""
    clock, state = context.kernel.clock, Sentence(str(row.last.state))
    moment = moment_in(context.language, clock.local(row.last.moment), clock.now())
    text = context.said("; last {moment}: {result}", moment=moment, result=state)
    is_trouble = row.last.state in (RunStatus.FAILED, RunStatus.WAITING) and row.last.error
    return f"{text} ({one_line(row.last.error, _ERROR_SHOWN)})" if is_trouble else text


COMMANDS = (
    Command("remind", "WHEN WHAT", "set a reminder, as in `/remind tomorrow 15:00 call Ann`", remind),
    Command("jobs", "[pause|resume|delete|run|snooze|done ID]", "your reminders and jobs", jobs),
)
