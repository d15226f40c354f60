"""When the journal is written: each night, and before each summary."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import date, timedelta

from agent.agent import Agent
from agent.clock import Clock
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.memory.scope import Scope
from agent.values import SessionKey
from gateway.policy.sessions import SessionPolicy
from gateway.scheduling.builtins import JOURNAL, NIGHTLY, BuiltIn, DueTime, JobFailed, JobOutcome
from gateway.store.scope_work import ScopeWork

DAYS_BACK = 7
"""The days for which incomplete logs are completed: after nights without power, days without a model."""


class JournalRoutine:
    """`on`: the agents that keep a journal (`memory.journal`)."""

    def __init__(
        self,
        clock: Clock,
        sessions: SessionPolicy,
        agents: Mapping[str, Agent],
        on: Collection[str],
        scope_work: ScopeWork,
    ) -> None:
        self._scope_work = scope_work
        self._clock = clock
        self._sessions = sessions
        self._agents = {name: agent for name, agent in agents.items() if name in on}

    @property
    def built_in(self) -> BuiltIn:
        """The nightly job. It delivers nothing, so quiet hours do not matter."""
        text = "Write the day's conversations into their logs"
        return BuiltIn(
            JOURNAL, NIGHTLY, self.run, enabled=bool(self._agents), heeds_quiet=False, text=text, reports=False
        )

    async def run(self, due: DueTime) -> JobOutcome:
        """Writes all sessions up to the day before; by hand, up to now."""
        until = self._clock.today() if due.by_hand else due.moment.date() - timedelta(days=1)
        since = until - timedelta(days=DAYS_BACK)
        sections, extracts, problems = 0, 0, list[str]()
        for agent in self._agents.values():
            try:
                done = await agent.journal.write(self._sessions.scope_of, since, until, self._begins)
            except OSError as error:
                raise JobFailed(Sentence("I couldn't write the journal: {why}", why=system_says(error))) from error
            sections, extracts, problems = sections + done.told, extracts + done.extracts, [*problems, *done.problems]
        if problems:
            raise JobFailed(Sentence("I couldn't write the journal: {why}", why=problems[0]))
        note = ", ".join(
            f"{number} {what}" for number, what in ((sections, "sections"), (extracts, "extracts")) if number
        )
        return JobOutcome(silent=not note, note=note)

    async def of_scope(self, agent: str, scope: Scope, until: date) -> None:
        """Completes the logs of a scope up to a day. Raises `OSError`; a log that cannot be written is logged."""

        def scope_of(key: SessionKey) -> Scope | None:
            found = self._sessions.scope_of(key)
            return found if found == scope else None

        if agent in self._agents:
            since = until - timedelta(days=DAYS_BACK)
            await self._agents[agent].journal.write(scope_of, since, until, self._begins)

    def _begins(self, key: SessionKey) -> AbstractAsyncContextManager[None]:
        return self._scope_work.of(str(key))
