"""Commands that change what is remembered."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial

from pydantic import TypeAdapter

from agent.memory.edits import Conflict
from agent.memory.files import FileError, append_log
from agent.memory.forget import Finding, Place, find
from agent.memory.history import FORGET as FORGETTING
from agent.memory.undo import restore
from gateway.access import Role
from gateway.commands import Answer, Ask, Command, CommandError, reason
from gateway.questions import answer_of, buttons
from gateway.sessions import belongs_to
from gateway.store.question_rows import Question

FORGET = "forget"
"""The kind of question that /forget asks."""
_FINDING = TypeAdapter(Finding)
_ANSWER_WITHIN = timedelta(minutes=10)
_LISTED = 20
_SHOWN_CHARS = 160


async def remember(ask: Ask) -> str:
    if not ask.words:
        raise CommandError("What shall I remember? `/remember TEXT`")
    scope = ask.conversation.scope
    with ask.agent.history.author(scope, str(ask.conversation.session)).writes("/remember"):
        try:
            log = await asyncio.to_thread(append_log, scope, ask.house.clock, ask.words)
        except FileError as error:
            raise CommandError(f"That could not be written down: {error}") from error
    return f"Noted in `{log.relative_to(scope.workspace)}`."


async def undo(ask: Ask) -> str:
    history, session, scope = ask.agent.history, str(ask.conversation.session), ask.conversation.scope
    try:
        change = await asyncio.to_thread(history.last, session)
    except OSError as error:
        raise CommandError(f"That could not be undone: {reason(error)}") from error
    if change is None:
        return "There is no change of memory from this talk that I could undo."
    try:
        paths = await asyncio.to_thread(restore, history, scope, ask.house.clock, change, session)
        if change.by == FORGETTING:
            await ask.agent.bring_back(partial(belongs_to, scope=scope), change.id)
    except Conflict as conflict:
        history.pass_over(change)
        what = f"“{change.summary}” could not be undone: {conflict}"
        raise CommandError(f"{what}\n\n/undo again takes back the change before it.") from conflict
    except (FileError, OSError) as error:
        raise CommandError(f"That could not be undone: {reason(error)}") from error
    if change.by == FORGETTING:
        return f"Undone: what was forgotten is back in {_files(paths)}."
    return f"Undone in {_files(paths)}: {change.summary}"


async def forget_(ask: Ask) -> Answer:
    if ask.conversation.role is not Role.OWNER and not ask.conversation.is_private:
        raise CommandError("In a group, only my owner can let me forget.")
    if not ask.words:
        raise CommandError("What shall I forget? `/forget TEXT`; you see what I found before anything is removed.")
    answer = answer_of(ask.words)
    if answer is None:
        return await _ask_first(ask)
    question = ask.house.questions.newest(FORGET, ask.row.message)
    if question is None:
        return Answer("Nothing is waiting to be forgotten. `/forget TEXT` shows first what it would remove.")
    ask.house.questions.closed(question)
    return Answer(await take_forget(ask, question, answer), settles=question)


async def take_forget(ask: Ask, question: Question, said: bool) -> str:
    """On a yes, forget what was shown, and what the journal or a flush has written of it since."""
    if not said:
        return "Nothing was forgotten."
    try:
        shown = _FINDING.validate_json(question.subject)
        return await _forget(ask, shown)
    except (FileError, OSError) as error:
        raise CommandError(f"That could not be forgotten: {reason(error)}") from error


async def _ask_first(ask: Ask) -> Answer:
    try:
        finding = await asyncio.to_thread(find, ask.conversation.scope, ask.words)
        said = await ask.agent.mentions(partial(belongs_to, scope=ask.conversation.scope), finding)
    except FileError as error:
        raise CommandError(f"That could not be looked for: {error}") from error
    unread = [f"Not looked into: {reason}" for reason in finding.unread]
    if not finding.places and not said:
        return Answer("\n\n".join([f"I have nothing in memory about “{ask.words}”.", *unread]))
    message, questions = ask.row.message, ask.house.questions
    subject = _FINDING.dump_json(finding).decode()
    question = questions.new(FORGET, message.address, message.sender.id, subject, _ANSWER_WITHIN)
    await questions.put(question)
    listed = [_line(place) for place in finding.places[:_LISTED]]
    if (more := len(finding.places) - _LISTED) > 0:
        listed.append(f"- and {more} more")
    if said:
        listed.append(f"- {_messages(said)} of our talks, where a mark will stand instead")
    text = "\n\n".join(
        [
            f"This is what I would forget about “{ask.words}”:",
            "\n".join(listed),
            *unread,
            "Shall I? **yes** or **no** (within ten minutes; later or in between: `/forget yes`).",
        ]
    )
    return Answer(text, buttons(question, "Forget it", "Keep it"))


async def _forget(ask: Ask, finding: Finding) -> str:
    session, scope = str(ask.conversation.session), ask.conversation.scope
    done = await ask.agent.forget(partial(belongs_to, scope=scope), scope, session, finding)
    if not done.files and not done.messages:
        return "It was gone already."
    places = [_files(done.files)] if done.files else []
    talks = "a talk" if done.talks == 1 else f"{done.talks} talks"
    places += [f"{_messages(done.messages)} of {talks}"] if done.messages else []
    second = "For ten minutes /undo brings it back, then no copy of it is left in memory. " if done.files else ""
    return (
        f"Forgotten in {' and '.join(places)}. {second}"
        "I no longer see, search or send the words. The transcripts' files under `state/sessions` still have them, "
        "until `daybook sessions prune` deletes those talks; what was received and sent stays in `state/daybook.db` "
        "for up to a month, and this chat on your platform keeps its own copy."
    )


def _messages(number: int) -> str:
    return f"{number} {'message' if number == 1 else 'messages'}"


def _line(place: Place) -> str:
    text = " ".join(place.text.split())
    shown = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].rstrip() + "…"
    return f"- `{place.path}:{place.line}`{' (the whole note)' if place.whole else ''} {shown.removeprefix('- ')}"


def _files(paths: tuple[str, ...]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


COMMANDS = (
    Command("remember", "TEXT", "write something into today's log", remember),
    Command("forget", "TEXT", "show what I know about something, and forget it on your yes", forget_),
    Command("undo", "", "take back the last change of memory from this talk", undo),
)
