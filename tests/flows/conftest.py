"""The fakes, and a gateway process between them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.home import Home
from tests import strength
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import PLAUSIBLE_TOKEN, FakeDiscord
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.server import Server
from tests.flows.stores import STORES, kept_in

ON_BOTH = (
    "test_crash",
    "test_daily_crash",
    "test_forgetting",
    "test_guard",
    "test_journal_crash",
    "test_limits",
    "test_moving_house",
    "test_newcomer",
    "test_people_and_groups",
    "test_programs",
    "test_schedule_crash",
    "test_talk",
    "test_telegram_things",
    "test_web",
)
"""Files that run on each store with `--full`: all SQL between them, and every step of a crash. Without, only what is
marked `on_both` does; `--store` asks for one store instead."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked = metafunc.config.getoption("store")
    name = metafunc.module.__name__.rpartition(".")[2]
    is_for_both = name in ON_BOTH if strength.is_full else bool([*metafunc.definition.iter_markers("on_both")])
    stores = [asked] if asked else STORES if is_for_both else STORES[:1]
    is_bound = metafunc.definition.get_closest_marker("on_sqlite") is not None
    metafunc.parametrize("store", [one for one in stores if one == "sqlite" or not is_bound], indirect=True)


@pytest.fixture(autouse=True)
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of the database in which the story's homes keep their messages."""
    with kept_in(request.getfixturevalue("postgres") if request.param == "postgresql" else None):
        yield str(request.param)


@pytest.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as fake:
        yield fake


@pytest.fixture
async def model() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as fake:
        yield fake


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    """Running, with the owner 11111 and no group."""
    async with GatewayProcess(telegram, model) as process:
        yield process


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with FakeDiscord(f"{PLAUSIBLE_TOKEN[:-8]}{secrets.token_hex(4)}") as discord:
        yield Server(discord)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")
