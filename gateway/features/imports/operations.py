"""What people bring: the operations behind `daybook import`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field

from agent.agent import Agent
from agent.formats.parsing import load_json
from agent.formats.sqlite import StorageUnavailable
from agent.fs import atomic_write
from agent.languages.sentences import Sentence, joined
from agent.languages.system_errors import system_says
from agent.memory.history import IMPORT, UNDO, Change, NoSuchChange
from agent.memory.paths import FileError
from agent.memory.redaction_lock import StaleRead
from agent.memory.scope import Audience, Scope, scope_named
from agent.memory.undo import take_back
from agent.model.base import Json
from agent.values import SessionKey
from gateway.features.imports.values import ImportKind, ImportPlan, ImportRefused
from gateway.handlers.agents import AgentName, named_agent
from gateway.kernel import FeatureParts, Kernel
from gateway.operations import Argument, Id, OperationGroup, ResultReader, ResultTable, Row, moment_cell, operation
from gateway.rpc.protocol import OperationError

T = TypeVar("T")
_AT_ONCE = 20
"""Files written while messages wait for the lock."""
_log = logging.getLogger(__name__)


async def opened(kernel: Kernel, _: AsyncExitStack) -> FeatureParts:
    return FeatureParts(ImportOperations(kernel).table())


def _state(row: Row, _: ResultReader) -> Sentence:
    if row.get("undone"):
        return Sentence("undone")
    return Sentence("done") if row.get("finished") else Sentence("cut short")


_IMPORTS = ResultTable(
    {
        Sentence("id"): "id",
        Sentence("when"): moment_cell("ts"),
        Sentence("kind"): "kind",
        Sentence("from"): "source",
        Sentence("files"): "files",
        Sentence("state"): _state,
    },
    Sentence("No imports yet."),
)


class ImportOperations(OperationGroup):
    refusals = (ImportRefused,)

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._receipts = kernel.home.imports
        self._alone = asyncio.Lock()
        self._at_work: set[asyncio.Task[Json]] = set()

    @operation("import.run")
    async def run(
        self,
        kind: ImportKind,
        path: Annotated[Path, Argument()],
        dry_run: Annotated[bool, Field(description="Show what would be written, and write nothing.")] = False,
        agent: AgentName = "",
    ) -> Json:
        """Imports what is at the absolute path on this machine, all of it or nothing. Returns `{id, kind, source,
        dry_run, conversations, messages, already, files, skipped, secrets, remarks}`; `id` is empty where nothing was
        written."""
        into = named_agent(self._kernel, agent)
        scope = Scope(Audience.OWNER, into.workspace)
        if not path.is_absolute():
            raise OperationError(Sentence("{path} is not an absolute path.", path=path))
        return await self._to_its_end(self._run(into, scope, kind, path, is_dry=dry_run))

    async def _run(self, agent: Agent, scope: Scope, kind: ImportKind, path: Path, *, is_dry: bool) -> Json:
        from gateway.features.imports.plan import build_plan  # noqa: PLC0415 (readers of many formats, rarely needed)

        async with self._alone:
            plan = await asyncio.to_thread(build_plan, kind, path, scope, self._kernel.clock)
            id = "" if is_dry or not plan.files else await self._write(agent, scope, plan)
        return _plan_json(plan, id, is_dry)

    async def _to_its_end(self, work: Coroutine[object, object, Json]) -> Json:
        """Does the work although whoever asked for it leaves: half an import is of no use."""
        task = asyncio.create_task(work)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)
        return await asyncio.shield(task)

    async def _write(self, agent: Agent, scope: Scope, plan: ImportPlan) -> str:
        """Returns the change's id. Raises `OperationError`; then nothing is written."""
        from gateway.features.imports.apply import write_files  # noqa: PLC0415 (the same)

        session = str(SessionKey(agent.settings.name, "owner"))
        with agent.history.author(scope, session).writes(f"{IMPORT}{plan.kind}") as unit:
            try:
                for batch in _batches(plan.files):
                    await _locked(agent, scope, partial(write_files, scope, self._kernel.clock, batch))
                await asyncio.to_thread(self._keep_receipt, unit.id, plan)
            except (FileError, OSError) as problem:
                reason = str(problem) if isinstance(problem, FileError | StorageUnavailable) else system_says(problem)
                failure = OperationError(Sentence("Nothing was imported: {why}.", why=reason))
            else:
                return unit.id
        if unit.id:
            await self._roll_back(agent, scope, unit.id, str(reason), failure)
        raise failure

    async def _roll_back(self, agent: Agent, scope: Scope, id: str, reason: str, failure: OperationError) -> None:
        try:
            change = await asyncio.to_thread(agent.history.find, id)
            _, kept = await self._take_back(agent, scope, change)
            await asyncio.to_thread(agent.history.undone, change, UNDO)
        except (OSError, NoSuchChange) as problem:
            _log.error("an import failed halfway and was not taken back: %s", problem)
            kept = {"": str(problem)}
        if kept:
            raise OperationError(
                Sentence(
                    "Not everything was imported: {why}. `daybook import undo {id}` takes back what was.",
                    why=reason,
                    id=id,
                )
            ) from failure

    async def _take_back(self, agent: Agent, scope: Scope, change: Change) -> tuple[set[str], dict[str, str]]:
        """Returns the paths undone, and those kept, with the reason. Recorded if a recorder is in force: a full disk
        takes no record, and nobody needs one of a failed import."""
        edits, forgotten = await asyncio.to_thread(agent.history.kept_edits, change)
        done = set[str]()
        kept: dict[str, str] = dict.fromkeys(forgotten, Sentence("its text was forgotten"))
        for batch in _batches(edits[::-1]):
            undone, left = await _locked(agent, scope, partial(take_back, scope, self._kernel.clock, batch))
            done |= undone
            kept |= left
        return done, kept

    def _keep_receipt(self, id: str, plan: ImportPlan) -> None:
        receipt = {"source": plan.source, "files": len(plan.files)}  # no text, which `/forget` would have to find
        atomic_write(self._receipts / f"{id}.json", json.dumps(receipt, ensure_ascii=False))

    @operation("import.list", shown=_IMPORTS)
    async def list(self) -> Json:
        """List imports, newest first.

        As `{id, ts, kind, source, files, finished, undone, agent}`. One that is not
        finished was cut short."""
        rows: list[dict[str, Json]] = []
        for agent in self._kernel.agents.values():
            for change in await asyncio.to_thread(agent.history.signed, IMPORT):
                rows.append(await asyncio.to_thread(self._row, agent, change))
        return [*sorted(rows, key=lambda row: str(row["ts"]), reverse=True)]

    def _row(self, agent: Agent, change: Change) -> dict[str, Json]:
        receipt = self._receipt(change.id)
        count = receipt.get("files")
        if not isinstance(count, int):
            count = sum(map(len, agent.history.kept_edits(change)))
        return {
            "id": change.id,
            "ts": change.ts,
            "kind": change.by.removeprefix(IMPORT),
            "source": str(receipt.get("source") or ""),
            "files": count,
            "finished": bool(receipt),
            "undone": bool(change.undone_by),
            "agent": agent.settings.name,
        }

    def _receipt(self, id: str) -> dict[str, Json]:
        try:
            value = load_json((self._receipts / f"{id}.json").read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as problem:
            _log.warning("the receipt of the import %s cannot be read: %s", id, problem)
            return {}
        return value if isinstance(value, dict) else {}

    @operation("import.undo", shown="message")
    async def undo(self, id: Id) -> Json:
        """Take an import back; what you have changed since is kept.

        Returns `{id, paths, kept, message}`."""
        agent, change = await self._find(id)
        if change.undone_by:
            raise OperationError(Sentence("The import {id} is undone already.", id=change.id))
        scope = scope_named(change.scope, agent.workspace)
        return await self._to_its_end(self._undo(agent, scope, change))

    async def _undo(self, agent: Agent, scope: Scope, change: Change) -> Json:
        session = str(SessionKey(agent.settings.name, "owner"))
        try:
            async with self._alone:
                with agent.history.author(scope, session).writes(UNDO) as unit:
                    done, kept = await self._take_back(agent, scope, change)
            await asyncio.to_thread(agent.history.undone, change, unit.id or UNDO)
        except OSError as problem:
            why = system_says(problem)
            raise OperationError(Sentence("Not everything could be undone: {why}. Try again.", why=why)) from problem
        message: str = Sentence("Undone: {count} files.", count=len(done))
        if len(done) == 1:
            message = Sentence("Undone: 1 file.")
        if kept:
            reasons = [Sentence("{path}, since {why}", path=path, why=why) for path, why in sorted(kept.items())]
            message = joined([message, Sentence("Kept: {files}.", files=joined(reasons, "; "))], " ")
        return {"id": change.id, "paths": [*sorted(done)], "kept": [*sorted(kept)], "message": message}

    async def _find(self, id: str) -> tuple[Agent, Change]:
        for agent in self._kernel.agents.values():
            try:
                change = await asyncio.to_thread(agent.history.find, id)
            except NoSuchChange:
                continue
            if change.by.startswith(IMPORT):
                return agent, change
        raise OperationError(Sentence("There is no import {id}. `daybook import list` shows them.", id=id))


async def _locked(agent: Agent, scope: Scope, work: Callable[[], T]) -> T:
    """Does a short work in a thread, while nothing else writes to the scope's memory."""
    while True:
        try:
            async with agent.reading(scope).writing():
                return await asyncio.to_thread(work)
        except StaleRead:  # something was forgotten while this waited
            continue


def _batches(all: Sequence[T]) -> Iterator[Sequence[T]]:
    return (all[at : at + _AT_ONCE] for at in range(0, len(all), _AT_ONCE))


def _plan_json(plan: ImportPlan, id: str, is_dry: bool) -> dict[str, Json]:
    found = plan.findings
    return {
        "id": id,
        "kind": str(plan.kind),
        "source": plan.source,
        "dry_run": is_dry,
        "conversations": found.chats,
        "messages": found.messages,
        "already": found.already,
        "files": [{"path": file.path, "what": str(file.placing), "bytes": len(file.data)} for file in plan.files],
        "skipped": [{"what": item.what, "why": item.why} for item in found.skipped],
        "secrets": [{"kind": secret.kind, "where": secret.where} for secret in found.secrets],
        "remarks": [*found.remarks],
    }
