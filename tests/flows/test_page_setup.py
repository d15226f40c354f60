"""The set-up on the page: from an empty home to an answer, a bot and its owner; settings, the doctor and the log."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml
from playwright.async_api import Browser, Locator, Page, expect

from gateway.config import load
from gateway.home import Home
from tests.channels.web.test_views import XSS
from tests.chromium import PATIENCE, chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import FakeDiscord
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.stores import settings_of
from tests.flows.test_web import where

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(300)
ANNA = 55555


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as fake:
        yield fake


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic, discord: FakeDiscord) -> AsyncIterator[GatewayProcess]:
    """Nothing is set up, but for where the platforms are."""
    channels = {
        "web": {"port": free_port()},
        "telegram": {"base_url": telegram.base_url, "base_file_url": telegram.base_file_url},
        "discord": {"api_url": discord.api_url},
    }
    process = GatewayProcess(telegram, model, start_now=False)
    process.environ["TZ"] = "UTC"
    settings: dict[str, object] = {"channels": channels, **settings_of(process.home)}
    settings["schedule"] = {"daily_summary": {"enabled": False}}
    (process.home / "config.yaml").write_text(f"# mine, and it stays\n{yaml.safe_dump(settings)}")
    async with process:
        await process.start(wait=False)
        yield process


async def first_visit(chromium: Browser, gateway: GatewayProcess, path: str = "/", locale: str = "en-GB") -> Page:
    address, token = await gateway.while_alive(where(gateway))
    person = await chromium.new_context(base_url=address, timezone_id="Europe/Berlin", locale=locale)
    person.set_default_timeout(PATIENCE)
    page = await person.new_page()
    await page.goto(f"{address}{path}")
    await page.locator("#token").fill(token)
    await page.locator("#login button").click()
    return page


def card(page: Page, title: str) -> Locator:
    return page.locator("details.setup").filter(has=page.locator(".title", has_text=title))


def config_of(gateway: GatewayProcess) -> str:
    return (gateway.home / "config.yaml").read_text()


async def test_a_newcomer_gets_from_an_empty_home_to_an_answer(
    chromium: Browser, gateway: GatewayProcess, model: FakeAnthropic
) -> None:
    model.reply = lambda _: "Hello Anna!"
    page = await first_visit(chromium, gateway)
    await expect(page.get_by_role("heading", name="Hello! What's on your mind?")).to_be_visible()
    one = card(page, "A model that answers")
    await one.locator("summary").click()
    await one.get_by_label("Anthropic API key").fill("sk-wrong-but-long-enough")
    await one.get_by_label("Or the address").fill(model.base_url)
    await expect(one.locator(".checked")).to_have_text(
        "The server doesn’t accept this key. Create a new one and paste it here."
    )
    await one.get_by_role("button", name="Use this model").click()
    await expect(one.get_by_label("Anthropic API key")).to_be_focused()
    assert "base_url" not in config_of(gateway).partition("model")[2], "what is refused is not kept"

    await one.get_by_label("Anthropic API key").fill(model.api_key)
    await expect(one.locator(".checked")).to_have_text("It works. The model says: “Hello Anna!”")
    assert await one.locator("select option").all_inner_texts() == list(model.models)
    await one.locator("select").select_option("claude-opus-5-5")
    await expect(one.locator(".checked")).to_contain_text("It works.")
    await one.get_by_role("button", name="Use this model").click()
    await expect(one).to_be_hidden()

    you = card(page, "You")
    await you.locator("summary").click()
    await expect(you.get_by_label("Your time zone")).to_have_value("Europe/Berlin")  # the browser knows better than UTC
    await you.get_by_label("What should I call you?").fill("Anna")
    await you.get_by_label("Summary of the day").fill("20:30")
    await you.get_by_role("button", name="Save").click()
    await expect(you).to_be_hidden()
    await card(page, "Discord").locator("summary").click()
    await card(page, "Discord").get_by_role("button", name="Not now").click()
    await expect(card(page, "Discord")).to_be_hidden()

    loaded = load(Home(gateway.home), {}).config
    assert (loaded.model.name, loaded.timezone) == ("claude-opus-5-5", "Europe/Berlin")
    assert loaded.schedule.daily_summary.enabled and f"{loaded.schedule.daily_summary.time:%H:%M}" == "20:30"
    assert config_of(gateway).startswith("# mine, and it stays\n") and model.api_key not in config_of(gateway)
    assert model.api_key not in gateway.log

    await page.locator("#text").fill("Hello!")
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .daybook .body")).to_have_text("Hello Anna!")
    await expect(page.locator("#setup")).to_be_hidden()


@pytest.mark.full
async def test_telegram_is_connected_and_its_owner_approved_with_one_press(
    chromium: Browser, gateway: GatewayProcess, telegram: FakeTelegram
) -> None:
    page = await first_visit(chromium, gateway, "/settings")
    one = card(page, "Telegram")
    await one.locator("summary").click()
    await one.get_by_label("Bot token").fill("123:short")
    await expect(one.locator(".checked")).to_contain_text("This doesn’t look like a token.")
    await one.get_by_label("Bot token").fill(telegram.token)
    await expect(one.locator(".checked")).to_have_text(f"This is @{telegram.username}.")
    await one.get_by_role("button", name="Connect Telegram").click()
    await expect(one.get_by_text("Now write anything to the bot. Your request appears here.")).to_be_visible()
    link = one.get_by_role("link", name=f"Open @{telegram.username}")
    assert await link.get_attribute("href") == f"https://t.me/{telegram.username}"

    telegram.say("hello", chat=ANNA, user=ANNA, name=f"Anna {XSS}")
    told = await telegram.next_message(ANNA)
    await expect(one.get_by_text("wants to write to me.")).to_contain_text("onerror")
    await one.get_by_role("button", name="Approve").click()
    await expect(one.get_by_text("can write to me there.")).to_contain_text("Anna")
    assert "owner" in (await telegram.next_message(ANNA, told.id)).text
    assert telegram.token not in config_of(gateway) + gateway.log
    assert await page.title() == "Daybook" and await page.locator("#view script, #view img").count() == 0


@pytest.mark.full
async def test_discord_says_what_is_missing_and_makes_the_invitation(
    chromium: Browser, gateway: GatewayProcess, discord: FakeDiscord
) -> None:
    discord.privileged, granted = frozenset(), discord.privileged
    page = await first_visit(chromium, gateway, "/settings")
    one = card(page, "Discord")
    await one.locator("summary").click()
    await one.get_by_label("Bot token").fill(discord.token)
    await expect(one.locator(".checked")).to_contain_text("turn on Message Content Intent")
    discord.privileged = granted
    await one.get_by_label("Bot token").fill(discord.token + " ")
    await expect(one.locator(".checked")).to_contain_text(f"This is {discord.bot.name}.")
    href = await one.get_by_role("link", name="Invite it to your server").get_attribute("href")
    assert href is not None and f"client_id={discord.bot.id}&" in href
    await one.get_by_role("button", name="Connect Discord").click()
    await expect(one.locator(".tag")).to_have_text("done")
    await gateway.until_status(lambda status: status["channels"]["discord"]["state"] == "ok")


@pytest.mark.full
async def test_settings_are_checked_kept_with_their_comments_and_used_after_a_restart(
    chromium: Browser, gateway: GatewayProcess
) -> None:
    page = await first_visit(chromium, gateway, "/settings")
    quiet = page.get_by_label("When I don’t speak by myself")
    await quiet.fill("always")
    await quiet.blur()
    said = page.locator(".setting").filter(has=quiet).get_by_role("status")
    await expect(said).to_have_text("Write it like this: 22:00-07:00")
    assert "quiet_hours" not in config_of(gateway)
    await quiet.fill("22:00-07:00")
    await quiet.blur()
    await expect(said).to_have_text("Saved.")
    await page.get_by_label("At most, all together").fill("2.5")
    await page.get_by_label("Telegram", exact=True).select_option("nobody in private")
    await expect(page.locator(".setting").filter(has_text="Telegram").get_by_role("status")).to_have_text("Saved.")
    assert config_of(gateway).startswith("# mine, and it stays\n")
    await page.get_by_role("button", name="Restart now").click()
    await expect(page.locator("#restart")).to_be_hidden()
    await page.reload()
    await expect(page.get_by_label("When I don’t speak by myself")).to_have_value("22:00-07:00")
    await expect(page.get_by_label("At most, all together")).to_have_value("2.5")
    await expect(page.get_by_label("Telegram", exact=True)).to_have_value('"off"')
    assert gateway.log.count("is running (process") == 2 and gateway.is_running
    await page.get_by_text("All keys of config.yaml").click()
    await expect(page.locator(".keys tr", has_text="schedule.quiet_hours")).to_contain_text("22:00-07:00")


@pytest.mark.full
async def test_a_configuration_with_a_mistake_stops_no_running_gateway(
    chromium: Browser, gateway: GatewayProcess
) -> None:
    page = await first_visit(chromium, gateway, "/settings")
    await page.get_by_label("How much is logged").select_option("everything")
    await expect(page.locator("#restart")).to_be_visible()
    file = Path(gateway.home / "config.yaml")
    sound = await asyncio.to_thread(file.read_text)
    await asyncio.to_thread(file.write_text, f"{sound}\nmodel: 3\n")
    await page.get_by_role("button", name="Restart now").click()
    await expect(page.locator("#restart")).to_contain_text("the configuration has a mistake")
    assert gateway.is_running and gateway.log.count("is running (process") == 1
    await asyncio.to_thread(file.write_text, sound)
    await page.get_by_role("button", name="Restart now").click()
    await expect(page.locator("#restart")).to_be_hidden()


@pytest.mark.full
async def test_the_doctor_and_the_log_are_read_on_the_page(chromium: Browser, gateway: GatewayProcess) -> None:
    page = await first_visit(chromium, gateway, "/status")
    await page.get_by_role("button", name="Check now").click()
    await expect(page.locator(".findings li", has_text="config").first).to_contain_text("valid")
    await expect(page.locator("#doctor [role=status]")).not_to_have_text("One moment…")
    (gateway.home / "state" / "web-token").chmod(0o644)
    await page.get_by_role("button", name="Check now").click()
    await expect(page.locator(".findings li").first).to_contain_text("chmod go-rwx")
    await page.get_by_role("button", name="Show").click()
    await expect(page.locator("#log .lines")).to_contain_text("is running (process")


@pytest.mark.full
async def test_the_doctor_and_refusals_speak_the_browsers_language(chromium: Browser, gateway: GatewayProcess) -> None:
    page = await first_visit(chromium, gateway, "/status", locale="de-DE")
    (gateway.home / "state" / "web-token").chmod(0o644)
    await page.get_by_role("button", name="Jetzt prüfen").click()
    first = page.locator(".findings li").first
    await expect(first).to_contain_text("ist für andere Benutzer dieses Rechners lesbar")
    await expect(page.locator(".findings li", has_text="Konfiguration").first).to_contain_text("gültig")
    await expect(page.locator(".findings")).to_contain_text("journal: als Nächstes morgen, 00:05")
    await page.goto("/settings")
    quiet = page.get_by_label("Wann ich nicht von selbst spreche")
    await quiet.fill("immer")
    await quiet.blur()
    said = page.locator(".setting").filter(has=quiet).get_by_role("status")
    await expect(said).to_have_text("Schreib es so: 22:00-07:00")
    most = page.get_by_label("Höchstens insgesamt")
    await most.fill("0")
    await most.blur()
    said = page.locator(".setting").filter(has=most).get_by_role("status")
    await expect(said).to_have_text("Schreib eine Zahl über 0 oder lass das Feld leer.")
