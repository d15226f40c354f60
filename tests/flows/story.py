"""A Daybook at home between two strict fakes, for stories that read like a conversation.

Everything is real but the far ends: configuration from a file, the adapters and libraries over HTTP, the disk.
"""

from __future__ import annotations

import asyncio
import functools
import json
import random
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from agent.clock import Clock
from agent.compaction.flush import PROMPT
from agent.formats.addresses import AddressRules
from gateway.app import open_gateway
from gateway.config import load
from gateway.home import Home
from gateway.models import build_model
from gateway.server import Gateway, Timeouts
from tests.fakes.anthropic import FakeAnthropic, Received
from tests.fakes.telegram import FakeTelegram, Message
from tests.flows.stores import settings_of

ALICE = 11111
BOB = 22222
GROUP = -1001234567890
ZONE = "Europe/Berlin"


class Story:
    """`say` is the person, `heard` what stands in the chat, `asked` what the model was sent."""

    def __init__(self, folder: Path, telegram: FakeTelegram, model: FakeAnthropic) -> None:
        self.home = Home(folder / "home")
        self.telegram = telegram
        self.model = model
        self.model.beside = _work_behind_new
        self.moment: datetime | None = None
        self.gateway: Gateway | None = None
        self.waits: list[float] = []
        self.waits_pass = asyncio.Event()
        self.waits_pass.set()
        self.timeouts = Timeouts()
        self.web_rules = AddressRules()

    # the house

    def configure(self, **changes: Any) -> None:
        """Write config.yaml anew; sections in `changes` are laid over the story's own."""
        config: dict[str, Any] = {
            "timezone": ZONE,
            "owners": [f"telegram:{ALICE}"],
            "model": {"api_key": self.model.api_key, "base_url": self.model.base_url},
            "channels": {
                "telegram": {
                    "token": self.telegram.token,
                    "base_url": self.telegram.base_url,
                    "base_file_url": self.telegram.base_file_url,
                    "allow": [BOB],
                    "groups": {GROUP: {"mention": "required"}},
                },
                "web": {"enabled": False},
            },
            **settings_of(self.home.path),
        }
        for section, keys in changes.items():
            if isinstance(keys, dict) and isinstance(config.get(section), dict):
                config[section] = {**config[section], **keys}
            else:
                config[section] = keys
        self.home.create()
        self.home.config_file.write_text(yaml.safe_dump(config), encoding="utf-8")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Gateway]:
        """One life of the gateway, ended as by SIGTERM. It waits between two tries at the model for `waits_pass` only;
        what it would have waited stands in `waits`."""
        config = load(self.home, {}).config
        clock = Clock(ZoneInfo(config.timezone), self._now)
        model_of = functools.partial(build_model, sleep=self._without_waiting)
        stop = asyncio.Event()
        async with open_gateway(
            self.home,
            config,
            channels=True,
            clock=clock,
            model_of=model_of,
            timeouts=self.timeouts,
            web_rules=self.web_rules,
        ) as gateway:
            task = asyncio.create_task(gateway.run(stop))
            self.gateway = gateway
            polling = asyncio.create_task(self.telegram.wait_for(lambda: self.telegram.polling))
            await asyncio.wait({task, polling}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            await polling
            try:
                yield gateway
            finally:
                stop.set()
                async with asyncio.timeout(120):
                    await task

    async def _without_waiting(self, seconds: float) -> None:
        self.waits.append(seconds)
        await self.waits_pass.wait()

    def _now(self) -> datetime:
        return self.moment or datetime.now(UTC)

    # files

    @property
    def workspace(self) -> Path:
        return self.home.path / "workspace"

    def write(self, path: str, text: str) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.workspace / path).read_text(encoding="utf-8")

    def log(self, days_ago: int = 0, folder: str = "memory") -> Path:
        day = self._now().astimezone(ZoneInfo(ZONE)).date() - timedelta(days=days_ago)
        return self.workspace / folder / f"{day.isoformat()}.md"

    @property
    def all_logs(self) -> str:
        return "\n".join(file.read_text("utf-8") for file in sorted(self.workspace.rglob("memory/*.md")))

    @property
    def transcripts(self) -> list[Path]:
        return sorted((self.home.path / "state" / "sessions").rglob("*.jsonl"))

    # the talk

    def say(self, text: str | None, *, chat: int = ALICE, **more: Any) -> int:
        """A person writes; returns the message's id."""
        update = self.telegram.say(text, chat=chat, **more)
        return int(update["message"]["message_id"])

    def call(self, text: str, *, user: int = ALICE, name: str = "Alice", thread: int | None = None) -> int:
        """A person calls the bot in the group."""
        return self.say(f"@{self.telegram.username} {text}", chat=GROUP, user=user, name=name, thread=thread)

    def heard(self, chat: int = ALICE, thread: int | None = None) -> list[str]:
        return [message.text for message in self.telegram.messages(chat, thread)]

    async def hears(self, part: str, chat: int = ALICE, thread: int | None = None) -> Message:
        """Wait for a message of the bot that holds `part`."""

        def find() -> Message | None:
            return next((one for one in self.telegram.messages(chat, thread) if part in one.text), None)

        found = await self.telegram.wait_for(find)
        assert found is not None
        return found

    async def idle(self) -> None:
        """Until everything said is answered, and every answer sent."""
        assert self.gateway is not None
        await self.telegram.wait_for(lambda: not self.telegram.pending)
        status: Any = self.gateway.operations["status"]
        while (now := await status({}))["inbox"]["waiting"] or now["outbox"]["waiting"]:
            pass

    # the model

    @property
    def asked(self) -> list[Received]:
        return self.model.requests

    @property
    def last_asked(self) -> str:
        """Every byte of the newest request's body."""
        return json.dumps(self.model.requests[-1].body, ensure_ascii=False)

    def asked_with(self, words: str) -> Received:
        """The newest request that holds these words: after `/new` the old conversation's flush may come last."""
        return next(one for one in reversed(self.asked) if json.dumps(words, ensure_ascii=False)[1:-1] in one.text)

    def no_request_was_refused(self) -> None:
        refused = [request for request in self.asked if request.status == 400]
        assert not refused, [request.body for request in refused]


def _work_behind_new(body: dict[str, Any]) -> str | None:
    """The flush and the paragraph of a talk that `/new` has left, the journal and the summary of a day that is over:
    they may be asked for while an answer is queued for the next message."""
    is_flush = any(PROMPT in block.get("text", "") for block in body["messages"][-1]["content"])
    tools = {tool["name"] for tool in body.get("tools", ())}
    is_summary = any("daily summary" in block["text"] for block in body.get("system", ()))
    return "NO_REPLY" if is_flush or is_summary or tools & {"save_memory", "write_journal"} else None


def _new_token() -> str:
    """One that no other test run on this machine polls with at the same time: a token serves one gateway."""
    return f"{random.randrange(10**9, 10**10)}:AAF-{secrets.token_urlsafe(24)[:31]:A<31}"


@asynccontextmanager
async def story(folder: Path, **config: Any) -> AsyncIterator[Story]:
    async with FakeTelegram(_new_token()) as telegram, FakeAnthropic() as model:
        told = Story(folder, telegram, model)
        told.configure(**config)
        yield told
