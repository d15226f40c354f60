"""PostgreSQL behind the store: what it is refused for, and what is different there."""

from __future__ import annotations

import re
import threading

import psycopg
import pytest

from agent.formats.sqlite import StorageUnavailable
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.postgres import PostgresEngine
from gateway.store.schema import STEPS
from tests.fakes.postgres import PostgresServer, running


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


def _opened(url: str) -> PostgresEngine:
    engine = PostgresEngine(url)
    engine.migrate()
    return engine


def _choose(connection: Connection, name: str) -> None:
    connection.execute("INSERT INTO choice (session, name, value) VALUES ('s', ?, 'v')", (name,))


def test_the_tables_are_made_once_with_the_columns_of_sqlite(url: str) -> None:
    for _ in range(2):
        engine = _opened(url)
        rows = engine.connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        wanted = {*re.findall(r"CREATE TABLE (\w+)", "".join(STEPS)), "schema_version"}
        assert {row["tablename"] for row in rows} == wanted
        engine.close()


@pytest.mark.parametrize(
    "url",
    ["postgresql://127.0.0.1:9/none", "postgresql://127.0.0.1:notaport/x", "mysql://127.0.0.1/x", "nonsense"],
)
def test_a_wrong_url_is_a_sentence_without_the_password(url: str) -> None:
    with pytest.raises(StorageUnavailable, match="database_url") as refused:
        PostgresEngine(url.replace("127", "me:hunter2@127"))
    assert "hunter2" not in str(refused.value)


def test_a_database_of_a_newer_daybook_is_refused_and_left_alone(url: str) -> None:
    engine = _opened(url)
    engine.session.execute("UPDATE schema_version SET version = 999")
    engine.close()
    with pytest.raises(StorageUnavailable, match="newer Daybook"):
        _opened(url)
    with psycopg.connect(url) as session:
        assert session.execute("SELECT version FROM schema_version").fetchone() == (999,)


def test_a_copy_that_only_reads_is_refused(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(f"ALTER DATABASE {session.info.dbname} SET default_transaction_read_only = on".encode())
    with pytest.raises(StorageUnavailable, match="can only be read"):
        PostgresEngine(url)


async def test_text_that_postgresql_cannot_hold_is_kept_without_what_it_refuses(url: str) -> None:
    database = Database(_opened(url))
    await database.run(_choose, "a\0b\ud83d 100% ?")

    def names(connection: Connection) -> list[str]:
        return [row["name"] for row in connection.execute("SELECT name FROM choice")]

    assert await database.run(names) == ["a�b� 100% ?"]
    await database.aclose()


async def test_who_lost_the_server_says_so_before_anybody_hears_of_the_write() -> None:
    order: list[str] = []
    with running() as server:
        lost = threading.Event()

        def on_lost() -> None:
            order.append("lost")
            lost.set()

        database = Database(_opened(server.new_database()), on_lost=on_lost)
        await database.run(_choose, "before")
        server.kill()
        with pytest.raises(StorageUnavailable, match="could not be written"):
            await database.run(_choose, "after")
        order.append("told")
        assert lost.is_set() and order[0] == "lost"
        server.start()
        again = _opened(server.url("test1"))
        (row,) = again.connection.execute("SELECT name FROM choice").fetchall()
        assert row["name"] == "before"
        again.close()
        await database.aclose()
