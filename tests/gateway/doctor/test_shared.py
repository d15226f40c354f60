"""What the doctor says of a home that several gateways share."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from channels.checks import Finding
from gateway.app import open_gateway
from gateway.config import Config
from gateway.config.loader import parse
from gateway.doctor.shared import check_shared
from gateway.home import Home
from gateway.store.database import SqliteEngine
from gateway.store.membership import join
from tests.fakes.postgres import PostgresServer


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


def told(home: Home, url: str | None) -> list[Finding]:
    config: Config = parse("" if url is None else f'database_url: "{url}"', {}).config
    return list(check_shared(home, config))


def test_sqlite_needs_nothing_of_it(home: Home) -> None:
    assert told(home, None) == []


def test_a_new_database_has_no_tables_yet(home: Home, url: str) -> None:
    (found,) = told(home, url)
    assert found.ok and "first start" in str(found.message)


def test_it_counts_the_gateways_and_leaves_nothing_behind(home: Home, url: str) -> None:
    engine, _ = join(home, url, (), alone=True)
    found, clock = told(home, url)
    assert found.ok and "gateways: 1" in str(found.message)
    assert clock.ok and "agrees with PostgreSQL" in str(clock.message)
    engine.close()
    assert not (home.state / "doctor.lock").exists()


def test_a_database_that_does_not_answer_is_said_with_its_fix(home: Home) -> None:
    (found,) = told(home, "postgresql://127.0.0.1:9/none")
    assert not found.ok and "database_url" in str(found.fix)


def claimed(home: Home, url: str) -> None:
    """As a gateway of that home leaves it."""
    asyncio.run(_served(home, url))


async def _served(home: Home, url: str) -> None:
    async with open_gateway(home, parse(f'database_url: "{url}"', {}).config, channels=False):
        pass


def problem(home: Home, url: str) -> str:
    (found,) = (one for one in told(home, url) if not one.ok)
    assert found.fix
    return str(found.message)


def test_a_database_of_another_home_is_said(home: Home, url: str, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    claimed(other, url)
    assert told(other, url)[0].ok
    assert "belongs to another home" in problem(home, url)


def test_a_home_whose_messages_are_in_another_database_is_said(
    home: Home, url: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    claimed(home, url)
    empty, taken = postgres.new_database(), postgres.new_database()
    claimed(Home(tmp_path / "other"), taken)
    for wrong in (empty, taken):
        assert "another database" in problem(home, wrong)


def test_messages_that_are_still_in_sqlite_are_said(home: Home, url: str) -> None:
    SqliteEngine(home.database).close()
    assert "daybook.db" in problem(home, url)


def test_a_database_of_a_newer_daybook_is_said(home: Home, url: str) -> None:
    claimed(home, url)
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("UPDATE schema_version SET version = 999")
    assert "newer Daybook" in problem(home, url)


def test_a_file_system_that_refuses_is_said(home: Home, url: str) -> None:
    join(home, url, (), alone=True)[0].close()
    (home.state / "doctor.lock").mkdir()
    assert any(not one.ok and "file system" in str(one.message) for one in told(home, url))


def test_clocks_that_differ_are_said(home: Home, url: str) -> None:
    join(home, url, (), alone=True)[0].close()
    with psycopg.connect(url, autocommit=True) as session:  # a server whose clock is a minute ahead
        session.execute("CREATE SCHEMA ahead")
        session.execute(
            "CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql"
            " AS $$ SELECT pg_catalog.clock_timestamp() + interval '60 seconds' $$"
        )
        session.execute(f"ALTER DATABASE {session.info.dbname} SET search_path = ahead, pg_catalog, public".encode())
    assert any("clock is 1 minute behind PostgreSQL" in str(one.message) for one in told(home, url))
