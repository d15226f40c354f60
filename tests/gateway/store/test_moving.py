"""Messages move to PostgreSQL and back: every row, all or none."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from channels.message import Address
from gateway.home import Home, HomeBusy
from gateway.store import outbox_rows, question_rows
from gateway.store.connection import Connection
from gateway.store.database import SqliteEngine
from gateway.store.membership import join
from gateway.store.moving import aside, to_postgres, to_sqlite
from gateway.store.outbox_rows import Draft
from gateway.store.postgres import PostgresEngine
from gateway.store.question_rows import StoredQuestion
from gateway.store.schema import STEPS
from tests.english import english_in
from tests.fakes.postgres import PostgresServer
from tests.gateway.cli.test_cli import invoke

WHERE = Address("telegram", "1")


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """With rows in tables of each kind: numbered, with gaps, and in an order of their own."""
    home = Home(tmp_path / "home")
    home.create()
    with closing(SqliteEngine(home.database)) as engine:
        rows = engine.connection
        outbox_rows.add(rows, [Draft(f"k{number}", WHERE, f"Grüße 100% ? {number}") for number in range(2_500)], "t")
        rows.execute("DELETE FROM outbox WHERE seq > 2400")
        for id in "cab":
            question_rows.add(rows, StoredQuestion(id, "forget", WHERE, "1", "Luna", "2099"))
        rows.execute(
            "INSERT INTO usage (at, day, model, purpose, session, input, output, cache_read, cache_write, cost)"
            " VALUES ('t', 'd', 'm', 'p', 's', 1, 2, 3, 4, 0.1)"
        )
    return home


def everything(connection: Connection) -> dict[str, list[list[object]]]:
    tables = re.findall(r"CREATE TABLE (\w+)", "".join(STEPS))
    return {
        table: [
            sorted((name, value) for name, value in dict(row).items() if name != "rowid")
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid")
        ]
        for table in tables
    }


def test_there_and_back_every_row_is_the_same(home: Home, url: str) -> None:
    with closing(SqliteEngine(home.database)) as before:
        wanted = everything(before.connection)
    assert to_postgres(home, url) == 2_404
    assert not home.database.exists() and aside(home).exists()
    with closing(PostgresEngine(url)) as there:
        assert everything(there.connection) == wanted
        outbox_rows.add(there.connection, [Draft("new", WHERE, "new")], "t")
        (row,) = there.connection.execute("SELECT seq FROM outbox WHERE key = 'new'").fetchall()
        assert row["seq"] == 2_401, "numbers continue"
        there.connection.execute("DELETE FROM outbox WHERE key = 'new'")
    assert to_sqlite(home, url) == 2_404
    with closing(SqliteEngine(home.database)) as after:
        assert everything(after.connection) == wanted
    aside(home).unlink()
    assert to_postgres(home, url) == 2_404, "the database can be used again"


def test_the_command_line_says_in_another_language_what_was_moved(home: Home, url: str) -> None:
    """In turn: moved, no longer there, moved back without the database's name, and with it."""
    configurations = ("", "", "", f"database_url: {url}")
    for target, configuration in zip((url, url, "sqlite", "sqlite"), configurations, strict=True):
        home.config_file.write_text(configuration)
        said = invoke(home.path, "migrate", target, LC_ALL="de_DE.UTF-8").output
        assert english_in(said, Language("de"), "db.moved", str(home.path)) == [], said
    assert home.database.exists() and "2404" in said


def test_nothing_moves_while_a_gateway_runs(home: Home, url: str, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    other.create()
    engine, _ = join(other, url, (), alone=True)
    with closing(engine), pytest.raises(HomeBusy):
        to_postgres(home, url)
    with home.hold(), pytest.raises(HomeBusy):
        to_postgres(home, url)
    assert home.database.exists() and not home.claim.exists()


def test_a_database_of_another_home_is_refused(home: Home, url: str, tmp_path: Path) -> None:
    to_postgres(home, url)
    other = Home(tmp_path / "other")
    other.create()
    SqliteEngine(other.database).close()
    with pytest.raises(StorageUnavailable, match="belongs to another home"):
        to_postgres(other, url)
    assert other.database.exists()


def test_a_server_that_refuses_a_row_leaves_both_as_they_were(home: Home, url: str) -> None:
    with closing(PostgresEngine(url)) as engine:
        engine.migrate(alone=True)
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("ALTER TABLE question ADD CHECK (id != 'b')")
    with pytest.raises(StorageUnavailable, match="Nothing was moved"):
        to_postgres(home, url)
    assert home.database.exists() and not home.claim.exists()
    with psycopg.connect(url) as session:
        assert session.execute("SELECT count(*) FROM outbox").fetchone() == (0,)


def test_there_is_nothing_to_move(home: Home, url: str) -> None:
    with pytest.raises(StorageUnavailable, match="nothing to move"):
        to_sqlite(home, url)
    to_postgres(home, url)
    with pytest.raises(StorageUnavailable, match="nothing to move"):
        to_postgres(home, url)


def test_a_move_that_was_cut_off_is_done_again(home: Home, url: str) -> None:
    to_postgres(home, url)
    # Cut off when the database had everything and the home did not know yet; the home went on with SQLite.
    home.claim.rename(home.claim.with_suffix(".new"))
    aside(home).rename(home.database)
    with closing(SqliteEngine(home.database)) as engine:
        outbox_rows.add(engine.connection, [Draft("later", WHERE, "later")], "t")
    assert to_postgres(home, url) == 2_405
