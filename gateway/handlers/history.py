"""The change history: the operations behind `daybook memory log`, `diff` and `restore`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from agent.agent import Agent
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.memory.history import FORGET, Change, NoSuchChange
from agent.memory.patch import diff_text
from agent.memory.paths import FileError
from agent.memory.scope import ScopeBusy, scope_named
from agent.memory.undo import restore
from agent.model.base import Json
from gateway.commands.context import Services
from gateway.handlers.agents import named_agent, no_scope
from gateway.rpc.protocol import Operation, OperationError, Params, number, required
from gateway.store.scope_work import SHORT_WAIT

_FORGOTTEN = Sentence("The text of this change was forgotten.")


class HistoryOperations:
    def __init__(self, services: Services) -> None:
        self.services = services

    def table(self) -> Mapping[str, Operation]:
        return {"memory.log": self.log, "memory.diff": self.diff, "memory.restore": self.restore}

    async def log(self, parameters: Params) -> Json:
        """`{scope?, n?, agent?}`: a list of `{id, ts, scope, path, by, summary}`, the newest first."""
        scope = parameters.get("scope")
        if scope is not None:
            audience, _, id = str(scope).partition(":")
            scope = f"{audience}:{id.replace(':', '-')}" if id else audience  # a group is CHANNEL:CHAT to a person
            try:
                for agent in self.services.agents.values():
                    scope_named(scope, agent.workspace)
            except ValueError as error:
                raise OperationError(no_scope(scope)) from error
        most = number(parameters, "n") or -1
        found: list[Change] = []
        try:
            named = "agent" in parameters and parameters["agent"] is not None
            for agent in (named_agent(self.services, parameters),) if named else self.services.agents.values():
                found += await asyncio.to_thread(agent.history.changes, str(scope) if scope else None, most)
        except StorageUnavailable as error:
            raise OperationError(str(error)) from error
        newest = sorted(found, key=lambda change: change.ts, reverse=True)  # stable: of one moment, as they were listed
        return [_change_json(change) for change in (newest[:most] if most > 0 else newest)]

    async def diff(self, parameters: Params) -> Json:
        """`{id}`: the change, with `diff`: what it removed and added."""
        agent, change = await self._find(parameters)
        edits = await asyncio.to_thread(agent.history.edits, change)
        text = "\n\n".join(map(diff_text, edits)) if edits is not None else _FORGOTTEN
        return {**_change_json(change), "undone_by": change.undone_by, "diff": text}

    async def restore(self, parameters: Params) -> Json:
        """`{id}`: undoes the change; returns it with the `paths` that were changed and a `message`."""
        agent, change = await self._find(parameters)
        scope = scope_named(change.scope, agent.workspace)
        session = f"{agent.settings.name}/{scope.audience}/{scope.id}"
        try:
            async with self.services.scope_work.of(session, SHORT_WAIT):
                paths = await asyncio.to_thread(restore, agent.history, scope, self.services.clock, change)
                if change.by == FORGET:
                    await self.services.redaction.bring_back(agent, scope, change.id)
        except (FileError, ScopeBusy) as error:
            raise OperationError(str(error)) from error
        except OSError as error:
            raise OperationError(str(error.strerror or error)) from error
        return {
            **_change_json(change),
            "paths": list(paths),
            "message": Sentence("Undone in {files}.", files=", ".join(paths)),
        }

    async def _find(self, parameters: Params) -> tuple[Agent, Change]:
        id = required(parameters, "id")
        for agent in self.services.agents.values():
            try:
                return agent, await asyncio.to_thread(agent.history.find, id)
            except NoSuchChange:
                continue
            except StorageUnavailable as error:
                raise OperationError(str(error)) from error
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
