"""Commands that change memory."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import PurePosixPath

from pydantic import TypeAdapter

from agent.forget import Removal
from agent.languages.days_meant import with_days
from agent.memory.files import FileError
from agent.memory.forget import ForgetPassage, ForgetPlan, files_left, find, line_matcher
from agent.memory.history import FORGET as FORGETTING
from agent.memory.log_writer import append_log
from agent.memory.patch import Conflict
from agent.memory.undo import restore
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply, reason
from gateway.messages.confirmations import answer_of, buttons
from gateway.policy.access import LOCAL_CHANNELS, Role
from gateway.store.database import StoreUnavailable
from gateway.store.question_rows import StoredQuestion

FORGET = "forget"
"""The kind of question that /forget asks."""
_FINDING = TypeAdapter(ForgetPlan)
_ANSWER_WITHIN = timedelta(minutes=10)
_LISTED = 20
_NEW_INDEX = "`daybook memory index --force` makes it anew"
_SHOWN_CHARS = 160


async def remember(ask: CommandContext) -> str:
    if not ask.words:
        raise CommandError("What shall I remember? `/remember TEXT`")
    scope = ask.conversation.scope
    with ask.agent.history.author(scope, str(ask.conversation.session)).writes("/remember"):
        try:
            entry = with_days(ask.words, ask.services.clock.today())
            log = await asyncio.to_thread(append_log, scope, ask.services.clock, entry)
        except FileError as error:
            raise CommandError(f"That could not be written down: {error}") from error
    return f"Noted in `{log.relative_to(scope.workspace)}`."


async def undo(ask: CommandContext) -> str:
    history, session, scope = ask.agent.history, str(ask.conversation.session), ask.conversation.scope
    try:
        change = await asyncio.to_thread(history.last, session)
    except OSError as error:
        raise CommandError(f"That could not be undone: {reason(error)}") from error
    if change is None:
        return "There is no memory change in this conversation that I could undo."
    try:
        paths = await asyncio.to_thread(restore, history, scope, ask.services.clock, change, session)
        if change.by == FORGETTING:
            await ask.services.forgetting.bring_back(ask.agent, scope, change.id)
    except Conflict as conflict:
        history.pass_over(change)
        what = f"“{change.summary}” could not be undone: {conflict}"
        raise CommandError(f"{what}\n\n/undo again takes back the change before it.") from conflict
    except (FileError, OSError, StoreUnavailable) as error:
        raise CommandError(f"That could not be undone: {reason(error)}") from error
    if change.by == FORGETTING:
        return f"Undone: what was forgotten is back in {_files(paths)}."
    return f"Undone in {_files(paths)}: {change.summary}"


async def forget_(ask: CommandContext) -> CommandReply:
    if ask.conversation.role is not Role.OWNER and not ask.conversation.is_private:
        raise CommandError("In a group, only my owner can let me forget.")
    if not ask.words:
        raise CommandError("What shall I forget? `/forget TEXT`; you see what I found before anything is removed.")
    answer = answer_of(ask.words)
    if answer is None:
        return await _ask_first(ask)
    question = ask.services.questions.newest(FORGET, ask.row.message)
    if question is None:
        return CommandReply("Nothing is waiting to be forgotten. `/forget TEXT` shows first what it would remove.")
    with ask.services.questions.answering(question):
        return CommandReply(await take_forget(ask, question, answer), settles=question)


async def take_forget(ask: CommandContext, question: StoredQuestion, said: bool) -> str:
    """Takes the answer: on a yes, forgets what was shown and what the journal or a flush has written of it since."""
    if not said:
        return "Nothing was forgotten."
    try:
        shown = _FINDING.validate_json(question.subject)
        return await _forget(ask, shown)
    except (FileError, OSError, StoreUnavailable) as error:
        raise CommandError(f"That could not be forgotten: {reason(error)}") from error


async def _ask_first(ask: CommandContext) -> CommandReply:
    try:
        finding = await asyncio.to_thread(find, ask.conversation.scope, ask.words)
        said = await ask.services.forgetting.mentions(
            ask.agent, ask.conversation.scope, finding, ask.row.message.platform_id
        )
    except FileError as error:
        raise CommandError(f"That could not be looked for: {error}") from error
    unread = [f"Not looked into: {reason}" for reason in finding.unread]
    if not finding.places and not said:
        return CommandReply("\n\n".join([f"I have nothing in memory about “{ask.words}”.", *unread]))
    message, questions = ask.row.message, ask.services.questions
    subject = _FINDING.dump_json(finding).decode()
    question = questions.new(FORGET, message.address, message.sender.id, subject, _ANSWER_WITHIN)
    await questions.put(question)
    listed = [_line(place) for place in finding.places[:_LISTED]]
    if (more := len(finding.places) - _LISTED) > 0:
        listed.append(f"- and {more} more")
    if said.messages:
        listed.append(f"- {_messages(said.messages)} of our conversations, where a mark will be instead")
    if said.on_page:
        listed.append(f"- {_messages(said.on_page)} on the page, where a mark will stand instead")
    text = "\n\n".join(
        [
            f"This is what I would forget about “{ask.words}”:",
            "\n".join(listed),
            *unread,
            "Shall I? **yes** or **no** (within ten minutes; later or in between: `/forget yes`).",
        ]
    )
    return CommandReply(text, buttons(question, "Forget it", "Keep it"))


async def _forget(ask: CommandContext, shown: ForgetPlan) -> str:
    session, scope = str(ask.conversation.session), ask.conversation.scope
    removed, on_page = await ask.services.forgetting.forget(ask.agent, scope, session, shown)
    ask.until_answered.callback(ask.services.database.purge)  # with the answer, the question goes
    finding = removed.finding
    kept = _kept(removed)
    if not removed.files and not removed.messages and not on_page:
        if kept:
            raise CommandError(f"That could not be forgotten.{kept}")
        return "It was gone already."
    places = [_files(_unspoken(removed.files, finding))] if removed.files else []
    conversations = "a conversation" if removed.talks == 1 else f"{removed.talks} conversations"
    places += [f"{_messages(removed.messages)} of {conversations}"] if removed.messages else []
    places += [f"{_messages(on_page)} on the page"] if on_page else []
    second = "For ten minutes /undo brings it back, then no copy of it is left in memory. " if removed.files else ""
    left = await asyncio.to_thread(files_left, scope, finding)
    index = f" The search index still has them: {removed.unpurged}; {_NEW_INDEX}." if removed.unpurged else ""
    own = f" {_files(_unspoken(left, finding))} still {_has(left)} them." if left else ""
    on_platform = ask.row.message.address.channel not in LOCAL_CHANNELS
    platform = " This chat on your platform keeps its own copy." if on_platform else ""
    return (
        f"Forgotten in {' and '.join(places)}. {second}"
        "I no longer see, search or send the words. The transcripts' files under `state/sessions` still have them, "
        "until `daybook sessions prune` deletes those conversations; files that came or were sent stay as they are for "
        f"a month.{index}{own}{platform}{kept}"
    )


def _kept(removed: Removal) -> str:
    """What could not be redacted or read, and why; empty where all could."""
    kept, finding = dict(removed.kept), removed.finding
    still = [why.replace(path, _unspoken((path,), finding)[0]) for path, why in kept.items()]
    unread = [f"Not looked into: {why}" for why in finding.unread if not why.startswith(tuple(kept))]
    if still:
        listed = "\n".join(f"- {why}" for why in still)
        unread.insert(0, f"The words are still there where I could not strike them; mend that and ask again:\n{listed}")
    return "".join(f"\n\n{paragraph}" for paragraph in unread)


def _unspoken(files: tuple[str, ...], finding: ForgetPlan) -> tuple[str, ...]:
    """The names of files, except where a name itself contains what was forgotten."""
    holds = line_matcher(finding)
    return tuple(f"{PurePosixPath(file).parent}/…" if holds(file) else file for file in files)


def _has(files: tuple[str, ...]) -> str:
    return "has" if len(files) == 1 else "have"


def _messages(number: int) -> str:
    return f"{number} {'message' if number == 1 else 'messages'}"


def _line(place: ForgetPassage) -> str:
    text = " ".join(place.text.split())
    shown = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].rstrip() + "…"
    return f"- `{place.path}:{place.line}`{' (the whole note)' if place.whole else ''} {shown.removeprefix('- ')}"


def _files(paths: tuple[str, ...]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


COMMANDS = (
    Command("remember", "TEXT", "write something into today's log", remember),
    Command("forget", "TEXT", "show what I know about something, and forget it on your yes", forget_),
    Command("undo", "", "undo the last memory change of this conversation", undo),
)
