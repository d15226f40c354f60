"""discord.py's client made to fit: every name of the library that is not documented is in this file.

The library does the gateway's protocol, resuming and rate limits, with these differences:

- No cache. Events are raw JSON, so that an odd event breaks nothing.
- No reconnecting to an unreachable gateway (up to 17 minutes there): `connect` ends, for a fresh client.
- Addresses belong to the client; the library's are class attributes.
- READY and RESUMED may lack optional fields, JSON may have any content type, and a 429 without `Via` is understood.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket, ReconnectWebSocket
from discord.http import HTTPClient, Ratelimit, Route
from discord.state import ConnectionState

from channels.discord.errors import CALL_FAILED, ODD_ANSWER, redacted
from channels.discord.rate_limit import SHORT, GlobalRateLimit
from channels.discord.shards import Shard
from channels.json_fields import Json, get, load_json
from channels.message import SourceFailed
from channels.network import proxy_for, tls
from channels.tasks import Pause

log = logging.getLogger(__name__)

EVENTS = (
    "READY",
    "RESUMED",
    "GUILD_CREATE",
    "GUILD_UPDATE",
    "GUILD_DELETE",
    "GUILD_MEMBER_UPDATE",
    "GUILD_ROLE_CREATE",
    "GUILD_ROLE_UPDATE",
    "GUILD_ROLE_DELETE",
    "CHANNEL_CREATE",
    "CHANNEL_UPDATE",
    "CHANNEL_DELETE",
    "THREAD_CREATE",
    "THREAD_UPDATE",
    "THREAD_DELETE",
    "THREAD_LIST_SYNC",
    "MESSAGE_CREATE",
    "MESSAGE_UPDATE",
    "INTERACTION_CREATE",
)
CONNECT_TIMEOUT = 60.0
OPTIONAL_TIMEOUT = 10.0
"""Seconds for optional calls."""

_STEADY = 30.0
"""Seconds after which a connection counts as stable, so that the next follows at once."""
_LONGEST_WAIT = 30.0
_GREETINGS = ('"READY"', '"RESUMED"')
_HEAD = 200
"""Characters searched for a payload's event name, so that long payloads are not parsed twice."""

OnEvent = Callable[[str, Json], None]
"""Called with an event's name and data, in order."""
Turn = Callable[[], AbstractAsyncContextManager[None]]
"""Waits until a session may be begun inside."""

_NAMES: Sequence[tuple[object, str]] = (
    (discord.Client, "_get_state(options)"),
    (discord.Client, "__aenter__()"),
    (discord.VoiceClient, "warn_nacl"),
    (discord.VoiceClient, "warn_dave"),
    (DiscordWebSocket, "DEFAULT_GATEWAY"),
    (DiscordWebSocket, "from_client(client, initial, gateway, shard_id, session, sequence, resume)"),
    (DiscordWebSocket, "received_message(msg)"),
    (DiscordWebSocket, "poll_event()"),
    (HTTPClient, "__init__(loop, http_trace, max_ratelimit_timeout)"),
    (HTTPClient, "request(route, files, form, kwargs)"),
    (HTTPClient, "static_login(token)"),
    (HTTPClient, "ws_connect(url, compress)"),
    (Ratelimit, "limit"),
    (Ratelimit, "remaining"),
    (Ratelimit, "expires"),
    (ReconnectWebSocket, "__init__(resume)"),
    (Route, "__init__(method, path, parameters)"),
    (Route, "BASE"),
    (Route, "key"),
    (Route, "major_parameters"),
)
"""What this file needs of the library's classes; a function with its parameters."""


def check_version(names: Sequence[tuple[object, str]] = _NAMES) -> None:
    """Raises `SourceFailed` where this discord.py lacks a name or parameter."""
    missing = [
        f"{getattr(owner, '__name__', type(owner).__name__)}.{name}" for owner, name in names if not _has(owner, name)
    ]
    if missing:
        raise SourceFailed(
            f"discord.py {discord.__version__} does not fit this Daybook ({', '.join(missing)} is missing or "
            "different): run `pip install 'discord.py>=2.7,<2.8'` in Daybook's environment, or update Daybook",
            fatal=True,
        )


def _has(owner: object, wanted: str) -> bool:
    name, is_function, listed = wanted.rstrip(")").partition("(")
    found = getattr(owner, name, None)
    if not is_function:
        return hasattr(owner, name)
    parameters = {parameter for parameter in listed.split(", ") if parameter}
    return callable(found) and parameters <= inspect.signature(found).parameters.keys()


class Socket(DiscordWebSocket):
    async def received_message(self, msg: Any, /) -> None:
        """The resume address defaults to the current address."""
        text: str | None = self._decompressor.decompress(msg) if isinstance(msg, bytes) else msg
        if text is None:
            return  # the beginning of a payload
        if any(greeting in text[:_HEAD] or greeting in text[-_HEAD:] for greeting in _GREETINGS):
            text = self._completed(text)
        await super().received_message(text)

    def _completed(self, text: str) -> str:
        payload = load_json(text)
        if payload.get("t") not in ("READY", "RESUMED"):
            return text
        data = payload.get("d") or {}
        data["resume_gateway_url"] = data.get("resume_gateway_url") or str(self.gateway)
        data.setdefault("session_id", self.session_id)
        return json.dumps({"s": self.sequence, **payload, "d": data})


def parsed(answer: Any) -> Any:
    if not isinstance(answer, str):
        return answer
    try:
        return load_json(answer)
    except ValueError:
        return answer


def with_details(error: discord.HTTPException, wait: float) -> discord.DiscordException:
    """Adds Discord's own code and text. `wait`: seconds named by a 429."""
    if error.status == 429 and wait:
        return discord.RateLimited(wait)
    body = parsed(error.text)
    return type(error)(error.response, body) if not error.code and isinstance(body, dict) else error


def intents() -> discord.Intents:
    wanted = discord.Intents.none()
    wanted.guilds = wanted.guild_messages = wanted.dm_messages = wanted.message_content = True
    return wanted


class DiscordHttp(HTTPClient):
    def __init__(self, client: discord.Client, api_url: str, pause: Pause, rate_limit: GlobalRateLimit) -> None:
        super().__init__(
            client.loop,
            aiohttp.TCPConnector(limit=0, ssl=tls(strict=False)),
            proxy=proxy_for(api_url),
            http_trace=rate_limit.trace(),
            max_ratelimit_timeout=SHORT,
        )
        self._rate_limit = rate_limit
        self._api_url = api_url.rstrip("/")
        self._pause = pause
        self._gateway: yarl.URL | None = None
        self._connected_at: float | None = None
        self._quick = 0
        self._socket: aiohttp.ClientWebSocketResponse | None = None

    async def request(self, route: Route, **more: Any) -> Any:
        if route.url.startswith(Route.BASE):
            route.url = self._api_url + route.url.removeprefix(Route.BASE)
        left = self._rate_limit.left(route.path)
        if left > SHORT:
            raise discord.RateLimited(left)
        if left:
            await asyncio.sleep(left)
        try:
            return parsed(await super().request(route, **more))
        except discord.HTTPException as error:
            raise with_details(error, self._rate_limit.named(error.response)) from None
        except asyncio.CancelledError:
            # A call waiting for a global limit blocks all others; once cancelled it would block them for ever.
            self._global_over.set()
            raise
        except RuntimeError as error:  # raised by aiohttp once the session is closed
            raise ConnectionError(f"the connection is closed: {error}") from error
        except ODD_ANSWER as error:
            raise ConnectionError(f"the answer cannot be read: {type(error).__name__}: {error}") from error

    async def find_gateway(self) -> None:
        """Finds the gateway, or the endpoint for bots. Raises errors of calls."""
        try:
            async with asyncio.timeout(OPTIONAL_TIMEOUT):
                answer = await self.request(Route("GET", "/gateway"))
            url = answer["url"]
        except (discord.HTTPException, TimeoutError, *ODD_ANSWER):
            answer = await self.request(Route("GET", "/gateway/bot"))
            url = answer["url"]
        self._gateway = yarl.URL(url)

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        """Pauses while connections keep breaking at once."""
        loop = asyncio.get_running_loop()
        if self._connected_at is not None:
            self._quick = self._quick + 1 if loop.time() - self._connected_at < _STEADY else 0
            if self._quick > 1:
                await self._pause(min(_LONGEST_WAIT, 2.0 ** (self._quick - 1)))
        self._connected_at = loop.time()
        wanted = yarl.URL(url)
        if self._gateway is not None and wanted.host == DiscordWebSocket.DEFAULT_GATEWAY.host:
            wanted = self._gateway.update_query(wanted.query)
        self._socket = await super().ws_connect(str(wanted), compress=compress)
        return self._socket

    async def hang_up(self) -> None:
        if self._socket is not None and not self._socket.closed:
            await self._socket.close(code=1000)

    def wait_for_capacity(self, route: Route) -> float:
        known = self._bucket_hashes.get(route.key, route.key)
        bucket = self._buckets.get(f"{known}:{route.major_parameters}")
        if bucket is None or bucket.expires is None or bucket.limit <= 1:
            return 0.0
        left = bucket.expires - asyncio.get_running_loop().time()
        return max(left, 0.0) if bucket.remaining <= 1 else 0.0


class LibraryClient(discord.Client):
    def __init__(
        self,
        api_url: str,
        pause: Pause,
        silence: float,
        rate_limit: GlobalRateLimit,
        shard: Shard | None,
        turn: Turn,
    ) -> None:
        self._api_url = api_url
        self._rate_limit = rate_limit
        self._turn = turn
        self.on_event: OnEvent | None = None
        self.on_lost: Callable[[], None] | None = None
        self._pause = pause
        # Voice is not used: no warnings about its libraries at each start.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=intents(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            heartbeat_timeout=silence,
            member_cache_flags=discord.MemberCacheFlags.none(),
            shard_id=shard.number if shard else None,
            shard_count=shard.count if shard else None,
        )
        state = [(self._connection, name) for name in ("user", "application_id", "parsers")]
        check_version([*state, *((self.own_http, name) for name in ("_buckets", "_bucket_hashes", "_global_over"))])

    async def login(self, token: str) -> None:
        """Like the library's, without requiring fields that are not used here."""
        await self.__aenter__()
        described: object = await self.own_http.static_login(token.strip())
        if not isinstance(described, dict) or not described.get("id"):
            raise ConnectionError("the answer does not say who the bot is")
        named = {"username": "", "discriminator": "0", "avatar": None} | described
        self._connection.user = discord.ClientUser(state=self._connection, data=named)  # type: ignore[arg-type]
        self._connection.application_id = await self._find_application() or self._connection.user.id

    async def _find_application(self) -> int:
        """The application's id; 0 if unavailable. It is usually the bot's."""
        try:
            async with asyncio.timeout(OPTIONAL_TIMEOUT):
                answer: object = await self.own_http.request(Route("GET", "/oauth2/applications/@me"))
        except CALL_FAILED as error:
            log.warning("application id unavailable from Discord: %s", redacted(error))
            return 0
        application_id = get(answer, "id", str) if isinstance(answer, dict) else None
        return int(application_id) if application_id and application_id.isdecimal() else 0

    async def connect(self, **_: Any) -> None:
        """Like the library's, without its long waits, over our socket. Raises connection errors."""
        known: dict[str, Any] = {}
        while True:
            try:
                if known.get("resume"):
                    ws = await self._open_socket(known)
                else:
                    async with self._turn():
                        ws = await self._open_socket(known)
                self.ws = ws
                known = {"resume": False}
                while True:
                    await ws.poll_event()
            except ReconnectWebSocket as again:
                self.dispatch("disconnect")
                if self.ws is None:
                    raise ConnectionError("Discord closed the connection at once") from None
                known = {"resume": again.resume, "session": self.ws.session_id, "sequence": self.ws.sequence}
                known |= {"gateway": self.ws.gateway} if again.resume else {}
            except (OSError, discord.DiscordException, aiohttp.ClientError):
                self.dispatch("disconnect")
                raise

    async def _open_socket(self, known: Mapping[str, Any]) -> Socket:
        opening = Socket.from_client(self, initial=not known, shard_id=self.shard_id, **known)
        return await asyncio.wait_for(opening, CONNECT_TIMEOUT)

    def _get_state(self, **options: Any) -> ConnectionState[Any]:
        """Called by the library's constructor."""
        self.own_http = DiscordHttp(self, self._api_url, self._pause, self._rate_limit)
        self.http = self.own_http
        state: ConnectionState[Any] = super()._get_state(**options)
        state.parsers = {name: self._parser(name) for name in EVENTS}
        return state

    def _parser(self, name: str) -> Callable[[Any], None]:
        def parse(data: Any) -> None:
            if self.on_event and isinstance(data, Mapping):
                self.on_event(name, data)
            else:
                log.warning("Discord sent %s without data", name)

        return parse

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        if event == "disconnect" and self.on_lost:
            self.on_lost()

    async def close(self) -> None:
        """Called by the library without a gateway. Sending works until `aclose`."""
        if self.ws is not None and self.ws.open:
            await self.ws.close(code=1000)
        await self.own_http.hang_up()

    async def aclose(self) -> None:
        await self.close()
        await super().close()
