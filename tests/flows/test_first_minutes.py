"""The first minutes at a terminal: what a person reads there, and that the link in it opens the page."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import yaml

from tests.channels.web.browser import browser
from tests.fakes.telegram import FakeTelegram
from tests.flows.server import Server
from tests.flows.stores import settings_of
from tests.gateway.cli.test_cli import Terminal, shell
from tests.gateway.terminal.test_prompt import Watched

NEWCOMER = 55555


@asynccontextmanager
async def started(folder: Path, *words: str, **settings: object) -> AsyncIterator[Terminal]:
    """`daybook gateway`, started by a person in Berlin."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    config = home / "config.yaml"
    config.write_text(yaml.safe_dump({"timezone": "Europe/Berlin", **settings_of(home), **settings}))
    config.chmod(0o600)
    terminal = Terminal(home, "gateway", *words)
    try:
        yield terminal
    finally:
        terminal.close()


async def until(terminal: Terminal, text: str, after: int = 0) -> int:
    """The fakes go on meanwhile."""
    return await asyncio.to_thread(lambda: terminal.until(text, after=after))


def lines(terminal: Terminal) -> list[str]:
    return [line.strip() for line in terminal.text.splitlines() if line.strip()]


async def test_a_person_starts_it_logs_in_and_pairs(tmp_path: Path, telegram: FakeTelegram, server: Server) -> None:
    channels = {
        "web": {"port": 0},
        "telegram": {
            "token": telegram.token,
            "base_url": telegram.base_url,
            "base_file_url": telegram.base_file_url,
        },
        "discord": {"token": server.discord.token, "api_url": server.discord.api_url},
    }
    async with started(tmp_path, "--terminal", channels=channels) as terminal:
        at = await until(terminal, "Type a message, or /help. (Ctrl-C stops a reply, Ctrl-D quits.)")
        await until(terminal, "> ", at)
        told = lines(terminal)
        assert re.fullmatch(r"Daybook \S+ is running\. It is \d\d:\d\d in Berlin\.", told[0])
        assert f"Telegram  connected as @{telegram.username}" in told
        assert any(re.fullmatch(r"Discord +connected as \w+", line) for line in told), told
        assert any(line.startswith("Model     none yet, so the offline assistant answers") for line in told)
        assert any(f"Write to @{telegram.username} on Telegram or " in line for line in told), "nobody is its owner"
        assert "INFO" not in terminal.text and "Traceback" not in terminal.text

        link = re.search(r"(http://127\.0\.0\.1:\d+)/#once=(\S+)", terminal.text)
        assert link
        async with browser(link[1]) as one:
            assert await one.follow(link[2]) == 200
            assert await one.follow(link[2]) == 401

        telegram.say("hello", chat=NEWCOMER, name="Anna")
        code = re.search(r"\b[A-Z0-9]{8}\b", (await telegram.next_message(NEWCOMER)).text)
        assert code
        home = tmp_path / "home"
        approved = await asyncio.to_thread(shell, home, "pair", "approve", code[0])
        assert "is the owner now" in approved.stdout
        log = (await asyncio.to_thread(shell, home, "logs")).stdout
        assert f"connected as @{telegram.username}" in log and link[2] not in log
        assert await asyncio.to_thread(terminal.leaves) == 0


async def test_without_a_chat_here_it_says_how_to_go_on_and_that_a_bot_is_not_reached(tmp_path: Path) -> None:
    telegram = {"token": "123456789:AAF0123456789abcdefghijklmnopqrstuv", "base_url": "http://127.0.0.1:9/bot"}
    channels = {"web": {"port": 0}, "telegram": telegram}
    async with started(tmp_path, channels=channels) as terminal:
        await until(terminal, "Ctrl-C stops Daybook.")
        told = lines(terminal)
        assert any(re.match(r"Telegram +not connected yet: .*127\.0\.0\.1:9", line) for line in told), told
        assert any(re.fullmatch(r"Page +http://127\.0\.0\.1:\d+", line) for line in told)
        assert any("web` opens the page" in line and "logs --follow`" in line for line in told)
        assert "#once=" not in terminal.text and not any("Write to" in line for line in told)
        terminal.process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(terminal.process.wait, 120) == 0


async def test_a_warning_leaves_what_is_being_typed_whole(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    telegram = {"token": "123456789:AAF0123456789abcdefghijklmnopqrstuv", "base_url": "http://127.0.0.1:9/bot"}
    channels = {"web": {"enabled": False}, "telegram": telegram}
    (home / "config.yaml").write_text(yaml.safe_dump({"timezone": "UTC", "channels": channels, **settings_of(home)}))
    terminal = Watched(home, "gateway", "--terminal", columns=200)

    def warned_above_the_line(count: int) -> bool:
        return terminal.text.count("WARNING") >= count and terminal.text.count("half a thou") == 1

    def type_while_it_warns() -> None:
        terminal.until("% full")
        terminal.type("half a thou")
        terminal.until("> half a thou")
        for count in (1, 2):  # it goes on trying
            terminal.until_true(partial(warned_above_the_line, count), "half a thou")
        terminal.type("ght\r")
        terminal.until("Noted:")
        terminal.until("> half a thought\n")

    try:
        await asyncio.to_thread(type_while_it_warns)
    finally:
        terminal.process.kill()
        terminal.process.wait()


async def test_a_port_in_use_is_one_calm_line(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        async with started(tmp_path, channels={"web": {"port": port}}) as terminal:
            await until(terminal, "Ctrl-C stops Daybook.")
            told = [line for line in lines(terminal) if "another program" in line]
            assert len(told) == 1 and told[0].startswith(f"(another program is using port {port}, so it is at ")
            assert "WARNING" not in terminal.text and "ERROR" not in terminal.text
