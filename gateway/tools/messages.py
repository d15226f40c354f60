"""`send_message`: a message or files, to this chat or another that the conversation may write to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from agent.clock import utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.formats.untrusted import label
from agent.memory.files import decoded, inside, read_bytes, sha_of
from agent.memory.paths import FileError
from agent.memory.private_lines import private_line
from agent.memory.scope import Scope
from agent.silence import deliverable_text
from agent.tools.base import GONE, Effect, EffectKind, Tool, ToolError, ToolResult
from agent.tools.foreign_text import foreign, unique
from agent.tools.schema import Arguments, OneOrSeveral, Text, checked, keyed, spec
from channels.message import Address, OutboundFile
from gateway.kernel import Kernel
from gateway.policy.recipients import ChatDirectory, RecipientRefused, Recipients
from gateway.policy.sessions import SessionRoute, is_same_audience
from gateway.store import chat_rows, outbox_rows
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Delivery
from gateway.turns.user_message import user_message_id

MOST_FILES = 10
_LARGEST = 100_000_000
"""Bytes; no platform takes a larger file."""
_DISK = "Nothing was sent: the disk takes no more writing. Tell the person."
_WAS_SENT = "Interrupted by a restart of the assistant, but the message was sent. Do not send it again."
_NOT_YET_SENT = "Interrupted by a restart of the assistant. The message is on its way: do not send it again."
_NOT_DELIVERED = "Interrupted by a restart of the assistant. The message could not be delivered: {why}"
_WAS_NOT_SENT = "Interrupted by a restart of the assistant before the message was sent. Send it again if it is wanted."


class _SendMessage(Arguments):
    text: str
    to: Annotated[Text | None, Field(description="chat address or a person's name; default this chat")] = None
    files: Annotated[OneOrSeveral, Field(description="paths in this conversation's folder")] = ()


class MessageTools:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tool, but for a job or a task: its answer is what it sends."""
        if row.message.due is not None or row.message.is_task:
            return ()
        route = self._kernel.sessions.of_row(row)
        turn = f"send:{route.session}:{row.turn or user_message_id(row.message)}"

        async def send(arguments: _SendMessage, key: str) -> ToolResult:
            return ToolResult(await self._send(row, route, arguments, key))

        async def outcome(call: str) -> ToolResult:
            return ToolResult(_outcome(await self._kernel.database.run(outbox_rows.delivery, f"{turn}:{call}")))

        async def effect(arguments: _SendMessage) -> Effect | None:
            return await self._effect(row, route, arguments)

        about = "Send a message, now, besides your answer. Not for the answer itself."
        return (
            Tool(
                spec("send_message", about, _SendMessage),
                keyed(_SendMessage, turn, send),
                outcome=outcome,
                effect=checked(_SendMessage, effect),
            ),
        )

    async def _effect(self, row: InboxRow, route: SessionRoute, arguments: _SendMessage) -> Effect | None:
        """The effect of a call that sends to another audience; None for this audience. Raises `ToolError`."""
        words, paths = arguments.text, arguments.files
        known = await self._kernel.database.run(chat_rows.known)
        addressing = Recipients(self._kernel.access, self._kernel.channels, known, row.message, route)
        try:
            to = addressing.find(arguments.to or "")
            if to == row.message.address:
                return None
            chat = ChatDirectory(self._kernel.access, known).at(to)
            if chat is not None and is_same_audience(self._kernel.sessions.in_chat(chat).scope, route.scope):
                return None
            shas = [await asyncio.to_thread(_content, route.scope, path) for path in paths]
        except RecipientRefused as error:
            raise _not_addressable(error) from error
        except FileError as error:
            raise ToolError(str(error)) from error
        title = label(chat.title) if chat is not None else ""
        told = "\n".join([words, *(data for _, data in shas)])
        return Effect(
            EffectKind.SEND,
            " ".join(filter(None, [title, f"({to})"])),
            "\n".join(filter(None, [words, *(f"[{path}]" for path in paths)])),
            private=await asyncio.to_thread(private_line, route.scope, told),
            before=" ".join(sha for sha, _ in shas),
        )

    async def _send(self, row: InboxRow, route: SessionRoute, arguments: _SendMessage, key: str) -> str:
        words, paths = deliverable_text(arguments.text), arguments.files
        if not words and not paths:
            raise ToolError("there is nothing to send: text is empty and there are no files")
        if len(paths) > MOST_FILES:
            raise ToolError(f"at most {MOST_FILES} files can go with a message")
        try:
            known = await self._kernel.database.run(chat_rows.known)
            to = Recipients(self._kernel.access, self._kernel.channels, known, row.message, route).find(
                arguments.to or ""
            )
            files = await self._kept(route.scope, paths, to)
            await self._kernel.outbox.cut(to, words)
            drafts = self._kernel.outbox.drafts(f"{key}:{{}}", to, words, files=files)
            is_new = await self._kernel.database.run(outbox_rows.add_once, drafts, utc_stamp(self._kernel.clock.now()))
        except RecipientRefused as error:
            raise _not_addressable(error) from error
        except FileError as error:
            raise ToolError(str(error)) from error
        except StorageUnavailable as error:
            raise ToolError(_DISK) from error
        if not is_new:
            return "This very call has sent its message before; it was not sent twice."
        self._kernel.outbox.wake(drafts)
        sent = [part for part in ("the message" if words else "", *(file.name for file in files)) if part]
        return f"Sent to {'this chat' if to == row.message.address else to}: {', '.join(sent)}."

    async def _kept(self, scope: Scope, paths: Sequence[str], to: Address) -> list[OutboundFile]:
        if not paths:
            return []
        most = self._kernel.channels[to.channel].capabilities(to).largest_file
        if most == 0:
            raise ToolError(f"files cannot be sent to {to}: {to.channel} takes none; say where the file is")
        return [await asyncio.to_thread(self._kernel.outgoing.keep, scope, path, most) for path in paths]


def _content(scope: Scope, path: str) -> tuple[str, str]:
    """A digest of a file's bytes, and its text. Blocks. Raises `FileError`."""
    data = read_bytes(inside(scope, path), scope.folder, _LARGEST)
    return (GONE, "") if data is None else (sha_of(data), decoded(data))


def _not_addressable(error: RecipientRefused) -> ToolError:
    return ToolError(str(error), unique(foreign("the name of a chat", name) for name in error.names))


def _outcome(delivery: Delivery) -> str:
    if delivery.failed:
        return _NOT_DELIVERED.format(why=delivery.error)
    if delivery.waiting:
        return _NOT_YET_SENT
    return _WAS_SENT if delivery.sent else _WAS_NOT_SENT
