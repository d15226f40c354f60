"""`/forget` beyond memory: every place that keeps text of a chat, and what happens to it there.

    transcripts                     read as a mark from then on; their files keep the text until they are pruned
    the page's chats                a mark
    inbox: answered, overheard,     a mark; deleted after nine days
    tasks and their results
    outbox                          a mark; deleted a month after it was sent; what waits to be spoken is dropped
    runs of jobs that have ended    a mark; deleted after 400 days
    what features keep              as they do: `FeatureParts.texts`, `FeatureParts.on_forgotten`
    an open question                stays until its answer, a day at most
    state/journal                   what was written of changed text is written again; it goes into the log
    state/media, state/web          files stay as they are; deleted when no transcript, or no message on the page,
                                    names them any more (after 30 days, after one)
    state/outgoing                  files that were sent stay as they are; deleted after 30 days
    exports/, schedule.yaml,
    HEARTBEAT.md                    stay: people's own files; where they contain the text, they are named

Marks can be undone for ten minutes; until then the text is kept in memory and nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from agent.agent import Agent
from agent.forget import Removal
from agent.memory.forget import ForgetPlan, line_matcher
from agent.memory.history import UNDO_FORGET_WITHIN
from agent.memory.scope import Scope
from agent.values import SessionKey
from channels.message import Address
from gateway.kernel import FeatureParts, Forgotten, Kernel, Undo
from gateway.policy.recipients import ChatDirectory
from gateway.policy.sessions import belongs_to
from gateway.store import chat_rows, redaction_rows
from gateway.store.redaction_rows import Place, RedactedText, Strike
from gateway.web.record import StoredChatRecord


@dataclass(frozen=True, slots=True)
class Mentions:
    messages: int
    on_page: int

    def __bool__(self) -> bool:
        return bool(self.messages or self.on_page)


@dataclass(frozen=True, slots=True)
class _Kept:
    until: datetime
    struck: tuple[RedactedText, ...]
    undos: Sequence[Undo]
    """Of features."""


class Redaction:
    def __init__(self, kernel: Kernel, page: StoredChatRecord, parts: FeatureParts) -> None:
        self._kernel = kernel
        self._page = page
        self._columns = [*redaction_rows.COLUMNS, *parts.texts]
        self._on_forgotten = parts.on_forgotten
        self._second_thoughts: Mapping[tuple[str, str], _Kept] = {}

    async def mentions(self, agent: Agent, scope: Scope, finding: ForgetPlan, asking: str) -> Mentions:
        """What mentions it in a scope's transcripts and on the page, except the message `asking`."""
        messages = await agent.mentions(partial(belongs_to, scope=scope), finding)
        found = await self._found(agent, scope, finding, on_page=True)
        on_page = await self._kernel.database.run(redaction_rows.ids, found)
        return Mentions(messages, len(on_page - {asking}))

    async def forget(self, agent: Agent, scope: Scope, session: str, shown: ForgetPlan) -> tuple[Removal, int]:
        """Forgets what was shown. Returns what was removed, and the number of messages on the page. Raises `FileError`,
        `TranscriptNotWritten`, `StorageUnavailable`."""
        removed = await agent.forget(partial(belongs_to, scope=scope), scope, session, shown)
        struck: tuple[RedactedText, ...] = ()
        missed = True
        while missed:  # what has changed since it was read
            found = await self._found(agent, scope, removed.finding)
            written = await self._kernel.database.run(redaction_rows.write, found)
            struck += written
            missed = len(written) < len(found)
        forgotten = Forgotten(
            scope, partial(self._is_of, agent=agent.settings.name, scope=scope), self._strike(removed.finding)
        )
        undos = [undo for handler in self._on_forgotten if (undo := await handler(forgotten)) is not None]
        self._keep(agent, removed.change, struck, undos)
        return removed, await self._show(struck)

    async def bring_back(self, agent: Agent, scope: Scope, change: str) -> None:
        """Undoes `forget`. Raises `FileError`, `StorageUnavailable`, `TranscriptNotWritten`."""
        await agent.bring_back(partial(belongs_to, scope=scope), change)
        self._let_go()
        kept = self._second_thoughts.get((agent.settings.name, change))
        if kept is not None:
            await self._show(await self._kernel.database.run(redaction_rows.write, redaction_rows.back(kept.struck)))
            for undo in kept.undos:
                await undo()

    async def _show(self, changed: Sequence[RedactedText]) -> int:
        """Updates open pages and tasks; returns the number of changed messages on the page."""
        await self._kernel.inbox.read_tasks_again()
        ids = await self._kernel.database.run(redaction_rows.ids, changed)
        await self._page.changed(ids)
        return len(ids)

    async def _found(
        self, agent: Agent, scope: Scope, finding: ForgetPlan, *, on_page: bool = False
    ) -> tuple[RedactedText, ...]:
        """The changes of a scope's text; `on_page`: of text that the page shows."""
        fields = await self._kernel.database.run(redaction_rows.fields, self._columns, on_page=on_page)
        chats = ChatDirectory(self._kernel.access, await self._kernel.database.run(chat_rows.known))
        places = {field.place for field in fields}
        theirs = {place for place in places if self._is_said_in(place, chats, agent.settings.name, scope)}
        meant = [field for field in fields if field.place in theirs]
        return await asyncio.to_thread(redaction_rows.struck, meant, self._strike(finding))

    def _strike(self, finding: ForgetPlan) -> Strike:
        return partial(_without, line_matcher(finding), f"[forgotten {self._kernel.clock.today().isoformat()}]")

    def _is_said_in(self, place: Place, chats: ChatDirectory, agent: str, scope: Scope) -> bool:
        if isinstance(place, Address):
            chat = chats.at(place)
            return chat is not None and self._is_of(str(self._kernel.sessions.in_chat(chat).session), agent, scope)
        return self._is_of(place, agent, scope)

    @staticmethod
    def _is_of(session: str, agent: str, scope: Scope) -> bool:
        of, _, path = session.partition("/")
        return of == agent and belongs_to(SessionKey(of, path), scope)

    def _keep(self, agent: Agent, change: str, struck: tuple[RedactedText, ...], undos: Sequence[Undo]) -> None:
        self._let_go()
        if change and (struck or undos):
            kept = _Kept(self._kernel.clock.instant() + UNDO_FORGET_WITHIN, struck, undos)
            self._second_thoughts = {**self._second_thoughts, (agent.settings.name, change): kept}

    def _let_go(self) -> None:
        now = self._kernel.clock.instant()
        self._second_thoughts = {of: kept for of, kept in self._second_thoughts.items() if kept.until > now}


def _without(holds: Callable[[str], bool], mark: str, text: str) -> str:
    lines = text.split("\n")
    return "\n".join(mark if holds(line) else line for line in lines)
