"""What the doctor says of a home that several gateways share."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from gateway.config import Config
from gateway.config.loader import parse
from gateway.doctor.shared import check_shared
from gateway.home import Home
from gateway.setup.probe import Finding
from gateway.store.leadership import Candidate
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
    candidate = Candidate(url)
    assert candidate.look() is None
    candidate.engine.migrate()
    (found,) = told(home, url)
    assert found.ok and "gateways: 1" in str(found.message)
    candidate.close()
    assert not (home.state / "doctor.lock").exists()


def test_a_database_that_does_not_answer_is_said_with_its_fix(home: Home) -> None:
    (found,) = told(home, "postgresql://127.0.0.1:9/none")
    assert not found.ok and "database_url" in str(found.fix)


def test_a_file_system_that_refuses_is_said(home: Home, url: str) -> None:
    candidate = Candidate(url)
    assert candidate.look() is None
    candidate.engine.migrate()
    candidate.close()
    (home.state / "doctor.lock").mkdir()
    assert any(not one.ok and "file system" in str(one.message) for one in told(home, url))


def test_clocks_that_differ_are_said(home: Home, url: str) -> None:
    candidate = Candidate(url)
    candidate.look()
    candidate.engine.migrate()
    candidate.close()
    with psycopg.connect(url, autocommit=True) as session:  # a server whose clock is a minute ahead
        session.execute("CREATE SCHEMA ahead")
        session.execute(
            "CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql"
            " AS $$ SELECT pg_catalog.clock_timestamp() + interval '60 seconds' $$"
        )
        session.execute(f"ALTER DATABASE {session.info.dbname} SET search_path = ahead, pg_catalog, public".encode())
    assert any("differ by 60 seconds" in str(one.message) for one in told(home, url))
