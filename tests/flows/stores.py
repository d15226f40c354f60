"""Where the messages of a story's home are: SQLite, or a PostgreSQL database of its own on the server of the tests.

`tests/flows/conftest.py` chooses; who writes a config.yaml lays `settings_of` the home over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import yaml

from gateway.home import Home
from gateway.store.connection import Connection, Engine, reading
from gateway.store.database import SqliteEngine
from gateway.store.moving import copy_out
from gateway.store.postgres import PostgresEngine
from tests.fakes.postgres import PostgresServer

STORES = ("sqlite", "postgresql")

_server: PostgresServer | None = None
_urls: dict[Path, str] = {}


@contextmanager
def kept_in(server: PostgresServer | None) -> Iterator[None]:
    """Homes that are set up meanwhile get a database each, which is dropped in the end; None: SQLite."""
    global _server
    _server = server
    try:
        yield
    finally:
        _server = None
        if server is not None:
            for url in _urls.values():
                server.drop(url)
        _urls.clear()


def settings_of(home: Path) -> dict[str, object]:
    """What config.yaml of a home says of the store."""
    if _server is None:
        return {}
    if home not in _urls:
        _urls[home] = _server.new_database()
    return {"database_url": _urls[home]}


def rows(home: Path, query: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
    """What is stored, read beside the gateway; nothing before its first start."""
    with reading(Home(home).database, _url(home)) as connection:
        return [] if connection is None else [tuple(row) for row in connection.execute(query, parameters)]


@contextmanager
def writing(home: Path) -> Iterator[Connection]:
    """One transaction of our own on what a gateway has stored."""
    engine: Engine = SqliteEngine(Home(home).database) if (url := _url(home)) is None else PostgresEngine(url)
    with closing(engine):
        engine.connection.execute(engine.begin)
        yield engine.connection
        engine.connection.execute("COMMIT")


def holds(home: Path, word: bytes, folder: Path) -> bool:
    """True if the bytes of the store hold a word in small letters; of PostgreSQL, what a copy in `folder` holds."""
    if (url := _url(home)) is None:
        files = list(Home(home).state.glob("daybook.db*"))
    else:
        files = [folder / "copy.db"]
        files[0].unlink(missing_ok=True)
        copy_out(url, files[0])
    return any(word in file.read_bytes().lower() for file in files)


def _url(home: Path) -> str | None:
    url = yaml.safe_load((home / "config.yaml").read_text("utf-8")).get("database_url")
    return str(url) if url else None
