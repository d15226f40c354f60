"""Runs everything, and ends it in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping
from dataclasses import dataclass, field

from agent.agent import Agent
from agent.model.anthropic.model import AnthropicModel
from channels.terminal import TerminalChannel
from gateway.messages.outbox import Outbox
from gateway.messages.suspects import ActiveWork
from gateway.router import Router
from gateway.routines.housekeeping import Housekeeping
from gateway.rpc.protocol import Operation
from gateway.scheduling.service import ScheduleService
from gateway.supervisor import BackgroundTasks, SupervisedSource
from gateway.turns.attachments import MediaLimits
from gateway.turns.queue import TurnQueue
from gateway.web.host import GatewayWebHost

_WARM_UP_AFTER = 0.1
"""Seconds: the model's SDK takes one to import, so it is left until the channels have begun to listen."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Waiting times in seconds. Shutting down takes at most `turn` and three times `send`, within SPEC's 30.

    turn    for running turns when the process is asked to end; then they are put off to the next start
    send    for replies that are ready by then
    disk    between tries while the disk fails
    paste   for the rest of a text that the person's client has cut, or of an album
    tick    between two looks of the schedule at its file and the clock
    fetch   before a file that could not be fetched is tried again
    trial   after a start, before a message is tried alone during which earlier processes died
    space   not a time: the limits of files
    """

    turn: float = 10.0
    send: float = 5.0
    disk: float = 15.0
    paste: float = 1.0
    tick: float = 3.0
    fetch: float = 1.0
    trial: float = 10.0
    space: MediaLimits = field(default_factory=MediaLimits)


class Gateway:
    """Everything, built and not yet running. `web`: its page; None without one."""

    def __init__(
        self,
        terminal: TerminalChannel,
        web: GatewayWebHost | None,
        operations: Mapping[str, Operation],
        sources: list[SupervisedSource],
        schedule: ScheduleService,
        router: Router,
        turns: TurnQueue,
        outbox: Outbox,
        in_hand: ActiveWork,
        agents: Collection[Agent],
        commands: BackgroundTasks,
        housekeeping: Housekeeping,
        warm: list[AnthropicModel],
        timeouts: Timeouts,
    ) -> None:
        self.terminal = terminal
        self.web = web
        self.operations = operations
        self.schedule = schedule
        self._sources = sources
        self._router = router
        self._turns = turns
        self._outbox = outbox
        self._in_hand = in_hand
        self._agents = agents
        self._commands = commands
        self._housekeeping = housekeeping
        self._warm = warm
        self._timeouts = timeouts

    async def run(self, stop: asyncio.Event) -> None:
        """Continues what was left, listens and answers until `stop` is set; then ends in order: no new messages, turns
        finished or put off, ready replies delivered."""
        async with asyncio.TaskGroup() as group:
            self._commands.group = group
            workers = [group.create_task(self._turns.lanes.run()), group.create_task(self._outbox.run())]
            workers += [group.create_task(one.run(), name=f"behind {one.settings.name}") for one in self._agents]
            await self._router.resume(await asyncio.to_thread(self._in_hand.begin))
            listeners = [
                group.create_task(one.run(self._router.receive), name=one.source.name)
                for one in self._sources
                if one.failure is None
            ]
            listeners.append(
                group.create_task(SupervisedSource(self.schedule).run(self._router.receive), name="schedule")
            )
            listeners.append(group.create_task(self._warm_up(), name="warm up"))
            listeners.append(group.create_task(self._housekeeping.run(), name="housekeeping"))
            await stop.wait()
            for task in listeners:
                task.cancel()
            await self._drain()
            for task in workers:
                task.cancel()
            self._commands.cancel()

    async def _drain(self) -> None:
        await self._turns.hold()
        timeouts = self._timeouts
        await _within(timeouts.send, self._commands.idle())
        if not await _within(timeouts.turn, self._turns.lanes.idle()):
            self._turns.suspend()
            await _within(timeouts.send, self._turns.lanes.idle())
        await _within(timeouts.send, self._outbox.drained())

    async def _warm_up(self) -> None:
        if self._warm:
            await asyncio.sleep(_WARM_UP_AFTER)
        for model in self._warm:
            await model.warm_up()


async def _within(seconds: float, work: Awaitable[None]) -> bool:
    """False where the time ran out."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return False
    return True
