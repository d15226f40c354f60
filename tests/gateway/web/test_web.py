"""What the gateway keeps for the web page, and tells it: the record, the token, the figures, the checks."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.model.base import Json
from channels.message import Address, Attachment, Button, Health, InboundMessage, Origin
from channels.scripted import ScriptedChannel
from channels.web.record import ChatEntry, MessageAuthor, NotRecorded
from gateway.cli import daybook
from gateway.config import Config, WebConfig
from gateway.config.checks import cautions
from gateway.doctor.examine import examine
from gateway.factories import build_channels
from gateway.home import Home
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.metrics import prometheus
from gateway.store.database import Database, StoreUnavailable
from gateway.supervisor import SupervisedSource
from gateway.web import host as web_token
from gateway.web.host import FRESH_SECONDS, GatewayWebHost
from gateway.web.record import StoredChatRecord
from tests.gateway.conftest import Daybook, Moment, Say, full_disk

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture
def record(database: Database) -> StoredChatRecord:
    return StoredChatRecord(database)


def entry(id: str, text: str = "hello", chat: str = "main") -> ChatEntry:
    return ChatEntry(0, id, chat, MessageAuthor.DAYBOOK, text, "2026-11-21T12:00:00.000Z")


def said(say: Say, text: str, **more: object) -> InboundMessage:
    message = dataclasses.replace(say(text), address=Address("web", "main"), **more)  # type: ignore[arg-type]
    return dataclasses.replace(message, platform_id=message.id)


# the record


async def test_a_session_that_was_logged_out_of_is_known_until_it_would_have_ended(record: StoredChatRecord) -> None:
    now = int(time.time())
    await record.log_out("long past", now - 1)
    await record.log_out("a", now + 60)
    await record.log_out("a", now + 60)
    assert await record.logged_out() == {"a"}


async def test_what_we_say_stands_once_and_in_order(record: StoredChatRecord) -> None:
    first = await record.keep(entry("a" * 32, "one"))
    again = await record.keep(entry("a" * 32, "one, but otherwise"))
    second = await record.keep(entry("b" * 32, "two"))
    await record.keep(entry("c" * 32, "elsewhere", "work"))
    assert again == first and second.number > first.number
    assert [one.text for one in await record.recent("main", 10)] == ["one", "two"]
    assert [one.text for one in await record.recent("main", 10, second.number)] == ["one"]
    assert [one.text for one in await record.recent("main", 1)] == ["two"]
    assert await record.find("d" * 32) is None


async def test_what_is_changed_stands_where_it_stood(record: StoredChatRecord) -> None:
    buttons = ((Button("Done", "/jobs done tea"),),)
    kept = await record.keep(dataclasses.replace(entry("a" * 32), buttons=buttons))
    assert kept.buttons == buttons
    await record.keep(entry("b" * 32))
    changed = await record.change("a" * 32, "done", ())
    assert changed is not None and (changed.number, changed.text, changed.buttons) == (kept.number, "done", ())
    assert await record.change("c" * 32, "x", ()) is None


async def test_the_admission_of_a_message_writes_it_into_the_record(
    database: Database, record: StoredChatRecord, moment: Moment, say: Say
) -> None:
    """In one commit: it stands there if and only if it is in the inbox. A press and a due job say nothing."""
    inbox = Inbox(database, moment.clock)
    file = Attachment("photo", "cat.png", 10, "image/png", "f" * 32)
    for message in (
        said(say, "hello", attachments=(file,)),
        said(say, "/jobs done tea", origin=Origin.COMMAND),
        said(say, "Tea!", origin=Origin.JOB),
        say("in Telegram"),
    ):
        await inbox.admit([AdmittedMessage(message, "main/owner")])
        await inbox.admit([AdmittedMessage(message, "main/owner")])
    (only,) = await record.recent("main", 10)
    assert (only.text, only.by, only.files[0].name, only.files[0].handle) == (
        "hello",
        MessageAuthor.PERSON,
        "cat.png",
        "f" * 32,
    )
    assert await record.handles() == {"f" * 32}
    assert await record.change(only.id, "changed", ()) is None


async def test_a_chat_keeps_its_newest_and_no_other_chat_pays_for_it(record: StoredChatRecord) -> None:
    await record.keep(entry("w" * 32, chat="work"))
    async with asyncio.TaskGroup() as group:  # in order, and many in one commit
        for number in range(520):
            group.create_task(record.keep(entry(f"{number:032d}", str(number))))
    kept = await record.recent("main", 1_000)
    assert [kept[0].text, kept[-1].text, len(kept)] == ["20", "519", 500]
    assert len(await record.recent("work", 10)) == 1


async def test_a_full_disk_is_said(record: StoredChatRecord) -> None:
    await record.keep(entry("a" * 32))
    with full_disk(), pytest.raises(NotRecorded):
        for number in range(500):
            await record.keep(entry(f"{number:032d}", "x" * 10_000))
    await record.keep(entry("b" * 32))


# the token


def test_a_token_is_made_once_and_is_the_owners_alone(home: Home) -> None:
    token = web_token.read(WebConfig(), home)
    assert len(token) >= 40 and web_token.read(WebConfig(), home) == token
    assert home.web_token.stat().st_mode & 0o777 == 0o600
    assert token not in web_token.place(WebConfig(), home) and str(home.web_token) in web_token.place(WebConfig(), home)


def test_all_who_need_a_token_at_the_first_start_have_the_same(home: Home) -> None:
    start = threading.Barrier(8)

    def read() -> str:
        start.wait()
        return web_token.read(WebConfig(), home)

    with ThreadPoolExecutor(8) as pool:
        read_by_each = [one.result() for one in [pool.submit(read) for _ in range(8)]]
    assert set(read_by_each) == {home.web_token.read_text().strip()}
    assert [one.name for one in home.state.glob("web-token*")] == ["web-token"]


def test_a_configured_token_is_the_one_and_none_is_made(home: Home) -> None:
    config = WebConfig.model_validate({"token": "chosen-by-its-owner"})
    assert web_token.read(config, home) == "chosen-by-its-owner"
    assert not home.web_token.exists()
    assert "chosen" not in web_token.place(config, home)


@pytest.mark.parametrize("text", ["", "\n", " \n"])
def test_an_empty_token_opens_nothing(home: Home, text: str) -> None:
    home.web_token.write_text(text)
    with pytest.raises(ValueError, match="is empty; delete the file"):
        web_token.read(WebConfig(), home)
    assert home.web_token.read_text() == text
    findings = [one for one in examine(home, {}) if one.check == "web"]
    assert [(one.ok, "is empty" in one.message) for one in findings] == [(False, True)]


# what it may know


async def test_the_page_can_be_turned_off(database: Database, home: Home) -> None:
    def built(**web: object) -> list[str]:
        config = Config.model_validate({"timezone": "Etc/UTC", "channels": {"web": web}})
        built = build_channels(
            config, (), database, home=home, web_host=GatewayWebHost(""), web_record=StoredChatRecord(database)
        )
        return [one.name for one in built]

    assert (built(), built(enabled=False)) == (["web"], [])


async def test_a_house_tells_how_its_channels_are() -> None:
    up, down = SupervisedSource(ScriptedChannel("telegram")), SupervisedSource(ScriptedChannel("discord"))
    down.failure = dataclasses.replace(up.source.status, state=Health.DOWN)  # type: ignore[attr-defined]
    now, asked = 0.0, 0
    house = GatewayWebHost("in a file", lambda: now)

    async def status(_: object) -> Json:
        nonlocal asked
        asked += 1
        return {"sessions": 3}

    assert await house.metrics() == "" and await house.channels() == {}
    house.open([up, down], status)
    states = {name: status.state for name, status in (await house.channels()).items()}
    assert states == {"telegram": Health.OFF, "discord": Health.DOWN}
    assert await house.metrics() == await house.metrics()
    assert asked == 1, "who asks often costs nothing"
    now += FRESH_SECONDS
    await house.metrics()
    assert asked == 2


async def test_figures_that_cannot_be_read_are_not_made_up() -> None:
    house = GatewayWebHost("in a file")

    async def status(_: object) -> Json:
        raise StoreUnavailable("daybook.db could not be read")

    house.open([], status)
    with pytest.raises(NotRecorded, match=r"daybook\.db"):
        await house.metrics()


async def test_a_house_tells_where_the_page_is(caplog: pytest.LogCaptureFixture) -> None:
    house = GatewayWebHost("state/web-token")
    with caplog.at_level("INFO"):
        house.listens("http://127.0.0.1:1")
    assert await house.tell_address({}) == {"address": "http://127.0.0.1:1", "why": ""}
    assert "http://127.0.0.1:1" in caplog.text and "state/web-token" in caplog.text
    house.listens("")
    assert await house.tell_address({}) == {"address": "", "why": ""} and house.begun.is_set()


def test_figures_are_in_prometheus_format() -> None:
    status: Json = {
        "channels": {"web": {"state": "ok"}, 'o"d\\d\n': {"state": "down"}},
        "sessions": 2,
        "running": 1,
        "inbox": {"waiting": 1, "oldest": "2026-11-21T11:59:30.000Z", "unreadable": 0},
        "outbox": {"waiting": 0, "oldest": "", "failed": 4, "repeated": 0},
        "usage": {"calls": 7, "input": 1200000, "output": 5, "cache_read": 0, "cache_write": 0, "cost_usd": 1234.5678},
    }
    lines = prometheus(status, NOW).splitlines()
    for expected in (
        'daybook_channel_state{channel="web",state="ok"} 1',
        'daybook_channel_state{channel="web",state="down"} 0',
        'daybook_channel_state{channel="o\\"d\\\\d\\n",state="down"} 1',
        "daybook_inbox_waiting 1",
        "daybook_inbox_oldest_seconds 30",
        "daybook_outbox_failed 4",
        "daybook_turns_running 1",
        'daybook_tokens_today{kind="input"} 1200000',
        "daybook_cost_usd_today 1234.5678",
    ):
        assert expected in lines
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names))
    assert prometheus({}, NOW).count("\n") < 10, "what is not known is left out"


async def test_figures_of_a_running_gateway(daybook: Daybook) -> None:
    async with daybook.running() as running:
        figures = prometheus(await running.ask("status"), NOW)
    for name in ("channel_state", "inbox_waiting", "outbox_waiting", "turns_running", "tokens_today", "cost_usd_today"):
        assert f"\n# TYPE daybook_{name} gauge\n" in figures


# what is probably not meant


@pytest.mark.parametrize(
    ("web", "word"),
    [
        ({}, ""),
        ({"host": "localhost"}, ""),
        ({"host": "::1"}, ""),
        ({"host": "127.0.0.2"}, ""),
        ({"host": "0.0.0.0", "enabled": False}, ""),
        ({"token": "long-enough-to-be-one"}, ""),
        ({"host": "0.0.0.0"}, "other machines"),
        ({"host": "::"}, "other machines"),
        ({"host": "192.168.1.5"}, "other machines"),
        ({"host": "daybook.lan"}, "other machines"),
        ({"token": "1234"}, "guessed"),
    ],
)
def test_a_page_that_others_can_reach_is_warned_of(web: dict[str, object], word: str) -> None:
    config = Config.model_validate({"timezone": "Etc/UTC", "channels": {"web": web}})
    found = [sentence for place, sentence in cautions(config) if "web" in place]
    assert [word in sentence for sentence in found] == ([True] if word else [])
    assert all("1234" not in sentence for sentence in found)


def test_the_doctor_looks_at_the_port(home: Home) -> None:
    def found(web: str) -> tuple[bool, str]:
        home.config_file.write_text(f"channels: {{web: {web}}}\n")
        (one,) = (one for one in examine(home, {}) if one.check == "web")
        return one.ok, one.message

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        other.listen()
        assert found(f"{{port: {port}}}") == (False, f"port {port} of 127.0.0.1 is used by another program")
    assert found(f"{{port: {port}}}") == (True, f"port {port} of 127.0.0.1 is free")
    assert found("{port: 0}")[0]
    assert found("{enabled: false}") == (True, "off (channels.web.enabled)")
    assert not found("{host: no.such.host.invalid}")[0]


def test_the_command_tells_the_token_where_nothing_runs(home: Home) -> None:
    ran = CliRunner().invoke(daybook, ["--home", str(home.path), "web", "--json"])
    told = json.loads(ran.stdout)
    assert (ran.exit_code, told) == (0, {"address": "", "token": home.web_token.read_text().strip()})
    home.config_file.write_text("channels: {web: {enabled: false}}\n")
    off = CliRunner().invoke(daybook, ["--home", str(home.path), "web"])
    assert off.exit_code == 1 and "is off" in off.output
