"""The part of a home's work that is this gateway's, where several share the home.

Each answers the people and groups that it has claimed (`store.claims`) and sends to the chats that it has claimed. One
leads: it listens to the platforms, runs the schedule, serves the owner and the page, and gives unclaimed work away.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from agent.agent import Agent
from agent.formats.sqlite import StorageUnavailable
from gateway.messages.active_work import ActiveWork
from gateway.messages.inbox import Inbox
from gateway.messages.outbox import Outbox
from gateway.messages.suspects import TRIED_ALONE_AFTER
from gateway.router import Router
from gateway.store import shares
from gateway.store.claims import ProcessClaims, scope_name
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.store.scope_work import ScopeWork
from gateway.turns.services import Voice

log = logging.getLogger(__name__)

_LOOK = 1.0
"""Seconds between two looks for work where no notification comes."""
_WAITS_FOR = 30.0
"""Seconds that another gateway waits for a pause in the messages of a scope; then it answers the next ones."""
_STACKS_WITHIN = 120.0
"""Seconds in which a gateway that was cut off, and whose loop hangs, has written its stacks."""
_KEPT_IDLE = 60.0
"""Seconds after which people and groups who do not write may go to another gateway."""

Heard = Callable[[str], None]
Reload = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class SharedWork:
    """`listening` calls its argument, in another thread, with each notification of another process. `reloads`: reads a
    table again that another process has changed, by its name. `on_lead` is called once this process leads. `patience`:
    seconds that another process waits for a pause in the messages of a scope."""

    database: Database
    claims: ProcessClaims
    active_work: ActiveWork
    listening: Callable[[Heard], contextlib.AbstractContextManager[None]]
    scope_work: ScopeWork
    router: Router
    inbox: Inbox
    outbox: Outbox
    voice: Voice | None
    agents: Mapping[str, Agent]
    reloads: Mapping[str, Reload]
    on_lead: Callable[[], None]
    patience: float = _WAITS_FOR
    leads: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _woken: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _changed: set[str] = field(init=False, default_factory=set)
    _leader: tuple[str, int] | None = field(init=False, default=None)
    _released: float = field(init=False, default=-math.inf)
    _stood: float = field(init=False, default=-math.inf)
    _hung: set[int] = field(init=False, default_factory=set)
    """Messages with which a process hung, until that is written down."""
    _wanted: dict[str, float] = field(init=False, default_factory=dict)
    """Scopes that another process waits for, and since when."""

    async def run(self) -> None:
        """Takes up work until cancelled."""
        loop = asyncio.get_running_loop()

        def heard(payload: str) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._hear, payload)

        async with _in_thread(self.listening(heard)):
            while True:
                self._woken.clear()
                try:
                    if loop.time() - self._stood >= _LOOK:
                        self._stood = loop.time()
                        await self._stand()
                        await self._release_idle()
                    await self._find()
                except StorageUnavailable as error:
                    log.error("work of other gateways is not looked for: %s", error)
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(self._stood + _LOOK):
                        await self._woken.wait()

    async def take_no_more(self) -> None:
        """Has new people and groups given to others: this process ends."""
        try:
            await self.database.run(shares.take_no_more, self.claims.number)
        except StorageUnavailable as error:
            log.error("the other gateways do not know that this one ends: %s", error)

    def _hear(self, payload: str) -> None:
        if payload.isdecimal():
            if int(payload) in (0, self.claims.number):
                self._woken.set()
                self.scope_work.wake()
        else:
            self._changed.add(payload)
            if payload != "usage":  # that changes all the time, and may be a second old
                self._woken.set()

    async def _stand(self) -> None:
        standing = await self.database.run(shares.stand, self.claims)
        is_new_leader = standing.leads and not self.leads.is_set()
        if is_new_leader or standing.dead or self._hung or self.active_work.awaits_stacks:
            ended = await asyncio.to_thread(self.active_work.ended, standing.living, _STACKS_WITHIN)
            self._hung.update(seq for process in ended for seq in process.messages)
            await self.database.run(shares.bury, self.claims, standing.dead, self._hung, TRIED_ALONE_AFTER)
            self._hung.clear()
        if is_new_leader:
            log.info("This gateway leads: it listens to the platforms and runs the schedule.")
            self.claims.leads = True
            self.on_lead()
            self.leads.set()
        elif standing.leader is not None and standing.leader != self._leader:
            host, pid = standing.leader
            log.info(
                "Another gateway (process %s on %s) leads this home. This one answers a part of its people, and takes"
                " over if it ends.",
                pid,
                host,
            )
        self._leader = standing.leader
        if is_new_leader or standing.dead or (standing.leads and self.scope_work.has_taken_over):
            self.scope_work.has_taken_over = False
            await self._take_up_deferred()

    async def _find(self) -> None:
        for table in self._changed & self.reloads.keys():
            self._changed.discard(table)  # before it is read: what changes meanwhile is heard again
            try:
                await self.reloads[table]()
            except StorageUnavailable:
                self._changed.add(table)
                raise
        found = await self.database.run(shares.find, self.claims, self.inbox.open_rows.keys())
        self.claims.hold(row.session for row in found.messages)
        now = asyncio.get_running_loop().time()
        self._wanted = {scope: self._wanted.get(scope, now) for scope in found.wanted}
        self.router.take_up(self._without_held_back(found.messages))
        self.outbox.take_up(found.chats)
        if self.voice is not None:
            for speech in found.speech:
                self.voice.post(speech)
        if shares.DEATH in self._changed:
            self._changed.discard(shares.DEATH)
            await self._take_up_deferred()
        await self._hand_over()

    def _without_held_back(self, rows: Sequence[InboxRow]) -> list[InboxRow]:
        """Leaves out messages of scopes that always have some, where another process has long waited for the scope: it
        answers them. Commands, which may stop a turn, come through, and with them all messages before."""
        latest = asyncio.get_running_loop().time() - self.patience
        held_back = {scope for scope, since in self._wanted.items() if since <= latest}
        commands = {row.session: row.seq for row in rows if row.message.text.startswith("/")}
        return [
            row for row in rows if scope_name(row.session) not in held_back or row.seq <= commands.get(row.session, -1)
        ]

    async def _hand_over(self) -> None:
        """Gives scopes to the processes that wait for them, unless a turn or other work goes on there. Messages that
        wait go along."""
        busy = self._sessions_at_work(lambda agent: agent.deferred.active_paths)
        idle = self._wanted.keys() - set(map(scope_name, busy)) - self.scope_work.scopes
        if not idle:
            return
        for name, agent in self.agents.items():
            agent.deferred.let_go({path for path in agent.deferred.paths if scope_name(f"{name}/{path}") in idle})
        self.inbox.let_go(idle)
        await self.database.run(self.claims.hand_over, sorted(idle))
        self.claims.let_go(idle)
        for scope in idle:
            del self._wanted[scope]

    def _sessions_at_work(self, deferred: Callable[[Agent], Collection[str]]) -> set[str]:
        """The sessions with open messages or deferred work. `deferred`: the paths of an agent's with such work."""
        sessions = {row.session for row in self.inbox.open_rows.values() if self.router.serves(row)}
        return sessions | {f"{name}/{path}" for name, agent in self.agents.items() for path in deferred(agent)}

    async def _take_up_deferred(self) -> None:
        """Takes up the deferred work of ended processes for the scopes held; the leader also what nobody has."""
        for name, agent in self.agents.items():

            async def may(path: str, name: str = name) -> bool:
                session = f"{name}/{path}"
                if not self.claims.leads:
                    return self.claims.holds(session)
                free = await self.database.run(self.claims.claim_if_free, session)
                if free:
                    self.claims.hold([session])
                return free

            await agent.deferred.take_up(may)

    async def _release_idle(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._released < _KEPT_IDLE:
            return
        self._released = now
        sessions = {row.session for row in self.inbox.open_rows.values()}
        sessions |= self._sessions_at_work(lambda agent: agent.deferred.paths)
        sessions |= {f"/{scope}" for scope in self.scope_work.scopes}
        if idle := self.claims.drop(sessions, self.outbox.busy):
            await self.database.run(self.claims.release, sorted(idle))


@asynccontextmanager
async def _in_thread(context: contextlib.AbstractContextManager[None]) -> AsyncIterator[None]:
    await asyncio.to_thread(context.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(context.__exit__, None, None, None)
