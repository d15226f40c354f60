"""What people bring: the operations behind `daybook import`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

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
from gateway.features.imports.apply import write_files
from gateway.features.imports.plan import build_plan
from gateway.features.imports.values import ImportKind, ImportPlan, ImportRefused
from gateway.handlers.agents import named_agent
from gateway.kernel import FeatureParts, Kernel
from gateway.rpc.protocol import Operation, OperationError, Params, required

T = TypeVar("T")
_AT_ONCE = 20
"""Files written while messages wait for the lock."""
_log = logging.getLogger(__name__)


@asynccontextmanager
async def opened(kernel: Kernel) -> AsyncIterator[FeatureParts]:
    yield FeatureParts(ImportOperations(kernel).table())


class ImportOperations:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._receipts = kernel.home.imports
        self._alone = asyncio.Lock()
        self._at_work: set[asyncio.Task[Json]] = set()

    def table(self) -> Mapping[str, Operation]:
        return {"import.run": self.run, "import.list": self.list, "import.undo": self.undo}

    async def run(self, parameters: Params) -> Json:
        """`{kind, path, dry_run?, agent?}`: imports what is at the absolute path on this machine, all of it or nothing.
        Returns `{id, kind, source, dry_run, conversations, messages, already, files, skipped, secrets, remarks}`; `id`
        is empty where nothing was written."""
        agent = named_agent(self._kernel, parameters)
        scope = Scope(Audience.OWNER, agent.workspace)
        try:
            kind = ImportKind(required(parameters, "kind"))
        except ValueError as error:
            raise OperationError(Sentence("Import one of {kinds}.", kinds=", ".join(ImportKind))) from error
        path = Path(required(parameters, "path"))
        if not path.is_absolute():
            raise OperationError(Sentence("{path} is not an absolute path.", path=path))
        return await self._to_its_end(self._run(agent, scope, kind, path, is_dry=parameters.get("dry_run") is True))

    async def _run(self, agent: Agent, scope: Scope, kind: ImportKind, path: Path, *, is_dry: bool) -> Json:
        async with self._alone:
            try:
                plan = await asyncio.to_thread(build_plan, kind, path, scope, self._kernel.clock)
            except ImportRefused as refused:
                raise OperationError(str(refused)) from refused
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

    async def list(self, parameters: Params) -> Json:
        """`{}`: all imports, newest first, as `{id, ts, kind, source, files, finished, undone, agent}`. One that is not
        finished was cut short."""
        rows: list[dict[str, Json]] = []
        try:
            for agent in self._kernel.agents.values():
                for change in await asyncio.to_thread(agent.history.signed, IMPORT):
                    rows.append(await asyncio.to_thread(self._row, agent, change))
        except StorageUnavailable as error:
            raise OperationError(str(error)) from error
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

    async def undo(self, parameters: Params) -> Json:
        """`{id}`: takes an import back, but what was changed since; returns `{id, paths, kept, message}`."""
        id = required(parameters, "id")
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
            except StorageUnavailable as error:
                raise OperationError(str(error)) from error
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
