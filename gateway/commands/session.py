"""Commands about the conversation itself."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from pathlib import Path

from agent.compaction.compact import Compacted, NotCompacted
from agent.memory.files import FileError, rewrite
from agent.model.base import ModelError
from agent.session.archive import NoSuchSession
from agent.session.transcript import TranscriptUnusable
from channels.message import OutboundFile
from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError, CommandReply, reason
from gateway.commands.reports import context_text, why_text
from gateway.policy.access import LOCAL_CHANNELS
from gateway.store.database import StoreUnavailable
from gateway.turns.queue import WasStopped

log = logging.getLogger(__name__)

_LISTED = 10
_PUTTING_IN_ORDER = "I'm shortening the earlier part of this conversation and will tell you when it's done."


async def new(ask: CommandContext) -> str:
    session = str(ask.conversation.session)
    stopped = await ask.until_answered.enter_async_context(ask.services.turns.stopped(session, ask.row.seq))
    begun = await ask.agent.new_session(ask.conversation.session, ask.conversation.scope)
    ended = " I stopped what I was working on." if stopped.ran else ""
    noted = f"could not be saved in today's log ({begun.unnoted})" if begun.unnoted else "is saved in today's log"
    return f"Started a new conversation.{ended} The previous one {noted}; /sessions brings it back."


async def compact(ask: CommandContext) -> str:
    """Says at once that it takes a while; its reply is the outcome. Until then the command is open in the inbox: after
    a crash the next process goes on, and sees in the transcript whether the summary was made."""
    turns, session = ask.services.turns, str(ask.conversation.session)
    try:
        await ask.begin()
        if turns.is_busy(session):
            await ask.tell(_PUTTING_IN_ORDER)
        done = await turns.unless_stopped(session, ask.row.seq, _compacted(ask))
    except WasStopped:
        made = await ask.agent.compacted(ask.conversation.session, ask.conversation.scope, ask.name)
        return _outcome(made) if made is not None else "Stopped. The conversation is unchanged."
    except NotCompacted as problem:
        return str(problem)
    except ModelError as problem:
        return f"The conversation is unchanged. {problem}"
    except (OSError, StoreUnavailable) as problem:
        log.error("a conversation could not be compacted: %s", problem)
        return f"The conversation is unchanged: {reason(problem)}."
    return _outcome(done)


async def _compacted(ask: CommandContext) -> Compacted:
    key, scope, model = ask.conversation.session, ask.conversation.scope, await ask.chosen_model()
    async with ask.services.turns.alone(str(key)):
        return await ask.agent.compact(key, scope, ask.words, model, ask.name, partial(ask.tell, _PUTTING_IN_ORDER))


def _outcome(done: Compacted) -> str:
    sizes = f"the conversation took about {done.before:,} tokens and takes {done.after:,} now"
    return f"Done: {sizes}. Nothing is lost on disk."


async def stop(ask: CommandContext) -> str:
    stopped = await ask.services.turns.stop(str(ask.conversation.session), ask.row.seq)
    if not stopped.ran and not stopped.waiting:
        return "Nothing is running."
    waiting = {0: "", 1: " One waiting message is set aside."}
    aside = waiting.get(stopped.waiting, f" {stopped.waiting} waiting messages are set aside.")
    return f"Stopped.{aside}" if stopped.ran else aside.strip()


async def model(ask: CommandContext) -> str:
    session = str(ask.conversation.session)
    configured = ask.agent.settings.model.name
    if not ask.words:
        chosen = await ask.chosen_model()
        if chosen and chosen != configured:
            return (
                f"This conversation uses `{chosen}`; the configured model is `{configured}` "
                "(`/model default` returns to it)."
            )
        return f"This conversation uses `{configured}`. `/model NAME` changes it here, until `/model default`."
    name = ask.words.split()[0]
    back = name in ("default", configured)
    await ask.services.choices.choose_model(session, None if back else name)
    return f"This conversation uses `{configured if back else name}` from now on."


async def sessions(ask: CommandContext) -> str:
    known = await ask.agent.sessions(ask.conversation.session)
    if not known:
        return "There is no conversation yet."
    lines = [
        f"- `{one.id}`: {one.messages} messages, last {ask.services.clock.local(one.last):%Y-%m-%d %H:%M}"
        for one in known[:_LISTED]
    ]
    more = f"\n\nand {len(known) - _LISTED} older ones." if len(known) > _LISTED else ""
    return "Conversations here, newest first (`/switch ID` returns to one):\n\n" + "\n".join(lines) + more


async def switch(ask: CommandContext) -> str:
    if not ask.words:
        raise CommandError("Which one? `/switch ID`; /sessions lists them.")
    session = str(ask.conversation.session)
    await ask.until_answered.enter_async_context(ask.services.turns.stopped(session, ask.row.seq))
    try:
        conversation = ask.conversation
        found = await ask.agent.switch(conversation.session, conversation.scope, ask.words.strip("`"))
    except NoSuchSession as error:
        raise CommandError(f"There is no conversation {ask.words} here; /sessions lists them.") from error
    started = ask.services.clock.local(found.started)
    return f"Back in the conversation of {started:%Y-%m-%d %H:%M} ({found.messages} messages)."


async def export(ask: CommandContext) -> CommandReply:
    session, scope, today = ask.conversation.session, ask.conversation.scope, ask.services.clock.today()
    try:
        talk = (await ask.agent.export(session)).encode()
        path = scope.folder / "exports" / f"{today}-{session.path.replace('/', '-')}.md"
        await asyncio.to_thread(rewrite, path, scope.folder, today, lambda _: talk)
    except (NoSuchSession, TranscriptUnusable) as error:
        raise CommandError("There is no conversation to save yet.") from error
    except FileError as error:
        raise CommandError(f"The conversation could not be saved: {error}") from error
    text = f"This conversation is saved as `{path.relative_to(scope.workspace)}` in the workspace."
    return CommandReply(text, files=await _copy(ask, path))


async def _copy(ask: CommandContext, path: Path) -> tuple[OutboundFile, ...]:
    """The file itself, where the chat can take it and is not on this machine."""
    address, scope = ask.row.message.address, ask.conversation.scope
    most = ask.services.channels[address.channel].largest_file(address)
    if address.channel in LOCAL_CHANNELS or most == 0:
        return ()
    try:
        name = path.relative_to(scope.folder).as_posix()
        return (await asyncio.to_thread(ask.services.outgoing.keep, scope, name, most),)
    except FileError as error:
        log.warning("an export stays in the workspace: %s", error)
        return ()


async def context(ask: CommandContext) -> str:
    return context_text(await ask.context_report(), ask.services.clock)


async def why(ask: CommandContext) -> str:
    return why_text(await ask.agent.why(ask.conversation.session), ask.services.clock)


COMMANDS = (
    Command("new", "", "start a new conversation; the old one is kept", new),
    Command("compact", "[FOCUS]", "summarize the older part of this conversation", compact),
    Command("stop", "", "stop what I am doing", stop),
    Command("context", "", "what I have before me, and how much room is left", context),
    Command("why", "", "what the last reply was made from", why),
    Command(
        "model", "[NAME]", "show or change the model of this conversation", model, CommandAudience.OWNER_IN_PRIVATE
    ),
    Command("sessions", "", "our conversations here", sessions),
    Command("switch", "ID", "return to an earlier conversation", switch),
    Command("export", "", "save this conversation to a file", export),
)
