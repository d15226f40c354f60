"""Commands that change memory."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath

from pydantic import TypeAdapter

from agent.forget import Removal
from agent.languages.codes import Language
from agent.languages.days_meant import with_days
from agent.languages.orders import without_articles
from agent.languages.sentences import Sentence, said, translated
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
    scope = context.route.scope
    with context.agent.history.author(scope, str(context.route.session)).writes("/remember"):
        try:
            entry = with_days(context.argument, context.services.clock.today())
            log = await asyncio.to_thread(append_log, scope, context.services.clock, entry)
        except FileError as error:
            raise CommandError(Sentence("I couldn't save that: {why}", why=str(error))) from error
    return context.said("Noted in `{file}`.", file=log.relative_to(scope.workspace))


async def undo(context: CommandContext) -> str | CommandReply:
    """`/undo`, or `/undo ID` by the button under what was noted."""
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
        paths = await asyncio.to_thread(restore, history, scope, context.services.clock, change, session)
        if change.by == FORGETTING:
            await context.services.redaction.bring_back(context.agent, scope, change.id)
    except Conflict as conflict:
        history.pass_over(change)
        raise CommandError(
            Sentence(
                "I couldn't undo “{change}”: {why}\n\n`/undo` again undoes the change before it.",
                change=_summary(change.summary),
                why=str(conflict),
            )
        ) from conflict
    except (FileError, OSError) as error:
        raise CommandError(Sentence("I couldn't undo that: {why}", why=reason(error))) from error
    if change.by == FORGETTING:
        return context.said("Undone: what was forgotten is back in {files}.", files=_files(paths))
    if id:
        return CommandReply(context.said("It is undone."), replaces=pressed)
    return context.said("Undone in {files}: {change}", files=_files(paths), change=_summary(change.summary))


def _summary(stored: str) -> str:
    verb, _, words = stored.partition(": ")
    match verb:
        case "deleted":
            return Sentence("deleted: {words}", words=words)
        case "changed to":
            return Sentence("changed to: {words}", words=words)
        case "added":
            return Sentence("added: {words}", words=words)
        case "new":
            return Sentence("new: {words}", words=words)
        case "removed":
            return Sentence("removed: {words}", words=words)
    return stored


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
    """On a yes, forgets what was shown and what the journal or a flush has written of it since."""
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
    unread = [context.said("Not searched: {why}", why=why) for why in finding.unread]
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
    context.until_answered.callback(context.services.database.purge)  # with the answer, the question goes
    finding = removed.finding
    kept = _kept(removed, context.language)
    if not removed.files and not removed.messages and not on_page:
        if kept:
            raise CommandError("\n\n".join([context.said("I couldn't delete that."), *kept]))
        return context.said("It was already gone.")
    left = await asyncio.to_thread(files_left, scope, finding)
    sentences = [context.said("Deleted from {places}.", places=listed(_places(removed, on_page)))]
    if removed.files:
        sentences.append(context.said("For ten minutes `/undo` brings it back; after that no copy is left in memory."))
    sentences.append(
        context.said(
            "I no longer see, find or send these words. The files under `state/sessions` still contain them until "
            "`daybook sessions prune` deletes those conversations, and files that were sent or received stay for a "
            "month."
        )
    )
    if removed.unpurged:
        sentences.append(
            context.said(
                "The search index still contains them: {why}; `daybook memory index --force` rebuilds it.",
                why=removed.unpurged,
            )
        )
    if len(left) == 1:
        sentences.append(context.said("{file} still contains them.", file=_files(_unspoken(left, finding))))
    elif left:
        sentences.append(context.said("{files} still contain them.", files=_files(_unspoken(left, finding))))
    if context.row.message.address.channel not in LOCAL_CHANNELS:
        sentences.append(context.said("Your chat app keeps its own copy."))
    return "\n\n".join([" ".join(sentences), *kept])


def _places(removed: Removal, on_page: int) -> list[str]:
    places = [_files(_unspoken(removed.files, removed.finding))] if removed.files else []
    if removed.messages and removed.sessions == 1:
        places.append(Sentence("{messages} in a conversation", messages=_messages(removed.messages)))
    elif removed.messages:
        messages, count = _messages(removed.messages), removed.sessions
        places.append(Sentence("{messages} in {count} conversations", messages=messages, count=count))
    if on_page:
        places.append(Sentence("{messages} on the page", messages=_messages(on_page)))
    return places


def _kept(removed: Removal, language: Language) -> list[str]:
    kept, finding = dict(removed.kept), removed.finding
    unread = [
        said(language, "Not searched: {why}", why=why) for why in finding.unread if not why.startswith(tuple(kept))
    ]
    if not kept:
        return unread
    why_kept = ((path, str(translated(language, why))) for path, why in kept.items())
    lines = "\n".join(f"- {why.replace(path, _unspoken((path,), finding)[0])}" for path, why in why_kept)
    head = said(language, "I couldn't remove these words everywhere. Please fix this and ask again:")
    return [f"{head}\n{lines}", *unread]


def _unspoken(files: tuple[str, ...], finding: ForgetPlan) -> tuple[str, ...]:
    """The names of files, except where one contains what was forgotten."""
    holds = line_matcher(finding)
    return tuple(f"{PurePosixPath(file).parent}/…" if holds(file) else file for file in files)


def _messages(number: int) -> Sentence:
    return Sentence("1 message") if number == 1 else Sentence("{count} messages", count=number)


def _line(context: CommandContext, place: ForgetPassage) -> str:
    text = " ".join(place.text.split())
    shown = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].rstrip() + "…"
    whole = f" ({context.said('the whole note')})" if place.whole else ""
    return f"- `{place.path}:{place.line}`{whole} {shown.removeprefix('- ')}"


def _files(paths: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{path}`" for path in paths[:_SHOWN_FILES])
    more = len(paths) - _SHOWN_FILES
    return Sentence("{files} and {count} more", files=shown, count=more) if more > 0 else shown


COMMANDS = (
    Command("remember", "TEXT", "save something to today's log", remember),
    Command("forget", "TEXT", "find something in memory and delete it", forget_),
    Command("undo", "", "undo my last change to memory here", undo),
)
