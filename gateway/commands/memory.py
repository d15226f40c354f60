"""Commands that change memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath

from pydantic import TypeAdapter

from agent.forget import Removal
from agent.languages.days_meant import with_days
from agent.languages.moments import headed, place_in
from agent.languages.orders import without_articles
from agent.languages.sentences import Sentence
from agent.memory.files import FileError
from agent.memory.forget import ForgetPassage, ForgetPlan, files_left, find, line_matcher
from agent.memory.history import FORGET as FORGETTING
from agent.memory.log_writer import append_log
from agent.memory.patch import Conflict
from agent.memory.undo import restore
from channels.message import Origin
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply, reason
from gateway.i18n import answer_of
from gateway.messages.confirmations import buttons
from gateway.policy.access import LOCAL_CHANNELS, Role
from gateway.spoken_time import listed
from gateway.store.question_rows import StoredQuestion

FORGET = "forget"
"""The kind of question that /forget asks."""
_FINDING = TypeAdapter(ForgetPlan)
_ANSWER_WITHIN = timedelta(minutes=10)
_LISTED = 20
_SHOWN_CHARS = 160
_SHOWN_FILES = 10


async def remember(context: CommandContext) -> str:
    if not context.argument:
        raise CommandError(Sentence("What should I remember? Write it after `/remember`."))
    await note_down(context, context.argument)
    return context.said("Noted in today's log.")


async def note_down(context: CommandContext, text: str) -> str:
    """Adds to today's log and returns the id of the change. Raises `CommandError`."""
    scope, clock = context.route.scope, context.kernel.clock
    with context.agent.history.author(scope, str(context.route.session)).writes("/remember") as unit:
        try:
            await asyncio.to_thread(append_log, scope, clock, with_days(text, clock.today()))
        except FileError as error:
            why = _without_path(context, str(error))
            raise CommandError(Sentence("I couldn't save that: {why}", why=why)) from error
    return unit.id


async def undo(context: CommandContext) -> str | CommandReply:
    """`/undo`, or `/undo ID` from the button under a note."""
    history, session, scope = context.agent.history, str(context.route.session), context.route.scope
    id = context.argument.strip()
    try:
        find_change = partial(history.of_id, session, id) if id else partial(history.last, session)
        change = await asyncio.to_thread(find_change)
    except OSError as error:
        raise CommandError(Sentence("I couldn't undo that: {why}", why=reason(error))) from error
    pressed = context.row.message.platform_id if id and context.row.message.origin is Origin.COMMAND else ""
    if change is None and id:
        return CommandReply(context.said("That is undone already."), replaces=pressed)
    if change is None:
        return context.said("There is no memory change in this conversation to undo.")
    try:
        paths = await asyncio.to_thread(restore, history, scope, context.kernel.clock, change, session)
        if change.by == FORGETTING:
            await context.services.redaction.bring_back(context.agent, scope, change.id)
    except Conflict as conflict:
        history.pass_over(change)
        raise CommandError(
            Sentence(
                "I couldn't undo “{change}”: {why}\n\n`/undo` again undoes the change before it.",
                change=change.told,
                why=_without_path(context, str(conflict)),
            )
        ) from conflict
    except (FileError, OSError) as error:
        why = _without_path(context, reason(error))
        raise CommandError(Sentence("I couldn't undo that: {why}", why=why)) from error
    if change.by == FORGETTING:
        return context.said("Undone: what was forgotten is back ({days}).", days=_days(context, paths))
    if id:
        return CommandReply(context.said("It is undone."), replaces=pressed)
    return context.said("Undone ({days}): {change}", days=_days(context, paths), change=change.told)


def _without_path(context: CommandContext, why: str) -> str:
    """A sentence on a file, with the file's day in place of its path."""
    if not isinstance(why, Sentence):
        return why
    paths = {key: str(path) for key, path in why.values.items() if key in ("file", "name")}
    noted = {key: Sentence("what I noted ({day})", day=_place(context, path)) for key, path in paths.items()}
    return Sentence(why.english, **{**why.values, **noted})


def _place(context: CommandContext, path: str) -> str:
    return place_in(context.language, path, context.kernel.clock.today())


def _days(context: CommandContext, paths: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(_place(context, path) for path in paths))


def may_forget(context: CommandContext) -> bool:
    return context.route.role is Role.OWNER or context.route.is_private


async def forget_(context: CommandContext) -> CommandReply:
    if not may_forget(context):
        raise CommandError(Sentence("In a group, only my owner can delete what I remember."))
    if not context.argument:
        raise CommandError(
            Sentence("What should I forget? Write it after `/forget`; I show you what I find before I delete anything.")
        )
    answer = answer_of(context.argument)
    if answer is None:
        return await _ask_first(context)
    question = context.services.questions.newest(FORGET, context.row.message)
    if question is None:
        return CommandReply(context.said("There is nothing to confirm. `/forget` and a few words show what would go."))
    with context.services.questions.answering(question):
        return CommandReply(await take_forget(context, question, answer), settles=question)


async def take_forget(context: CommandContext, question: StoredQuestion, yes: bool) -> str:
    """On a yes, forgets what was shown, and what the journal or a flush has written of it since."""
    if not yes:
        return context.said("OK, I kept it.")
    try:
        shown = _FINDING.validate_json(question.subject)
        return await _forget(context, shown)
    except (FileError, OSError) as error:
        raise CommandError(Sentence("I couldn't delete that: {why}", why=reason(error))) from error


async def _ask_first(context: CommandContext) -> CommandReply:
    about = without_articles(context.argument)
    try:
        finding = await asyncio.to_thread(find, context.route.scope, about)
        told = await context.services.redaction.mentions(
            context.agent, context.route.scope, finding, context.row.message.platform_id
        )
    except FileError as error:
        raise CommandError(Sentence("I couldn't search for that: {why}", why=str(error))) from error
    unread = _unread(context, finding.unread)
    if not finding.places and not told:
        return CommandReply("\n\n".join([context.said("I found nothing about “{text}”.", text=about), *unread]))
    message, questions = context.row.message, context.services.questions
    subject = _FINDING.dump_json(finding).decode()
    question = questions.new(FORGET, message.address, message.sender.id, subject, _ANSWER_WITHIN)
    await questions.put(question)
    found = [_line(context, place) for place in finding.places[:_LISTED]]
    if (more := len(finding.places) - _LISTED) > 0:
        found.append(context.said("- and {count} more", count=more))
    if told.messages:
        messages = _messages(told.messages)
        found.append(
            context.said("- {messages} in our conversations, which will show a mark instead", messages=messages)
        )
    if told.on_page:
        messages = _messages(told.on_page)
        found.append(context.said("- {messages} on the page, which will show a mark instead", messages=messages))
    head = context.said("I found this about “{text}”:", text=about)
    text = "\n\n".join([head, "\n".join(found), *unread, context.said("Delete it?")])
    return CommandReply(text, buttons(question, context.said("Delete"), context.said("Keep")))


async def _forget(context: CommandContext, shown: ForgetPlan) -> str:
    session, scope = str(context.route.session), context.route.scope
    removed, on_page = await context.services.redaction.forget(context.agent, scope, session, shown)
    context.until_answered.callback(context.kernel.database.purge)  # with the answer, the question goes
    finding = removed.finding
    kept = _kept(context, removed)
    if not removed.files and not removed.messages and not on_page:
        if kept:
            raise CommandError("\n\n".join([context.said("I couldn't delete that."), *kept]))
        return context.said("It was already gone.")
    left = await asyncio.to_thread(files_left, scope, finding)
    sentences = [context.said("Deleted from {places}.", places=listed(_places(context, removed, on_page)))]
    if removed.files:
        sentences.append(context.said("For ten minutes `/undo` brings it back; after that no copy is left in memory."))
    sentences.append(
        context.said(
            "I no longer see, find or send these words. The records of our conversations still contain them until "
            "`daybook sessions prune` deletes them, and files that were sent or received stay for a month."
        )
    )
    if removed.unpurged:
        sentences.append(
            context.said(
                "The search index still contains them: {why}; `daybook memory index --force` rebuilds it.",
                why=removed.unpurged,
            )
        )
    if left:
        sentences.append(context.said("Still in: {places}.", places=listed(_left(left, finding))))
    if context.row.message.address.channel not in LOCAL_CHANNELS:
        sentences.append(context.said("Your chat app keeps its own copy."))
    return "\n\n".join([context.joined(*sentences), *kept])


def _places(context: CommandContext, removed: Removal, on_page: int) -> list[str]:
    places: list[str] = [Sentence("my notes ({days})", days=_days(context, removed.files))] if removed.files else []
    if removed.messages and removed.sessions == 1:
        places.append(Sentence("{messages} in a conversation", messages=_messages(removed.messages)))
    elif removed.messages:
        messages, count = _messages(removed.messages), removed.sessions
        places.append(Sentence("{messages} in {count} conversations", messages=messages, count=count))
    if on_page:
        places.append(Sentence("{messages} on the page", messages=_messages(on_page)))
    return places


def _left(files: Sequence[str], finding: ForgetPlan) -> list[str]:
    """Names of files, those of exports without a folder, except one that contains what was forgotten."""
    holds = line_matcher(finding)
    names = (PurePosixPath(file).name for file in files[:_SHOWN_FILES])
    shown = [_OTHERS.get(name) or (Sentence("an export") if holds(name) else f"`{name}`") for name in names]
    return [*shown, *(["…"] if len(files) > _SHOWN_FILES else [])]


_OTHERS = {"schedule.yaml": Sentence("jobs and reminders"), "HEARTBEAT.md": Sentence("the list for the heartbeat")}


def _kept(context: CommandContext, removed: Removal) -> list[str]:
    kept = dict(removed.kept)
    unread = _unread(context, [why for why in removed.finding.unread if not why.startswith(tuple(kept))])
    if not kept:
        return unread
    lines = dict.fromkeys(f"- {headed(context.shown(_without_path(context, why)))}" for why in kept.values())
    head = context.said("I couldn't remove these words everywhere. Please fix this and ask again:")
    return ["\n".join([head, *lines]), *unread]


def _unread(context: CommandContext, sentences: Iterable[str]) -> list[str]:
    return [context.said("Not searched: {why}", why=_without_path(context, why)) for why in sentences]


def _messages(number: int) -> Sentence:
    return Sentence("1 message") if number == 1 else Sentence("{count} messages", count=number)


def _line(context: CommandContext, place: ForgetPassage) -> str:
    text = " ".join(place.text.split())
    shown = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].rstrip() + "…"
    whole = f" ({context.said('the whole note')})" if place.whole else ""
    return f"- **{headed(_place(context, place.path))}**{whole} {shown.removeprefix('- ')}"


COMMANDS = (
    Command("remember", "TEXT", "save something to today's log", remember),
    Command("forget", "TEXT", "find something in memory and delete it", forget_),
    Command("undo", "", "undo my last change to memory here", undo),
)
