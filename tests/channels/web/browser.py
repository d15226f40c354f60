"""A browser with the page open, as the server sees it: what it sends, and what stands in the chat by what it was told.

It keeps what `static/chat.js` keeps (messages by id, drafts by turn), so a message that came twice would stand twice
here only if it had two ids."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import aiohttp

T = TypeVar("T")
PATIENCE = 120.0
"""Seconds for what has to come."""


class Tab:
    """One open page. `frames` has all that came, in order."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.frames: list[dict[str, Any]] = []
        self.closed = asyncio.Event()
        self._changed = asyncio.Condition()

    async def listen(self) -> None:
        async for message in self.socket:
            async with self._changed:
                self.frames.append(message.json())
                self._changed.notify_all()
        async with self._changed:
            self.closed.set()
            self._changed.notify_all()

    async def until(self, found: Callable[[], T]) -> T:
        """Wait until something is true of what was shown."""
        async with asyncio.timeout(PATIENCE), self._changed:
            while not (it := found()):
                if self.closed.is_set():
                    raise ConnectionError(f"closed with {self.socket.close_code}; shown: {self.frames}")
                await self._changed.wait()
        return it

    async def gone(self) -> int | None:
        """Wait for the end; the code it was closed with."""
        async with asyncio.timeout(PATIENCE):
            await self.closed.wait()
        return self.socket.close_code

    # what a person does

    async def say(self, text: str, *files: dict[str, str], id: str = "") -> str:
        identity = id or uuid.uuid4().hex
        await self.socket.send_json({"type": "say", "id": identity, "text": text, "files": list(files)})
        return identity

    async def press(self, label: str) -> str:
        """The newest button of that label."""
        for message in reversed(self.messages):
            for button in (one for row in message["buttons"] for one in row):
                if button["label"] == label:
                    identity = uuid.uuid4().hex
                    frame = {"type": "press", "id": identity, "message": message["id"], "data": button["data"]}
                    await self.socket.send_json(frame)
                    return identity
        raise AssertionError(f"there is no button {label!r}")

    # what a person sees

    @property
    def messages(self) -> list[dict[str, Any]]:
        """As they read now, in order."""
        stands: dict[str, dict[str, Any]] = {}
        for frame in self.frames:
            for one in frame["messages"] if frame["type"] in ("opened", "older") else [frame]:
                if "number" in one:
                    stands[one["id"]] = {name: value for name, value in one.items() if name != "type"}
        return sorted(stands.values(), key=lambda one: int(one["number"]))

    @property
    def said(self) -> list[str]:
        return [one["text"] for one in self.messages if one["by"] == "person"]

    @property
    def heard(self) -> list[str]:
        """HTML of what Daybook has said."""
        return [one["html"] for one in self.messages if one["by"] == "daybook"]

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [frame for frame in self.frames if frame["type"] == kind]

    async def hears(self, part: str) -> dict[str, Any]:
        return await self.until(
            lambda: next((one for one in self.messages if one["by"] == "daybook" and part in one["html"]), None)
        )

    async def told(self, kind: str, id: str) -> dict[str, Any]:
        """The answer to something said: `kept` or `refused`."""
        return await self.until(lambda: next((one for one in self.of_type(kind) if one["id"] == id), None))


class Browser:
    """One cookie jar and one page key at one address."""

    def __init__(self, address: str, http: aiohttp.ClientSession) -> None:
        self.address = address
        self.http = http
        self.key = ""

    async def log_in(self, token: str) -> int:
        return await self._enter({"token": token})

    async def follow(self, secret: str) -> int:
        """Opens a link that logs in."""
        return await self._enter({"once": secret})

    async def _enter(self, shown: dict[str, str]) -> int:
        async with self.post("/login", json=shown) as answer:
            if answer.status == 200:
                self.key = (await answer.json())["key"]
            return answer.status

    def get(self, path: str, *, headers: dict[str, str] | None = None, **more: Any) -> Any:
        return self.http.get(self.address + path, headers=self._keyed(headers or {}), **more)

    def post(self, path: str, *, headers: dict[str, str] | None = None, **more: Any) -> Any:
        headers = {"Origin": self.address} if headers is None else headers
        return self.http.post(self.address + path, headers=self._keyed(headers), **more)

    def _keyed(self, headers: dict[str, str]) -> dict[str, str]:
        return {"Daybook-Page-Key": self.key, **headers} if self.key else headers

    async def path_of(self, url: str) -> str:
        """The signed path of a message's file."""
        async with self.get(url) as answer:
            assert answer.status == 200, await answer.text()
            return str((await answer.json())["path"])

    async def upload(self, content: bytes, name: str, media_type: str = "") -> dict[str, str]:
        """What `say` names it by."""
        async with self.post("/files", data=content) as answer:
            assert answer.status == 200, await answer.text()
            return {"handle": (await answer.json())["handle"], "name": name, "media_type": media_type}

    async def connect(self, **headers: str) -> aiohttp.ClientWebSocketResponse:
        return await self.http.ws_connect(
            f"{self.address}/ws", headers={"Origin": self.address, **headers}, max_msg_size=0
        )

    async def enter(self, chat: str = "main") -> aiohttp.ClientWebSocketResponse:
        """A socket that has sent its first frame."""
        socket = await self.connect()
        await socket.send_json({"type": "open", "chat": chat, "key": self.key})
        return socket

    @contextlib.asynccontextmanager
    async def opened(self, chat: str = "main") -> AsyncIterator[Tab]:
        """The page, open and up to date."""
        async with await self.enter(chat) as socket:
            tab = Tab(socket)
            listening = asyncio.create_task(tab.listen())
            try:
                await tab.until(lambda: tab.of_type("opened"))
                yield tab
            finally:
                await socket.close()
                await asyncio.wait({listening}, timeout=PATIENCE)


@contextlib.asynccontextmanager
async def browser(address: str, token: str = "") -> AsyncIterator[Browser]:
    """With a token it is logged in."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        one = Browser(address, http)
        if token:
            assert await one.log_in(token) == 200
        yield one
