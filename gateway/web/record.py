"""The messages of the web page's chats, in the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from agent.formats.sqlite import StorageUnavailable
from channels.web.record import Buttons, ChatEntry, NotRecorded
from gateway.store import web_rows
from gateway.store.connection import Connection
from gateway.store.database import Database

T = TypeVar("T")
P = ParamSpec("P")


class StoredChatRecord:
    """Implements `channels.web.record.ChatRecord`; the inbox writes the messages of people."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._watchers: list[Callable[[str], Awaitable[None]]] = []

    async def recent(self, chat: str, most: int, before: int | None = None) -> Sequence[ChatEntry]:
        return await self._run(web_rows.recent, chat, most, before)

    async def earlier(self, id: str) -> Sequence[ChatEntry]:
        return await self._run(web_rows.earlier, id)

    async def find(self, id: str) -> ChatEntry | None:
        return await self._run(web_rows.find, id)

    async def keep(self, entry: ChatEntry) -> ChatEntry:
        return await self._run(web_rows.keep, entry)

    async def change(self, id: str, text: str, buttons: Buttons) -> ChatEntry | None:
        return await self._run(web_rows.change, id, text, buttons)

    async def log_out(self, session: str, until: int) -> None:
        await self._run(web_rows.log_out, session, until)

    async def logged_out(self) -> frozenset[str]:
        return await self._run(web_rows.logged_out)

    async def handles(self) -> frozenset[str]:
        return await self._run(web_rows.handles)

    def watch(self, changed: Callable[[str], Awaitable[None]]) -> None:
        self._watchers.append(changed)

    async def changed(self, ids: Collection[str]) -> None:
        for id in ids:
            for watcher in self._watchers:
                await watcher(id)

    async def _run(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self._database.run(work, *args, **kwargs)
        except StorageUnavailable as error:
            raise NotRecorded(str(error)) from error
