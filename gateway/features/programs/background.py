"""Programs at work: begun once for each call, stopped on request, their ends told once, over restarts too.

A turn waits for its own programs. The end of a program that was approved later is a message that a turn answers; of a
program in the background, a message to its chat. Programs end with the gateway; the next gateway tells that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from typing import TypeVar

from agent.clock import Clock, utc_stamp
from agent.formats.exact import block_of
from agent.formats.secrets import NO_SECRETS, KnownSecrets
from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence, translated
from agent.languages.system_errors import system_says
from agent.memory.scope import Scope
from agent.session.taint import ON_NETWORK, PROGRAM_ENDED
from channels.message import InboundMessage, Origin, Quote, Receive
from gateway.features.programs import long_outputs, rows
from gateway.features.programs.output import ProgramOutput
from gateway.features.programs.rows import ProgramKind, ProgramRow, ProgramState
from gateway.features.programs.runner import HowEnded, ProgramCall, ProgramEnd, ProgramRunner
from gateway.i18n import command_line
from gateway.kernel import Forgotten, Undo
from gateway.messages.outbox import Outbox
from gateway.policy.sessions import SessionPolicy
from gateway.store import chat_rows
from gateway.store.database import Database

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST_AT_ONCE = 4
_DISK_WAIT_S = 5.0
_REMEMBERED = 20
_TAIL = 1_500
"""Characters of an output that a chat is sent."""
_HAS_ENDED = (
    "(The program that your owner has approved has ended; nobody has just written. It was `{command}`. {end} Go on "
    "with what it was for, and say what came of it.)"
)
_ENDS: Mapping[HowEnded, str] = {
    HowEnded.EXITED: "It ended with exit code {code}.",
    HowEnded.TIMEOUT: "It was ended, because it took longer than {seconds} s.",
    HowEnded.STOPPED: "It was stopped before its end.",
    HowEnded.PROCESSES: "It was ended, because it started too many processes.",
    HowEnded.MEMORY: "It was ended, because it used too much memory.",
    HowEnded.FILE_SIZE: "It was ended, because a file that it wrote grew too large.",
    HowEnded.REFUSED: "It could not be started: {why}.",
    HowEnded.LOST: "It was ended by a restart of the assistant, perhaps half done. It was not repeated.",
}


class TooManyPrograms(Exception):
    """As many programs run as may."""


class BegunBefore(Exception):
    """The very call has begun its program before."""


@dataclass(slots=True)
class RunningProgram:
    row: ProgramRow
    task: asyncio.Task[ProgramEnd]
    output: ProgramOutput


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The end or the present state of a program. `end`: a sentence."""

    row: ProgramRow
    end: str
    output: str


class ProgramRuns:
    """All programs at work, and a source of messages on the ends of approved ones."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        outbox: Outbox,
        sessions: SessionPolicy,
        runner: ProgramRunner,
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        self._secrets = secrets
        self.runner = runner
        self._database = database
        self._clock = clock
        self._outbox = outbox
        self._sessions = sessions
        self._running: dict[int, RunningProgram] = {}
        self._begun: asyncio.Queue[ProgramRow] = asyncio.Queue()
        self._taken: set[str] = set()
        """Keys of the calls that this process has begun and not ended."""
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)
        self._results: dict[int, ProgramResult] = {}
        """The newest results."""

    @property
    def name(self) -> str:
        return "programs"

    # beginning ---------------------------------------------------------------------------------------------------

    def session_of(self, message: InboundMessage) -> str:
        """The session whose people hear of a program: for a job's program, that of its chat."""
        return str(self._sessions.of(_bare(message)).session)

    async def result(self, key: str, call: ProgramCall, message: InboundMessage) -> ProgramResult:
        """Runs a program to its end. Raises `BegunBefore`, `TooManyPrograms`, `StorageUnavailable`; cancelled, it ends
        the program."""
        row = await self._add(self._row(key, ProgramKind.TURN, call, message, ProgramState.RUNNING))
        end = ProgramEnd(HowEnded.STOPPED)
        try:
            async with self._slots:
                end, output = await self._carried_out(row)
        finally:
            self._database.post(rows.end, row.seq, end.how, end.code, self._now(), output="", told=True)
            self._taken.discard(key)
        return await self._shown(row, end, output)

    async def start(self, key: str, kind: ProgramKind, call: ProgramCall, message: InboundMessage) -> ProgramRow:
        """Begins a program whose end is told. Raises `BegunBefore`, `TooManyPrograms`, `StorageUnavailable`."""
        row = await self._add(self._row(key, kind, call, message, ProgramState.WAITING))
        self._begun.put_nowait(row)
        return row

    async def find(self, key: str) -> ProgramRow | None:
        """The program that a call has begun."""
        return await self._database.run(rows.find, key)

    def _row(
        self, key: str, kind: ProgramKind, call: ProgramCall, message: InboundMessage, state: ProgramState
    ) -> ProgramRow:
        session, bare = self.session_of(message), _bare(message)
        return ProgramRow(0, key, kind, session, bare, call.argv, call.folder, call.network, call.seconds, state)

    async def _add(self, row: ProgramRow) -> ProgramRow:
        """Takes a place before anything is awaited, so that no more programs are begun than may run."""
        if row.key in self._taken:
            raise BegunBefore
        if len(self._taken) >= MOST_AT_ONCE:
            raise TooManyPrograms
        self._taken.add(row.key)
        try:
            added = await self._database.run(rows.add, row, self._now())
            if added is None:
                raise BegunBefore
        except BaseException:
            self._taken.discard(row.key)
            raise
        return added

    # looking and stopping ------------------------------------------------------------------------------------------

    async def listed(self, session: str, most: int) -> list[ProgramRow]:
        """A session's programs, newest first."""
        return list(await self._database.run(rows.latest, session, most))

    async def now(self, row: ProgramRow) -> ProgramResult | None:
        """What is known of a program: its result, or its output so far."""
        running = self._running.get(row.seq)
        if running is not None:
            return ProgramResult(row, "It is running.", await asyncio.to_thread(running.output.copy().shown))
        return self._results.get(row.seq)

    async def forget(self, forgotten: Forgotten) -> Undo | None:
        """Strikes text out of results in memory, which is not undone, and out of the files of outputs. Programs run in
        private only, in sessions of the scope that keeps their outputs."""
        folder, strike = forgotten.scope.folder, forgotten.strike
        for seq, result in self._results.items():
            if forgotten.is_meant(result.row.session):
                row = replace(result.row, argv=rows.argv_without(result.row.argv, strike))
                self._results[seq] = replace(result, row=row, output=strike(result.output))
        changes = await asyncio.to_thread(long_outputs.redact, folder, strike)
        return partial(asyncio.to_thread, long_outputs.bring_back, folder, changes) if changes else None

    def stop(self, session: str, seq: int | None = None) -> int:
        """Stops a session's programs, or only `seq`, but no turn's; returns how many."""
        meant = [
            running.task
            for running in self._running.values()
            if running.row.session == session
            and running.row.kind is not ProgramKind.TURN
            and seq in (None, running.row.seq)
        ]
        return sum(task.cancel() for task in meant if not task.cancelling())

    # running -----------------------------------------------------------------------------------------------------

    async def run(self, receive: Receive) -> None:
        """Runs the programs that are begun, after telling the ends that the last process left."""
        async with asyncio.TaskGroup() as group:
            for row in await self._persist(lambda: self._database.run(rows.open_rows)):
                if row.key in self._taken:
                    continue
                if row.state is ProgramState.WAITING:
                    self._taken.add(row.key)
                    self._begun.put_nowait(row)
                else:
                    group.create_task(self._take_up(row, receive), name=f"program {row.seq} of the last process")
            while True:
                row = await self._begun.get()
                group.create_task(self._follow(row, receive), name=f"program {row.seq}")

    async def _take_up(self, row: ProgramRow, receive: Receive) -> None:
        if row.state is ProgramState.RUNNING:
            row = replace(row, how=HowEnded.LOST)
            await self._write_end(row, ProgramEnd(HowEnded.LOST), "", told=row.kind is ProgramKind.TURN)
        if row.kind is not ProgramKind.TURN:
            await self._tell(row, receive)

    async def _follow(self, row: ProgramRow, receive: Receive) -> None:
        try:
            async with self._slots:  # a start may find more than may run
                await self._persist(lambda: self._database.run(rows.begin, row.seq))
                end, output = await self._carried_out(row)
        finally:
            self._taken.discard(row.key)
        result = await self._shown(row, end, output)
        shown = result.output or end.why
        await self._write_end(row, end, shown)
        await self._tell(replace(row, how=end.how, code=end.code, output=shown), receive)

    async def _carried_out(self, row: ProgramRow) -> tuple[ProgramEnd, ProgramOutput]:
        output = ProgramOutput(self._secrets)
        call = ProgramCall(row.argv, row.folder, row.network, row.seconds)
        task = asyncio.create_task(self.runner.run(call, self._scope(row), output), name=f"running {row.seq}")
        self._running[row.seq] = RunningProgram(row, task, output)
        try:
            await asyncio.wait({task})
        finally:
            if not task.cancelling():  # a second cancel would leave the program behind
                task.cancel()
            await asyncio.wait({task})
            output.is_over = True
            del self._running[row.seq]
        if task.cancelled():
            return ProgramEnd(HowEnded.STOPPED), output
        try:
            return task.result(), output
        except (OSError, ValueError) as error:
            why = system_says(error) if isinstance(error, OSError) else str(error)
            return ProgramEnd(HowEnded.REFUSED, why=why), output

    async def _shown(self, row: ProgramRow, end: ProgramEnd, output: ProgramOutput) -> ProgramResult:
        folder = self._scope(row).folder

        def shown() -> str:
            return output.shown(long_outputs.keep(folder, row.seq, output.whole) if output.is_long else "")

        result = ProgramResult(row, end_sentence(row, end), await asyncio.to_thread(shown))
        self._results[row.seq] = result
        while len(self._results) > _REMEMBERED:
            self._results.pop(next(iter(self._results)))
        return result

    async def _write_end(self, row: ProgramRow, end: ProgramEnd, output: str, *, told: bool = False) -> None:
        at = self._now()
        await self._persist(
            lambda: self._database.run(rows.end, row.seq, end.how, end.code, at, output=output, told=told)
        )

    async def _tell(self, row: ProgramRow, receive: Receive) -> None:
        if row.kind is ProgramKind.APPROVED:
            await self._persist(lambda: receive([_end_message(row, self._clock.now())]))
            await self._persist(lambda: self._database.run(rows.told, row.seq))
            return
        address = row.message.address
        language = await self._persist(lambda: self._database.run(chat_rows.language, address))
        drafts = self._outbox.drafts(f"program:{row.seq}:{{}}", address, _told(row, language))
        await self._persist(lambda: self._outbox.write(drafts, lambda connection: rows.told(connection, row.seq)))

    async def _persist(self, work: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await work()
            except StorageUnavailable as error:
                log.error("the end of a program waits for the disk: %s", error)
                await asyncio.sleep(_DISK_WAIT_S)

    def _scope(self, row: ProgramRow) -> Scope:
        return self._sessions.of(row.message).scope

    def _now(self) -> str:
        return utc_stamp(self._clock.now())


def printed_by(row: ProgramRow) -> str:
    """The name of a program's output as text of others."""
    return f"the program {PurePosixPath(row.argv[0]).name}{ON_NETWORK if row.network else ''}"


def end_sentence(row: ProgramRow, end: ProgramEnd) -> str:
    return _ENDS[end.how].format(code=end.code, seconds=row.seconds, why=end.why)


def _bare(message: InboundMessage) -> InboundMessage:
    """The message's chat and person alone."""
    return InboundMessage(
        id=message.id,
        address=message.address,
        kind=message.kind,
        sender=message.sender,
        text="",
        sent_at=message.sent_at,
        origin=Origin.JOB,
        parent_chat=message.parent_chat,
        server=message.server,
    )


def _end_message(row: ProgramRow, at: datetime) -> InboundMessage:
    is_refused = row.how == HowEnded.REFUSED
    end = ProgramEnd(HowEnded(row.how), row.code, row.output if is_refused else "")
    output = "" if is_refused else row.output
    said = end_sentence(row, end) if output else f"{end_sentence(row, end)} It printed nothing."
    return replace(
        row.message,
        id=f"{PROGRAM_ENDED}{row.seq}",
        text=_HAS_ENDED.format(command=command_line(row.argv), end=said),
        sent_at=at,
        quote=Quote(printed_by(row), output, forwarded=True) if output else None,
    )


def _told(row: ProgramRow, language: Language) -> str:
    strings = LANGUAGES[language].programs
    by_end = {
        HowEnded.EXITED: strings.failed if row.code else strings.ended,
        HowEnded.TIMEOUT: strings.late,
        HowEnded.STOPPED: strings.stopped,
        HowEnded.REFUSED: strings.refused,
        HowEnded.LOST: strings.lost,
    }
    how = HowEnded(row.how)
    why = translated(language, Sentence(row.output))  # a `Sentence` when it was written down
    said = by_end.get(how, strings.limited).format(command=command_line(row.argv), code=row.code, why=why)
    tail = row.output[-_TAIL:].strip() if how is not HowEnded.REFUSED else ""
    return f"{said}\n\n{block_of(tail)}" if tail else said
