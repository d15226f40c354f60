"""Runs everything, and ends it in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from agent.agent import Agent
from agent.model.base import ModelError, Warmable
from channels.terminal import TerminalChannel
from gateway.messages.active_work import ActiveWork
from gateway.messages.outbox import Outbox
from gateway.router import Router
from gateway.routines.housekeeping import Housekeeping
from gateway.rpc.protocol import RpcHandler
from gateway.scheduling.service import ScheduleService
from gateway.sharing import SharedWork
from gateway.supervisor import SECONDS, BackgroundTasks, SupervisedSource, watching
from gateway.turns.queue import TurnQueue
from gateway.turns.tasks import SECONDS as TASK_SECONDS
from gateway.web.host import GatewayWebHost

log = logging.getLogger(__name__)

_WEB = "web"
"""The source that also reports the health of this process, so that it runs in each of several gateways."""
_LEADS_SOON = 3.0
"""Seconds after a start in which a gateway that is alone leads: until then it does not listen, only to listen anew."""
_WARM_UP_AFTER = 0.1
"""Seconds: the model's SDK takes one to import, so it is left until the channels have begun to listen."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Waiting times in seconds. Shutting down takes at most `turn` and three times `send`, at most 30 in all."""

    turn: float = 10.0
    """For running turns when the process is asked to end; then they are put off to the next start."""
    send: float = 5.0
    """For replies that are ready by then."""
    disk: float = 15.0
    """Between tries while the disk fails."""
    paste: float = 1.0
    """For the rest of a text that the person's client has cut, or of an album."""
    tick: float = 3.0
    """Between two looks of the schedule at its file and the clock."""
    fetch: float = 1.0
    """Before a file that could not be fetched is tried again."""
    task: float = TASK_SECONDS
    """For a task that is worked on aside."""
    trial: float = 10.0
    """After a start, before a message is tried alone during which earlier processes died."""


@dataclass(slots=True)
class Gateway:
    """Everything, built and not yet running."""

    terminal: TerminalChannel
    web: GatewayWebHost | None
    operations: Mapping[str, RpcHandler]
    sources: list[SupervisedSource]
    schedule: ScheduleService
    router: Router
    turns: TurnQueue
    outbox: Outbox
    active_work: ActiveWork
    agents: Collection[Agent]
    commands: BackgroundTasks
    housekeeping: Housekeeping
    workers: Sequence[Callable[[], Coroutine[object, object, None]]]
    warm: list[Warmable]
    timeouts: Timeouts
    shared: SharedWork | None
    """Where other gateways serve the home too."""
    leads: asyncio.Event = field(init=False)

    def __post_init__(self) -> None:
        self.leads = asyncio.Event() if self.shared is None else self.shared.leads
        if self.shared is None:
            self.leads.set()

    def watched(self, seconds: float = SECONDS) -> AbstractContextManager[None]:
        """As `watching`, for the process that runs this gateway."""
        return watching(self.active_work.stack, seconds, is_shared=self.shared is not None)

    async def run(self, stop: asyncio.Event) -> None:
        """Listens and answers until `stop` is set. Then takes no new messages, finishes or postpones turns, and
        delivers ready replies. Beside other gateways it listens only while it leads."""
        async with asyncio.TaskGroup() as group:
            self.commands.group = group
            workers = [group.create_task(self.turns.lanes.run()), group.create_task(self.outbox.run())]
            workers += [group.create_task(work()) for work in self.workers]
            workers += [
                group.create_task(
                    agent.run(is_alone=self.shared is None), name=f"deferred work of {agent.settings.name}"
                )
                for agent in self.agents
            ]
            ended = await asyncio.to_thread(self.active_work.ended) if self.shared is None else ()
            await asyncio.to_thread(self.active_work.begin)
            if self.shared is None:
                await self.router.resume(ended)
            else:
                workers.append(group.create_task(self.shared.run(), name="shared work"))
            warming = group.create_task(self._warm_up(), name="warm up")
            listening = group.create_task(self._listen(), name="listeners")
            await stop.wait()
            for task in (warming, listening):
                task.cancel()
            if self.shared is not None:
                await self.shared.take_no_more()
            await self._drain()
            for task in workers:
                task.cancel()
            self.commands.cancel()

    async def _listen(self) -> None:
        sources = [
            *(supervised for supervised in self.sources if supervised.failure is None),
            SupervisedSource(self.schedule),
        ]
        receive = self.router.receive
        async with asyncio.TaskGroup() as group:
            for supervised in sources:
                if supervised.is_everywhere:
                    group.create_task(supervised.run(receive), name=supervised.source.name)
            if not await _within(_LEADS_SOON, self.leads.wait()):
                async with asyncio.TaskGroup() as meanwhile:
                    health = [
                        meanwhile.create_task(supervised.run(receive))
                        for supervised in sources
                        if supervised.source.name == _WEB
                    ]
                    await self.leads.wait()
                    for task in health:
                        task.cancel()
            for supervised in sources:
                if not supervised.is_everywhere:
                    group.create_task(supervised.run(receive), name=supervised.source.name)
            group.create_task(self.housekeeping.run(), name="housekeeping")

    async def _drain(self) -> None:
        await self.turns.hold()
        timeouts = self.timeouts
        await _within(timeouts.send, self.commands.idle())
        if not await _within(timeouts.turn, self.turns.lanes.idle()):
            self.turns.suspend()
            await _within(timeouts.send, self.turns.lanes.idle())
        await _within(timeouts.send, self.outbox.drained())

    async def _warm_up(self) -> None:
        if self.warm:
            await asyncio.sleep(_WARM_UP_AFTER)
        for model in self.warm:
            try:
                await model.warm_up()
            except ModelError as error:  # said again to who asks it
                log.error("%s", error)


async def _within(seconds: float, work: Awaitable[object]) -> bool:
    """False where the time ran out."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return False
    return True
