"""Programs beside turns: none is begun twice, and what the owner must know of one is in its effect."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.formats.secrets import NO_SECRETS, STRUCK, KnownSecrets
from agent.memory.consents import Consents
from agent.memory.history import History
from agent.settings import GroupLogs
from agent.tools.base import Effect, EffectKind, EffectNote, ToolError
from channels.ids import PersonId
from channels.manifest import ChannelRules
from channels.message import Event, InboundMessage
from gateway.features.programs.allowed import AllowedPrograms
from gateway.features.programs.background import MOST_AT_ONCE, BegunBefore, ProgramRuns, TooManyPrograms
from gateway.features.programs.rows import ProgramKind, ProgramRow
from gateway.features.programs.runner import ProgramCall, ProgramRunner
from gateway.features.programs.sandbox import Sandbox, missed_sandbox
from gateway.features.programs.tools import ProgramTools
from gateway.features.programs.workspace import Workspaces, Written
from gateway.home import Home
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access
from gateway.policy.sessions import AgentHome, SessionPolicy
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from tests.gateway.conftest import OWNER, Moment, Say

CALL = ProgramCall(("sh", "-c", "echo run >> runs"), "", False, 60)


class Programs:
    """Programs of the owner's workspace, without a sandbox. Each `lives` of it is a process of its own."""

    def __init__(self, database: Database, moment: Moment, folder: Path) -> None:
        self._database = database
        self._moment = moment
        self.folder = folder
        self.sandbox = Sandbox()
        access = Access(
            database, moment.clock, {"telegram": ChannelRules()}, frozenset({PersonId("telegram", OWNER)}), {}
        )
        self._sessions = SessionPolicy(access, {"main": AgentHome(folder, GroupLogs.OWN)}, "main")
        self.received: list[InboundMessage] = []
        self.got = asyncio.Event()

    def runs(self, secrets: KnownSecrets = NO_SECRETS) -> ProgramRuns:
        clock, outbox = self._moment.clock, Outbox(self._database, self._moment.clock, {})
        history, consents = History(self.folder / "history.db", clock), Consents(self.folder / "consents.db", clock)
        workspaces = Workspaces([Written(self.folder, history, consents)])
        runner = ProgramRunner(self.sandbox, workspaces, Home(self.folder / "home").programs)
        return ProgramRuns(self._database, clock, outbox, self._sessions, runner, secrets)

    def tools(self, why_off: str = "") -> ProgramTools:
        runs = self.runs()
        allowed = AllowedPrograms(self._database, runs.runner)
        return ProgramTools(runs, allowed, self._sessions, {"main": ()}, why_off)

    async def receive(self, events: Sequence[Event]) -> None:
        self.received += [one for one in events if isinstance(one, InboundMessage)]
        self.got.set()


class WhereStruck(KnownSecrets):
    """Notes the threads in which it works."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__(secrets)
        self.threads: set[threading.Thread] = set()

    def __call__(self, text: str, mark: str = STRUCK) -> str:
        self.threads.add(threading.current_thread())
        return super().__call__(text, mark)

    def before_cut(self, text: str, mark: str = STRUCK) -> str:
        self.threads.add(threading.current_thread())
        return super().before_cut(text, mark)


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
    assert effect.always and effect.words == () and effect.text == "$ sh -c ls"


async def test_as_root_the_question_says_so_and_nothing_is_for_always(programs: Programs, say: Say) -> None:
    programs.sandbox = Sandbox("/usr/bin/bwrap", is_root=True)
    tools = {one.name: one for one in programs.tools().of_row(InboxRow(1, "main/owner", say("go on", chat=OWNER)))}
    look = tools["exec"].effect
    assert look is not None
    effect = await look({"argv": ["ls"]})
    assert isinstance(effect, Effect)
    assert effect.notes == (EffectNote.AS_ROOT,) and effect.words == ()


async def test_where_a_sandbox_was_and_is_no_more_nothing_is_run(programs: Programs, say: Say, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    assert missed_sandbox(home, Sandbox()) == "", "there was none"
    assert missed_sandbox(home, Sandbox("/usr/bin/bwrap")) == ""
    for now in (Sandbox(), Sandbox("/usr/bin/bwrap", is_root=True)):
        why = missed_sandbox(home, now)
        assert why.startswith("Programs are off")
        tools = {
            one.name: one for one in programs.tools(why).of_row(InboxRow(1, "main/owner", say("go on", chat=OWNER)))
        }
        for name in ("exec", "exec_background"):
            look = tools[name].effect
            assert look is not None
            with pytest.raises(ToolError, match="Programs are off"):
                await look({"argv": ["ls"]})


async def test_four_are_four_however_fast_they_are_asked_for(programs: Programs, say: Say) -> None:
    runs = programs.runs()
    message = say("go on", chat=OWNER)
    begun = await asyncio.gather(
        *(runs.start(f"key {number}", ProgramKind.BACKGROUND, CALL, message) for number in range(8)),
        *(runs.result(f"turn {number}", CALL, message) for number in range(4)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, ProgramRow) for one in begun) == MOST_AT_ONCE == 4
    assert sum(isinstance(one, TooManyPrograms) for one in begun) == 8


async def test_one_that_has_ended_makes_room_and_is_still_not_run_twice(programs: Programs, say: Say) -> None:
    runs = programs.runs()
    message = say("go on", chat=OWNER)
    for number in range(6):
        await runs.result(f"turn {number}", CALL, message)
    with pytest.raises(BegunBefore):
        await runs.result("turn 0", CALL, message)
    assert (programs.folder / "runs").read_text() == "run\n" * 6


async def test_secrets_are_struck_out_beside_the_event_loop(programs: Programs, say: Say) -> None:
    """It takes long for a large output."""
    strike = WhereStruck(["canary-of-a-secret"])
    runs, message = programs.runs(strike), say("go on", chat=OWNER)
    code = "echo canary-of-a-secret; touch begun; until [ -e go ]; do sleep 0.01; done"
    call = ProgramCall(("sh", "-c", code), "", False, 120)
    running = asyncio.create_task(runs.result("turn", call, message))
    async with asyncio.timeout(120):
        while not (programs.folder / "begun").exists():  # noqa: ASYNC110  another process rings no bell
            await asyncio.sleep(0.01)
        (row,) = await runs.listed(runs.session_of(message), 1)
        while (now := await runs.now(row)) is None or STRUCK not in now.output:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    (programs.folder / "go").touch()
    end = await running
    assert now.end == "It is running." and end.output == f"{STRUCK}\n"
    assert strike.threads and threading.main_thread() not in strike.threads
