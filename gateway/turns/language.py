"""The language of a sentence that does not wait for the disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from gateway.store.connection import Connection
from gateway.store.database import Database

P = ParamSpec("P")


async def language_now(
    database: Database, read: Callable[Concatenate[Connection, P], Language], *given: P.args, **named: P.kwargs
) -> Language:
    """As `read` finds it (of `chat_rows`); English where nothing can be read."""
    try:
        return await database.run(read, *given, **named)
    except StorageUnavailable:
        return Language.ENGLISH
