"""The composition root: what is built from what. No behaviour is here."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from agent.agent import Agent
from agent.clock import Clock
from agent.model.anthropic import AnthropicModel
from agent.model.base import Model
from channels.message import Channel, ChannelStatus, CommandInfo, Health
from channels.terminal import TerminalChannel
from gateway import web_token
from gateway.access import Access
from gateway.acknowledgement import Acknowledgement
from gateway.agents import build_agent
from gateway.choices import Choices
from gateway.commands import House
from gateway.commands.table import all_commands
from gateway.config import Config, ModelConfig
from gateway.daily import Daily
from gateway.embedding import Embedders
from gateway.forgetting import Forgetting
from gateway.heartbeat import Heartbeat
from gateway.home import Home, TokenBusy, hold_token, shown
from gateway.housekeeping import Housekeeping
from gateway.inbox import Inbox
from gateway.journaling import Journaling
from gateway.long_answers import LongAnswers
from gateway.media import build_intake
from gateway.memory_test import MemoryTests
from gateway.models import build_model
from gateway.operations.table import all_operations
from gateway.outbox import Outbox
from gateway.outgoing import Outgoing
from gateway.pairing import Pairing
from gateway.platforms import build_channels, rules, signs, tokens
from gateway.questions import Questions
from gateway.rewording import Rewording
from gateway.router import Router
from gateway.running import Gateway, Patience
from gateway.schedule.book import Book
from gateway.schedule.builtin import BuiltIn
from gateway.schedule.schedule import Schedule
from gateway.schedule_rules import heartbeat_rules, schedule_rules, summary_rules
from gateway.sessions import AgentHome, Sessions
from gateway.spawner import Spawner
from gateway.store.database import Database
from gateway.supervise import Supervised
from gateway.tools.messages import MessageTools
from gateway.tools.schedule import ScheduleTools
from gateway.turn import QueueRule, Rooms
from gateway.turns import Turns
from gateway.usage import UsageLedger
from gateway.web_house import WebHouse
from gateway.web_record import StoredRecord

log = logging.getLogger(__name__)

_USUAL = Patience()


def _no_built_ins(_: Config) -> Sequence[BuiltIn]:
    return ()


@asynccontextmanager
async def open_gateway(
    home: Home,
    config: Config,
    *,
    channels: bool,
    clock: Clock | None = None,
    platforms: Callable[[Config, Sequence[CommandInfo], Database], list[Channel]] | None = None,
    model_of: Callable[[ModelConfig, UsageLedger, Clock, str], tuple[Model, AnthropicModel | None]] = build_model,
    built_ins: Callable[[Config], Sequence[BuiltIn]] = _no_built_ins,
    patience: Patience = _USUAL,
) -> AsyncIterator[Gateway]:
    """Build the gateway of a home and close it again. `channels` False: only the terminal, to act alone. `platforms`
    and `model_of` make the channels and the models, others in tests; `built_ins` jobs in place of Daybook's own. A
    model is told by which name people know the home's `.env`.

    Raises `HomeBusy` or `HomeError` where the home cannot be used, `StoreUnavailable` where its database cannot."""
    clock, env_file = clock or Clock(config.zone), shown(home.env_file)
    async with AsyncExitStack() as stack:
        stack.enter_context(home.hold())
        database = await Database.open(home.database)
        stack.push_async_callback(database.aclose)
        ledger = UsageLedger(database, clock)
        await ledger.load()
        choices = Choices(database)
        await choices.load()
        access = await _access(config, database, clock, choices)
        agents, models = await _agents(stack, home, config, clock, lambda one: model_of(one, ledger, clock, env_file))
        sessions = _sessions(home, config, access)
        table = all_commands()
        terminal = TerminalChannel()
        web_house = WebHouse(web_token.place(config.channels.web, home))
        web_record = StoredRecord(database)
        platforms = platforms or partial(build_channels, home=home, web_house=web_house, web_record=web_record)
        listening = platforms(config, table.menu, database) if channels else []
        by_name: dict[str, Channel] = {one.name: one for one in [terminal, *listening]}
        for channel in by_name.values():
            stack.push_async_callback(channel.aclose)
        sources = [Supervised(channel) for channel in by_name.values()]
        _hold_tokens(stack, tokens(config), sources)
        inbox = Inbox(database, clock)
        outbox = Outbox(database, clock, by_name, first_chat=access.first_chat_id)
        spawner = Spawner()
        queues = {name: QueueRule(one.session.queue, one.session.queue_cap) for name, one in config.agents.items()}
        acknowledgement = Acknowledgement(by_name, signs(config), spawner.spawn)
        schedule = Schedule(
            database,
            clock,
            home.workspace(config.agents[config.default_agent].workspace),
            home.last_good_schedule,
            outbox,
            access,
            by_name,
            schedule_rules(config, patience.tick),
        )
        journaling = Journaling(
            clock, sessions, agents, [name for name, one in config.agents.items() if one.memory.journal]
        )
        daily = Daily(
            database, clock, access, outbox, sessions, agents, choices, schedule, journaling, summary_rules(config)
        )
        heartbeat = Heartbeat(
            database,
            clock,
            outbox,
            sessions,
            agents[config.default_agent],
            ledger,
            schedule.reports,
            heartbeat_rules(config),
        )
        memory_tests = MemoryTests(agents, clock, home.memory_tests, schedule.reports.tell_owner)
        own = (journaling.built_in, *await daily.built_ins(), heartbeat.built_in, memory_tests.built_in)
        schedule.offer(*own, *built_ins(config))
        book = Book(schedule, access, {*by_name, *tokens(config)})
        outgoing = Outgoing(home.outgoing)
        scheduling = ScheduleTools(book, sessions)
        messages = MessageTools(database, clock, access, sessions, outbox, outgoing, by_name)
        intake = build_intake(config.media, home.state, by_name, patience.fetch)
        rooms = Rooms(
            database=database,
            inbox=inbox,
            outbox=outbox,
            long_answers=LongAnswers(clock, by_name, outgoing),
            choices=choices,
            intake=intake,
            acknowledgement=acknowledgement,
            channels=by_name,
            agents=agents,
            queues=queues,
            conversation=sessions.of_row,
            tools=lambda row: (*scheduling.of_row(row), *messages.of_row(row)),
        )
        turns = Turns(rooms, disk_wait=patience.disk)
        questions = Questions(database, clock)
        await questions.load()
        rewording = Rewording(database, inbox, outbox, questions)
        house = House(
            database=database,
            clock=clock,
            access=access,
            inbox=inbox,
            outbox=outbox,
            outgoing=outgoing,
            pairing=Pairing(database, clock, access, outbox),
            choices=choices,
            turns=turns,
            agents=agents,
            default_agent=config.default_agent,
            channels=by_name,
            sources=sources,
            ledger=ledger,
            book=book,
            questions=questions,
            rewording=rewording,
            forgetting=Forgetting(database, clock, access, sessions, web_record),
            daily=daily,
            dispatch=lambda row: router.dispatch(row),
        )
        table.open(house)
        router = Router(
            database,
            clock,
            access,
            sessions,
            inbox,
            outbox,
            turns,
            table,
            rewording,
            acknowledgement,
            by_name,
            spawner.spawn,
        )
        operations = {**all_operations(house, schedule), **web_house.table()}
        web_house.open(sources, operations["status"])
        housekeeping = Housekeeping(database, clock, outgoing, intake, home.sessions)
        yield Gateway(
            terminal,
            web_house if "web" in by_name else None,
            operations,
            sources,
            schedule,
            router,
            turns,
            outbox,
            agents.values(),
            spawner,
            housekeeping,
            models if channels else [],
            patience,
        )


async def _access(config: Config, database: Database, clock: Clock, choices: Choices) -> Access:
    people = {name: frozenset(accounts) for name, accounts in config.people.items()}
    access = Access(database, clock, rules(config), frozenset(config.owners), people, choices.activation)
    await access.load()
    return access


async def _agents(
    stack: AsyncExitStack,
    home: Home,
    config: Config,
    clock: Clock,
    model_of: Callable[[ModelConfig], tuple[Model, AnthropicModel | None]],
) -> tuple[dict[str, Agent], list[AnthropicModel]]:
    """The agents by their names, and the models that can be warmed up. `stack` closes them."""
    agents: dict[str, Agent] = {}
    models: list[AnthropicModel] = []
    embedders = Embedders()
    stack.callback(embedders.close)
    for name, one in config.agents.items():
        model, anthropic = model_of(one.model)
        stack.push_async_callback(model.aclose)
        models += [anthropic] if anthropic else []
        agents[name] = await build_agent(name, one, home, model, clock, embedders)
        stack.callback(agents[name].close)
    return agents, models


def _sessions(home: Home, config: Config, access: Access) -> Sessions:
    homes = {
        name: AgentHome(home.workspace(one.workspace), one.memory.group_daily_logs)
        for name, one in config.agents.items()
    }
    return Sessions(access, homes, config.default_agent, config.routes)


def _hold_tokens(stack: AsyncExitStack, held: Mapping[str, str], sources: list[Supervised]) -> None:
    """A channel whose token another gateway of this machine polls with stays off; the others go on."""
    for source in sources:
        token = held.get(source.source.name)
        if token is None:
            continue
        try:
            stack.enter_context(hold_token(token, os.environ))
        except TokenBusy as error:
            log.error("%s stays off: %s", source.source.name, error)
            source.failure = ChannelStatus(Health.DOWN, str(error))
