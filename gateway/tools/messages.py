"""`send_message`: a message or files, to this chat or another that the conversation may write to."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import Mapping, Sequence

from agent.clock import Clock, utc_stamp
from agent.formats.untrusted import label
from agent.memory.files import decoded, inside, read_bytes, sha_of
from agent.memory.paths import FileError
from agent.memory.private_lines import private_line
from agent.memory.scope import Scope
from agent.silence import deliverable_text
from agent.tools import schema
from agent.tools.arguments import text, texts
from agent.tools.base import GONE, Arguments, Effect, EffectKind, Once, Tool, ToolError, ToolResult
from agent.tools.foreign_text import foreign, unique
from channels.message import Address, Channel, OutboundFile
from gateway.messages.outbound_files import OutboundFiles
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access
from gateway.policy.recipients import ChatDirectory, RecipientRefused, Recipients
from gateway.policy.sessions import SessionPolicy, SessionRoute, is_same_audience
from gateway.store import chat_rows, outbox_rows
from gateway.store.database import Database, StoreUnavailable
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Draft
from gateway.turns.user_message import user_message_id

MOST_FILES = 10
_LARGEST = 100_000_000
"""Bytes; no platform takes more."""
_SPEC = schema.spec(
    "send_message",
    "Send a message, now, besides your answer. Not for the answer itself.",
    {"text": schema.string(may_be_empty=True)},
    {
        "to": schema.string("chat address or a person's name; default this chat"),
        "files": schema.one_or_several("paths in this conversation's folder"),
    },
)
_DISK = "Nothing was sent: the disk takes no more writing. Tell the person."
_WAS_SENT = "Interrupted by a restart of the assistant, but the message was sent. Do not send it again."
_WAS_NOT_SENT = "Interrupted by a restart of the assistant before the message was sent. Send it again if it is wanted."


class MessageTools:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        access: Access,
        sessions: SessionPolicy,
        outbox: Outbox,
        outgoing: OutboundFiles,
        channels: Mapping[str, Channel],
    ) -> None:
        self._database = database
        self._clock = clock
        self._access = access
        self._sessions = sessions
        self._outbox = outbox
        self._outgoing = outgoing
        self._channels = channels

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tool for the conversation of that message."""
        conversation = self._sessions.of_row(row)
        turn = f"send:{conversation.session}:{row.turn or user_message_id(row.message)}"

        async def send(arguments: Arguments, call: str) -> ToolResult:
            return ToolResult(await self._send(row, conversation, arguments, f"{turn}:{call}"))

        async def send_unnamed(arguments: Arguments) -> ToolResult:
            return await send(arguments, secrets.token_hex(8))

        async def fate(call: str) -> str:
            is_known = await self._database.run(outbox_rows.is_known, f"{turn}:{call}:0")
            return _WAS_SENT if is_known else _WAS_NOT_SENT

        async def effect(arguments: Arguments) -> Effect | None:
            return await self._effect(row, conversation, arguments)

        return (Tool(_SPEC, send_unnamed, once=Once(send, fate), effect=effect),)

    async def _effect(self, row: InboxRow, conversation: SessionRoute, arguments: Arguments) -> Effect | None:
        """What the call sends to another audience than this chat's, if anything. Raises `ToolError`."""
        words, paths = text(arguments, "text"), texts(arguments, "files")
        known = await self._database.run(chat_rows.known)
        addressing = Recipients(self._access, self._channels, known, row.message, conversation)
        try:
            to = addressing.find(text(arguments, "to"))
            if to == row.message.address:
                return None
            chat = ChatDirectory(self._access, known).at(to)
            if chat is not None and is_same_audience(self._sessions.in_chat(chat).scope, conversation.scope):
                return None
            shas = [await asyncio.to_thread(_content, conversation.scope, path) for path in paths]
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
            private=await asyncio.to_thread(private_line, conversation.scope, told),
            before=" ".join(sha for sha, _ in shas),
        )

    async def _send(self, row: InboxRow, conversation: SessionRoute, arguments: Arguments, key: str) -> str:
        words, paths = deliverable_text(text(arguments, "text")), texts(arguments, "files")
        if not words and not paths:
            raise ToolError("there is nothing to send: text is empty and there are no files")
        if len(paths) > MOST_FILES:
            raise ToolError(f"at most {MOST_FILES} files can go with a message")
        try:
            known = await self._database.run(chat_rows.known)
            to = Recipients(self._access, self._channels, known, row.message, conversation).find(text(arguments, "to"))
            files = await self._kept(conversation.scope, paths, to)
            await self._outbox.cut(to, words)
            drafts = self._outbox.drafts(f"{key}:{{}}", to, words, files=files)
            is_new = await self._database.run(_write_once, drafts, utc_stamp(self._clock.now()))
        except RecipientRefused as error:
            raise _not_addressable(error) from error
        except FileError as error:
            raise ToolError(str(error)) from error
        except StoreUnavailable as error:
            raise ToolError(_DISK) from error
        if not is_new:
            return "This very call has sent its message before; it was not sent twice."
        self._outbox.wake(drafts)
        sent = [one for one in ("the message" if words else "", *(file.name for file in files)) if one]
        return f"Sent to {'this chat' if to == row.message.address else to}: {', '.join(sent)}."

    async def _kept(self, scope: Scope, paths: Sequence[str], to: Address) -> list[OutboundFile]:
        if not paths:
            return []
        most = self._channels[to.channel].largest_file(to)
        if most == 0:
            raise ToolError(f"files cannot be sent to {to}: {to.channel} takes none; say where the file is")
        return [await asyncio.to_thread(self._outgoing.keep, scope, path, most) for path in paths]


def _content(scope: Scope, path: str) -> tuple[str, str]:
    """A digest of a file's bytes, and its text. Blocks. Raises `FileError`."""
    data = read_bytes(inside(scope, path), scope.folder, _LARGEST)
    return (GONE, "") if data is None else (sha_of(data), decoded(data))


def _not_addressable(error: RecipientRefused) -> ToolError:
    return ToolError(str(error), unique(foreign("the name of a chat", name) for name in error.names))


def _write_once(connection: sqlite3.Connection, drafts: Sequence[Draft], at: str) -> bool:
    """Writes the drafts; returns False where a message of that key exists."""
    if outbox_rows.is_known(connection, drafts[0].key):
        return False
    outbox_rows.add(connection, drafts, at)
    return True
