"""A short life with the Daybook of an older commit: its own code in a process between today's fakes, by the real
clock. It does what every version could, and leaves some of it unfinished."""

from __future__ import annotations

import asyncio
import io
import subprocess
import tarfile
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import ROOT, GatewayProcess
from tests.recorded.story import ALICE, BOB, CAROL, GROUP, SETTINGS, UNANSWERED, ZONE, Story, reply


@asynccontextmanager
async def open_older(commit: str) -> AsyncIterator[Story]:
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "-C", str(ROOT), "archive", commit]
        packed = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=True)
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        async with FakeTelegram() as telegram, FakeAnthropic() as model:
            model.reply = reply
            async with GatewayProcess(telegram, model, SETTINGS, start_now=False) as gateway:
                gateway.environ["PYTHONPATH"] = folder
                await gateway.start()
                yield Story(telegram, model, gateway, now=datetime.now(ZONE))


async def tell(story: Story) -> None:
    await story.says("Hello")
    await story.says("Please remember that the boat is called Luna", expects="That is done")
    await story.says("Make a note of the berth, 14 in Kiel", expects="That is done")
    story.telegram.say("Hello, may I come in?", chat=BOB, name="Bob", date=int(story.now.timestamp()))
    await story.until(lambda: story.heard(BOB))
    ((code,),) = story.rows("SELECT code FROM pairing")
    await story.cli("pair", "approve", code)
    await story.says("Hello again", BOB, "Bob")
    await story.says(f"@{story.telegram.username} what do you think?", GROUP)
    if story.rows("SELECT 1 FROM sqlite_master WHERE name = 'job'"):
        await story.says("/remind in 3 hours Pay the berth")
        await story.cli("schedule", "add", "Drink a glass of water", "--cron", "0 8 * * *", "--id", "water")
        await story.cli("schedule", "run", "water")
        await story.until(lambda: [text for text in story.heard() if "Drink a glass" in text])
    await story.idle()


async def leave_unfinished(story: Story) -> None:
    """A request to be let in, an answer that cannot be sent, and a message without one."""
    story.telegram.say("Who is there?", chat=CAROL, name="Carol", date=int(story.now.timestamp()))
    await story.until(lambda: story.heard(CAROL))
    await story.idle()
    refusal = story.telegram.fail("sendMessage", status=429, retry_after=3600, chat=BOB, times=None)
    story.telegram.say("How is the tide?", chat=BOB, name="Bob", date=int(story.now.timestamp()))
    await story.until(lambda: refusal.hits)
    held = story.model.hold(after=0)
    story.telegram.say(UNANSWERED, chat=ALICE, date=int(story.now.timestamp()))
    await story.gateway.while_alive(story.model.held(held))
