"""The state of the gateway, the outcome of a message from the terminal, and the usage behind `daybook usage`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from agent.clock import utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.model.base import Json
from channels.message import Health
from channels.registry import CHANNELS
from channels.terminal import NAME as TERMINAL
from gateway.file_system import layout_problems
from gateway.handlers.schedule import jobs_json
from gateway.kernel import Kernel
from gateway.operations import OperationGroup, Text, operation
from gateway.scheduling.job_access import OPERATOR
from gateway.scheduling.requests import JobService
from gateway.store.lease import processes
from gateway.supervisor import SupervisedSource
from gateway.turns.queue import TurnQueue

PLATFORMS = (*CHANNELS, "web")
"""Always in `status`: off where not configured."""
_NEXT_JOBS = 20
"""Listed in `status`."""


_NOTHING_KNOWN: Mapping[str, Json] = {
    "gateways": [],
    "sessions": 0,
    "inbox": {"waiting": 0, "oldest": "", "unreadable": 0},
    "outbox": {"waiting": 0, "oldest": "", "failed": 0, "repeated": 0},
    "model_waits": [],
    "jobs": [],
    "usage": {},
}
"""What `status` says beside the trouble while the database cannot be used."""


class StatusOperations(OperationGroup):
    def __init__(self, kernel: Kernel, jobs: JobService, sources: Sequence[SupervisedSource], turns: TurnQueue) -> None:
        self.kernel = kernel
        self._jobs = jobs
        self._sources = sources
        self._turns = turns

    @operation("status")
    async def status(self) -> Json:
        """Show what Daybook is doing."""
        channels: dict[str, Json] = {name: {"state": str(Health.OFF), "last_error": ""} for name in PLATFORMS}
        for source in self._sources:
            known = source.status
            channels[source.source.name] = {"state": str(known.state), "last_error": known.last_error}
        troubles = await asyncio.to_thread(self._troubles)
        try:
            stored = await self._stored()
        except StorageUnavailable as error:
            troubles.append(str(error))
            stored = {}
        return {
            "troubles": list[Json](troubles),
            "channels": channels,
            "running": self._turns.lanes.busy,
            **_NOTHING_KNOWN,
            **stored,
        }

    def _troubles(self) -> list[str]:
        """What was deleted, moved or replaced while the gateway ran."""
        found: list[str] = []
        for folder in dict.fromkeys(agent.workspace for agent in self.kernel.agents.values()):
            if folder.is_dir():
                found += [f"{path} should be a folder, but {why}" for path, why in layout_problems(folder)]
            else:
                found.append(f"{folder} is gone: put it back, or restart Daybook to begin a new one")
        return found

    async def _stored(self) -> dict[str, Json]:
        kernel = self.kernel
        inbox, outbox = await kernel.inbox.counts(), await kernel.outbox.counts()
        today, waits = await kernel.ledger.sums(1), await kernel.ledger.waits.ends()
        gateways = await kernel.database.run(processes) if kernel.database.is_shared else ()
        sessions = [info for _, agent in kernel.agents.items() for info in await agent.sessions()]
        return {
            "gateways": [
                {
                    "host": gateway.host,
                    "pid": gateway.pid,
                    "leads": gateway.leads,
                    "people_and_groups": gateway.scopes,
                    "seen_seconds_ago": round(gateway.seconds, 1),
                    "connections": [
                        {"name": part.name, "state": part.health, "last_error": part.trouble}
                        for part in gateway.connections
                    ],
                }
                for gateway in gateways
            ],
            "sessions": len(sessions),
            "inbox": {"waiting": inbox.waiting, "oldest": inbox.oldest, "unreadable": inbox.unreadable},
            "outbox": {
                "waiting": outbox.waiting,
                "oldest": outbox.oldest,
                "failed": outbox.failed,
                "repeated": outbox.repeated,
            },
            "model_waits": [{"model": model, "until": utc_stamp(until)} for model, until in waits.items()],
            "jobs": jobs_json(await self._jobs.rows(OPERATOR), _NEXT_JOBS),
            "usage": {
                "day": kernel.clock.today().isoformat(),
                "calls": sum(row.calls for row in today),
                "input": sum(row.input for row in today),
                "output": sum(row.output for row in today),
                "cache_read": sum(row.cache_read for row in today),
                "cache_write": sum(row.cache_write for row in today),
                "cost_usd": round(sum(row.cost for row in today), 6),
            },
        }

    @operation("chat.outcome")
    async def outcome(self, id: Text) -> Json:
        """`{done, outcome, turn}` of a message from the terminal."""
        known = await self.kernel.inbox.fate(TERMINAL, "", id)
        return {"done": known.done, "outcome": known.outcome, "turn": known.turn}


class UsageOperations(OperationGroup):
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @operation("usage")
    async def usage(self, days: Annotated[int, Field(ge=1, description="How many days back.")] = 7) -> Json:
        """Show tokens and cost.

        The sums of each day, purpose, session and model."""
        sums = await self.kernel.ledger.sums(days)
        return [
            {
                "day": row.day,
                "purpose": row.purpose,
                "session": row.session,
                "model": row.model,
                "calls": row.calls,
                "input": row.input,
                "output": row.output,
                "cache_read": row.cache_read,
                "cache_write": row.cache_write,
                "cost_usd": round(row.cost, 6),
                "unpriced_calls": row.unpriced,
            }
            for row in sums
        ]
