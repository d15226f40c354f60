"""What holds for all tests: how much a run tries (`tests/strength.py`), and a test that sets up the log, as every
command does, does so for itself."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest

from tests import strength
from tests.chromium_process import serving
from tests.fakes.postgres import PostgresServer, running

os.environ["LC_ALL"] = "C.UTF-8"
"""Whoever runs the tests: commands speak the language of their terminal."""


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(strength)
    parser.addoption("--store", choices=("sqlite", "postgresql"), help="run tests/flows on this database alone")


@pytest.fixture(autouse=True)
def _log_levels_as_before() -> Iterator[None]:
    levels = {logger: logger.level for logger in map(logging.getLogger, ("", "agent", "channels", "gateway"))}
    yield
    for logger, level in levels.items():
        logger.setLevel(level)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    strength.requires("postgresql")
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def chromium_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """For `tests.chromium`."""
    strength.requires("chromium")
    with serving(tmp_path_factory.mktemp("chromium")) as address:
        yield address
