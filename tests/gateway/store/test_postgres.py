"""PostgreSQL behind the store: what it is refused for, and what is different there."""

from __future__ import annotations

import os
import re
import secrets
import signal
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from agent.formats.sqlite import StorageUnavailable
from gateway.home import Home, HomeBusy
from gateway.store.connection import Connection, reading
from gateway.store.database import Database
from gateway.store.membership import joined
from gateway.store.postgres import PostgresEngine, WrongDatabase
from gateway.store.schema import STEPS
from gateway.store.shares import LOCK
from tests.disks import fill, small_disk
from tests.fakes.postgres import PostgresServer, older, pooled, running


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


def _opened(url: str) -> PostgresEngine:
    engine = PostgresEngine(url)
    engine.migrate(alone=True)
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


def test_a_server_that_refuses_says_why_and_what_helps(postgres: PostgresServer, url: str) -> None:
    database = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("CREATE ROLE guest LOGIN")
        session.execute(f"ALTER DATABASE {database} CONNECTION LIMIT 0".encode())
    refused = {
        postgres.url("nowhere"): r'refuses: database "nowhere" does not exist\. Make it there',
        url.replace("daybook@", "stranger@"): r'refuses: role "stranger" does not exist\. Make it there',
        url.replace("daybook@", "guest@"): r"refuses: too many connections .*\. Close other connections",
    }
    for other, words in refused.items():
        with pytest.raises(StorageUnavailable, match=words):
            PostgresEngine(other)


def test_connections_used_up_are_said_and_free_again() -> None:
    with running("max_connections=4", "superuser_reserved_connections=0") as server, ExitStack() as taken:
        with pytest.raises(StorageUnavailable, match=r"refuses: sorry, too many clients.*Close other connections"):
            for _ in range(5):
                taken.callback(PostgresEngine(server.url()).close)
        taken.close()
        PostgresEngine(server.url()).close()


def test_a_user_who_may_not_make_tables_is_told_what_helps(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("CREATE ROLE reader LOGIN")
    refused = pytest.raises(StorageUnavailable, match=r"permission denied .*\. Make the user .* the owner")
    with closing(PostgresEngine(url.replace("daybook@", "reader@"))) as engine, refused:
        engine.migrate(alone=True)


def test_a_server_that_is_too_old_is_refused(postgres: PostgresServer, url: str) -> None:
    with older(postgres, "13") as port, pytest.raises(StorageUnavailable, match=r"is PostgreSQL 13; .* 14 or newer"):
        PostgresEngine(url.replace(str(postgres.port), str(port)))


async def test_a_full_disk_of_the_server_fails_the_write_and_the_next_works() -> None:
    with small_disk("32m") as folder, running() as server:
        database = Database(_opened(server.new_database(folder)))
        await database.run(_choose, "before")
        fill(folder / "filler")
        with pytest.raises(StorageUnavailable, match=r"No space left on device\. Free space .* PostgreSQL"):
            await database.run(_choose, secrets.token_hex(5_000_000))
        (folder / "filler").unlink()
        await database.run(_choose, "after")

        def names(connection: Connection) -> list[str]:
            return [row["name"] for row in connection.execute("SELECT name FROM choice ORDER BY name")]

        assert await database.run(names) == ["after", "before"]
        await database.aclose()


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

        def on_lost(why: str) -> None:
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


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s",
            "an administrator or another gateway",
        ),
        ("crash", "closed the connection without saying why"),
        ("stop", "the server is shutting down"),
    ],
)
async def test_who_lost_the_server_says_why(does: str, says: str) -> None:
    with running() as server:
        reasons: list[str] = []
        engine = _opened(server.new_database())
        database = Database(engine, on_lost=reasons.append)
        if does == "crash":
            server.kill()
        elif does == "stop":
            os.kill(server.pid, signal.SIGINT)
            server.ended()
        else:
            with psycopg.connect(server.url(), autocommit=True) as other:
                other.execute(does.encode(), (engine.session.info.backend_pid,))
        with pytest.raises(StorageUnavailable, match=says):
            await database.run(_choose, "after")
        assert len(reasons) == 1 and says in reasons[0] and not reasons[0].endswith(".")
        await database.aclose()


@pytest.mark.requires("pgbouncer")
@pytest.mark.parametrize("mode", ["transaction", "statement"])
async def test_a_pooler_that_shares_connections_is_refused_by_name(
    postgres: PostgresServer, tmp_path: Path, mode: str
) -> None:
    url = postgres.new_database()
    home = Home(tmp_path / "home")
    home.create()
    with pooled(url, mode) as through, pytest.raises(WrongDatabase, match=r"PgBouncer.*pool_mode=session"):
        await joined(home, through, (), waits=True)
    assert _locks(url) == 0, "nothing is left behind"
    with (
        pooled(url, mode) as through,
        pytest.raises(StorageUnavailable, match="PgBouncer"),
        reading(home.database, through),
    ):
        pass


@pytest.mark.requires("pgbouncer")
async def test_a_pooler_that_gives_each_its_own_connection_is_as_good_as_none(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.new_database()
    home = Home(tmp_path / "home")
    home.create()
    with pooled(url, "session") as through:
        engine, _ = await joined(home, through, (), waits=True)
        with pytest.raises(HomeBusy):
            await joined(home, through, (), waits=False)
        second, _ = await joined(home, through, (), waits=True)
        for other in (engine, second):
            other.close()


async def test_a_start_does_not_wait_for_ever_for_a_lock_that_somebody_left(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.new_database()
    home = Home(tmp_path / "home")
    home.create()
    with psycopg.connect(url, autocommit=True) as left:
        left.execute("SELECT pg_advisory_lock(%s, 0)", (LOCK + 1,))
        with pytest.raises(StorageUnavailable, match="If none is starting, end its connection"):
            await joined(home, url, (), waits=False)
    engine, _ = await joined(home, url, (), waits=False)
    engine.close()


def _locks(url: str) -> int:
    with psycopg.connect(url) as session:
        row = session.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database ="
            " (SELECT oid FROM pg_database WHERE datname = current_database())"
        ).fetchone()
    assert row is not None
    return int(row[0])
