"""Which gateway of a home answers a scope and sends to a chat: never two at a time.

With PostgreSQL a claim is a row that belongs to the row of its process and is deleted with it: a process that can't
write any more, because the server closed its connection, has no claims either. With SQLite the only process has all.

Methods that take a connection belong into the commit of what is claimed, and count once it is done (`hold`).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Collection, Iterable
from typing import Protocol

from agent.memory.scope import Audience
from gateway.store.connection import Connection

CHANGES = "daybook"
"""The name under which gateways notify each other of the number of a process that has work, or of a changed table."""
SCOPE_OF = (
    "CASE split_part(session, '/', 2) WHEN 'owner' THEN 'owner'"
    " ELSE split_part(session, '/', 2) || '/' || split_part(session, '/', 3) END"
)
"""`scope_name` of a column `session`, for PostgreSQL."""

PART = "part "
"""Begins the key of a claim of a connection; its name follows."""
IS_SCOPE = "key NOT LIKE 'chat %' AND key NOT LIKE 'part %' AND key NOT LIKE 'want %'"
"""True for a claim of a person or a group."""

Chat = tuple[str, str, str]
"""Channel, account, and the id under which a chat was first known."""


class ChatClaim(enum.Enum):
    OTHERS = "others"
    NEW = "new"  # messages that another process may have begun to send are still to be looked at
    HELD = "held"


def scope_name(session: str) -> str:
    """Whose memory a session (`agent/group/telegram--100/7`) uses: `owner`, `person/ID` or `group/ID`. The same for all
    agents, which may share a workspace."""
    _, audience, id = (*session.split("/", 3), "", "", "")[:3]
    return audience if audience == Audience.OWNER else f"{audience}/{id}"


class Claims(Protocol):
    @property
    def is_shared(self) -> bool:
        """True if other gateways serve the home too."""

    @property
    def leads(self) -> bool:
        """True if this process listens to the platforms and serves the page."""

    def holds_chat(self, chat: Chat) -> bool: ...

    def hold_chat(self, chat: Chat) -> None: ...

    def claim(self, connection: Connection, session: str) -> None:
        """Gives the scope of a session to a process, unless one has it, and notifies the process that has
        it then."""

    def claim_chat(self, connection: Connection, chat: Chat) -> ChatClaim:
        """Takes a chat unless another process has it, which is notified then."""

    def claim_part(self, connection: Connection, name: str, parts: int) -> bool:
        """Takes a connection of a channel that has `parts` of them, unless another process has it or this one has its
        share; gives it up where this process has more. True if it is this process's."""

    def release_part(self, connection: Connection, name: str) -> None: ...

    def tell_part(self, connection: Connection, name: str, health: str, trouble: str) -> None:
        """Tells the other processes the state of a connection."""

    def take_slot(self, connection: Connection, key: str, seconds: float) -> float:
        """Begins work that one process does at a time, for two minutes at most. Returns 0, or the seconds after which
        to ask again."""

    def leave_slot(self, connection: Connection, key: str, seconds: float) -> None:
        """Ends the work of `take_slot`. No process begins it again within so many seconds."""


class SoleProcess:
    """Implements `Claims` where one process serves the home."""

    is_shared = False
    leads = True

    def holds_chat(self, chat: Chat) -> bool:
        return True

    def hold_chat(self, chat: Chat) -> None:
        pass

    def claim(self, connection: Connection, session: str) -> None:
        pass

    def claim_chat(self, connection: Connection, chat: Chat) -> ChatClaim:
        return ChatClaim.HELD

    def claim_part(self, connection: Connection, name: str, parts: int) -> bool:
        return True

    def release_part(self, connection: Connection, name: str) -> None:
        pass

    def tell_part(self, connection: Connection, name: str, health: str, trouble: str) -> None:
        pass

    def take_slot(self, connection: Connection, key: str, seconds: float) -> float:
        return 0.0

    def leave_slot(self, connection: Connection, key: str, seconds: float) -> None:
        pass


SOLE = SoleProcess()

_LEADER = "SELECT number FROM process WHERE leads"
_LEAST = (
    f"SELECT number FROM process LEFT JOIN claim ON claim.process = number AND {IS_SCOPE} WHERE takes"
    " GROUP BY number ORDER BY count(key), leads, number LIMIT 1"
)
_CHAT = "chat "
_SLOT_LOOK = 0.2
"""Seconds between two looks at a slot that another process has."""
_TAKE_SLOT = (
    "INSERT INTO slot (key, process, free_at) VALUES (?, ?, clock_timestamp() + make_interval(secs => ?))"
    " ON CONFLICT (key) DO UPDATE SET process = excluded.process, free_at = excluded.free_at"
    " WHERE slot.process = ? OR slot.process IS NULL AND slot.free_at <= clock_timestamp()"
    " OR slot.free_at <= clock_timestamp() - interval '2 minutes' RETURNING 1"  # its process could not leave it
)
_INSERT = "INSERT INTO claim (key, process) SELECT ?, number FROM process WHERE number = ? FOR KEY SHARE"
_WANT = "want "
"""Begins the key of a claim of the process that waits for a scope; the scope follows."""
_WANTED = (
    f"SELECT own.key FROM claim AS own JOIN claim AS want ON want.key = '{_WANT}' || own.key"
    " WHERE own.process = ? AND want.process != own.process"
)
_WANTING = "SELECT number FROM process WHERE number = (SELECT process FROM claim WHERE key = ?) FOR KEY SHARE"
_SHARE = (
    "SELECT count(*) FILTER (WHERE process = ?), (SELECT count(*) FROM process WHERE takes)"
    " FROM claim WHERE key LIKE 'part %'"
)


class ProcessClaims:
    """Implements `Claims` for one of several processes, by its number. The owner's scope, and the channels of the
    leader's computer (`local`), are the leader's."""

    is_shared = True

    def __init__(self, number: int, local: Collection[str]) -> None:
        self.number = number
        self.leads = False
        self._local = local
        self._held: set[str] = set()

    def holds_chat(self, chat: Chat) -> bool:
        return _chat_key(chat) in self._held

    def hold_chat(self, chat: Chat) -> None:
        self._held.add(_chat_key(chat))

    def hold(self, sessions: Iterable[str]) -> None:
        self._held.update(map(scope_name, sessions))

    def let_go(self, scopes: Iterable[str]) -> None:
        """Holds scopes no more, after they were handed over."""
        self._held.difference_update(scopes)

    def holds(self, session: str) -> bool:
        return scope_name(session) in self._held

    def claim(self, connection: Connection, session: str) -> None:
        scope = scope_name(session)
        found = self._process_of(connection, scope)
        if found is None:
            chosen = connection.execute(_WANTING, (_WANT + scope,)).fetchone()
            chosen = chosen or connection.execute(_LEADER if scope == Audience.OWNER else _LEAST).fetchone()
            # without a leader: the next one gives it to somebody
            found = self._insert(connection, scope, chosen[0]) if chosen is not None else None
        if found is not None:
            _notify(connection, found)

    def claim_chat(self, connection: Connection, chat: Chat) -> ChatClaim:
        key = _chat_key(chat)
        if key in self._held:
            return ChatClaim.HELD
        if chat[0] in self._local and not self.leads:
            for (leader,) in connection.execute(_LEADER).fetchall():
                _notify(connection, leader)
            return ChatClaim.OTHERS
        found = self._insert(connection, key, self.number)
        if found == self.number:
            return ChatClaim.NEW
        if found is not None:
            _notify(connection, found)
        return ChatClaim.OTHERS

    def claim_part(self, connection: Connection, name: str, parts: int) -> bool:
        key = PART + name
        held, processes = connection.execute(_SHARE, (self.number,)).fetchone()
        share = math.ceil(parts / max(processes, 1))
        process = self._process_of(connection, key)
        if process == self.number and held > share:
            self.release_part(connection, name)
            return False
        if process is None and held < share:
            process = self._insert(connection, key, self.number)
        return process == self.number

    def release_part(self, connection: Connection, name: str) -> None:
        connection.execute("DELETE FROM claim WHERE key = ? AND process = ?", (PART + name, self.number))

    def tell_part(self, connection: Connection, name: str, health: str, trouble: str) -> None:
        connection.execute(
            "UPDATE claim SET health = ?, trouble = ? WHERE key = ? AND process = ?",
            (health, trouble, PART + name, self.number),
        )

    def take_slot(self, connection: Connection, key: str, seconds: float) -> float:
        if connection.execute(_TAKE_SLOT, (key, self.number, seconds, self.number)).fetchone() is not None:
            return 0.0
        (left,) = connection.execute(
            "SELECT extract(epoch FROM free_at - clock_timestamp())::float8 FROM slot WHERE key = ?", (key,)
        ).fetchone()
        return max(float(left), _SLOT_LOOK)

    def leave_slot(self, connection: Connection, key: str, seconds: float) -> None:
        connection.execute(
            "UPDATE slot SET process = NULL, free_at = clock_timestamp() + make_interval(secs => ?)"
            " WHERE key = ? AND process = ?",
            (seconds, key, self.number),
        )

    def claim_if_free(self, connection: Connection, session: str) -> bool:
        """Takes the scope of a session for this process. False if another has it."""
        return self._insert(connection, scope_name(session), self.number) == self.number

    def take(self, connection: Connection, session: str) -> bool:
        """Takes the scope of a session for this process, or asks the one that has it for it. False until it is
        handed over."""
        scope = scope_name(session)
        process = self._insert(connection, scope, self.number)
        if process == self.number:
            self.want_no_more(connection, session)
            return True
        # not locked: the holder deletes it, in whatever order
        connection.execute(f"{_INSERT} ON CONFLICT (key) DO NOTHING", (_WANT + scope, self.number))
        if process is not None:
            _notify(connection, process)
        return False

    def want_no_more(self, connection: Connection, session: str) -> bool:
        """Takes back what `take` asked for. True if the scope is this process's."""
        scope = scope_name(session)
        connection.execute("DELETE FROM claim WHERE key = ? AND process = ?", (_WANT + scope, self.number))
        return self._process_of(connection, scope) == self.number

    def wanted(self, connection: Connection) -> frozenset[str]:
        """The scopes of this process that another waits for."""
        return frozenset(row[0] for row in connection.execute(_WANTED, (self.number,)).fetchall())

    def hand_over(self, connection: Connection, scopes: Iterable[str]) -> None:
        """Gives wanted scopes, with the messages that wait there, to the processes that want them."""
        for scope in scopes:
            wanting = connection.execute(_WANTING, (_WANT + scope,)).fetchone()
            if wanting is None:
                continue  # it has ended, or wants it no more
            moved = connection.execute(
                "UPDATE claim SET process = ? WHERE key = ? AND process = ?", (wanting[0], scope, self.number)
            )
            if moved.rowcount:
                connection.execute("DELETE FROM claim WHERE key = ?", (_WANT + scope,))
                _notify(connection, int(wanting[0]))

    def release(self, connection: Connection, keys: Iterable[str]) -> None:
        """Gives up scopes and chats without work, after `drop`, but for any that another process just looks at."""
        connection.executemany(
            "DELETE FROM claim WHERE key IN (SELECT key FROM claim WHERE key = ? AND process = ? AND NOT EXISTS"
            f" (SELECT 1 FROM inbox WHERE state = 'waiting' AND {SCOPE_OF} = claim.key) FOR UPDATE SKIP LOCKED)",
            [(key, self.number) for key in keys],
        )

    def drop(self, sessions: Collection[str], chats: Collection[Chat]) -> frozenset[str]:
        """Holds nothing any more but what these sessions and chats need. Returns the keys of the rest."""
        used = {*map(scope_name, sessions), *map(_chat_key, chats)}
        idle = frozenset(self._held - used)
        self._held -= idle
        return idle

    def _insert(self, connection: Connection, key: str, process: int) -> int | None:
        """Claims a free key for a process. Returns the process that has it, or None where that has ended meanwhile."""
        connection.execute(f"{_INSERT} ON CONFLICT (key) DO NOTHING", (key, process))
        return self._process_of(connection, key)

    @staticmethod
    def _process_of(connection: Connection, key: str) -> int | None:
        """The process that has a key, which is not given up until the commit, but may be handed over."""
        row = connection.execute("SELECT process FROM claim WHERE key = ? FOR KEY SHARE", (key,)).fetchone()
        return None if row is None else int(row[0])


def _chat_key(chat: Chat) -> str:
    return _CHAT + " ".join(chat)


def _notify(connection: Connection, process: int) -> None:
    connection.execute("SELECT pg_notify(?, ?)", (CHANGES, str(process)))
