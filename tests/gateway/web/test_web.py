"""What the gateway keeps for the web page, and tells it: the record, the token, the figures, the checks."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock, utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.model.base import Json, ModelRequest
from channels.message import Address, Attachment, Button, ChannelStatus, Health, InboundMessage, Origin
from channels.scripted import ScriptedChannel
from channels.web.record import ChatEntry, MessageAuthor, NotRecorded
from gateway.config import WebConfig
from gateway.config.checks import cautions
from gateway.config.whole import whole
from gateway.doctor.examine import examine
from gateway.factories import build_channels
from gateway.home import Home
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.metrics import Metrics
from gateway.source_parts import SourceParts
from gateway.store import outbox_rows, web_rows
from gateway.store.claims import SOLE
from gateway.store.database import Database
from gateway.supervisor import SupervisedSource
from gateway.web.host import FRESH_SECONDS, GatewayWebHost, read_token, token_source
from gateway.web.record import StoredChatRecord
from tests.gateway.conftest import Daybook, Moment, Say, full_disk, on_sqlite

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
CLOCK = Clock(ZoneInfo("Etc/UTC"), lambda: NOW)


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


async def test_a_chat_keeps_all_of_its_messages(record: StoredChatRecord) -> None:
    await record.keep(entry("w" * 32, chat="work"))
    async with asyncio.TaskGroup() as group:  # in order, and many in one commit
        for number in range(520):
            group.create_task(record.keep(entry(f"{number:032d}", str(number))))
    kept = await record.recent("main", 1_000)
    assert [one.text for one in kept] == [str(number) for number in range(520)]
    assert len(await record.recent("work", 10)) == 1


async def test_a_version_that_is_replaced_goes_with_its_answers_and_nothing_else(
    record: StoredChatRecord, database: Database, say: Say
) -> None:
    first, second, answer, reminder, late = (letter * 32 for letter in "pqrst")
    await database.run(web_rows.said, said(say, "one", id=first), "2026-11-21T08:30:00.000Z")
    await record.keep(dataclasses.replace(entry(answer, "One."), turn=f"web:{first}"))
    await record.keep(dataclasses.replace(entry(reminder, "Water!"), turn="job:water"))
    new = dataclasses.replace(said(say, "two", id=f"again:{first}", replaces=first), platform_id=second)
    await database.run(web_rows.said, new, "2026-11-21T08:31:00.000Z")
    await record.keep(dataclasses.replace(entry(late, "One and a half."), turn=f"web:{first}"))
    assert [one.text for one in await record.recent("main", 10)] == ["Water!", "two"]
    assert [one.text for one in await record.earlier(second)] == ["one", "One.", "One and a half."]


@on_sqlite
async def test_a_full_disk_is_said(record: StoredChatRecord) -> None:
    await record.keep(entry("a" * 32))
    with full_disk(), pytest.raises(NotRecorded):
        for number in range(500):
            await record.keep(entry(f"{number:032d}", "x" * 10_000))
    await record.keep(entry("b" * 32))


# links that log in


async def test_a_link_is_given_while_the_page_is_open_and_opens_it_once(database: Database) -> None:
    page = SupervisedSource(ScriptedChannel("web"))
    page.failure = ChannelStatus(Health.DOWN, "no such address")
    host = GatewayWebHost("127.0.0.1", "in a file", {}, [page], database, CLOCK)
    link = host.table()["web.link"]
    host.listens("")
    assert await link({}) == {"address": "", "link": "", "phone": "", "why": "no such address"}
    host.listens("http://127.0.0.1:8765")
    first, second = [await link({}) for _ in range(2)]
    assert isinstance(first, dict) and isinstance(second, dict)
    assert (first["address"], first["why"]) == ("http://127.0.0.1:8765", "")
    address, _, secret = str(first["link"]).partition("/#once=")
    assert address == first["address"] and len(secret) >= 40 and first != second
    assert [host.redeem(secret), host.redeem(secret)] == [True, False]


async def test_a_page_in_the_network_has_a_link_for_a_phone(database: Database) -> None:
    host = GatewayWebHost("192.168.7.7", "in a file", {}, [], database, CLOCK)
    host.listens("http://192.168.7.7:8765")
    told = await host.table()["web.link"]({})
    assert isinstance(told, dict) and told["phone"] != told["link"]
    address, _, secret = str(told["phone"]).partition("/#once=")
    assert address == "http://192.168.7.7:8765" and host.redeem(secret)


# the token


def test_a_token_is_made_once_and_is_the_owners_alone(home: Home) -> None:
    token = read_token(WebConfig(), home)
    assert len(token) >= 40 and read_token(WebConfig(), home) == token
    assert home.web_token.stat().st_mode & 0o777 == 0o600
    assert token not in token_source(WebConfig(), home) and str(home.web_token) in token_source(WebConfig(), home)


def test_all_who_need_a_token_at_the_first_start_have_the_same(home: Home) -> None:
    start = threading.Barrier(8)

    def read() -> str:
        start.wait()
        return read_token(WebConfig(), home)

    with ThreadPoolExecutor(8) as pool:
        read_by_each = [one.result() for one in [pool.submit(read) for _ in range(8)]]
    assert set(read_by_each) == {home.web_token.read_text().strip()}
    assert [one.name for one in home.state.glob("web-token*")] == ["web-token"]


def test_a_configured_token_is_the_one_and_none_is_made(home: Home) -> None:
    config = WebConfig.model_validate({"token": "chosen-by-its-owner"})
    assert read_token(config, home) == "chosen-by-its-owner"
    assert not home.web_token.exists()
    assert "chosen" not in token_source(config, home)


@pytest.mark.parametrize("text", ["", "\n", " \n"])
def test_an_empty_token_opens_nothing(home: Home, text: str) -> None:
    home.web_token.write_text(text)
    with pytest.raises(ValueError, match="is empty; delete the file"):
        read_token(WebConfig(), home)
    assert home.web_token.read_text() == text
    findings = [one for one in examine(home, {}) if one.check == "web"]
    assert [(one.ok, "is empty" in one.message) for one in findings] == [(False, True)]


# what it may know


async def test_the_page_can_be_turned_off(database: Database, home: Home) -> None:
    def built(**web: object) -> list[str]:
        config = whole().model_validate({"timezone": "Etc/UTC", "channels": {"web": web}})
        built = build_channels(
            config,
            (),
            database,
            home=home,
            web_host=GatewayWebHost("127.0.0.1", "", {}, [], database, CLOCK),
            web_record=StoredChatRecord(database),
            parts=SourceParts([], database, SOLE),
        )
        return [one.name for one in built]

    assert (built(), built(enabled=False)) == (["web"], [])


async def test_the_host_reports_how_its_channels_are(database: Database) -> None:
    up, down = SupervisedSource(ScriptedChannel("telegram")), SupervisedSource(ScriptedChannel("discord"))
    down.failure = dataclasses.replace(up.source.status, state=Health.DOWN)  # type: ignore[attr-defined]
    now, asked = 0.0, 0

    async def status(_: object) -> Json:
        nonlocal asked
        asked += 1
        return {"sessions": 3}

    host = GatewayWebHost("127.0.0.1", "in a file", {"status": status}, [up, down], database, CLOCK, lambda: now)
    states = {name: status.state for name, status in (await host.channels()).items()}
    assert states == {"telegram": Health.OFF, "discord": Health.DOWN}
    assert await host.metrics() == await host.metrics()
    assert asked == 1, "who asks often costs nothing"
    now += FRESH_SECONDS
    await host.metrics()
    assert asked == 2


async def test_figures_that_cannot_be_read_are_not_made_up(database: Database) -> None:
    async def status(_: object) -> Json:
        raise StorageUnavailable("daybook.db could not be read")

    host = GatewayWebHost("127.0.0.1", "in a file", {"status": status}, [], database, CLOCK)
    with pytest.raises(NotRecorded, match=r"daybook\.db"):
        await host.metrics()


async def test_the_host_reports_where_the_page_is(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    host = GatewayWebHost("127.0.0.1", "state/web-token", {}, [], database, CLOCK)
    with caplog.at_level("INFO"):
        host.listens("http://127.0.0.1:1")
    assert await host.address_json() == {"address": "http://127.0.0.1:1", "why": ""}
    assert "http://127.0.0.1:1" in caplog.text and "state/web-token" in caplog.text
    host.listens("")
    assert await host.address_json() == {"address": "", "why": ""} and host.begun.is_set()


def test_figures_are_in_prometheus_format() -> None:
    status: Json = {
        "channels": {"web": {"state": "ok"}, 'o"d\\d\n': {"state": "down"}},
        "sessions": 2,
        "running": 1,
        "inbox": {"waiting": 1, "oldest": "2026-11-21T11:59:30.000Z", "unreadable": 0},
        "outbox": {"waiting": 0, "oldest": "", "failed": 4, "repeated": 0},
        "usage": {"calls": 7, "input": 1200000, "output": 5, "cache_read": 0, "cache_write": 0, "cost_usd": 1234.5678},
    }
    lines = Metrics().text(status, NOW).splitlines()
    found = {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}
    for name, value in (
        ('daybook_channel_state{channel="web",state="ok"}', 1),
        ('daybook_channel_state{channel="web",state="down"}', 0),
        (r'daybook_channel_state{channel="o\"d\\d\n",state="down"}', 1),
        ("daybook_inbox_waiting", 1),
        ("daybook_inbox_oldest_seconds", 30),
        ("daybook_outbox_failed", 4),
        ("daybook_turns_running", 1),
        ('daybook_tokens_today{kind="input"}', 1200000),
        ("daybook_cost_usd_today", 1234.5678),
    ):
        assert found[name] == value
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names))
    assert "waiting" not in Metrics().text({}, NOW), "what is not known is left out"


def test_answers_are_counted_once_each_in_buckets() -> None:
    metrics = Metrics()
    for answers in ({1: 0.4, 2: 3.0}, {2: 3.0, 3: 500.0}, {3: 500.0}, {}):
        metrics.count(answers)
    lines = [line for line in metrics.text({}, NOW).splitlines() if line.startswith("daybook_answer_seconds")]
    assert [line.partition("answer_seconds")[2] for line in lines] == [
        '_bucket{le="0.5"} 1.0', '_bucket{le="1.0"} 1.0', '_bucket{le="2.0"} 1.0', '_bucket{le="5.0"} 2.0',
        '_bucket{le="10.0"} 2.0', '_bucket{le="20.0"} 2.0', '_bucket{le="30.0"} 2.0', '_bucket{le="60.0"} 2.0',
        '_bucket{le="120.0"} 2.0', '_bucket{le="+Inf"} 3.0', "_count 3.0", "_sum 503.4",
    ]  # fmt: skip


async def test_an_answer_is_timed_from_its_message_to_its_delivery(daybook: Daybook) -> None:
    def slowly(_: ModelRequest) -> str:
        daybook.moment.pass_(timedelta(seconds=3))
        return "Here I am."

    daybook.model.then(slowly, slowly)
    async with daybook.running():
        daybook.chat.say("Hello?")
        await daybook.chat.wait_until(lambda: daybook.chat.heard().count("Here I am.") == 1)
        daybook.chat.say("/status")
        await daybook.chat.wait_until(lambda: len(daybook.chat.heard()) == 2)
        daybook.chat.say("And now?")
        await daybook.chat.wait_until(lambda: daybook.chat.heard().count("Here I am.") == 2)
    with closing(sqlite3.connect(daybook.home.database)) as connection:
        connection.row_factory = sqlite3.Row
        every = outbox_rows.answer_seconds(connection, "")
        assert [round(seconds, 3) for seconds in every.values()] == [3.0, 3.0], "a command is no answer"
        now = utc_stamp(daybook.moment.now)
        assert not outbox_rows.answer_seconds(connection, now)


async def test_figures_of_a_running_gateway(daybook: Daybook) -> None:
    async with daybook.running() as running:
        figures = Metrics().text(await running.ask("status"), NOW)
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
    config = whole().model_validate({"timezone": "Etc/UTC", "channels": {"web": web}})
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
        told = f"another program is using port {port} on 127.0.0.1, so the page will take the next free port"
        assert found(f"{{port: {port}}}") == (True, told)
    assert found(f"{{port: {port}}}") == (True, f"port {port} on 127.0.0.1 is free")
    assert found("{port: 0}")[0]
    assert found("{enabled: false}") == (True, "off (channels.web.enabled)")
    assert not found("{host: no.such.host.invalid}")[0]
