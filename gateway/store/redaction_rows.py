"""Every column with text of chats: forgotten text is redacted there, and can be restored.

Left alone are people's unanswered messages, and questions, which are gone within a day.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from channels.message import Address, InboundMessage, OutboundFile
from channels.web.record import NAME as WEB
from channels.web.record import ShownFile
from gateway.store.connection import Connection, Row

Strike = Callable[[str], str]
"""Gives a text without what is forgotten, or the same text."""

_MESSAGE = TypeAdapter(InboundMessage)
_FILE = TypeAdapter(OutboundFile)
_FILES = TypeAdapter(tuple[ShownFile, ...])
_PAGE = "web_message"

_NOT_A_PERSONS_OPEN = (
    "CASE state WHEN 'waiting' THEN json_extract(message, '$.task') IS NOT NULL ELSE state IN ('done', 'overheard') END"
)

Place = str | Address
"""Where words were said: a session, as it is written in the inbox, or a chat."""


@dataclass(frozen=True, slots=True)
class RedactedText:
    table: str
    column: str
    row: int
    before: str
    after: str


def _text(stored: str, strike: Strike) -> str:
    return strike(stored)


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column with text of chats."""

    table: str
    name: str
    which: str
    """The rows concerned."""
    without: Callable[[str, Strike], str] = _text
    """The field without what is forgotten."""
    by_session: bool = False
    """Its rows name a session, others a chat."""


@dataclass(frozen=True, slots=True)
class Field:
    column: TextColumn
    row: int
    place: Place
    stored: str


def _message(stored: str, strike: Strike) -> str:
    message = _MESSAGE.validate_json(stored)
    quote, task = message.quote, message.task
    changed = dataclasses.replace(
        message,
        text=strike(message.text),
        quote=dataclasses.replace(quote, text=strike(quote.text)) if quote else None,
        attachments=tuple(
            dataclasses.replace(attachment, name=strike(attachment.name), words=strike(attachment.words))
            for attachment in message.attachments
        ),
        task=dataclasses.replace(task, result_of=strike(task.result_of)) if task else None,
    )
    return stored if changed == message else _MESSAGE.dump_json(changed).decode()


def _file(stored: str, strike: Strike) -> str:
    file = _FILE.validate_json(stored)
    changed = dataclasses.replace(file, name=strike(file.name))
    return stored if changed == file else _FILE.dump_json(changed).decode()


def _files(stored: str, strike: Strike) -> str:
    files = _FILES.validate_json(stored)
    changed = tuple(dataclasses.replace(file, name=strike(file.name)) for file in files)
    return stored if changed == files else _FILES.dump_json(changed).decode()


COLUMNS = (
    TextColumn(_PAGE, "text", "text != ''"),
    TextColumn(_PAGE, "files", "files != '[]'", _files),
    TextColumn("inbox", "message", f"message != '' AND {_NOT_A_PERSONS_OPEN}", _message, by_session=True),
    TextColumn("outbox", "text", "text != ''"),
    TextColumn("outbox", "file", "file != ''", _file),
    TextColumn("run", "text", "text != '' AND channel != '' AND ended_at != ''"),
    TextColumn("outcome", "text", "text != ''", by_session=True),
)
"""The columns of the kernel."""


def fields(connection: Connection, columns: Iterable[TextColumn], *, on_page: bool = False) -> list[Field]:
    """All fields with text of chats; `on_page`: those that the page shows."""
    return [field for column in columns if column.table == _PAGE or not on_page for field in _read(connection, column)]


def struck(fields: Iterable[Field], strike: Strike) -> tuple[RedactedText, ...]:
    """The changes that remove what is forgotten. Slow for many fields."""
    found = ((field, field.column.without(field.stored, strike)) for field in fields)
    return tuple(
        RedactedText(field.column.table, field.column.name, field.row, field.stored, after)
        for field, after in found
        if after != field.stored
    )


def write(connection: Connection, changes: Iterable[RedactedText]) -> tuple[RedactedText, ...]:
    """Makes the changes, unless the text has changed since; returns those made."""
    return tuple(
        change
        for change in changes
        if connection.execute(
            f"UPDATE {change.table} SET {change.column} = ? WHERE rowid = ? AND {change.column} = ?",
            (change.after, change.row, change.before),
        ).rowcount
    )


def back(changes: Sequence[RedactedText]) -> list[RedactedText]:
    return [dataclasses.replace(change, before=change.after, after=change.before) for change in reversed(changes)]


def ids(connection: Connection, changes: Iterable[RedactedText]) -> frozenset[str]:
    """The ids of changed messages on the page."""
    rows = {change.row for change in changes if change.table == _PAGE}
    found = (connection.execute("SELECT id FROM web_message WHERE number = ?", (row,)).fetchone() for row in rows)
    return frozenset(row["id"] for row in found if row is not None)


def _read(connection: Connection, column: TextColumn) -> Iterator[Field]:
    query = f"SELECT rowid AS row_id, * FROM {column.table} WHERE {column.which}"
    for row in connection.execute(query):
        yield Field(column, row["row_id"], _place(row, column), row[column.name])


def _place(row: Row, column: TextColumn) -> Place:
    if column.by_session:
        return str(row["session"])
    if column.table == _PAGE:
        return Address(WEB, row["chat_id"])
    return Address(row["channel"], row["chat_id"], row["thread_id"], row["account"])
