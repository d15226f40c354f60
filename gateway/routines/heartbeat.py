"""When the heartbeat runs, and where its message goes. Off unless `schedule.heartbeat` is set."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from agent.clock import utc_stamp
from agent.heartbeat import PURPOSE
from agent.memory.files import FileError
from agent.memory.scope import ScopeBusy
from agent.model.base import ModelError
from channels.message import DueJob
from gateway.kernel import Kernel
from gateway.scheduling.builtins import HEARTBEAT, BuiltIn, DueTime, JobFailed, JobOutcome, beating
from gateway.scheduling.job import OWNER
from gateway.scheduling.targets import NoTarget
from gateway.store import outbox_rows


@dataclass(frozen=True, slots=True)
class HeartbeatRules:
    """`every` None: off, though a person may run it. `daily_budget` in USD; None: no limit of its own."""

    every: timedelta | None = None
    daily_budget: float | None = None
    to: tuple[str, ...] = (OWNER,)


class Heartbeat:
    def __init__(
        self,
        kernel: Kernel,
        rules: HeartbeatRules,
    ) -> None:
        self._kernel = kernel
        self._agent = kernel.agents[kernel.default_agent]
        self._rules = rules

    @property
    def built_in(self) -> BuiltIn:
        every = self._rules.every
        return BuiltIn(HEARTBEAT, beating(every), self.run, enabled=every is not None, text="HEARTBEAT.md")

    async def run(self, due: DueTime) -> JobOutcome:
        outcomes = [await self._run_for(to, due) for to in self._rules.to]
        spoke = [outcome for outcome in outcomes if not outcome.silent]
        return spoke[0] if spoke else outcomes[0]

    async def _run_for(self, to: str, due: DueTime) -> JobOutcome:
        """Sends what there is to say in a chat, from the memory that its people may see."""
        key = f"heartbeat:{utc_stamp(due.moment)}{'' if to == OWNER else f':{to}'}"
        if await self._kernel.database.run(outbox_rows.is_known, f"{key}:0"):
            return JobOutcome()
        if await self._is_spent():
            return JobOutcome(silent=True, note="today's budget is used up")
        try:
            target = (await self._kernel.reports.targets()).find(to)
            message = target.message("", "", DueJob(HEARTBEAT, due.moment), self._kernel.clock.now())
            route = self._kernel.sessions.of(message)
            async with self._kernel.scope_work.of(str(route.session)):
                said = await self._agent.heartbeat(route.session, route.scope)
        except (NoTarget, ModelError, FileError, ScopeBusy) as error:
            raise JobFailed(str(error)) from error
        if not said:
            return JobOutcome(silent=True, note="the list is empty" if said is None else "")
        await self._kernel.outbox.cut(target.address, said)
        await self._kernel.outbox.write(self._kernel.outbox.drafts(f"{key}:{{}}", target.address, said))
        return JobOutcome()

    async def _is_spent(self) -> bool:
        limit = self._rules.daily_budget
        if limit is None:
            return False
        return sum(total.cost for total in await self._kernel.ledger.sums(1) if total.purpose == PURPOSE) >= limit
