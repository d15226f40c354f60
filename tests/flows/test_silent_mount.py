"""A home on a file system that stops answering, as NFS does without its server: who has it gives way, and says so."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.postgres import PostgresServer
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_several_gateways import Cluster, until_waiting
from tests.strength import requires

NO_ANSWER = "does not answer. See whether its server runs"


@dataclass
class Mount:
    """A folder seen a second time, through a server that may stand still."""

    folder: Path
    server: subprocess.Popen[bytes]

    def stand_still(self) -> None:
        self.server.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.server.send_signal(signal.SIGCONT)


@contextmanager
def mounted(below: Path, folder: Path) -> Iterator[Mount]:
    """Skips the test where this machine does not allow it."""
    requires("bindfs")
    folder.mkdir()
    with subprocess.Popen(["bindfs", "-f", below, folder], stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + 60.0
            while not os.path.ismount(folder):
                if server.poll() is not None or time.monotonic() > until:
                    pytest.skip("needs the right to mount with FUSE: run as root, with /dev/fuse")
                time.sleep(0.05)
            yield Mount(folder, server)
        finally:
            server.send_signal(signal.SIGCONT)
            subprocess.run(["umount", "--lazy", folder], check=False)
            server.terminate()


@asynccontextmanager
async def away(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path, url: str | None = None
) -> AsyncIterator[tuple[GatewayProcess, Mount]]:
    """A gateway whose home is mounted."""
    below = tmp_path / "below"
    below.mkdir(mode=0o700)
    settings = {} if url is None else {"database_url": url}
    with mounted(below, tmp_path / "mount") as mount:
        gateway = GatewayProcess(telegram, model, settings, start_now=False)
        gateway.home = mount.folder / "home"
        gateway.write_config(settings)
        try:
            async with gateway:
                await gateway.start()
                yield gateway, mount
        finally:
            mount.go_on()


async def until_said(gateway: GatewayProcess, words: str, times: int = 1) -> None:
    async with asyncio.timeout(120):
        while gateway.log.count(words) < times:  # noqa: ASYNC110  another process rings no bell
            await asyncio.sleep(0.05)


@pytest.mark.on_sqlite
async def test_commands_say_so_and_what_was_said_is_answered_once_it_answers_again(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path
) -> None:
    model.answer("Here I am.")
    async with away(telegram, model, tmp_path) as (gateway, mount):
        mount.stand_still()
        telegram.say("Are you there?")
        status, doctor, json = await asyncio.gather(
            gateway.cli("status"), gateway.cli("doctor", "--fix"), gateway.cli("doctor", "--json")
        )
        assert status.code == 1 and NO_ANSWER in status.err
        assert doctor.code == 1 and "does not answer" in doctor.out and "mount it again" in doctor.out
        (found,) = json.json()
        assert found["check"] == "home" and not found["ok"]
        await until_said(gateway, NO_ANSWER)
        mount.go_on()
        await gateway.while_alive(telegram.wait_for(lambda: telegram.messages(OWNER)))
        assert [one.text for one in telegram.messages(OWNER)] == ["Here I am."]


@pytest.mark.on_sqlite
async def test_a_gateway_waits_for_it_before_it_starts(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path
) -> None:
    async with away(telegram, model, tmp_path) as (gateway, mount):
        await gateway.terminate()
        mount.stand_still()
        await gateway.start(wait=False)
        await until_said(gateway, f"{NO_ANSWER} and can be reached, or mount it again. Waiting for it.")
        mount.go_on()
        await gateway.while_alive(telegram.wait_for(lambda: telegram.polling))


@pytest.mark.on_sqlite
@pytest.mark.full
async def test_another_gateway_takes_over(
    telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer, tmp_path: Path
) -> None:
    """The other one reaches the files of the same home in another way, as another computer does."""
    for text in ("One.", "Two.", "Three."):
        model.answer(text)
    async with (
        away(telegram, model, tmp_path, postgres.new_database()) as (first, mount),
        Cluster(telegram, model, "unused") as cluster,
    ):
        cluster.gateways.append(first)
        second = GatewayProcess(telegram, model, start_now=False)
        second.home = tmp_path / "below/home"
        cluster.gateways.append(second)
        await second.start(wait=False)
        await until_waiting(second)
        await cluster.answered("one")
        mount.stand_still()
        cluster.gateways.reverse()  # the second tells what is on disk
        await cluster.answered("two")
        await until_said(first, NO_ANSWER)
        mount.go_on()
        await until_waiting(first)
        await cluster.answered("three")
        assert cluster.texts() == ["One.", "Two.", "Three."]
