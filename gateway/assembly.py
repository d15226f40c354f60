"""Parts of a gateway: messages in and out, jobs, and its share of a home that others serve too."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.core import Core, OpenAgents
from gateway.factories import (
    OpenChannels,
    heartbeat_rules,
    schedule_rules,
    signs,
    summary_rules,
    tokens,
)
from gateway.kernel import Kernel
from gateway.messages.confirmations import Confirmations
from gateway.messages.edited import EditedMessages
from gateway.messages.inbox import Inbox
from gateway.messages.outbound_files import OutboundFiles
from gateway.messages.outbox import Outbox
from gateway.router import Router
from gateway.routines.daily_summary import DailySummary
from gateway.routines.heartbeat import Heartbeat
from gateway.routines.journal import JournalRoutine
from gateway.routines.memory_checks import MemoryChecks
from gateway.scheduling.requests import JobService
from gateway.scheduling.service import ScheduleService
from gateway.sharing import SharedWork
from gateway.turns.preview import Acknowledgement
from gateway.turns.services import Voice


@dataclass(frozen=True, slots=True)
class Messaging:
    inbox: Inbox
    outbox: Outbox
    outgoing: OutboundFiles
    acknowledgement: Acknowledgement
    questions: Confirmations
    edited_messages: EditedMessages


async def build_messaging(core: Core, channels: OpenChannels) -> Messaging:
    home, config, database, clock = core.home, core.config, core.database, core.clock
    inbox = Inbox(database, clock, core.claims)
    outbox = Outbox(database, clock, channels.by_name, first_chat=core.access.first_chat_id, claims=core.claims)
    questions = Confirmations(database, clock)
    await questions.load()
    outgoing = OutboundFiles(home.outgoing)
    return Messaging(
        inbox,
        outbox,
        outgoing,
        Acknowledgement(channels.by_name, signs(config), core.background.spawn),
        questions,
        EditedMessages(database, inbox, outbox, questions),
    )


@dataclass(frozen=True, slots=True)
class Scheduling:
    """`jobs`: as people and models change them."""

    schedule: ScheduleService
    jobs: JobService
    daily: DailySummary


def build_schedule(core: Core, channels: OpenChannels, messaging: Messaging) -> ScheduleService:
    config = core.config
    return ScheduleService(
        core.database,
        core.clock,
        core.home.workspace(config.agents[config.default_agent].workspace),
        core.home.last_good_schedule,
        messaging.outbox,
        core.access,
        channels.by_name,
        schedule_rules(config, core.timeouts.tick),
    )


async def build_scheduling(kernel: Kernel, core: Core, schedule: ScheduleService) -> Scheduling:
    config, clock = kernel.config, kernel.clock
    wanted = [name for name, agent in config.agents.items() if agent.memory.journal]
    journaling = JournalRoutine(clock, kernel.sessions, kernel.agents, wanted, kernel.scope_work)
    daily = DailySummary(kernel, core.preferences, schedule, journaling, summary_rules(config))
    heartbeat = Heartbeat(kernel, heartbeat_rules(config))
    memory_tests = MemoryChecks(kernel.agents, clock, kernel.home.memory_tests, kernel.reports.tell_owner)
    own = (journaling.built_in, *await daily.built_ins(), heartbeat.built_in, memory_tests.built_in)
    schedule.offer(*own)
    core.zone.followers.append(schedule.follow_zone)
    jobs = JobService(schedule, kernel.access, {*kernel.channels, *tokens(config)}, core.zone)
    return Scheduling(schedule, jobs, daily)


def share_work(
    core: Core, agents: OpenAgents, messaging: Messaging, scheduling: Scheduling, router: Router, voice: Voice | None
) -> SharedWork | None:
    """None where one process serves the home."""
    if core.shared is None:
        return None
    schedule = scheduling.schedule
    reloads = {
        "access": core.access.load,
        "pairing": core.access.load,
        "moved": core.access.load,
        "choice": scheduling.daily.follow_choices,
        "question": messaging.questions.load,
        "usage": core.ledger.load,
        "job": schedule.follow_others,
        "run": schedule.follow_others,
    }
    return SharedWork(
        core.database,
        core.shared.claims,
        core.active_work,
        core.shared.listening,
        core.scope_work,
        router,
        messaging.inbox,
        messaging.outbox,
        voice,
        agents.by_name,
        reloads,
        core.shared.hold,
    )
