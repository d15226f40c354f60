"""`kill -9` between any two steps of the journal: nothing is told twice, nothing is lost, no model is paid twice."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta
from pathlib import Path

from agent.journal.progress import JournalProgress
from tests.agent.journal.diary import BERLIN, DAY, Diary
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.anthropic_answers import Answer, JsonObject
from tests.fakes.telegram import FakeTelegram
from tests.flows.clocked import COMMAND, set_clock
from tests.flows.diarist import Diarist
from tests.flows.process import GatewayProcess
from tests.flows.stores import rows

NOON = datetime(2026, 11, 21, 12, tzinfo=BERLIN)
BEHIND_A_RETRY = timedelta(seconds=31)
LONG = "and so on " * 800


@asynccontextmanager
async def a_home(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    """At noon of the day, and not started yet."""
    async with GatewayProcess(telegram, model, start_now=False, command=COMMAND) as gateway:
        set_clock(gateway.home, NOON)
        model.reply = Diarist()
        yield gateway


async def asked_for(gateway: GatewayProcess) -> None:
    assert (await gateway.cli("schedule", "run", "journal")).code == 0


async def says(telegram: FakeTelegram, gateway: GatewayProcess, words: str) -> None:
    telegram.say(words)
    await gateway.while_alive(telegram.wait_for(lambda: telegram.messages(11111)))


async def comes_to(gateway: GatewayProcess, state: str) -> None:
    """It has been tried: a run that waits to begin is not yet anywhere."""
    tried = "SELECT state FROM run WHERE job = 'journal' AND attempts > 0"

    async def there() -> None:
        async with asyncio.timeout(120):
            while rows(gateway.home, tried) != [(state,)]:  # noqa: ASYNC110  what is on disk rings no bell
                await asyncio.sleep(0.01)

    await gateway.while_alive(there())


def log(gateway: GatewayProcess) -> str:
    return (gateway.workspace / f"memory/{DAY}.md").read_text("utf-8")


def journals(model: FakeAnthropic) -> list[str]:
    """What it was asked to tell."""
    return [request.text for request in model.requests if "assistant's journal" in request.text]


async def test_killed_between_the_section_and_its_mark(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    """The marks' file refuses the mark, so that the process stands where it can be killed between the two."""
    async with a_home(telegram, model) as gateway:
        file = gateway.home / "state/journal/main.db"
        JournalProgress(file).reached()
        with closing(sqlite3.connect(file)) as marks:
            marks.execute("CREATE TRIGGER full BEFORE INSERT ON section BEGIN SELECT RAISE(ABORT, 'full'); END")
            marks.commit()
        await gateway.start()
        await says(telegram, gateway, "The tiles are blue")
        await asked_for(gateway)
        await comes_to(gateway, "waiting")
        before = log(gateway)
        assert before.count("said The tiles are blue") == 1
        await gateway.kill()
        with closing(sqlite3.connect(file)) as marks:
            assert marks.execute("SELECT count(*) FROM section").fetchone() == (0,)
            marks.execute("DROP TRIGGER full")
            marks.commit()
        set_clock(gateway.home, NOON + BEHIND_A_RETRY)
        await gateway.start()
        await comes_to(gateway, "silent")
        assert log(gateway) == before and len(journals(model)) == 1


async def test_killed_between_the_promises_and_the_section(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    """The log cannot be written to, so that the process stands where it can be killed between the two."""
    async with a_home(telegram, model) as gateway:
        await gateway.start()
        await says(telegram, gateway, "I'll send it by 2026-11-27")
        file = gateway.workspace / f"memory/{DAY}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# {DAY}\n", "utf-8")
        file.chmod(0o400)
        await asked_for(gateway)
        await comes_to(gateway, "waiting")
        assert "Alice: send it" in (gateway.workspace / "memory/open.md").read_text("utf-8")
        await gateway.kill()
        file.chmod(0o600)
        set_clock(gateway.home, NOON + BEHIND_A_RETRY)
        await gateway.start()
        await comes_to(gateway, "done")
        assert log(gateway).startswith(f"# {DAY}\n") and log(gateway).count("said I'll send it") == 1
        assert (gateway.workspace / "memory/open.md").read_text("utf-8").count("send it") == 1
        assert len(journals(model)) == 1


async def test_killed_between_two_pieces_of_a_long_day(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path
) -> None:
    diary = Diary(tmp_path)
    diary.says(*(f"number{number:02} {LONG}" for number in range(18)))
    async with a_home(telegram, model) as gateway:
        shutil.copytree(tmp_path / "sessions", gateway.home / "state/sessions")
        model.reply = _stops_after_one(model)
        await gateway.start()
        await says(telegram, gateway, "/whoami")
        await asked_for(gateway)
        await model.wait_for(lambda _: len(journals(model)) == 2)
        await gateway.kill()
        assert not (gateway.workspace / f"memory/{DAY}.md").exists()
        model.calm()
        model.reply = Diarist()
        await gateway.start()
        await comes_to(gateway, "done")
        told = [log(gateway).count(f"number{number:02}") for number in range(18)]
        first, second, again, *more = journals(model)
        assert second == again and "number00" in first and "number00" not in again and "number17" in again
        assert told == [1] * 18 and not more


def _stops_after_one(model: FakeAnthropic) -> Callable[[JsonObject], Answer | str]:
    diarist = Diarist()

    def reply(body: JsonObject) -> Answer | str:
        model.stall(after=0)
        return diarist(body)

    return reply
