"""The change history: the operations behind `daybook memory log`, `diff` and `restore`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field

from agent.agent import Agent
from agent.languages.sentences import Sentence
from agent.memory.history import FORGET, Change, NoSuchChange
from agent.memory.patch import diff_text
from agent.memory.paths import FileError
from agent.memory.scope import ScopeBusy, scope_named
from agent.memory.undo import restore
from agent.model.base import Json
from gateway.handlers.agents import named_agent
from gateway.handlers.memory import ScopeName
from gateway.kernel import Kernel
from gateway.operations import Id, Most, OperationGroup, ResultTable, moment_cell, operation
from gateway.redaction import Redaction
from gateway.rpc.protocol import OperationError
from gateway.store.scope_work import SHORT_WAIT

_FORGOTTEN = Sentence("The text of this change was forgotten.")
_CHANGES = ResultTable(
    {
        Sentence("id"): "id",
        Sentence("when"): moment_cell("ts"),
        Sentence("whose"): "scope",
        Sentence("file"): "path",
        Sentence("by"): "by",
        Sentence("what"): "summary",
    },
    Sentence("No changes yet."),
)


class HistoryOperations(OperationGroup):
    refusals = (FileError, ScopeBusy)

    def __init__(self, kernel: Kernel, redaction: Redaction) -> None:
        self.kernel = kernel
        self.redaction = redaction

    @operation("memory.log", shown=_CHANGES)
    async def log(
        self,
        scope: Annotated[
            ScopeName, Field(description="Whose memory: owner, person:ID or group:CHANNEL:CHAT; default: all.")
        ] = "",
        agent: Annotated[str, Field(description="The agent's name; default: all.")] = "",
        n: Most = 50,
    ) -> Json:
        """List changes, newest first: when, where and by what.

        A list of `{id, ts, scope, path, by, summary}`."""
        agents = (named_agent(self.kernel, agent),) if agent else self.kernel.agents.values()
        found: list[Change] = []
        for searched in agents:
            found += await asyncio.to_thread(searched.history.changes, scope or None, n)
        newest = sorted(found, key=lambda change: change.ts, reverse=True)  # stable: of one moment, as they were listed
        return [_change_json(change) for change in newest[:n]]

    @operation("memory.diff", shown="diff")
    async def diff(self, id: Id) -> Json:
        """Show what a change removed and added."""
        agent, change = await self._find(id)
        edits = await asyncio.to_thread(agent.history.edits, change)
        text = "\n\n".join(map(diff_text, edits)) if edits is not None else _FORGOTTEN
        return {**_change_json(change), "undone_by": change.undone_by, "diff": text}

    @operation("memory.restore", shown="message", on_page=True)
    async def restore(self, id: Id) -> Json:
        """Undo a change; anything written since is kept.

        Returns it with the `paths` that were changed and a `message`."""
        agent, change = await self._find(id)
        scope = scope_named(change.scope, agent.workspace)
        session = f"{agent.settings.name}/{scope.audience}/{scope.id}"
        try:
            async with self.kernel.scope_work.of(session, SHORT_WAIT):
                paths = await asyncio.to_thread(restore, agent.history, scope, self.kernel.clock, change)
                if change.by == FORGET:
                    await self.redaction.bring_back(agent, scope, change.id)
        except OSError as error:
            raise OperationError(str(error.strerror or error)) from error
        return {
            **_change_json(change),
            "paths": list(paths),
            "message": Sentence("Undone in {files}.", files=", ".join(paths)),
        }

    async def _find(self, id: str) -> tuple[Agent, Change]:
        for agent in self.kernel.agents.values():
            try:
                return agent, await asyncio.to_thread(agent.history.find, id)
            except NoSuchChange:
                continue
        raise OperationError(Sentence("There is no change {id}. `daybook memory log` lists them.", id=id))


def _change_json(change: Change) -> dict[str, Json]:
    return {
        "id": change.id,
        "ts": change.ts,
        "scope": change.scope,
        "path": change.path,
        "by": change.by,
        "summary": change.told,
    }
