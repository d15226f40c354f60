"""Builds the object graph; has no behaviour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pkgutil import resolve_name

from agent.clock import Clock
from agent.formats.addresses import AddressRules
from agent.media.reader import Reader
from agent.media.store import Store
from agent.tools.base import Tool
from gateway.assembly import Messaging, Scheduling, build_messaging, build_schedule, build_scheduling, share_work
from gateway.commands.context import Services
from gateway.commands.registry import all_commands
from gateway.commands.runner import CommandRunner
from gateway.config import Config
from gateway.core import Core, ModelOf, OpenAgents, open_agents, open_core
from gateway.embedder.offer import EmbedderOffer
from gateway.factories import (
    OpenChannels,
    Platforms,
    open_channels,
)
from gateway.handlers import all_operations
from gateway.home import Home
from gateway.kernel import FeatureParts, Kernel, Opening, ToolSource, together
from gateway.manifest import features, readers
from gateway.messages.outbound_files import LongAnswers
from gateway.models import build_model
from gateway.policy.display_names import DisplayNames
from gateway.policy.pairing import Pairing
from gateway.redaction import Redaction
from gateway.router import Router
from gateway.routines.housekeeping import Housekeeping
from gateway.rpc.protocol import RpcHandler
from gateway.scheduling.job_store import FILE
from gateway.scheduling.targets import OwnerReports
from gateway.server import Gateway, Timeouts
from gateway.store import chat_rows
from gateway.store.database import OnLost
from gateway.store.inbox_rows import InboxRow
from gateway.supervisor import SupervisedSource
from gateway.tools.approvals import Approvals
from gateway.tools.messages import MessageTools
from gateway.tools.schedule import ScheduleTools
from gateway.turns.attachments import AttachmentIntake, MediaLimits
from gateway.turns.queue import TurnQueue
from gateway.turns.services import QueueRule, TurnServices
from gateway.turns.tasks import Tasks

_SEALED = {FILE: "no job is made, changed or removed in a job or task. Say in your answer what should be scheduled."}
"""What their turns may not change, and why."""

_USUAL = Timeouts()


@asynccontextmanager
async def open_gateway(
    home: Home,
    config: Config,
    *,
    channels: bool,
    clock: Clock | None = None,
    platforms: Platforms | None = None,
    model_of: ModelOf = build_model,
    process: Mapping[str, RpcHandler] | None = None,
    timeouts: Timeouts = _USUAL,
    media_limits: MediaLimits | None = None,
    web_rules: AddressRules | None = None,
    on_lost: OnLost = lambda why: None,
) -> AsyncIterator[Gateway]:
    """Builds the gateway of a home and closes it again. `channels` False: only the terminal. `platforms` and `model_of`
    make channels and models; `process`: operations of the process that it runs in; `on_lost`: ends the process at once,
    where another may serve the home now.

    Raises `HomeBusy`, `HomeError`, `StorageUnavailable`.
    """
    async with AsyncExitStack() as stack:
        clock = clock or Clock(config.zone)
        core = await open_core(stack, home, config, clock, timeouts, waits=channels, on_lost=on_lost)
        agents = await open_agents(stack, core, model_of)
        commands = all_commands()
        operations: dict[str, RpcHandler] = {}
        opened = open_channels(
            stack,
            home,
            config,
            core.database,
            core.clock,
            commands.menu,
            operations,
            platforms,
            core.claims,
            is_alone=not channels,
        )
        messaging = await build_messaging(core, opened)
        schedule = build_schedule(core, opened, messaging)
        kernel = _kernel(core, agents, opened, messaging, schedule.reports, web_rules or AddressRules())
        scheduling = await build_scheduling(kernel, core, schedule)
        openings: list[Opening] = [resolve_name(feature.opening) for feature in features() if feature.opening]
        parts = together([await opening(kernel, stack) for opening in openings])
        schedule.offer(*parts.jobs)
        intake = _build_intake(kernel, core, parts, media_limits or MediaLimits())
        effects = _build_effects(kernel, messaging, scheduling, parts.tools)
        turns = await _build_turns(kernel, core, messaging, effects, parts, intake)
        services = _build_services(kernel, core, opened, messaging, scheduling, effects, turns, parts)
        router = Router(
            kernel,
            turns,
            CommandRunner(commands, services),
            messaging.edited_messages,
            messaging.acknowledgement,
            core.background.spawn,
        )
        offer = EmbedderOffer(home, config, agents.by_name, agents.embedders, core.background)
        operations |= all_operations(services, schedule, offer, home)
        operations |= {**opened.web_host.table(), **(process or {}), **parts.operations}
        yield Gateway(
            terminal=opened.terminal,
            web=opened.web_host if "web" in opened.by_name else None,
            operations=operations,
            sources=[*opened.sources, *map(SupervisedSource, parts.sources)],
            schedule=schedule,
            router=router,
            turns=turns,
            outbox=messaging.outbox,
            active_work=core.active_work,
            agents=agents.by_name.values(),
            commands=core.background,
            housekeeping=Housekeeping(
                kernel.database, kernel.clock, kernel.outgoing, intake, home.sessions, prunes=parts.prunes
            ),
            workers=parts.workers,
            warm=agents.warm if channels else [],
            timeouts=timeouts,
            shared=share_work(core, agents, messaging, scheduling, router, parts.voice),
        )


def _kernel(
    core: Core,
    agents: OpenAgents,
    channels: OpenChannels,
    messaging: Messaging,
    reports: OwnerReports,
    web_rules: AddressRules,
) -> Kernel:
    return Kernel(
        home=core.home,
        config=core.config,
        clock=core.clock,
        database=core.database,
        access=core.access,
        agents=agents.by_name,
        sessions=agents.sessions,
        inbox=messaging.inbox,
        outbox=messaging.outbox,
        outgoing=messaging.outgoing,
        channels=channels.by_name,
        models=agents.models,
        ledger=core.ledger,
        claims=core.claims,
        scope_work=core.scope_work,
        tasks=Tasks(core.database, core.clock, core.access, messaging.inbox, messaging.outbox, core.timeouts.task),
        web_rules=web_rules,
        reports=reports,
        secrets=core.secrets,
        page=lambda: channels.web_host.owners_url,
    )


def _build_intake(kernel: Kernel, core: Core, parts: FeatureParts, limits: MediaLimits) -> AttachmentIntake:
    media = kernel.config.media
    return AttachmentIntake(
        kernel.channels,
        Store(kernel.home.state),
        Reader(media.max_chars, media.max_pages, readers=readers()),
        parts.transcriber,
        media.max_mb * 1_000_000,
        core.active_work,
        kernel.clock,
        core.timeouts.fetch,
        limits,
    )


@dataclass(frozen=True, slots=True)
class _Effects:
    """What turns may do outside their conversation, and whose consent they need."""

    tools: Callable[[InboxRow], tuple[Tool, ...]]
    approvals: Approvals


def _build_effects(
    kernel: Kernel, messaging: Messaging, scheduling: Scheduling, feature_tools: Sequence[ToolSource]
) -> _Effects:
    sources: Sequence[ToolSource] = (
        ScheduleTools(scheduling.jobs, kernel.sessions),
        MessageTools(kernel),
        *feature_tools,
    )

    def tools(row: InboxRow) -> tuple[Tool, ...]:
        return tuple(tool for source in sources for tool in source.of_row(row))

    return _Effects(tools, Approvals(kernel, messaging.questions, tools))


async def _build_turns(
    kernel: Kernel, core: Core, messaging: Messaging, effects: _Effects, parts: FeatureParts, intake: AttachmentIntake
) -> TurnQueue:
    for agent in kernel.agents.values():
        agent.deferred.on_refused = kernel.reports.tell_of_files
    services = TurnServices(
        database=kernel.database,
        inbox=kernel.inbox,
        outbox=kernel.outbox,
        long_answers=LongAnswers(kernel.database, kernel.clock, kernel.channels, kernel.outgoing),
        voice=parts.voice,
        preferences=core.preferences,
        intake=intake,
        acknowledgement=messaging.acknowledgement,
        channels=kernel.channels,
        agents=kernel.agents,
        queues={
            name: QueueRule(agent.session.queue, agent.session.queue_cap)
            for name, agent in kernel.config.agents.items()
        },
        route=kernel.sessions.of_row,
        active_work=core.active_work,
        to_owner=kernel.reports.to_owner,
        tools=effects.tools,
        consent=effects.approvals.of_row,
        names=DisplayNames(kernel.access, await kernel.database.run(chat_rows.known)),
        tasks=kernel.tasks,
        sealed_in_jobs=_SEALED,
    )
    timeouts = core.timeouts
    return TurnQueue(services, disk_wait=timeouts.disk, trial_age=timeouts.trial, paste_wait=timeouts.paste)


def _build_services(
    kernel: Kernel,
    core: Core,
    channels: OpenChannels,
    messaging: Messaging,
    scheduling: Scheduling,
    effects: _Effects,
    turns: TurnQueue,
    parts: FeatureParts,
) -> Services:
    return Services(
        kernel=kernel,
        pairing=Pairing(kernel.database, kernel.clock, kernel.access, kernel.outbox),
        preferences=core.preferences,
        zone=core.zone,
        turns=turns,
        sources=channels.sources,
        jobs=scheduling.jobs,
        questions=messaging.questions,
        approvals=effects.approvals,
        edited_messages=messaging.edited_messages,
        redaction=Redaction(kernel, channels.web_record, parts),
        daily=scheduling.daily,
        on_stop=parts.on_stop,
        active_work=core.active_work,
    )
