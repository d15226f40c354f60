"""Commands that change memory."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath

from pydantic import TypeAdapter

from agent.forget import Removal
from agent.languages.days_meant import with_days
from agent.languages.orders import without_articles
from agent.memory.files import FileError
from agent.memory.forget import ForgetPassage, ForgetPlan, files_left, find, line_matcher
from agent.memory.history import FORGET as FORGETTING
from agent.memory.log_writer import append_log
from agent.memory.patch import Conflict
from agent.memory.undo import restore
from channels.message import Origin
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply, reason
from gateway.messages.confirmations import answer_of, buttons
from gateway.policy.access import LOCAL_CHANNELS, Role
from gateway.store.question_rows import StoredQuestion

FORGET = "forget"
"""The kind of question that /forget asks."""
_FINDING = TypeAdapter(ForgetPlan)
_ANSWER_WITHIN = timedelta(minutes=10)
_LISTED = 20
_NEW_INDEX = "`daybook memory index --force` rebuilds it"
_SHOWN_CHARS = 160
_SHOWN_FILES = 10


async def remember(context: CommandContext) -> str:
    if not context.argument:
        raise CommandError("What should I remember? `/remember TEXT`")
    scope = context.route.scope
    with context.agent.history.author(scope, str(context.route.session)).writes("/remember"):
        try:
            entry = with_days(context.argument, context.services.clock.today())
            log = await asyncio.to_thread(append_log, scope, context.services.clock, entry)
        except FileError as error:
            raise CommandError(f"I couldn't save that: {error}") from error
    return f"Noted in `{log.relative_to(scope.workspace)}`."


async def undo(context: CommandContext) -> str | CommandReply:
    """`/undo`, or `/undo ID` by the button under what was noted."""
    history, session, scope = context.agent.history, str(context.route.session), context.route.scope
    id = context.argument.strip()
    try:
        find_change = partial(history.of_id, session, id) if id else partial(history.last, session)
        change = await asyncio.to_thread(find_change)
    except OSError as error:
        raise CommandError(f"I couldn't undo that: {reason(error)}") from error
    pressed = context.row.message.platform_id if id and context.row.message.origin is Origin.COMMAND else ""
    if change is None and id:
        return CommandReply(context.said("That is undone already."), replaces=pressed)
    if change is None:
        return "There is no memory change in this conversation to undo."
    try:
        paths = await asyncio.to_thread(restore, history, scope, context.services.clock, change, session)
        if change.by == FORGETTING:
            await context.services.redaction.bring_back(context.agent, scope, change.id)
    except Conflict as conflict:
        history.pass_over(change)
        what = f"I couldn't undo “{change.summary}”: {conflict}"
        raise CommandError(f"{what}\n\n/undo again undoes the change before it.") from conflict
    except (FileError, OSError) as error:
        raise CommandError(f"I couldn't undo that: {reason(error)}") from error
    if change.by == FORGETTING:
        return f"Undone: what was forgotten is back in {_files(paths)}."
    if id:
        return CommandReply(context.said("It is undone."), replaces=pressed)
    return f"Undone in {_files(paths)}: {change.summary}"


async def forget_(context: CommandContext) -> CommandReply:
    if context.route.role is not Role.OWNER and not context.route.is_private:
        raise CommandError("In a group, only my owner can delete what I remember.")
    if not context.argument:
        raise CommandError("What should I forget? `/forget TEXT` shows what I find before anything is deleted.")
    answer = answer_of(context.argument)
    if answer is None:
        return await _ask_first(context)
    question = context.services.questions.newest(FORGET, context.row.message)
    if question is None:
        return CommandReply("There is nothing to confirm. `/forget TEXT` shows what it would delete.")
    with context.services.questions.answering(question):
        return CommandReply(await take_forget(context, question, answer), settles=question)


async def take_forget(context: CommandContext, question: StoredQuestion, said: bool) -> str:
    """On a yes, forgets what was shown and what the journal or a flush has written of it since."""
    if not said:
        return "OK, I kept it."
    try:
        shown = _FINDING.validate_json(question.subject)
        return await _forget(context, shown)
    except (FileError, OSError) as error:
        raise CommandError(f"I couldn't delete that: {reason(error)}") from error


async def _ask_first(context: CommandContext) -> CommandReply:
    about = without_articles(context.argument)
    try:
        finding = await asyncio.to_thread(find, context.route.scope, about)
        said = await context.services.redaction.mentions(
            context.agent, context.route.scope, finding, context.row.message.platform_id
        )
    except FileError as error:
        raise CommandError(f"I couldn't search for that: {error}") from error
    unread = [f"Not searched: {reason}" for reason in finding.unread]
    if not finding.places and not said:
        return CommandReply("\n\n".join([f"I found nothing about {about}.", *unread]))
    message, questions = context.row.message, context.services.questions
    subject = _FINDING.dump_json(finding).decode()
    question = questions.new(FORGET, message.address, message.sender.id, subject, _ANSWER_WITHIN)
    await questions.put(question)
    listed = [_line(place) for place in finding.places[:_LISTED]]
    if (more := len(finding.places) - _LISTED) > 0:
        listed.append(f"- and {more} more")
    if said.messages:
        listed.append(f"- {_messages(said.messages)} in our conversations, which will show a mark instead")
    if said.on_page:
        listed.append(f"- {_messages(said.on_page)} on the page, which will show a mark instead")
    text = "\n\n".join(
        [
            f"I found this about {about}:",
            "\n".join(listed),
            *unread,
            "Delete it?",
        ]
    )
    return CommandReply(text, buttons(question, "Delete", "Keep"))


async def _forget(context: CommandContext, shown: ForgetPlan) -> str:
    session, scope = str(context.route.session), context.route.scope
    removed, on_page = await context.services.redaction.forget(context.agent, scope, session, shown)
    context.until_answered.callback(context.services.database.purge)  # with the answer, the question goes
    finding = removed.finding
    kept = _kept(removed)
    if not removed.files and not removed.messages and not on_page:
        if kept:
            raise CommandError(f"I couldn't delete that.{kept}")
        return "It was already gone."
    places = [_files(_unspoken(removed.files, finding))] if removed.files else []
    conversations = "a conversation" if removed.sessions == 1 else f"{removed.sessions} conversations"
    places += [f"{_messages(removed.messages)} in {conversations}"] if removed.messages else []
    places += [f"{_messages(on_page)} on the page"] if on_page else []
    second = "For ten minutes /undo brings it back; after that no copy is left in memory. " if removed.files else ""
    left = await asyncio.to_thread(files_left, scope, finding)
    index = f" The search index still contains them: {removed.unpurged}; {_NEW_INDEX}." if removed.unpurged else ""
    own = f" {_files(_unspoken(left, finding))} still {_contain(left)} them." if left else ""
    on_platform = context.row.message.address.channel not in LOCAL_CHANNELS
    platform = " Your chat app keeps its own copy." if on_platform else ""
    return (
        f"Deleted from {' and '.join(places)}. {second}"
        "I no longer see, find or send these words. The files under `state/sessions` still contain them until "
        "`daybook sessions prune` deletes those conversations, and files that were sent or received stay for a month."
        f"{index}{own}{platform}{kept}"
    )


def _kept(removed: Removal) -> str:
    kept, finding = dict(removed.kept), removed.finding
    still = [why.replace(path, _unspoken((path,), finding)[0]) for path, why in kept.items()]
    unread = [f"Not searched: {why}" for why in finding.unread if not why.startswith(tuple(kept))]
    if still:
        listed = "\n".join(f"- {why}" for why in still)
        unread.insert(0, f"I couldn't remove these words everywhere. Please fix this and ask again:\n{listed}")
    return "".join(f"\n\n{paragraph}" for paragraph in unread)


def _unspoken(files: tuple[str, ...], finding: ForgetPlan) -> tuple[str, ...]:
    """The names of files, except where one contains what was forgotten."""
    holds = line_matcher(finding)
    return tuple(f"{PurePosixPath(file).parent}/…" if holds(file) else file for file in files)


def _contain(files: tuple[str, ...]) -> str:
    return "contains" if len(files) == 1 else "contain"


def _messages(number: int) -> str:
    return f"{number} {'message' if number == 1 else 'messages'}"


def _line(place: ForgetPassage) -> str:
    text = " ".join(place.text.split())
    shown = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].rstrip() + "…"
    return f"- `{place.path}:{place.line}`{' (the whole note)' if place.whole else ''} {shown.removeprefix('- ')}"


def _files(paths: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{path}`" for path in paths[:_SHOWN_FILES])
    return shown if len(paths) <= _SHOWN_FILES else f"{shown} and {len(paths) - _SHOWN_FILES} more"


COMMANDS = (
    Command("remember", "TEXT", "save something to today's log", remember),
    Command("forget", "TEXT", "find something in memory and delete it", forget_),
    Command("undo", "", "undo my last change to memory here", undo),
)
