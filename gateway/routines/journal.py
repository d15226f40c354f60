"""When the journal is written, and for which sessions: each night, and before each summary."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, timedelta

from agent.agent import Agent
from agent.clock import Clock
from agent.memory.scope import Scope
from agent.values import SessionKey
from gateway.policy.sessions import SessionPolicy
from gateway.scheduling.builtins import JOURNAL, NIGHTLY, BuiltIn, DueTime, JobFailed, JobOutcome

DAYS_BACK = 7
"""How long a day that lacks something is made up for: nights without power, days without a model."""


class JournalRoutine:
    """`on`: the agents that keep a journal (`memory.journal`)."""

    def __init__(self, clock: Clock, sessions: SessionPolicy, agents: Mapping[str, Agent], on: Collection[str]) -> None:
        self._clock = clock
        self._sessions = sessions
        self._agents = {name: agent for name, agent in agents.items() if name in on}

    @property
    def built_in(self) -> BuiltIn:
        """The nightly job. It delivers nothing, so quiet hours do not matter."""
        text = "Write the day's talks into their logs"
        return BuiltIn(
            JOURNAL, NIGHTLY, self.run, enabled=bool(self._agents), heeds_quiet=False, text=text, reports=False
        )

    async def run(self, due: DueTime) -> JobOutcome:
        """Writes the journal of all sessions up to the end of the day before; by hand, up to now."""
        until = self._clock.today() if due.by_hand else due.moment.date() - timedelta(days=1)
        since = until - timedelta(days=DAYS_BACK)
        told, extracts, problems = 0, 0, list[str]()
        for agent in self._agents.values():
            try:
                done = await agent.journal.write(self._sessions.scope_of, since, until)
            except OSError as error:
                raise JobFailed(f"the journal could not be written ({error.strerror or error})") from error
            told, extracts, problems = told + done.told, extracts + done.extracts, [*problems, *done.problems]
        if problems:
            raise JobFailed(f"the journal could not be written: {problems[0]}")
        note = ", ".join(f"{number} {what}" for number, what in ((told, "sections"), (extracts, "extracts")) if number)
        return JobOutcome(silent=not note, note=note)

    async def of_scope(self, agent: str, scope: Scope, until: date) -> None:
        """Completes the logs of one scope up to a day. Raises `OSError`; a log that cannot be written is logged."""

        def scope_of(key: SessionKey) -> Scope | None:
            found = self._sessions.scope_of(key)
            return found if found == scope else None

        if agent in self._agents:
            await self._agents[agent].journal.write(scope_of, until - timedelta(days=DAYS_BACK), until)
