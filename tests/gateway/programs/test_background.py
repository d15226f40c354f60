"""Programs beside turns: none is begun twice, and what the owner must know of one is in its effect."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.settings import GroupLogs
from agent.tools.base import Effect, EffectKind, EffectNote
from channels.message import Event, InboundMessage
from gateway.home import Home
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access, ChannelRules
from gateway.policy.sessions import AgentHome, SessionPolicy
from gateway.programs.allowed import AllowedPrograms
from gateway.programs.background import BegunBefore, ProgramRuns
from gateway.programs.runner import ProgramCall, ProgramRunner
from gateway.programs.sandbox import Sandbox
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.store.program_rows import ProgramKind
from gateway.tools.programs import ExecRules, ProgramTools
from tests.gateway.conftest import OWNER, Moment, Say

CALL = ProgramCall(("sh", "-c", "echo run >> runs"), "", False, 60)


class Programs:
    """Programs of the owner's workspace, without a sandbox. Each `lives` of it is a process of its own."""

    def __init__(self, database: Database, moment: Moment, folder: Path) -> None:
        self._database = database
        self._moment = moment
        self.folder = folder
        access = Access(database, moment.clock, {"telegram": ChannelRules()}, frozenset({f"telegram:{OWNER}"}), {})
        self._sessions = SessionPolicy(access, {"main": AgentHome(folder, GroupLogs.OWN)}, "main")
        self.received: list[InboundMessage] = []
        self.got = asyncio.Event()

    def runs(self) -> ProgramRuns:
        runner = ProgramRunner(Sandbox(), Home(self.folder / "home").programs)
        outbox = Outbox(self._database, self._moment.clock, {})
        return ProgramRuns(self._database, self._moment.clock, outbox, self._sessions, runner)

    def tools(self) -> ProgramTools:
        allowed = AllowedPrograms(self._database, self._moment.clock, Sandbox())
        return ProgramTools(self.runs(), allowed, self._sessions, {"main": ExecRules()})

    async def receive(self, events: Sequence[Event]) -> None:
        self.received += [one for one in events if isinstance(one, InboundMessage)]
        self.got.set()


@pytest.fixture
def programs(database: Database, moment: Moment, tmp_path: Path) -> Programs:
    return Programs(database, moment, tmp_path)


async def test_a_call_begins_its_program_once(programs: Programs, say: Say) -> None:
    runs = programs.runs()
    await runs.start("approved-A", ProgramKind.APPROVED, CALL, say("go on", chat=OWNER))
    for again in (runs, programs.runs()):
        with pytest.raises(BegunBefore):
            await again.start("approved-A", ProgramKind.APPROVED, CALL, say("go on", chat=OWNER))


async def test_one_that_was_not_begun_before_a_crash_is_begun_after_it(programs: Programs, say: Say) -> None:
    await programs.runs().start("approved-A", ProgramKind.APPROVED, CALL, say("go on", chat=OWNER))
    for _ in range(2):
        task = asyncio.create_task(programs.runs().run(programs.receive))
        await asyncio.wait_for(programs.got.wait(), 60)
        task.cancel()
        await asyncio.wait({task})
    assert (programs.folder / "runs").read_text() == "run\n"
    assert {one.id for one in programs.received} == {"program:1"}, "told again under one id, which the inbox knows"


async def test_where_there_is_no_sandbox_the_question_says_so(programs: Programs, say: Say) -> None:
    tools = {one.name: one for one in programs.tools().of_row(InboxRow(1, "main/owner", say("go on", chat=OWNER)))}
    look = tools["exec"].effect
    assert look is not None
    effect = await look({"argv": ["sh", "-c", "ls"], "network": True})
    assert isinstance(effect, Effect)
    assert (effect.kind, effect.notes) == (EffectKind.RUN, (EffectNote.NETWORK, EffectNote.NO_SANDBOX))
    assert effect.always and effect.this_turn and effect.words == () and effect.text == "$ sh -c ls"
