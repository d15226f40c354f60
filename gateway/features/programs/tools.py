"""`exec`, `exec_background`, `exec_status`, `exec_stop`: programs, for the owner alone, each approved or allowed."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from agent.formats.sqlite import StorageUnavailable
from agent.memory.files import inside
from agent.memory.paths import FileError
from agent.memory.scope import Audience, Scope
from agent.model.base import Json
from agent.tools.base import Effect, EffectKind, EffectNote, Tool, ToolError, ToolResult
from agent.tools.foreign_text import foreign
from agent.tools.schema import Arguments, Count, Text, checked, keyed, read, spec, takes
from channels.message import ChatKind
from gateway.features.programs.allowed import AllowedPrograms
from gateway.features.programs.background import (
    MOST_AT_ONCE,
    BegunBefore,
    ProgramResult,
    ProgramRuns,
    TooManyPrograms,
    printed_by,
)
from gateway.features.programs.rows import ProgramKind, ProgramRow, ProgramState
from gateway.features.programs.runner import ProgramCall
from gateway.features.programs.sandbox import Sandbox
from gateway.i18n import command_line
from gateway.policy.access import Role
from gateway.policy.sessions import SessionPolicy
from gateway.store.inbox_rows import InboxRow
from gateway.turns.user_message import user_message_id

_MOST_WORDS = 1_000
_MOST_BYTES = 100_000
_SECONDS = 60
_MOST_SECONDS = 600
_LONG_SECONDS = 3_600
_MOST_LONG_SECONDS = 86_400
_LISTED = 20
_DISK = "Nothing was run: the disk takes no more writing. Tell the person."
_NOT_RUN = "Interrupted by a restart of the assistant before the program was begun. Call it again if it is wanted."
_CUT_OFF = (
    "Interrupted by a restart of the assistant, which ended the program too: it may have done part of its work. "
    "Look at what is there before you run it again."
)
_RAN = "Interrupted by a restart of the assistant. The program had ended ({how}, exit code {code}); its output is lost."
_RUNS = "Interrupted by a restart of the assistant. Program {seq} was begun; do not begin it again. See exec_status."
_TOO_MANY = f"{MOST_AT_ONCE} programs run already; wait for one, or stop one"
_STARTED = "Program {seq} is running. Its end and its output come with a message of their own; do not wait for it."
_ABOUT = (
    "Run a program in this conversation's folder on this computer: no shell, no terminal, no network unless asked for. "
    "The owner is asked first, unless it is allowed."
)
_ABOUT_LONG = "As exec, for what takes minutes or hours: returns at once, and the end is told in this chat."


class _Exec(Arguments):
    argv: Annotated[list[str], Field(description='the program and its words: ["git", "log", "-3"]')]
    folder: Annotated[Text | None, Field(description="where to run it; default this conversation's folder")] = None
    seconds: Annotated[Count, Field(description=f"most time; default {_SECONDS}, at most {_MOST_SECONDS}")] = _SECONDS
    network: bool = False


class _ExecBackground(Arguments):
    argv: list[str]
    folder: Text | None = None
    seconds: Annotated[Count, Field(description="most time; default 3600, at most 86400")] = _LONG_SECONDS
    network: bool = False


class _ExecStatus(Arguments):
    id: Annotated[Count | None, Field(description="its number; default a list")] = None


class _ExecStop(Arguments):
    id: Count


class ProgramTools:
    """The tools for programs. `rules`: by agent, the leading words that need no yes; an agent without rules runs no
    programs. `why_off`: a sentence why no
    program is run for now."""

    def __init__(
        self,
        runs: ProgramRuns,
        allowed: AllowedPrograms,
        sessions: SessionPolicy,
        rules: Mapping[str, Sequence[Sequence[str]]],
        why_off: str = "",
    ) -> None:
        self._why_off = why_off
        self.runs = runs
        self.allowed = allowed
        self._sessions = sessions
        self._rules = rules

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tools for the owner in private; none for others."""
        route = self._sessions.of_row(row)
        allow = self._rules.get(route.session.agent)
        is_owners = route.role is Role.OWNER and route.scope.audience is Audience.OWNER
        if allow is None or not is_owners or row.message.kind is not ChatKind.PRIVATE:
            return ()
        turn = f"exec:{route.session}:{row.turn or user_message_id(row.message)}"
        scope, session = route.scope, self.runs.session_of(row.message)

        async def effect(arguments: _Exec | _ExecBackground) -> Effect:
            return await self._effect(await self._call(arguments, scope), scope, allow)

        async def lasting(effect: Effect) -> str:
            return await self.allowed.state(effect.words, effect.folder, scope)

        async def run(arguments: _Exec, key: str) -> ToolResult:
            return await self._run(key, await self._call(arguments, scope), row)

        async def run_long(arguments: _ExecBackground, key: str) -> ToolResult:
            return await self._start(key, ProgramKind.BACKGROUND, await self._call(arguments, scope), row)

        async def run_approved(given: Json, name: str) -> ToolResult:
            return await self._start(name, ProgramKind.APPROVED, await self._call(read(given, _Exec), scope), row)

        async def run_long_approved(given: Json, name: str) -> ToolResult:
            return await run_long(read(given, _ExecBackground), name)

        async def outcome(call: str) -> ToolResult:
            return ToolResult(_outcome(await self.runs.find(f"{turn}:{call}")))

        async def begun(name: str) -> str:
            known = await self.runs.find(name)
            return "" if known is None else _STARTED.format(seq=known.seq)

        async def status(arguments: _ExecStatus) -> ToolResult:
            return await self._status(session, arguments.id)

        async def stop(arguments: _ExecStop) -> ToolResult:
            if not self.runs.stop(session, arguments.id):
                raise ToolError(f"no program {arguments.id} of this conversation is running")
            return ToolResult(f"Program {arguments.id} is being stopped.")

        return (
            Tool(
                spec("exec", _ABOUT, _Exec),
                keyed(_Exec, turn, run),
                outcome=outcome,
                approved=run_approved,
                begun=begun,
                effect=checked(_Exec, effect),
                lasting=lasting,
            ),
            Tool(
                spec("exec_background", _ABOUT_LONG, _ExecBackground),
                keyed(_ExecBackground, turn, run_long),
                outcome=outcome,
                approved=run_long_approved,
                begun=begun,
                effect=checked(_ExecBackground, effect),
                lasting=lasting,
            ),
            Tool(
                spec("exec_status", "List programs, or show what one has printed.", _ExecStatus),
                takes(_ExecStatus, status),
                reads_only=True,
            ),
            Tool(spec("exec_stop", "Stop a program in the background.", _ExecStop), takes(_ExecStop, stop)),
        )

    async def _effect(self, call: ProgramCall, scope: Scope, allow: Sequence[Sequence[str]]) -> Effect:
        try:
            is_allowed = not call.network and await self.allowed.covers(call.argv, call.folder, scope, allow)
            state = await self.allowed.state(call.argv, call.folder, scope)
        except StorageUnavailable as error:
            raise ToolError(_DISK) from error
        words = () if call.network or is_allowed else await self.allowed.offer(call.argv, scope.folder / call.folder)
        notes = [EffectNote.NETWORK] if call.network else []
        sandbox = self.runs.runner.sandbox
        if not sandbox.is_tight:
            notes.append(EffectNote.AS_ROOT if sandbox.is_root else EffectNote.NO_SANDBOX)
        return Effect(
            EffectKind.RUN,
            shlex.join(call.argv),
            " ".join(filter(None, (call.folder and shlex.quote(call.folder), "$", shlex.join(call.argv)))),
            always=not is_allowed,
            before=state,
            words=words,
            folder=call.folder,
            notes=tuple(notes),
        )

    async def _call(self, arguments: _Exec | _ExecBackground, scope: Scope) -> ProgramCall:
        most = _MOST_SECONDS if isinstance(arguments, _Exec) else _MOST_LONG_SECONDS
        if arguments.seconds > most:
            more = "; exec_background takes longer ones" if most == _MOST_SECONDS else ""
            raise ToolError(f"argument 'seconds' is {arguments.seconds}; at most {most}{more}")
        if self._why_off:
            raise ToolError(f"Nothing was run. {self._why_off}")
        argv = tuple(arguments.argv)
        _check(argv)
        folder = (arguments.folder or "").strip().strip("/")
        await asyncio.to_thread(_check_place, argv[0], folder, scope, self.runs.runner.sandbox)
        return ProgramCall(argv, "" if folder == "." else folder, arguments.network, arguments.seconds)

    async def _run(self, key: str, call: ProgramCall, row: InboxRow) -> ToolResult:
        try:
            return _shown(await self.runs.result(key, call, row.message))
        except BegunBefore as error:
            raise ToolError("this very call has run its program before; it was not run twice") from error
        except TooManyPrograms as error:
            raise ToolError(_TOO_MANY) from error
        except StorageUnavailable as error:
            raise ToolError(_DISK) from error

    async def _start(self, key: str, kind: ProgramKind, call: ProgramCall, row: InboxRow) -> ToolResult:
        try:
            return ToolResult(_STARTED.format(seq=(await self.runs.start(key, kind, call, row.message)).seq))
        except BegunBefore as error:
            raise ToolError("this very call has begun its program before; it was not begun twice") from error
        except TooManyPrograms as error:
            raise ToolError(_TOO_MANY) from error
        except StorageUnavailable as error:
            raise ToolError(_DISK) from error

    async def _status(self, session: str, id: int | None) -> ToolResult:
        rows = await self.runs.listed(session, _LISTED)
        if id is None:
            lines = [f"{row.seq} [{_state(row)}] {command_line(row.argv)}" for row in rows]
            return ToolResult("\n".join(lines) or "No program was run in this conversation.")
        row = next((row for row in rows if row.seq == id), None)
        if row is None:
            raise ToolError(f"there is no program {id} among the last {_LISTED} of this conversation")
        known = await self.runs.now(row)
        return _shown(known) if known is not None else ToolResult(f"{_state(row)}. Its output is not kept any more.")


def _shown(result: ProgramResult) -> ToolResult:
    if not result.output.strip():
        return ToolResult(f"{result.end} It printed nothing.")
    source = printed_by(result.row)
    return ToolResult(f"{result.end}\n{result.output}", foreign=(foreign(source, result.output),))


def _state(row: ProgramRow) -> str:
    if row.state in (ProgramState.WAITING, ProgramState.RUNNING):
        return "running"
    return f"{row.how}, exit code {row.code}" if row.how else "ended"


def _outcome(row: ProgramRow | None) -> str:
    if row is None:
        return _NOT_RUN
    if row.kind is not ProgramKind.TURN:
        return _RUNS.format(seq=row.seq)
    is_over = row.state is ProgramState.TOLD and row.how not in ("lost", "stopped")
    return _RAN.format(how=row.how, code=row.code) if is_over else _CUT_OFF


def _check(argv: Sequence[str]) -> None:
    if not argv or not argv[0].strip():
        raise ToolError("argument 'argv' names no program")
    if any("\0" in word for word in argv):
        raise ToolError("argument 'argv' has a NUL character, which no program can be given")
    try:
        size = sum(len(word.encode()) for word in argv)
    except UnicodeEncodeError as error:
        raise ToolError("argument 'argv' has half a character in it; write the text whole") from error
    if len(argv) > _MOST_WORDS or size > _MOST_BYTES:
        most = f"at most {_MOST_WORDS:,} words and {_MOST_BYTES:,} bytes"
        raise ToolError(f"argument 'argv' is too long ({most}); put the text into a file and name that")


def _check_place(program: str, folder: str, scope: Scope, sandbox: Sandbox) -> None:
    """Blocks. Raises `ToolError`."""
    try:
        at = inside(scope, folder) if folder else scope.folder
        if not at.resolve().is_relative_to(scope.folder.resolve()):
            raise ToolError(f"the folder {folder} leads out of this conversation's folder")
        if not at.is_dir():
            raise ToolError(f"there is no folder {folder}")
        found = sandbox.find(program, at)
    except (FileError, OSError, ValueError) as error:
        raise ToolError(str(error)) from error
    if found is None and "/" in program and Path(at / program).is_file():
        raise ToolError(f"{program} is no program; name the one that runs it first, as python3 or sh")
    if found is None:
        raise ToolError(f"there is no program {program[:100]} on this computer; say so instead of improvising")
