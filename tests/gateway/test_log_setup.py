"""No secret reaches the log."""

from __future__ import annotations

import contextlib
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gateway import log_setup

SECRET = "my:own/secret"
TELEGRAM = "123456789:AAF0123456789abcdefghijklmnopqrstuv"


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers = root.handlers[:]
    yield
    root.handlers[:] = handlers
    logging.captureWarnings(False)


def written(style: str, level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    log_setup.set_up(level, style, [SECRET, ""], stream)
    return stream


@pytest.mark.parametrize("style", ["text", "json"])
def test_secrets_are_hidden_in_messages_arguments_and_tracebacks(style: str) -> None:
    stream = written(style)
    logger = logging.getLogger("gateway.test")
    logger.info("token %s, in an address my%%3Aown%%2Fsecret", SECRET)
    logger.warning("https://api.telegram.org/bot%s/getMe", TELEGRAM)
    logger.error("https://ann:hunter22@host/ x-api-key: abcdefgh12345 Authorization: Bearer abcdefgh12345")
    logger.info("opened http://127.0.0.1:8765/#once=abcdefgh-678")
    try:
        raise ValueError(f"refused {SECRET} and {TELEGRAM}")
    except ValueError:
        logger.exception("it failed")
    text = stream.getvalue()
    for hidden in (SECRET, "my%3Aown%2Fsecret", TELEGRAM, "hunter22", "abcdefgh12345", "abcdefgh-678"):
        assert hidden not in text
    assert text.count(log_setup.HIDDEN) >= 8
    assert "it failed" in text
    assert "ValueError" in text


def test_json_is_one_object_a_line() -> None:
    stream = written("json")
    logging.getLogger("gateway.test").info("two\nlines")
    (line,) = stream.getvalue().splitlines()
    entry = json.loads(line)
    assert (entry["level"], entry["logger"], entry["message"]) == ("info", "gateway.test", "two\nlines")


def test_libraries_are_quiet_and_the_level_counts() -> None:
    stream = written("text", "warning")
    logging.getLogger("gateway.test").info("news")
    logging.getLogger("httpx").info("HTTP Request")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("library", ["httpx", "aiohttp.client", "telegram.Bot", "discord.gateway", "of.next.year"])
def test_the_news_of_libraries_stay_out_at_debug_too(library: str) -> None:
    """They tell whole requests there: addresses with tokens, and what people wrote."""
    stream = written("text", "debug")
    logging.getLogger(library).debug("sent {'text': 'my secret plan'}")
    logging.getLogger(library).info("sent {'text': 'my secret plan'}")
    logging.getLogger("channels.test").debug("ours")
    assert "my secret plan" not in stream.getvalue()
    assert "ours" in stream.getvalue()


def test_a_call_of_discords_is_not_shown_with_its_token() -> None:
    stream = written("text")
    token = "aW50ZXJhY3Rpb246" * 8
    for path in (f"webhooks/123456789012345678/{token}", f"interactions/123456789012345678/{token}/callback"):
        logging.getLogger("discord.http").warning("429: POST https://discord.com/api/v10/%s", path)
    assert token not in stream.getvalue()
    assert stream.getvalue().count(log_setup.HIDDEN) == 2


def test_ordinary_text_is_left_alone() -> None:
    stream = written("text")
    logging.getLogger("gateway.test").info("at 12:30 in memory/2026-11-21.md, owner telegram:11111 said hello.")
    assert log_setup.HIDDEN not in stream.getvalue()


@pytest.mark.parametrize("style", ["text", "json"])
def test_half_a_character_is_no_reason_to_lose_a_line(style: str, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w", encoding="utf-8") as stream:
        log_setup.set_up("info", style, [], stream)
        logging.getLogger("gateway.test").info("from %s", "Al\ud83dice")
    assert "from Al\ufffdice" in (tmp_path / "log").read_text(encoding="utf-8")


def test_times_are_those_of_the_persons_zone() -> None:
    stream = io.StringIO()
    log_setup.set_up("info", "text", [], stream, ZoneInfo("Asia/Tokyo"))
    record = logging.makeLogRecord({"name": "gateway.test", "levelname": "INFO", "msg": "hello", "created": 0.5})
    record.msecs = 500
    logging.getLogger().handlers[0].handle(record)
    assert stream.getvalue() == "1970-01-01 09:00:00,500 INFO    gateway.test: hello\n"


# the file


@pytest.fixture
def _without_files() -> Iterator[None]:
    yield
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.FileHandler):
            with contextlib.suppress(OSError):  # what a full disk did not take
                handler.close()


@pytest.mark.usefixtures("_without_files")
def test_the_file_is_private_has_no_secret_and_is_bounded(tmp_path: Path) -> None:
    stream = written("text")
    file = tmp_path / "gateway.log"
    log_setup.keep(file, 50_000)
    logging.getLogger("gateway.test").info("token %s", SECRET)
    assert file.read_text() == stream.getvalue() and SECRET not in file.read_text()
    for number in range(130):
        logging.getLogger("gateway.test").info("%d %s", number, "x" * 1_000)
    assert "129 xxx" in file.read_text()
    kept = [file, log_setup.older(file)]
    assert sorted(tmp_path.iterdir()) == kept
    assert all(file.stat().st_mode & 0o777 == 0o600 and file.stat().st_size < 52_000 for file in kept)


@pytest.mark.usefixtures("_without_files")
def test_several_that_write_one_file_lose_no_more_of_it_than_one(tmp_path: Path) -> None:
    """As gateways that share a home, on one computer."""
    written("text")
    file = tmp_path / "gateway.log"
    for _ in range(2):
        log_setup.keep(file, 50_000)
    for number in range(90):
        logging.getLogger("gateway.test").info("%d %s", number, "x" * 1_000)
    lines = [
        line.split()[4] for log_file in (log_setup.older(file), file) for line in log_file.read_text().splitlines()
    ]
    assert sorted(lines[-120:].count(str(number)) for number in range(50, 90)) == [2] * 40


@pytest.mark.usefixtures("_without_files")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_said_once_and_the_console_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = written("text")
    (tmp_path / "gateway.log").symlink_to("/dev/full")
    log_setup.keep(tmp_path / "gateway.log")
    for number in range(3):
        logging.getLogger("gateway.test").info("line %d", number)
    assert stream.getvalue().count("line ") == 3
    assert capsys.readouterr().err.count("Can't write ") == 1
