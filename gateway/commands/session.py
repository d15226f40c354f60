"""Commands about the conversation itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from agent.compaction.compact import Compacted, NotCompacted
from agent.languages.sentences import Sentence
from agent.memory.files import FileError, rewrite
from agent.model.base import ModelError, split_provider
from agent.session.archive import NoSuchSession
from agent.session.transcript import TranscriptUnusable
from channels.message import Button, OutboundFile
from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError, CommandReply, reason
from gateway.commands.reports import context_text, why_text
from gateway.config.schema import SERVED
from gateway.i18n import one_line
from gateway.policy.access import LOCAL_CHANNELS
from gateway.setup.model import check_model, list_models
from gateway.turns.queue import WasStopped

log = logging.getLogger(__name__)

_LISTED = 10
_MODELS_LISTED = 20
_PUTTING_IN_ORDER = Sentence("I'm shortening the earlier part of this conversation. I'll tell you when it's done.")
_UNCHANGED = Sentence("The conversation is unchanged.")
_TITLE_CHARS = 40
"""Characters of a title on a button."""


async def new(context: CommandContext) -> str:
    session = str(context.route.session)
    stopped = await context.until_answered.enter_async_context(context.services.turns.stopped(session, context.row.seq))
    begun = await context.agent.new_session(context.route.session, context.route.scope)
    noted = (
        Sentence(
            "The previous one could not be saved in today's log ({why}); /sessions brings it back.", why=begun.unnoted
        )
        if begun.unnoted
        else Sentence("The previous one is saved in today's log; /sessions brings it back.")
    )
    ended = Sentence("I stopped what I was working on.") if stopped.ran else ""
    return context.joined(Sentence("Started a new conversation."), ended, noted)


async def compact(context: CommandContext) -> str:
    """Says at once that it takes a while; its reply is the outcome.

    After a crash the next process goes on, and sees in the transcript whether the summary was made.
    """
    turns, session = context.services.turns, str(context.route.session)
    try:
        await context.begin()
        if turns.is_busy(session):
            await context.tell(context.shown(_PUTTING_IN_ORDER))
        done = await turns.unless_stopped(session, context.row.seq, _compacted(context))
    except WasStopped:
        made = await context.agent.compacted(context.route.session, context.route.scope, context.name)
        return _outcome(context, made) if made is not None else context.joined(Sentence("Stopped."), _UNCHANGED)
    except NotCompacted as problem:
        return context.shown(problem.args[0])
    except ModelError as problem:
        return context.joined(_UNCHANGED, problem.args[0] if problem.args else str(problem))
    except OSError as problem:
        log.error("a conversation could not be compacted: %s", problem)
        return context.said("The conversation is unchanged: {why}.", why=reason(problem))
    return _outcome(context, done)


async def _compacted(context: CommandContext) -> Compacted:
    key, scope, model = context.route.session, context.route.scope, await context.chosen_model()
    async with context.services.turns.alone(str(key)):
        return await context.agent.compact(
            key, scope, context.argument, model, context.name, partial(context.tell, context.shown(_PUTTING_IN_ORDER))
        )


def _outcome(context: CommandContext, done: Compacted) -> str:
    return context.said(
        "Done: the conversation went from about {before} to {after} tokens. The full text is still on disk.",
        before=context.number(done.before),
        after=context.number(done.after),
    )


async def stop(context: CommandContext) -> str:
    session = str(context.route.session)
    stopped = await context.services.turns.stop(session, context.row.seq)
    ended = sum(end(session) for end in context.services.on_stop)
    ran = bool(ended) or stopped.ran or bool(stopped.tasks)
    if not ran and not stopped.waiting:
        return context.said("Nothing is running.")
    tasks = {0: "", 1: Sentence("I gave up the task I was working on.")}
    given_up = tasks.get(stopped.tasks, Sentence("I gave up the {count} tasks I was working on.", count=stopped.tasks))
    waiting = {0: "", 1: Sentence("I skipped one waiting message.")}
    skipped = waiting.get(stopped.waiting, Sentence("I skipped {count} waiting messages.", count=stopped.waiting))
    return context.joined(Sentence("Stopped."), skipped, given_up) if ran else skipped


async def model(context: CommandContext) -> str:
    session = str(context.route.session)
    configured = context.agent.settings.model.name
    name = context.argument.split()[0].strip("`") if context.argument else ""
    server = _model_server(context, split_provider(name, SERVED)[0])
    if not name:
        chosen = await context.chosen_model()
        if chosen and chosen != configured:
            now = context.said(
                "This conversation uses `{chosen}`; the configured model is `{configured}` "
                "(`/model default` goes back to it).",
                chosen=chosen,
                configured=configured,
            )
        else:
            now = context.said(
                "This conversation uses `{model}`. `/model NAME` changes it here, until `/model default`.",
                model=configured,
            )
        models = await asyncio.to_thread(list_models, *server) if server else ()
        return f"{now}\n\n{context.said('The server has {names}.', names=_names(models))}" if models else now
    back = name in ("default", configured)
    unsure: str = ""
    if not back and server:
        checked = await asyncio.to_thread(check_model, *server, split_provider(name, SERVED)[1])
        if not checked.ok and checked.refused:
            why = context.shown(checked.text)
            refused = Sentence("{why}, so nothing changes.", why=f"{why[:1].upper()}{why[1:]}")
            has = Sentence("The server has {names}.", names=_names(checked.models)) if checked.models else ""
            raise CommandError(context.joined(refused, has))
        if not checked.ok:
            unsure = Sentence("I couldn't check whether it is there: {why}.", why=checked.text)
    await context.services.preferences.choose_model(session, None if back else name)
    now = context.said("This conversation uses `{model}` from now on.", model=configured if back else name)
    return context.joined(now, unsure)


def _names(models: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in models[:_MODELS_LISTED])
    more = Sentence("{names}, and {count} more", names=names, count=len(models) - _MODELS_LISTED)
    return more if len(models) > _MODELS_LISTED else names


def _model_server(context: CommandContext, provider: str) -> tuple[str, str, str | None] | None:
    """Provider, key and address of the server that may be asked for its models; `provider` empty: the configured
    one."""
    config = context.kernel.config.agents[context.route.session.agent].model
    server = config.server(provider)
    if config.provider == "offline" or not (server.api_key or server.base_url):
        return None
    key = server.api_key.get_secret_value() if server.api_key else ""
    return provider or config.provider, key, server.base_url


async def sessions(context: CommandContext) -> CommandReply:
    known = [session for session in await context.agent.sessions(context.route.session) if not session.archived]
    if not known:
        return CommandReply(context.said("There are no conversations yet."))
    listed = [(session.title or context.said("a new conversation"), session) for session in known[:_LISTED]]
    lines = [
        context.said(
            "{number}. {title}, {messages}, last {moment}",
            number=number,
            title=title,
            messages=_messages(context, session.messages),
            moment=context.moment(session.last),
        )
        for number, (title, session) in enumerate(listed, 1)
    ]
    buttons = tuple(
        (Button(one_line(f"{number}. {title}", _TITLE_CHARS), f"/switch {session.id}"),)
        for number, (title, session) in enumerate(listed, 1)
    )
    head = context.said(
        "Conversations here, newest first. Press one to go back to it, or write `/switch` and its title."
    )
    more = [context.said("and {count} older ones", count=len(known) - _LISTED)] if len(known) > _LISTED else []
    return CommandReply("\n\n".join([head, "\n".join(lines), *more]), buttons)


async def switch(context: CommandContext) -> str:
    if not context.argument:
        raise CommandError(Sentence("Which one? /sessions lists them."))
    session = str(context.route.session)
    await context.until_answered.enter_async_context(context.services.turns.stopped(session, context.row.seq))
    try:
        route = context.route
        found = await context.agent.switch(route.session, route.scope, context.argument.strip("`"))
    except NoSuchSession as error:
        none = Sentence("There is no conversation {name} here. /sessions lists them.", name=context.argument)
        raise CommandError(none) from error
    return context.said(
        "Back in the conversation that began {started} ({messages}).",
        started=context.moment(found.started),
        messages=_messages(context, found.messages),
    )


def _messages(context: CommandContext, count: int) -> str:
    return context.said("1 message") if count == 1 else context.said("{count} messages", count=context.number(count))


async def export(context: CommandContext) -> CommandReply:
    session, scope, today = context.route.session, context.route.scope, context.kernel.clock.today()
    try:
        exported = (await context.agent.export(session)).encode()
        path = scope.folder / "exports" / f"{today}-{session.path.replace('/', '-')}.md"
        await asyncio.to_thread(rewrite, path, scope.folder, today, lambda _: exported)
    except (NoSuchSession, TranscriptUnusable) as error:
        raise CommandError(Sentence("There is no conversation to save yet.")) from error
    except FileError as error:
        raise CommandError(Sentence("I couldn't save the conversation: {why}", why=error.args[0])) from error
    place = path.relative_to(scope.workspace)
    text = context.said("Saved this conversation as `{place}` in the workspace.", place=place)
    return CommandReply(text, files=await _copy(context, path))


async def _copy(context: CommandContext, path: Path) -> tuple[OutboundFile, ...]:
    """The file itself, if the chat takes files and is not on this machine."""
    address, scope = context.row.message.address, context.route.scope
    most = context.kernel.channels[address.channel].capabilities(address).largest_file
    if address.channel in LOCAL_CHANNELS or most == 0:
        return ()
    try:
        name = path.relative_to(scope.folder).as_posix()
        return (await asyncio.to_thread(context.kernel.outgoing.keep, scope, name, most),)
    except FileError as error:
        log.warning("an export stays in the workspace: %s", error)
        return ()


async def show_context(context: CommandContext) -> str:
    return context_text(context, await context.context_report())


async def why(context: CommandContext) -> str:
    return why_text(context, await context.agent.why(context.route.session))


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
    Command("switch", "TITLE", "go back to an earlier conversation", switch),
    Command("export", "", "save this conversation to a file", export),
)
