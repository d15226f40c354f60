"""`make_image`: a picture from words, kept in the scope's folder and sent to this chat."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field

from agent.clock import utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.media.reader import Reader
from agent.media.sniff import HEAD, Kind, Unreadable, sniffed
from agent.media.store import Store
from agent.memory import files
from agent.memory.files import sha_of
from agent.memory.paths import FileError, inside
from agent.memory.scope import Scope
from agent.model.base import Usage, UsageRecord
from agent.tools.base import Effect, EffectKind, Outgoing, Tool, ToolError, ToolResult
from agent.tools.schema import Arguments, Text, checked, keyed, spec
from gateway.features.pictures.painter import DrawnPicture, NotDrawn, Painter
from gateway.kernel import Kernel
from gateway.policy.sessions import SessionRoute
from gateway.store import outbox_rows
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Draft
from gateway.turns.user_message import user_message_id

FOLDER = "pictures"
PURPOSE = "image"
_SHOWN = frozenset({"png", "jpg", "webp", "gif"})
_ABOUT = "Make a picture from words; it is sent to this chat and kept as a file. Once for each picture that is wanted."
_DISK = "The picture was not sent: the disk takes no more writing. Tell the person."
_SENT = "Interrupted by a restart of the assistant, but the picture was made and is on its way. Do not make it again."
_NOT_SENT = "Interrupted by a restart of the assistant before the picture was made. Make it again if it is wanted."


class _MakeImage(Arguments):
    prompt: Annotated[Text, Field(description="what it shows, and how it looks")]


class PictureTools:
    """The tool for pictures."""

    def __init__(self, kernel: Kernel, painter: Painter) -> None:
        self._painter = painter
        self._reader = Reader(kernel.config.media.max_chars, kernel.config.media.max_pages)
        self._store = Store(kernel.home.state)
        self._kernel = kernel

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tool, but for a job: its answer is what it sends."""
        if row.message.due is not None or row.message.is_task:
            return ()
        painter = self._painter
        route = self._kernel.sessions.of_row(row)
        turn = f"image:{route.session}:{row.turn or user_message_id(row.message)}"

        async def make(arguments: _MakeImage, key: str) -> ToolResult:
            return ToolResult(await self._make(painter, row, route, arguments, key))

        async def outcome(call: str) -> ToolResult:
            is_known = await self._kernel.database.run(outbox_rows.is_known, f"{turn}:{call}:0")
            return ToolResult(_SENT if is_known else _NOT_SENT)

        async def effect(arguments: _MakeImage) -> Effect | None:
            return Effect(EffectKind.DRAW, painter.host, arguments.prompt, outgoing=Outgoing(painter.host))

        return (
            Tool(
                spec("make_image", _ABOUT, _MakeImage),
                keyed(_MakeImage, turn, make),
                outcome=outcome,
                effect=checked(_MakeImage, effect),
            ),
        )

    async def _make(self, painter: Painter, row: InboxRow, route: SessionRoute, arguments: _MakeImage, key: str) -> str:
        try:
            if await self._kernel.database.run(outbox_rows.is_known, f"{key}:0"):
                return "This very call has made its picture before; it was not made twice."
            picture = await painter.draw(arguments.prompt)
            self._count(painter, picture, route)
            path = await self._kept(route.scope, picture.content)
            return await self._sent(row, route.scope, path, key)
        except (NotDrawn, Unreadable) as problem:
            raise ToolError(f"no picture was made: {problem}. Tell the person") from problem
        except StorageUnavailable as error:
            raise ToolError(_DISK) from error
        except (FileError, OSError) as error:
            raise ToolError(f"the picture was made, but not kept: {error}") from error

    def _count(self, painter: Painter, picture: DrawnPicture, route: SessionRoute) -> None:
        if picture.cost is not None or picture.output:
            usage = Usage(input=picture.input, output=picture.output)
            self._kernel.ledger.record(UsageRecord(painter.model, PURPOSE, str(route.session), usage, picture.cost))

    async def _kept(self, scope: Scope, content: bytes) -> str:
        """The path of a picture that can be opened. Raises `Unreadable`, `FileError`, `OSError`."""
        kind, ending = sniffed(content[:HEAD])
        if kind is not Kind.PICTURE or ending not in _SHOWN:
            raise Unreadable(f"what came is no picture but a {kind}")
        with self._store.scratch() as file, self._store.scratch() as opened:
            await asyncio.to_thread(file.write_bytes, content)
            await self._reader.picture(file, opened)
        path = f"{FOLDER}/{self._kernel.clock.now():%Y-%m-%d-%H%M}-{sha_of(content)[:8]}.{ending}"
        await asyncio.to_thread(files.add, inside(scope, path), scope.folder, content)
        return path

    async def _sent(self, row: InboxRow, scope: Scope, path: str, key: str) -> str:
        to = row.message.address
        most = self._kernel.channels[to.channel].capabilities(to).largest_file
        if most == 0:
            return f"Made and kept as {path}. This chat shows no files: say where it is."
        file = await asyncio.to_thread(self._kernel.outgoing.keep, scope, path, most)
        drafts = [Draft(f"{key}:0", to, "", file=file)]
        await self._kernel.database.run(outbox_rows.add, drafts, utc_stamp(self._kernel.clock.now()))
        self._kernel.outbox.wake(drafts)
        return f"Made, sent to this chat, and kept as {path}."
