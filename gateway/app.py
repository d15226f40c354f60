"""The composition root: builds the object graph, and has no behaviour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from agent.agent import Agent
from agent.clock import Clock
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import Model
from agent.tools.base import Tool
from gateway.commands.context import Services
from gateway.commands.registry import all_commands
from gateway.config import Config, ModelConfig
from gateway.embedder.build import Embedders
from gateway.embedder.offer import EmbedderOffer
from gateway.factories import (
    OpenChannels,
    Platforms,
    build_agent,
    build_intake,
    heartbeat_rules,
    open_channels,
    rules,
    schedule_rules,
    signs,
    summary_rules,
    tokens,
)
from gateway.handlers.registry import all_operations
from gateway.home import Home, shown
from gateway.messages.confirmations import Confirmations
from gateway.messages.edited import EditedMessages
from gateway.messages.inbox import Inbox
from gateway.messages.outbound_files import LongAnswers, OutboundFiles
from gateway.messages.outbox import Outbox
from gateway.messages.suspects import ActiveWork
from gateway.models import build_model, limited_for_others
from gateway.policy.access import Access
from gateway.policy.display_names import DisplayNames
from gateway.policy.pairing import Pairing
from gateway.policy.preferences import Preferences
from gateway.policy.sessions import AgentHome, SessionPolicy
from gateway.redaction import Redaction
from gateway.router import Router
from gateway.routines.daily_summary import DailySummary
from gateway.routines.heartbeat import Heartbeat
from gateway.routines.housekeeping import Housekeeping
from gateway.routines.journal import JournalRoutine
from gateway.routines.memory_checks import MemoryChecks
from gateway.scheduling.builtins import BuiltIn
from gateway.scheduling.job_store import FILE
from gateway.scheduling.requests import JobService
from gateway.scheduling.service import ScheduleService
from gateway.server import Gateway, Timeouts
from gateway.store import chat_rows
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.supervisor import BackgroundTasks
from gateway.tools.approvals import Approvals
from gateway.tools.messages import MessageTools
from gateway.tools.schedule import ScheduleTools
from gateway.turns.attachments import AttachmentIntake
from gateway.turns.queue import TurnQueue
from gateway.turns.reactions import Acknowledgement
from gateway.turns.turn import QueueRule, TurnServices
from gateway.usage import UsageLedger

_SEALED = {FILE: "no job is made, changed or removed from inside a job. Say in your answer what should be scheduled."}
"""What a job's turn may not change, and why."""

ModelOf = Callable[[ModelConfig, UsageLedger, Clock, str], tuple[Model, AnthropicModel | None]]
"""As `build_model`."""

_USUAL = Timeouts()


def _no_built_ins(_: Config) -> Sequence[BuiltIn]:
    return ()


@asynccontextmanager
async def open_gateway(
    home: Home,
    config: Config,
    *,
    channels: bool,
    clock: Clock | None = None,
    platforms: Platforms | None = None,
    model_of: ModelOf = build_model,
    built_ins: Callable[[Config], Sequence[BuiltIn]] = _no_built_ins,
    timeouts: Timeouts = _USUAL,
) -> AsyncIterator[Gateway]:
    """Builds the gateway of a home and closes it again. `channels` False: only the terminal, to act alone. `platforms`
    and `model_of` make the channels and the models, others in tests; `built_ins`: jobs beside Daybook's own.

    Raises `HomeBusy` or `HomeError` where the home cannot be used, `StoreUnavailable` where its database cannot.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(home.hold())
        core = await _open_core(stack, home, config, clock or Clock(config.zone), timeouts)
        staff = await _open_agents(stack, core, model_of)
        commands = all_commands()
        front = open_channels(stack, home, config, core.database, commands.menu, platforms, is_alone=not channels)
        messaging = await _build_messaging(core, front)
        calendar = await _build_scheduling(core, staff, front, messaging, built_ins(config))
        effects = _build_effects(core, staff, front, messaging, calendar)
        turns = await _turns(core, staff, front, messaging, calendar, effects)
        router = Router(
            core.database,
            core.clock,
            core.access,
            staff.sessions,
            messaging.inbox,
            messaging.outbox,
            turns,
            commands,
            messaging.rewording,
            messaging.acknowledgement,
            front.channels,
            core.spawner.spawn,
        )
        services = _services(core, staff, front, messaging, calendar, effects, turns, router)
        commands.open(services)
        offer = EmbedderOffer(home, config, staff.agents, staff.embedders, core.spawner)
        operations = {**all_operations(services, calendar.schedule), **offer.table(), **front.web_host.table()}
        front.web_host.open(front.sources, operations["status"], offer.operate)
        yield Gateway(
            terminal=front.terminal,
            web=front.web_host if "web" in front.channels else None,
            operations=operations,
            sources=front.sources,
            schedule=calendar.schedule,
            router=router,
            turns=turns,
            outbox=messaging.outbox,
            in_hand=core.in_hand,
            agents=staff.agents.values(),
            commands=core.spawner,
            housekeeping=Housekeeping(core.database, core.clock, messaging.outgoing, messaging.intake, home.sessions),
            warm=staff.warm if channels else [],
            timeouts=timeouts,
        )


@dataclass(frozen=True, slots=True)
class _Core:
    """The base of everything: the configuration, the database, and what is known of people."""

    home: Home
    config: Config
    clock: Clock
    timeouts: Timeouts
    spawner: BackgroundTasks
    in_hand: ActiveWork
    database: Database
    ledger: UsageLedger
    choices: Preferences
    access: Access


async def _open_core(stack: AsyncExitStack, home: Home, config: Config, clock: Clock, timeouts: Timeouts) -> _Core:
    in_hand = ActiveWork(home.in_hand, home.stack)
    stack.callback(in_hand.close)
    database = await Database.open(home.database)
    stack.push_async_callback(database.aclose)
    ledger = UsageLedger(database, clock)
    await ledger.load()
    choices = Preferences(database)
    await choices.load()
    people = {name: frozenset(accounts) for name, accounts in config.people.items()}
    access = Access(database, clock, rules(config), frozenset(config.owners), people, choices.activation)
    await access.load()
    return _Core(home, config, clock, timeouts, BackgroundTasks(), in_hand, database, ledger, choices, access)


@dataclass(frozen=True, slots=True)
class _Agents:
    """The agents and session routing. `warm`: the models that can be warmed up."""

    agents: dict[str, Agent]
    warm: list[AnthropicModel]
    sessions: SessionPolicy
    embedders: Embedders


async def _open_agents(stack: AsyncExitStack, core: _Core, model_of: ModelOf) -> _Agents:
    home, config, clock = core.home, core.config, core.clock
    agents: dict[str, Agent] = {}
    warm: list[AnthropicModel] = []
    embedders = Embedders()
    stack.callback(embedders.close)
    for name, one in config.agents.items():
        model, anthropic = model_of(one.model, core.ledger, clock, shown(home.env_file))
        model = limited_for_others(model, config.limits, core.ledger, clock, shown(home.env_file))
        stack.push_async_callback(model.aclose)
        warm += [anthropic] if anthropic else []
        agents[name] = await build_agent(name, one, home, model, clock, embedders)
        stack.callback(agents[name].close)
    homes = {
        name: AgentHome(home.workspace(one.workspace), one.memory.group_daily_logs)
        for name, one in config.agents.items()
    }
    return _Agents(agents, warm, SessionPolicy(core.access, homes, config.default_agent, config.routes), embedders)


@dataclass(frozen=True, slots=True)
class _Messaging:
    """The way in and out of messages, and what is kept of them until they are done."""

    inbox: Inbox
    outbox: Outbox
    outgoing: OutboundFiles
    intake: AttachmentIntake
    acknowledgement: Acknowledgement
    questions: Confirmations
    rewording: EditedMessages


async def _build_messaging(core: _Core, front: OpenChannels) -> _Messaging:
    home, config, database, clock = core.home, core.config, core.database, core.clock
    inbox = Inbox(database, clock)
    outbox = Outbox(database, clock, front.channels, first_chat=core.access.first_chat_id)
    questions = Confirmations(database, clock)
    await questions.load()
    return _Messaging(
        inbox,
        outbox,
        OutboundFiles(home.outgoing),
        build_intake(
            config.media,
            home.state,
            front.channels,
            core.in_hand,
            clock,
            core.timeouts.fetch,
            core.timeouts.space,
        ),
        Acknowledgement(front.channels, signs(config), core.spawner.spawn),
        questions,
        EditedMessages(database, inbox, outbox, questions),
    )


@dataclass(frozen=True, slots=True)
class _Scheduling:
    """The schedule. `book`: the jobs as people and models change them."""

    schedule: ScheduleService
    book: JobService
    daily: DailySummary


async def _build_scheduling(
    core: _Core, staff: _Agents, front: OpenChannels, messaging: _Messaging, more: Sequence[BuiltIn]
) -> _Scheduling:
    """`more`: jobs beside Daybook's own."""
    home, config, database, clock, access = core.home, core.config, core.database, core.clock, core.access
    agents, sessions, outbox = staff.agents, staff.sessions, messaging.outbox
    schedule = ScheduleService(
        database,
        clock,
        home.workspace(config.agents[config.default_agent].workspace),
        home.last_good_schedule,
        outbox,
        access,
        front.channels,
        schedule_rules(config, core.timeouts.tick),
    )
    reports = schedule.reports
    journaling = JournalRoutine(
        clock, sessions, agents, [name for name, one in config.agents.items() if one.memory.journal]
    )
    daily = DailySummary(
        database, clock, access, outbox, sessions, agents, core.choices, schedule, journaling, summary_rules(config)
    )
    heartbeat = Heartbeat(
        database,
        clock,
        outbox,
        sessions,
        agents[config.default_agent],
        core.ledger,
        reports,
        heartbeat_rules(config),
    )
    memory_tests = MemoryChecks(agents, clock, home.memory_tests, reports.tell_owner)
    own = (journaling.built_in, *await daily.built_ins(), heartbeat.built_in, memory_tests.built_in)
    schedule.offer(*own, *more)
    return _Scheduling(schedule, JobService(schedule, access, {*front.channels, *tokens(config)}), daily)


@dataclass(frozen=True, slots=True)
class _Effects:
    """What turns may do outside their conversation: `tools` for the sender of a message, and whose consent they
    need."""

    tools: Callable[[InboxRow], tuple[Tool, ...]]
    approvals: Approvals


def _build_effects(
    core: _Core, staff: _Agents, front: OpenChannels, messaging: _Messaging, calendar: _Scheduling
) -> _Effects:
    database, clock, access, sessions = core.database, core.clock, core.access, staff.sessions
    scheduling = ScheduleTools(calendar.book, sessions)
    messages = MessageTools(database, clock, access, sessions, messaging.outbox, messaging.outgoing, front.channels)

    def tools(row: InboxRow) -> tuple[Tool, ...]:
        return (*scheduling.of_row(row), *messages.of_row(row))

    approvals = Approvals(
        database,
        clock,
        access,
        sessions,
        staff.agents,
        messaging.questions,
        messaging.outbox,
        messaging.outgoing,
        front.channels,
        calendar.schedule.reports,
        tools,
    )
    return _Effects(tools, approvals)


async def _turns(
    core: _Core, staff: _Agents, front: OpenChannels, messaging: _Messaging, calendar: _Scheduling, effects: _Effects
) -> TurnQueue:
    rooms = TurnServices(
        database=core.database,
        inbox=messaging.inbox,
        outbox=messaging.outbox,
        long_answers=LongAnswers(core.clock, front.channels, messaging.outgoing),
        choices=core.choices,
        intake=messaging.intake,
        acknowledgement=messaging.acknowledgement,
        channels=front.channels,
        agents=staff.agents,
        queues={name: QueueRule(one.session.queue, one.session.queue_cap) for name, one in core.config.agents.items()},
        conversation=staff.sessions.of_row,
        in_hand=core.in_hand,
        to_owner=calendar.schedule.reports.to_owner,
        tools=effects.tools,
        consent=effects.approvals.of_row,
        names=DisplayNames(core.access, await core.database.run(chat_rows.known)),
        sealed_in_jobs=_SEALED,
    )
    timeouts = core.timeouts
    return TurnQueue(rooms, disk_wait=timeouts.disk, trial_age=timeouts.trial, paste_wait=timeouts.paste)


def _services(
    core: _Core,
    staff: _Agents,
    front: OpenChannels,
    messaging: _Messaging,
    calendar: _Scheduling,
    effects: _Effects,
    turns: TurnQueue,
    router: Router,
) -> Services:
    database, clock, access = core.database, core.clock, core.access
    return Services(
        database=database,
        clock=clock,
        access=access,
        inbox=messaging.inbox,
        outbox=messaging.outbox,
        outgoing=messaging.outgoing,
        pairing=Pairing(database, clock, access, messaging.outbox),
        choices=core.choices,
        turns=turns,
        agents=staff.agents,
        default_agent=core.config.default_agent,
        channels=front.channels,
        sources=front.sources,
        ledger=core.ledger,
        book=calendar.book,
        questions=messaging.questions,
        approvals=effects.approvals,
        rewording=messaging.rewording,
        forgetting=Redaction(database, clock, access, staff.sessions, front.web_record),
        daily=calendar.daily,
        in_hand=core.in_hand,
        to_owner=calendar.schedule.reports.to_owner,
        dispatch=router.dispatch,
    )
