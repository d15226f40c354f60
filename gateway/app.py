"""The composition root: what is built from what, what runs, and in which order it ends. No behaviour is here."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from agent.agent import Agent
from agent.clock import Clock
from agent.model.anthropic import AnthropicModel
from agent.model.base import Model
from agent.model.offline import NAME as OFFLINE
from agent.settings import (
    AgentSettings,
    FlushSettings,
    HybridSettings,
    MemorySettings,
    ModelSettings,
    RecallSettings,
    SearchSettings,
    SessionSettings,
)
from agent.workspace import create, template_folder
from channels.message import Channel, ChannelStatus, CommandInfo, Health
from channels.terminal import TerminalChannel
from gateway.access import Access
from gateway.acknowledgement import Acknowledgement
from gateway.choices import Choices
from gateway.commands import House
from gateway.commands.table import all_commands
from gateway.config import AgentConfig, Config, ModelConfig, dotenv_names
from gateway.config.model import SearchConfig
from gateway.control import Operation
from gateway.daily import Daily, SummaryRules
from gateway.embedding import Embedders, embedding_of
from gateway.heartbeat import Heartbeat, HeartbeatRules
from gateway.home import Home, HomeError, TokenBusy, hold_token
from gateway.inbox import Inbox
from gateway.journaling import Journaling
from gateway.long_answers import LongAnswers
from gateway.media import build_intake
from gateway.memory_test import MemoryTests
from gateway.models import build_model
from gateway.operations import all_operations
from gateway.outbox import Outbox
from gateway.outgoing import Outgoing
from gateway.pairing import Pairing
from gateway.platforms import build_channels, rules, signs, tokens
from gateway.questions import Questions
from gateway.rewording import Rewording
from gateway.router import Router
from gateway.schedule.book import Book
from gateway.schedule.builtin import BuiltIn
from gateway.schedule.plan import Quiet
from gateway.schedule.schedule import Rules, Schedule
from gateway.sessions import AgentHome, Sessions
from gateway.store import outbox_rows
from gateway.store.database import Database
from gateway.supervise import Supervised
from gateway.tools.messages import MessageTools
from gateway.tools.schedule import ScheduleTools
from gateway.turn import QueueRule, Rooms
from gateway.turns import Turns
from gateway.usage import UsageLedger

log = logging.getLogger(__name__)

_WARM_UP_AFTER = 0.5
"""Seconds: the model's SDK takes one to import, so it is left until the channels have begun to listen."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited, in seconds. Shutting down takes at most `turn` and three times `send`, within SPEC's 30.

    turn    for running turns when the process is asked to end; then they are put off to the next start
    send    for replies that are ready by then
    disk    between tries while the disk takes nothing
    tick    between two looks of the schedule at its file and the clock
    fetch   before a file that could not be fetched is tried again
    """

    turn: float = 10.0
    send: float = 5.0
    disk: float = 15.0
    tick: float = 3.0
    fetch: float = 1.0


_USUAL = Patience()


class Gateway:
    """Everything, built and not yet running."""

    def __init__(
        self,
        terminal: TerminalChannel,
        operations: Mapping[str, Operation],
        sources: list[Supervised],
        schedule: Schedule,
        router: Router,
        turns: Turns,
        outbox: Outbox,
        agents: Collection[Agent],
        commands: _Spawner,
        clean: Callable[[], Coroutine[None, None, None]],
        warm: list[AnthropicModel],
        patience: Patience,
    ) -> None:
        self.terminal = terminal
        self.operations = operations
        self.schedule = schedule
        self._sources = sources
        self._router = router
        self._turns = turns
        self._outbox = outbox
        self._agents = agents
        self._commands = commands
        self._clean = clean
        self._warm = warm
        self._patience = patience

    async def run(self, stop: asyncio.Event) -> None:
        """Take up what was left, listen and answer until `stop` is set; then end in order: no new messages, turns
        finished or put off, what is ready delivered."""
        async with asyncio.TaskGroup() as group:
            self._commands.group = group
            workers = [group.create_task(self._turns.lanes.run()), group.create_task(self._outbox.run())]
            workers += [group.create_task(one.run(), name=f"behind {one.settings.name}") for one in self._agents]
            await self._router.resume()
            listeners = [
                group.create_task(one.run(self._router.receive), name=one.source.name)
                for one in self._sources
                if one.failure is None
            ]
            listeners.append(group.create_task(Supervised(self.schedule).run(self._router.receive), name="schedule"))
            listeners.append(group.create_task(self._warm_up(), name="warm up"))
            listeners.append(group.create_task(self._clean(), name="clean"))
            await stop.wait()
            for task in listeners:
                task.cancel()
            await self._drain()
            for task in workers:
                task.cancel()
            self._commands.cancel()

    async def _drain(self) -> None:
        self._turns.lanes.hold()
        patience = self._patience
        await _within(patience.send, self._commands.idle())
        if not await _within(patience.turn, self._turns.lanes.idle()):
            self._turns.suspend()
            await _within(patience.send, self._turns.lanes.idle())
        await _within(patience.send, self._outbox.drained())

    async def _warm_up(self) -> None:
        if self._warm:
            await asyncio.sleep(_WARM_UP_AFTER)
        for model in self._warm:
            await model.warm_up()


def _no_built_ins(_: Config) -> Sequence[BuiltIn]:
    return ()


@asynccontextmanager
async def open_gateway(
    home: Home,
    config: Config,
    *,
    channels: bool,
    clock: Clock | None = None,
    platforms: Callable[[Config, Sequence[CommandInfo], Database], list[Channel]] = build_channels,
    model_of: Callable[[ModelConfig, UsageLedger, Clock], tuple[Model, AnthropicModel | None]] = build_model,
    built_ins: Callable[[Config], Sequence[BuiltIn]] = _no_built_ins,
    patience: Patience = _USUAL,
) -> AsyncIterator[Gateway]:
    """Build the gateway of a home and close it again. `channels` False: only the terminal, to act alone. `platforms`
    and `model_of` make the channels and the models, others in tests; `built_ins` jobs in place of Daybook's own.

    Raises `HomeBusy` or `HomeError` where the home cannot be used, `StoreUnavailable` where its database cannot."""
    clock = clock or Clock(config.zone)
    async with AsyncExitStack() as stack:
        stack.enter_context(home.hold())
        database = await Database.open(home.database)
        stack.push_async_callback(database.aclose)
        ledger = UsageLedger(database, clock)
        await ledger.load()
        choices = Choices(database)
        await choices.load()
        access = Access(
            database,
            clock,
            rules(config),
            frozenset(config.owners),
            {name: frozenset(accounts) for name, accounts in config.people.items()},
            choices.activation,
        )
        await access.load()
        agents: dict[str, Agent] = {}
        embedders = Embedders()
        stack.callback(embedders.close)
        warm: list[AnthropicModel] = []
        for name, agent_config in config.agents.items():
            model, anthropic = model_of(agent_config.model, ledger, clock)
            stack.push_async_callback(model.aclose)
            warm += [anthropic] if anthropic and channels else []
            agents[name] = await _agent(name, agent_config, home, model, clock, embedders)
            stack.callback(agents[name].close)
        table = all_commands()
        terminal = TerminalChannel()
        listening = platforms(config, table.menu, database) if channels else []
        by_name: dict[str, Channel] = {one.name: one for one in [terminal, *listening]}
        for channel in by_name.values():
            stack.push_async_callback(channel.aclose)
        sources = [Supervised(channel) for channel in by_name.values()]
        _hold_tokens(stack, tokens(config), sources)
        inbox = Inbox(database, clock)
        outbox = Outbox(database, clock, by_name, first_chat=access.first_chat_id)
        sessions = Sessions(
            access,
            {
                name: AgentHome(home.workspace(one.workspace), one.memory.group_daily_logs)
                for name, one in config.agents.items()
            },
            config.default_agent,
            config.routes,
        )
        spawner = _Spawner()
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
            _schedule_rules(config, patience),
        )
        journaling = Journaling(
            clock, sessions, agents, [name for name, one in config.agents.items() if one.memory.journal]
        )
        daily = Daily(
            database, clock, access, outbox, sessions, agents, choices, schedule, journaling, _summary_rules(config)
        )
        heartbeat = Heartbeat(
            database,
            clock,
            outbox,
            sessions,
            agents[config.default_agent],
            ledger,
            schedule.reports,
            _heartbeat_rules(config),
        )
        memory_tests = MemoryTests(agents, clock, home.memory_tests, schedule.reports.tell_owner)
        own = (journaling.built_in, *daily.built_ins(), heartbeat.built_in, memory_tests.built_in)
        schedule.offer(*own, *built_ins(config))
        book = Book(schedule, access)
        outgoing = Outgoing(home.outgoing)
        if channels:
            await asyncio.to_thread(outgoing.prune, await database.run(outbox_rows.open_files))
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
            daily=daily,
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
        operations = all_operations(house, config, schedule)
        clean = partial(intake.clean, home.sessions)
        yield Gateway(
            terminal,
            operations,
            sources,
            schedule,
            router,
            turns,
            outbox,
            agents.values(),
            spawner,
            clean,
            warm,
            patience,
        )


async def _agent(name: str, config: AgentConfig, home: Home, model: Model, clock: Clock, embedders: Embedders) -> Agent:
    workspace = home.workspace(config.workspace)
    try:
        await asyncio.to_thread(create, workspace, template_folder())
    except OSError as error:
        what = f"the workspace {workspace} of agent {name} cannot be used: {error.strerror or error}"
        raise HomeError(f"{what}; make it a folder that you can write to, or set agents.{name}.workspace") from error
    configured = await asyncio.to_thread(dotenv_names, home)
    settings = _settings(name, config, home)
    meaning = embedders.meaning(settings.memory.search.embedding)
    return Agent(settings, workspace, home.sessions, model, clock, configured=configured, meaning=meaning)


def _schedule_rules(config: Config, patience: Patience) -> Rules:
    quiet = config.schedule.quiet_hours
    return Rules(
        catch_up=timedelta(hours=config.schedule.catch_up_hours),
        quiet=Quiet(quiet.start, quiet.end, config.zone) if quiet is not None else None,
        interval=patience.tick,
    )


def _summary_rules(config: Config) -> SummaryRules:
    summary = config.schedule.daily_summary
    return SummaryRules(summary.enabled, summary.time, summary.to)


def _heartbeat_rules(config: Config) -> HeartbeatRules:
    wanted = config.schedule.heartbeat
    return HeartbeatRules(wanted.every, wanted.daily_budget_usd) if wanted is not None else HeartbeatRules()


def _settings(name: str, config: AgentConfig, home: Home) -> AgentSettings:
    model, session, memory = config.model, config.session, config.memory
    model_name = model.name if model.provider == "anthropic" else OFFLINE
    return AgentSettings(
        name=name,
        model=ModelSettings(model_name, model.max_tokens, model.context_window, model.effort, model.cache),
        session=SessionSettings(
            reserve_tokens=session.reserve_tokens,
            keep_recent_tokens=session.keep_recent_tokens,
            flush_soft_threshold_tokens=session.flush.soft_threshold_tokens,
            max_tool_rounds=session.max_tool_rounds,
            flush=FlushSettings(session.flush.enabled, session.flush.prompt, session.flush.system_prompt),
            idle_reset_minutes=session.idle_reset_minutes,
        ),
        memory=MemorySettings(
            daily_log_days=memory.daily_log_days,
            max_index_lines=memory.max_index_lines,
            max_index_bytes=memory.max_index_bytes,
            max_file_chars=memory.max_file_chars,
            max_daily_chars=memory.max_daily_chars,
            group_daily_logs=memory.group_daily_logs,
            search=_search(memory.search, home),
            recall=RecallSettings(
                memory.auto_recall.enabled, memory.auto_recall.max_results, memory.auto_recall.timeout_ms
            ),
        ),
        files_tools=config.tools.files,
    )


def _search(search: SearchConfig, home: Home) -> SearchSettings:
    hybrid = HybridSettings(**search.hybrid.model_dump()) if search.ranking == "hybrid" else None
    extra = tuple(home.path / Path(path).expanduser() for path in search.extra_paths)
    embedding = embedding_of(search.embedding, home)
    return SearchSettings(search.max_chars, search.max_results, hybrid, extra, search.transcripts, embedding)


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


async def _within(seconds: float, work: Awaitable[None]) -> bool:
    """False where the time ran out."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return False
    return True


class _Spawner:
    """Owns the tasks of commands, which run beside everything else."""

    def __init__(self) -> None:
        self.group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Awaitable[None], name: str) -> None:
        assert self.group is not None
        task = self.group.create_task(self._guarded(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def idle(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        """What is not answered by now is answered by the next process."""
        for task in self._tasks:
            task.cancel()

    @staticmethod
    async def _guarded(work: Awaitable[None], name: str) -> None:
        try:
            await work
        except Exception:
            log.exception("%s failed", name)
