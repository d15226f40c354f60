"""HTTP connections to the Bot API for python-telegram-bot, all through aiohttp.

The library's own client takes four times the CPU time.

`do_api_request` returns raw results, which the library's types might refuse; its warning about methods of that name is
off.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import math
import warnings
from dataclasses import dataclass

import aiohttp
from telegram import Bot
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData
from telegram.warnings import PTBUserWarning

from channels.json_fields import load_json
from channels.network import WrongVariable, certificates_problem, proxy_for, tls

warnings.filterwarnings("ignore", "Please use 'Bot", PTBUserWarning)
logging.getLogger("telegram.request.BaseRequest").setLevel(logging.CRITICAL)  # logs proxies' whole pages

_KEPT_IDLE = 5.0
"""Seconds that an idle connection is kept."""
_CONNECT_WITHIN = 10.0
"""Seconds for a new connection."""
_LONGEST_REFUSAL = 4096
"""Bytes; a longer answer is not checked for a refusal."""
_UNNAMED_WAIT, _LONGEST_WAIT = 3, 86_400
"""Seconds to wait after a 429 that names none, and the longest wait accepted."""
_SENDS = frozenset(("sendMessage", "sendPhoto", "sendDocument", "sendVoice", "sendAudio"))


class NeverSent(NetworkError):
    """The call certainly did not reach Telegram."""


class AiohttpRequest(BaseRequest):
    """A call that gets no connection within `free_within` seconds is known to be unsent. `read_timeout`: seconds of
    silence."""

    def __init__(self, base_url: str, *, read_timeout: float, connections: int, free_within: float) -> None:
        self._base_url = base_url
        self._read_timeout = read_timeout
        self._connections = connections
        self._free = asyncio.Semaphore(connections)
        self._free_within = free_within
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float:
        return self._read_timeout

    async def initialize(self) -> None: ...

    async def shutdown(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: object = BaseRequest.DEFAULT_NONE,
        *_: object,
        **__: object,
    ) -> tuple[int, bytes]:
        """The status, and an answer that the library can read. Other timeouts than `read_timeout` are the connection's
        own. Raises `NeverSent`, `TimedOut`, `NetworkError`."""
        try:
            async with asyncio.timeout(self._free_within):
                await self._free.acquire()
        except TimeoutError:
            raise NeverSent("all connections are in use") from None
        try:
            silence = read_timeout if isinstance(read_timeout, int | float) else self._read_timeout
            status, payload = await self._exchange(url, method, request_data, silence)
        finally:
            self._free.release()
        return _readable(url.rpartition("/")[2], status, payload)

    async def _exchange(
        self, url: str, method: str, request_data: RequestData | None, silence: float
    ) -> tuple[int, bytes]:
        if self._session is None:
            self._session = open_session(self._connections)
        timeout = aiohttp.ClientTimeout(sock_connect=_CONNECT_WITHIN, sock_read=silence)
        try:
            async with self._session.request(
                method,
                url,
                data=_form(request_data),
                timeout=timeout,
                allow_redirects=False,
                proxy=proxy_for(self._base_url),
            ) as answer:
                return answer.status, await answer.read()
        except WrongVariable as error:
            raise NeverSent(str(error)) from error
        except aiohttp.ClientConnectorCertificateError as error:
            raise NeverSent(f"{error}.{certificates_problem()}") from error
        except aiohttp.ConnectionTimeoutError as error:
            raise NeverSent(f"no connection within {_CONNECT_WITHIN:g} s") from error
        except TimeoutError as error:
            raise TimedOut from error
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.InvalidURL) as error:
            raise NeverSent(f"{type(error).__name__}: {error}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise NetworkError(f"{type(error).__name__}: {error}") from error


def _form(request_data: RequestData | None) -> aiohttp.FormData | None:
    if request_data is None:
        return None
    form = aiohttp.FormData(request_data.json_parameters, quote_fields=False)
    for name, (file_name, content, media_type) in request_data.multipart_data.items():
        body = io.BytesIO(content) if isinstance(content, bytes) else content
        form.add_field(name, body, filename=file_name, content_type=media_type)
    return form


def _readable(endpoint: str, status: int, payload: bytes) -> tuple[int, bytes]:
    """The library looks at the HTTP status only, and takes complete objects only."""
    if status == 429:
        return status, _with_wait(payload)
    is_success = 200 <= status <= 299
    if is_success and (endpoint in _SENDS or endpoint in ("editMessageText", "getMe")):
        body = _object(payload)
        if body.get("ok") is True and isinstance(result := body.get("result"), dict):
            return status, json.dumps({"ok": True, "result": _completed(endpoint, result)}).encode()
    if not is_success or len(payload) > _LONGEST_REFUSAL or not (body := _object(payload)):
        return status, payload
    named = body.get("error_code")
    is_refusal = body.get("ok") is False and isinstance(named, int) and not 200 <= named <= 299
    return (named if is_refusal and isinstance(named, int) else status), payload


def _completed(endpoint: str, result: dict[str, object]) -> object:
    """The part that is used, with what the library requires and servers may leave out. Raises `NetworkError` without a
    message's id."""
    if endpoint in _SENDS:
        try:
            return {"message_id": int(str(result["message_id"])), "date": 0, "chat": {"id": 0, "type": "private"}}
        except (KeyError, ValueError) as odd:
            raise NetworkError("the answer does not name the message") from odd
    if endpoint == "editMessageText":
        return True
    return {"is_bot": True, "first_name": "", **result}


def _with_wait(payload: bytes) -> bytes:
    """Names a wait, without which the library assumes a server error."""
    body = _object(payload)
    parameters = body.get("parameters")
    wait = parameters.get("retry_after") if isinstance(parameters, dict) else None
    seconds = math.ceil(wait) if isinstance(wait, int | float) and 0 < wait < _LONGEST_WAIT else _UNNAMED_WAIT
    return json.dumps({**body, "parameters": {"retry_after": seconds}}).encode()


def _object(payload: bytes) -> dict[str, object]:
    try:
        body = load_json(payload)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


@dataclass(frozen=True, slots=True)
class BotConnection:
    """Close it with `aclose`."""

    bot: Bot
    request: AiohttpRequest

    async def aclose(self) -> None:
        await self.request.shutdown()


def connect(
    token: str, base_url: str, *, read_timeout: float, connections: int, free_within: float = 10.0
) -> BotConnection:
    request = AiohttpRequest(base_url, read_timeout=read_timeout, connections=connections, free_within=free_within)
    return BotConnection(Bot(token, base_url=base_url, request=request, get_updates_request=request), request)


def open_session(connections: int) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections, ssl=tls(strict=False), keepalive_timeout=_KEPT_IDLE),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": BaseRequest.USER_AGENT},
    )
