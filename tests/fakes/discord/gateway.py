"""The gateway: sessions with their numbered events, and the WebSocket that a client reads them from
(https://discord.com/developers/docs/events/gateway)."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from aiohttp import WSCloseCode, WSMsgType, web

from tests.fakes.discord.errors import JsonObject
from tests.fakes.discord.model import Guild, Message
from tests.fakes.discord.payloads import content_is_visible, guild_json, hide_content, user_json
from tests.fakes.discord.sharding import SINGLE, SessionStarts, ShardPair, asked_for, guild_of, hears
from tests.fakes.discord.world import GUILDS, World

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, VOICE, RESUME, RECONNECT, MEMBERS, INVALID, HELLO, ACK = (
    *(0, 1, 2, 3, 4),
    *(6, 7, 8, 9, 10, 11),
)
ALL_INTENTS = sum(1 << bit for bit in (*range(17), 20, 21, 24, 25))
PRIVILEGED = {"members": 1 << 1, "presences": 1 << 8, "message_content": 1 << 15}
CONTENT = PRIVILEGED["message_content"]
MAX_PAYLOAD = 4096
MAX_PER_MINUTE = 120
KEPT_EVENTS = 2000


class Closed(Exception):
    """The gateway closes the connection with this code; 1006 cuts it without one."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


@dataclass(eq=False, slots=True)
class Session:
    """What RESUME takes up. `events` keeps those that a client may have missed."""

    id: str
    intents: int
    shard: ShardPair = SINGLE
    seq: int = 0
    events: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=KEPT_EVENTS))
    connection: Connection | None = None

    def add(self, event: str, data: Any) -> None:
        self.seq += 1
        frame = json.dumps({"op": DISPATCH, "t": event, "s": self.seq, "d": data})
        self.events.append((self.seq, frame))
        if self.connection is not None:
            self.connection.put_event(frame)


class Compressor(Protocol):
    def pack(self, text: str) -> str | bytes: ...


class Plain:
    def pack(self, text: str) -> str | bytes:
        return text


class Zlib:
    """One stream for the whole connection, flushed after each payload."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj()

    def pack(self, text: str) -> str | bytes:
        return self._stream.compress(text.encode()) + self._stream.flush(zlib.Z_SYNC_FLUSH)


class Zstd:
    """As `Zlib`; needs the package zstandard, without which no discord.py asks for it."""

    def __init__(self) -> None:
        import zstandard  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415 - optional: where it is installed, discord.py asks for it

        self._flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
        self._stream = zstandard.ZstdCompressor().compressobj()

    def pack(self, text: str) -> str | bytes:
        return cast("bytes", self._stream.compress(text.encode()) + self._stream.flush(self._flush))


COMPRESSORS: dict[str, type[Compressor]] = {"": Plain, "zlib-stream": Zlib, "zstd-stream": Zstd}


class Connection:
    """One WebSocket. Frames leave in the order in which they were put; events wait while `holding`."""

    def __init__(self, socket: web.WebSocketResponse, compress: str, *, holding: bool) -> None:
        self.socket = socket
        self.compress = compress
        self.holding = holding
        self.session: Session | None = None
        self.beats: list[float] = []
        self.received: deque[float] = deque()
        self._compressor = COMPRESSORS[compress]()
        self._held: list[str] = []
        self._frames: asyncio.Queue[str | Closed] = asyncio.Queue()

    def put(self, frame: str | Closed) -> None:
        self._frames.put_nowait(frame)

    def put_event(self, frame: str) -> None:
        if self.holding:
            self._held.append(frame)
        else:
            self.put(frame)

    def let_go(self) -> None:
        self.holding = False
        for frame in self._held:
            self.put(frame)
        self._held.clear()

    def op(self, op: int, data: Any = None) -> None:
        self.put(json.dumps({"op": op, "d": data, "s": None, "t": None}))

    async def write(self) -> None:
        """Until a close is put. Raises it."""
        while True:
            frame = await self._frames.get()
            if isinstance(frame, Closed):
                raise frame
            packed = self._compressor.pack(frame)
            if isinstance(packed, str):
                await self.socket.send_str(packed)
            else:
                await self.socket.send_bytes(packed)


@dataclass(slots=True)
class Mangle:
    """How the next events of a kind are spoilt on their way."""

    event: str
    remove: tuple[str, ...]
    replace: JsonObject
    times: int


class Gateway(World):
    """A world whose events go to sessions. Started by the server. A client that is silent for `dropped_after` seconds
    is closed with 4009; that is apart from the interval, so that a short one drops no client on a slow machine. More
    than `most_guilds` in one shard: 4011."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self.token = token
        self.privileged = {"message_content"}
        self.heartbeat_interval = 41.25
        self.dropped_after = 600.0
        self.sessions: dict[str, Session] = {}
        self.connections: list[Connection] = []
        self.identifies: list[JsonObject] = []
        self.resumes: list[JsonObject] = []
        self.refused = 0
        self.closes: list[int] = []
        self.acks = True
        self.gateway_delay = 0.0
        self.starts = SessionStarts()
        self.recommended_shards = 1
        self.most_guilds = 2500
        self.gateway_url = ""
        self._refusals: list[int] = []
        self._identify_answers: list[int] = []
        self._mangles: list[Mangle] = []
        self._holding = False

    # What goes wrong

    def allow_intents(self, *names: str) -> None:
        """The privileged intents switched on in the portal: `message_content` (on at first), `members`, `presences`."""
        self.privileged = set(names)

    def refuse_connections(self, times: int = 1, status: int = 503) -> None:
        """The next WebSockets get this HTTP status instead. 0 cuts the connection; aiohttp then tries once more by
        itself, so that it takes two to be noticed."""
        self._refusals += [status] * times

    def refuse_identify(self, code: int, times: int = 1) -> None:
        """Answer the next IDENTIFY or RESUME with this close code."""
        self._identify_answers += [code] * times

    def disconnect(self, code: int = 4000, reason: str = "", *, shard: int | None = None) -> None:
        """Close every WebSocket, or that of one shard; 1006 cuts the connection. Sessions live on, but for 4007 and
        4009."""
        for connection in self.connections:
            if shard is not None and (connection.session is None or connection.session.shard[0] != shard):
                continue
            if code in (4007, 4009) and connection.session:
                self.sessions.pop(connection.session.id, None)
            connection.put(Closed(code, reason))

    def ask_reconnect(self) -> None:
        """Op 7: the client shall connect again and resume."""
        for connection in self.connections:
            connection.op(RECONNECT)

    def invalidate(self, *, resumable: bool = False) -> None:
        """Op 9. Not resumable: the sessions are gone."""
        for connection in self.connections:
            if not resumable and connection.session:
                self.sessions.pop(connection.session.id, None)
            connection.op(INVALID, resumable)

    def forget_sessions(self) -> None:
        """Sessions without a connection cannot be resumed any more."""
        for session in list(self.sessions.values()):
            if session.connection is None:
                del self.sessions[session.id]

    def ask_heartbeat(self) -> None:
        """Op 1: the client must beat at once."""
        for connection in self.connections:
            connection.op(HEARTBEAT)

    def hold_events(self) -> None:
        """Keep events back until `release_events`; heartbeats are answered."""
        self._holding = True
        for connection in self.connections:
            connection.holding = True

    def release_events(self) -> None:
        self._holding = False
        for connection in self.connections:
            connection.let_go()

    def mangle(
        self, event: str, *, remove: tuple[str, ...] = (), replace: JsonObject | None = None, times: int = 1
    ) -> None:
        """Spoil the next events of a kind: keys that are missing, values of another type."""
        self._mangles.append(Mangle(event, remove, replace or {}, times))

    def push(self, event: str, data: Any) -> None:
        """Any event, such as one that no library knows, to every session."""
        for session in self.sessions.values():
            session.add(event, data)

    def push_frame(self, frame: str) -> None:
        """A raw text to every connection, such as an unknown opcode or no JSON."""
        for connection in self.connections:
            connection.put(frame)

    @property
    def connected(self) -> bool:
        """A client has a session on an open WebSocket."""
        return any(one.session is not None for one in self.connections)

    @property
    def shards(self) -> list[ShardPair]:
        """The shards of the open connections, in order."""
        return sorted(one.session.shard for one in self.connections if one.session is not None)

    # Events

    def publish(self, event: str, data: JsonObject, intent: int, message: Message | None = None) -> None:
        guild = guild_of(event, data)
        data = self._spoilt(event, data)
        for session in self.sessions.values():
            if (intent and not session.intents & intent) or not hears(session.shard, guild):
                continue
            session.add(event, self._as_allowed(session, data, message))

    def _as_allowed(self, session: Session, data: JsonObject, message: Message | None) -> JsonObject:
        if message is None or session.intents & CONTENT:
            return data
        return self.hidden(data, message)

    def hidden(self, data: JsonObject, message: Message) -> JsonObject:
        """A message as a bot without the message content intent gets it."""
        if not content_is_visible(message, self.bot):
            data = hide_content(data)
        target = message.reference
        nested = data.get("referenced_message")
        if target is not None and nested and not content_is_visible(target, self.bot):
            data = data | {"referenced_message": hide_content(nested)}
        return data

    def _spoilt(self, event: str, data: JsonObject) -> JsonObject:
        for mangle in self._mangles:
            if mangle.event == event and mangle.times:
                mangle.times -= 1
                return {key: value for key, value in data.items() if key not in mangle.remove} | mangle.replace
        return data

    # The WebSocket

    async def serve_socket(self, request: web.Request) -> web.StreamResponse:
        if self._refusals:
            self.refused += 1
            self.bell.ring()
            if status := self._refusals.pop(0):
                return web.Response(status=status)
            assert request.transport is not None
            request.transport.abort()
            return web.Response(status=500)
        await asyncio.sleep(self.gateway_delay)
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        if request.query.get("v") not in ("9", "10"):
            await socket.close(code=4012)
            return socket
        compress = request.query.get("compress", "")
        connection = Connection(socket, compress, holding=self._holding)
        self.connections.append(connection)
        try:
            await self._converse(connection)
        except Closed as closed:
            await self._close(request, connection, closed)
        finally:
            self.connections.remove(connection)
            if connection.session is not None and connection.session.connection is connection:
                connection.session.connection = None
            self.bell.ring()
        return socket

    async def _close(self, request: web.Request, connection: Connection, closed: Closed) -> None:
        if closed.code != WSCloseCode.ABNORMAL_CLOSURE:
            await connection.socket.close(code=closed.code, message=closed.reason.encode(), drain=False)
        elif request.transport is not None:
            request.transport.abort()

    async def _converse(self, connection: Connection) -> None:
        connection.op(HELLO, {"heartbeat_interval": int(self.heartbeat_interval * 1000), "_trace": ["[]"]})
        tasks = {asyncio.create_task(one) for one in (connection.write(), self._read(connection))}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            error = task.exception()
            if error is not None and not isinstance(error, ConnectionError):
                raise error

    async def _read(self, connection: Connection) -> None:
        while True:
            try:
                message = await connection.socket.receive(timeout=self.dropped_after)
            except TimeoutError:
                raise Closed(4009, "Session timed out.") from None
            if message.type is not WSMsgType.TEXT:
                self._left(connection, message.type, message.data)
                return
            self._check_flood(connection)
            self._take(connection, *_decoded(message.data))
            self.bell.ring()

    def _left(self, connection: Connection, kind: WSMsgType, code: Any) -> None:
        """A client that closes with 1000 or 1001 ends its session."""
        if kind is WSMsgType.CLOSE:
            self.closes.append(code)
        if kind is WSMsgType.CLOSE and code in (1000, 1001) and connection.session is not None:
            self.sessions.pop(connection.session.id, None)

    def _check_flood(self, connection: Connection) -> None:
        now = time.monotonic()
        connection.received.append(now)
        while connection.received[0] < now - 60:
            connection.received.popleft()
        if len(connection.received) > MAX_PER_MINUTE:
            raise Closed(4008, "Rate limited.")

    def _take(self, connection: Connection, op: int, data: Any) -> None:
        if op == HEARTBEAT:
            connection.beats.append(time.monotonic())
            if self.acks:
                connection.op(ACK)
        elif op == IDENTIFY:
            self._identify(connection, data)
        elif op == RESUME:
            self._resume(connection, data)
        elif op not in (PRESENCE, VOICE, MEMBERS):
            raise Closed(4001, "Unknown opcode.")
        elif connection.session is None:
            raise Closed(4003, "Not authenticated.")

    def _identify(self, connection: Connection, data: Any) -> None:
        if connection.session is not None:
            raise Closed(4005, "Already authenticated.")
        if not isinstance(data, dict) or not {"token", "intents", "properties"} <= data.keys():
            raise Closed(4002, "Error while decoding payload.")
        self.identifies.append(data)
        if self._identify_answers:
            raise Closed(self._identify_answers.pop(0))
        self._check_token(data["token"])
        intents = data["intents"]
        if not isinstance(intents, int) or intents & ~ALL_INTENTS or intents < 0:
            raise Closed(4013, "Invalid intent(s).")
        if any(intents & bit and name not in self.privileged for name, bit in PRIVILEGED.items()):
            raise Closed(4014, "Disallowed intent(s).")
        shard = asked_for(data)
        if shard is None:
            raise Closed(4010, "Invalid shard.")
        if len(self._guilds_of(shard)) > self.most_guilds:
            raise Closed(4011, "Sharding required.")
        if self.starts.left < 1:
            raise Closed(4004, "Authentication failed.")  # the original resets the token
        if not self.starts.may_begin(shard, self.now()):
            connection.op(INVALID, False)
            return
        self.starts.left -= 1
        session = Session(secrets.token_hex(16), intents, shard, connection=connection)
        self.sessions[session.id] = connection.session = session
        self._greet(session, data)

    def _greet(self, session: Session, identify: JsonObject) -> None:
        """READY with the guilds still unavailable, then each of them."""
        session.add(
            "READY",
            self._spoilt(
                "READY",
                {
                    "v": 10,
                    "user": user_json(self.bot) | {"verified": True, "mfa_enabled": False, "email": None},
                    "user_settings": {},
                    "guilds": [{"id": str(one.id), "unavailable": True} for one in self._guilds_of(session.shard)],
                    "session_id": session.id,
                    "session_type": "normal",
                    "resume_gateway_url": self.gateway_url,
                    "relationships": [],
                    "private_channels": [],
                    "presences": [],
                    "guild_join_requests": [],
                    "geo_ordered_rtc_regions": [],
                    "application": {"id": str(self.bot.id), "flags": self.application_flags},
                    **({"shard": identify["shard"]} if "shard" in identify else {}),
                    "_trace": [],
                },
            ),
        )
        if session.intents & GUILDS:
            for guild in self._guilds_of(session.shard):
                session.add("GUILD_CREATE", self._spoilt("GUILD_CREATE", guild_json(guild, self.bot)))

    def _guilds_of(self, shard: ShardPair) -> list[Guild]:
        return [guild for guild in self.guilds.values() if hears(shard, guild.id)]

    @property
    def application_flags(self) -> int:
        """The flags that tell which privileged intents a small bot was granted."""
        limited = {"presences": 1 << 13, "members": 1 << 15, "message_content": 1 << 19}
        return sum(limited[name] for name in self.privileged)

    def _resume(self, connection: Connection, data: Any) -> None:
        if connection.session is not None:
            raise Closed(4005, "Already authenticated.")
        if not isinstance(data, dict) or not {"token", "session_id", "seq"} <= data.keys():
            raise Closed(4002, "Error while decoding payload.")
        self.resumes.append(data)
        if self._identify_answers:
            raise Closed(self._identify_answers.pop(0))
        self._check_token(data["token"])
        session, seq = self.sessions.get(str(data["session_id"])), data["seq"]
        if session is None or not isinstance(seq, int):
            connection.op(INVALID, False)
            return
        if seq > session.seq:
            raise Closed(4007, "Invalid seq.")
        if session.connection is not None:
            session.connection.session = None
            session.connection.put(Closed(4000, "Resumed elsewhere."))
        missed = [frame for number, frame in session.events if number > seq]
        connection.session, session.connection = session, connection
        for frame in missed:
            connection.put_event(frame)
        session.add("RESUMED", {"_trace": []})

    def _check_token(self, token: Any) -> None:
        if not isinstance(token, str) or token.removeprefix("Bot ") != self.token:
            raise Closed(4004, "Authentication failed.")


def _decoded(text: str) -> tuple[int, Any]:
    try:
        if len(text.encode()) > MAX_PAYLOAD:
            raise ValueError("too long")
        payload = json.loads(text)
        return payload["op"], payload.get("d")
    except (ValueError, TypeError, KeyError):
        raise Closed(4002, "Error while decoding payload.") from None
