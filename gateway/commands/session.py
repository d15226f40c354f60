"""Commands about the conversation itself."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from pathlib import Path

from agent.compaction.compact import Compacted, NotCompacted
from agent.memory.files import FileError, rewrite
from agent.model.base import ModelError, split_provider
from agent.session.archive import NoSuchSession
from agent.session.transcript import TranscriptUnusable
from channels.message import OutboundFile
from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError, CommandReply, reason
from gateway.commands.reports import context_text, why_text
from gateway.config.schema import SERVED
from gateway.policy.access import LOCAL_CHANNELS
from gateway.setup.model import check_model, list_models
from gateway.spoken_time import spoken
from gateway.turns.queue import WasStopped

log = logging.getLogger(__name__)

_LISTED = 10
_MODELS_LISTED = 20
_PUTTING_IN_ORDER = "I'm shortening the earlier part of this conversation. I'll tell you when it's done."


async def new(context: CommandContext) -> str:
    session = str(context.route.session)
    stopped = await context.until_answered.enter_async_context(context.services.turns.stopped(session, context.row.seq))
    begun = await context.agent.new_session(context.route.session, context.route.scope)
    ended = " I stopped what I was working on." if stopped.ran else ""
    noted = f"could not be saved in today's log ({begun.unnoted})" if begun.unnoted else "is saved in today's log"
    return f"Started a new conversation.{ended} The previous one {noted}; /sessions brings it back."


async def compact(context: CommandContext) -> str:
    """Says at once that it takes a while; its reply is the outcome. After a crash the next process goes on, and sees in
    the transcript whether the summary was made."""
    turns, session = context.services.turns, str(context.route.session)
    try:
        await context.begin()
        if turns.is_busy(session):
            await context.tell(_PUTTING_IN_ORDER)
        done = await turns.unless_stopped(session, context.row.seq, _compacted(context))
    except WasStopped:
        made = await context.agent.compacted(context.route.session, context.route.scope, context.name)
        return _outcome(made) if made is not None else "Stopped. The conversation is unchanged."
    except NotCompacted as problem:
        return str(problem)
    except ModelError as problem:
        return f"The conversation is unchanged. {problem}"
    except OSError as problem:
        log.error("a conversation could not be compacted: %s", problem)
        return f"The conversation is unchanged: {reason(problem)}."
    return _outcome(done)


async def _compacted(context: CommandContext) -> Compacted:
    key, scope, model = context.route.session, context.route.scope, await context.chosen_model()
    async with context.services.turns.alone(str(key)):
        return await context.agent.compact(
            key, scope, context.argument, model, context.name, partial(context.tell, _PUTTING_IN_ORDER)
        )


def _outcome(done: Compacted) -> str:
    sizes = f"the conversation went from about {done.before:,} to {done.after:,} tokens"
    return f"Done: {sizes}. The full text is still on disk."


async def stop(context: CommandContext) -> str:
    session = str(context.route.session)
    stopped = await context.services.turns.stop(session, context.row.seq)
    ran = bool(context.services.programs.stop(session)) or stopped.ran or bool(stopped.tasks)
    if not ran and not stopped.waiting:
        return "Nothing is running."
    tasks = {0: "", 1: " I gave up the task I was working on."}
    given_up = tasks.get(stopped.tasks, f" I gave up the {stopped.tasks} tasks I was working on.")
    waiting = {0: "", 1: " I skipped one waiting message."}
    skipped = waiting.get(stopped.waiting, f" I skipped {stopped.waiting} waiting messages.")
    return f"Stopped.{skipped}{given_up}" if ran else skipped.strip()


async def model(context: CommandContext) -> str:
    session = str(context.route.session)
    configured = context.agent.settings.model.name
    name = context.argument.split()[0].strip("`") if context.argument else ""
    server = _model_server(context, split_provider(name, SERVED)[0])
    if not name:
        chosen = await context.chosen_model()
        if chosen and chosen != configured:
            now = (
                f"This conversation uses `{chosen}`; the configured model is `{configured}` "
                "(`/model default` goes back to it)."
            )
        else:
            now = f"This conversation uses `{configured}`. `/model NAME` changes it here, until `/model default`."
        models = await asyncio.to_thread(list_models, *server) if server else ()
        more = f", and {len(models) - _MODELS_LISTED} more" if len(models) > _MODELS_LISTED else ""
        names = ", ".join(f"`{name}`" for name in models[:_MODELS_LISTED])
        return f"{now}\n\nThe server has {names}{more}." if models else now
    back = name in ("default", configured)
    unsure = ""
    if not back and server:
        checked = await asyncio.to_thread(check_model, *server, split_provider(name, SERVED)[1])
        if not checked.ok and checked.refused:
            names = ", ".join(f"`{one}`" for one in checked.models[:_MODELS_LISTED])
            has = f" It has {names}." if names else ""
            raise CommandError(f"{checked.text[:1].upper()}{checked.text[1:]}, so nothing changes.{has}")
        unsure = "" if checked.ok else f" I couldn't check whether it is there: {checked.text}."
    await context.services.preferences.choose_model(session, None if back else name)
    return f"This conversation uses `{configured if back else name}` from now on.{unsure}"


def _model_server(context: CommandContext, provider: str) -> tuple[str, str, str | None] | None:
    """Provider, key and address of the server that may be asked for its models; `provider`: by default the usual."""
    config = context.services.model_configs[context.route.session.agent]
    server = config.server(provider)
    if config.provider == "offline" or not (server.api_key or server.base_url):
        return None
    key = server.api_key.get_secret_value() if server.api_key else ""
    return provider or config.provider, key, server.base_url


async def sessions(context: CommandContext) -> str:
    known = [one for one in await context.agent.sessions(context.route.session) if not one.archived]
    if not known:
        return "There are no conversations yet."
    clock = context.services.clock
    lines = [
        f"- `{one.id}`: {one.title or 'a new conversation'}, {_messages(one.messages)}, last "
        f"{spoken(one.last, clock.now(), clock.zone)}"
        for one in known[:_LISTED]
    ]
    more = f"\n\nand {len(known) - _LISTED} older ones" if len(known) > _LISTED else ""
    return "Conversations here, newest first (`/switch ID` goes back to one):\n\n" + "\n".join(lines) + more


async def switch(context: CommandContext) -> str:
    if not context.argument:
        raise CommandError("Which one? /sessions lists them, `/switch ID` goes back to one.")
    session = str(context.route.session)
    await context.until_answered.enter_async_context(context.services.turns.stopped(session, context.row.seq))
    try:
        route = context.route
        found = await context.agent.switch(route.session, route.scope, context.argument.strip("`"))
    except NoSuchSession as error:
        raise CommandError(f"There is no conversation {context.argument} here. /sessions lists them.") from error
    clock = context.services.clock
    started = spoken(found.started, clock.now(), clock.zone)
    return f"Back in the conversation that began {started} ({_messages(found.messages)})."


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


async def export(context: CommandContext) -> CommandReply:
    session, scope, today = context.route.session, context.route.scope, context.services.clock.today()
    try:
        exported = (await context.agent.export(session)).encode()
        path = scope.folder / "exports" / f"{today}-{session.path.replace('/', '-')}.md"
        await asyncio.to_thread(rewrite, path, scope.folder, today, lambda _: exported)
    except (NoSuchSession, TranscriptUnusable) as error:
        raise CommandError("There is no conversation to save yet.") from error
    except FileError as error:
        raise CommandError(f"I couldn't save the conversation: {error}") from error
    text = f"Saved this conversation as `{path.relative_to(scope.workspace)}` in the workspace."
    return CommandReply(text, files=await _copy(context, path))


async def _copy(context: CommandContext, path: Path) -> tuple[OutboundFile, ...]:
    """The file itself, where the chat takes it and is not on this machine."""
    address, scope = context.row.message.address, context.route.scope
    most = context.services.channels[address.channel].capabilities(address).largest_file
    if address.channel in LOCAL_CHANNELS or most == 0:
        return ()
    try:
        name = path.relative_to(scope.folder).as_posix()
        return (await asyncio.to_thread(context.services.outgoing.keep, scope, name, most),)
    except FileError as error:
        log.warning("an export stays in the workspace: %s", error)
        return ()


async def show_context(context: CommandContext) -> str:
    return context_text(await context.context_report(), context.services.clock)


async def why(context: CommandContext) -> str:
    return why_text(await context.agent.why(context.route.session), context.services.clock)


COMMANDS = (
    Command("new", "", "start a new conversation; the old one is kept", new),
    Command("compact", "[FOCUS]", "summarize the older part of this conversation", compact),
    Command("stop", "", "stop what I'm doing", stop),
    Command("context", "", "what I can see, and how much room is left", show_context),
    Command("why", "", "what my last reply was based on", why),
    Command(
        "model",
        "[NAME]",
        "show or change the model of this conversation",
        model,
        CommandAudience.OWNER_IN_PRIVATE,
    ),
    Command("sessions", "", "earlier conversations here", sessions),
    Command("switch", "ID", "go back to an earlier conversation", switch),
    Command("export", "", "save this conversation to a file", export),
)
