"""A message changed and sent again, and another answer: the model sees the new version, a person can read the old."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.channels.web.browser import Tab
from tests.channels.web.test_views import XSS
from tests.chromium import PATIENCE, chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_compacting import KEEP, SMALL, Careful
from tests.flows.test_web import at_the_page, where

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(300)
SETTINGS: Mapping[str, object] = {"channels": {"web": {"enabled": True, "port": 0}}}


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    async with GatewayProcess(telegram, model, SETTINGS) as process:
        yield process


async def at_the_chat(chromium: Browser, gateway: GatewayProcess, **options: Any) -> Page:
    address, token = await where(gateway)
    person = await chromium.new_context(**options)
    person.set_default_timeout(PATIENCE)
    page = await person.new_page()
    await page.goto(address)
    await page.locator("#token").fill(token)
    await page.locator("#login button").click()
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    return page


async def say(page: Page, text: str) -> None:
    await page.get_by_label("Message", exact=True).fill(text)
    await page.keyboard.press("Enter")


def message(page: Page, text: str) -> Locator:
    return page.locator("#messages > .message").filter(has_text=text)


def sent(model: FakeAnthropic) -> str:
    """What the last request had to say."""
    return str(model.bodies[-1]["messages"])


async def test_a_message_is_changed_and_the_earlier_version_can_be_read(
    chromium: Browser, gateway: GatewayProcess, model: FakeAnthropic
) -> None:
    page = await at_the_chat(chromium, gateway)
    model.answer("Hello.")
    await say(page, "Good morning")
    await expect(message(page, "Hello.")).to_be_visible()
    model.answer("Lisbon is warm.")
    await say(page, "Tell me about Lisbon")
    await expect(message(page, "Lisbon is warm.")).to_be_visible()
    model.answer("You are welcome.")
    await say(page, "Thanks")
    await expect(message(page, "You are welcome.")).to_be_visible()

    asked = message(page, "Tell me about Lisbon")
    await asked.get_by_role("button", name="Edit message").click()
    field = page.get_by_label("New version of the message")
    await expect(field).to_have_value("Tell me about Lisbon")
    await field.press("Escape")
    await expect(asked.get_by_role("button", name="Edit message")).to_be_focused()
    await page.keyboard.press("Enter")
    model.answer(f"Porto has **bridges**. {XSS}")
    await field.fill(f"Tell me about Porto {XSS}")
    await field.press("Enter")
    await expect(message(page, "Porto has bridges")).to_be_visible()
    await expect(page.locator("#messages > .message")).to_have_count(4)
    await expect(message(page, "Lisbon")).to_have_count(0)
    assert "Good morning" in sent(model) and "Porto" in sent(model)
    assert "Lisbon" not in sent(model) and "welcome" not in sent(model)

    await page.reload()
    await expect(page.locator("#messages > .message")).to_have_count(4)
    await page.get_by_role("button", name="Earlier version").click()
    earlier = page.locator(".version .message")
    await expect(earlier).to_have_count(4)
    await expect(earlier.nth(0)).to_contain_text("Tell me about Lisbon")
    await expect(earlier.nth(3)).to_contain_text("You are welcome.")
    await expect(earlier.get_by_role("button", name="Edit message")).to_have_count(0)
    await message(page, "Porto").first.get_by_role("button", name="Edit message").click()
    await expect(field).to_have_value(f"Tell me about Porto {XSS}")
    await expect(earlier.first).to_contain_text("Tell me about Lisbon")
    await field.press("Escape")
    await page.get_by_role("button", name="Earlier version").click()
    await expect(earlier).to_have_count(0)
    assert await page.title() == "Daybook"

    transcript = await gateway.cli("sessions", "show", "main/owner")
    assert "> _An earlier version, which was replaced:_" in transcript.out
    assert "> Tell me about Lisbon" in transcript.out and "\nTell me about Porto" in transcript.out


@pytest.mark.full
async def test_another_answer_survives_a_kill_and_a_double_press_is_one(
    chromium: Browser, gateway: GatewayProcess, model: FakeAnthropic
) -> None:
    page = await at_the_chat(chromium, gateway)
    model.answer("Red.")
    await say(page, "A colour?")
    await expect(message(page, "Red.")).to_be_visible()
    stream = model.hold(after=0)
    model.answer("Green.")
    again = message(page, "Red.").get_by_role("button", name="Answer again")
    await again.evaluate("button => { button.click(); button.disabled = false; button.click(); }")
    await model.held(stream)
    asked = len(model.bodies)
    await gateway.kill()
    stream.release()
    model.answer("Blue.")
    await gateway.start()
    await where(gateway)
    address = (await where(gateway))[0]
    await page.goto(address)
    await page.locator("#token").fill((await where(gateway))[1])
    await page.locator("#login button").click()
    await expect(message(page, "Blue.")).to_be_visible()
    await expect(page.locator("#messages > .message")).to_have_count(2)
    assert len(model.bodies) == asked + 1
    assert sent(model).count("A colour?") == 1 and "Red." not in sent(model)


async def resend(tab: Tab, text: str, by: str, id: str = "") -> str:
    """A new version of what was said as `text`."""
    (old,) = [one["id"] for one in tab.messages if one.get("text") == text]
    return await resend_of(tab, old, by, id)


async def resend_of(tab: Tab, old: str, by: str, id: str = "") -> str:
    identity = id or uuid.uuid4().hex
    await tab.socket.send_json({"type": "resend", "id": identity, "message": old, "text": by})
    return identity


async def test_a_compaction_knows_the_newest_version_only(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    model.reply = Careful()
    async with (
        GatewayProcess(telegram, model, {**SETTINGS, "model": SMALL, "session": KEEP}) as gateway,
        at_the_page(gateway) as one,
        one.opened() as tab,
    ):
        for number in range(3):
            await tab.say(f"Fact {number}: K-{number}-XY{' filler' * 260}")
            await tab.until(lambda number=number: len(tab.heard) > number)  # type: ignore[misc]
        await resend(tab, tab.said[1], f"Fact 1: NEW{' filler' * 260}")
        await tab.until(lambda: len(tab.heard) == 4)
        for number in (4, 5):
            await tab.say(f"Fact {number}: K-{number}-XY{' filler' * 260}")
            await tab.until(lambda number=number: len(tab.heard) > number)  # type: ignore[misc]
        before = len(model.bodies)
        await tab.say("/compact")
        await tab.hears("the conversation went from about")
        await tab.say("the last question")
        await tab.until(lambda: "the last question" in sent(model))
        since = [str(body["messages"]) for body in model.bodies[before:]]
        assert any("Fact 1: NEW" in asked for asked in since)
        assert not [asked for asked in since if "K-1-XY" in asked or "K-2-XY" in asked]


async def test_an_answer_in_the_making_is_stopped_by_the_new_version(
    gateway: GatewayProcess, model: FakeAnthropic
) -> None:
    async with at_the_page(gateway) as one, one.opened() as tab, one.opened() as other:
        stream = model.hold(after=2)
        model.answer(["The old ", "answer ", "goes on."])
        model.answer("A new answer.")
        photo = await one.upload(b"a list", "list.txt", "text/plain")
        await tab.told("kept", await tab.say("Read this", photo))
        await model.held(stream)
        await other.until(lambda: [frame for frame in other.of_type("draft") if "The old" in frame["html"]])
        await resend(tab, "Read this", "Read this twice")
        await tab.hears("A new answer.")
        stream.release()
        assert "a list" in sent(model) and "Read this twice" in sent(model) and "The old" not in sent(model)
        async with one.opened() as reloaded:
            assert reloaded.said == ["Read this twice"] and reloaded.heard == ["<p>A new answer.</p>"]
            assert [file["name"] for file in reloaded.messages[0]["files"]] == ["list.txt"]
            await reloaded.socket.send_json({"type": "earlier", "message": reloaded.messages[0]["id"]})
            earlier = (await reloaded.until(lambda: reloaded.of_type("earlier")))[0]["messages"]
            assert earlier[0]["text"] == "Read this" and "The old" in earlier[1]["html"]


async def test_of_two_windows_the_first_wins_and_a_repeat_changes_nothing(
    gateway: GatewayProcess, model: FakeAnthropic
) -> None:
    async with at_the_page(gateway) as one, one.opened() as tab, one.opened() as other:
        model.answer("One.")
        await tab.say("one")
        await other.hears("One.")
        (old,) = [entry["id"] for entry in tab.messages if entry["by"] == "person"]
        model.answer("Two.")
        first = await resend_of(tab, old, "two")
        await tab.told("kept", first)
        late = await resend_of(other, old, "three")
        assert "changed already" in (await other.told("refused", late))["why"]
        await tab.hears("Two.")
        await resend_of(tab, old, "two", first)
        await tab.until(lambda: len([frame for frame in tab.of_type("kept") if frame["id"] == first]) == 2)
        async with one.opened() as reloaded:
            assert reloaded.said == ["two"] and reloaded.heard == ["<p>Two.</p>"]
        assert len(model.bodies) == 2
        model.answer("Four.")
        await resend_of(tab, first, "four")
        await other.hears("Four.")
        assert "two" not in sent(model)


async def test_what_cannot_be_replaced_says_why(
    gateway: GatewayProcess, model: FakeAnthropic, telegram: FakeTelegram
) -> None:
    async with at_the_page(gateway) as one, one.opened() as tab:
        model.answer("One.")
        await tab.say("one")
        await tab.hears("One.")

        async def refused(text: str, by: str) -> str:
            return str((await tab.told("refused", await resend(tab, text, by)))["why"])

        assert "command" in await refused("one", "/new now")
        assert "empty" in await refused("one", " ")
        assert "no longer" in (await tab.told("refused", await resend_of(tab, "0" * 32, "what?")))["why"]
        model.answer("From Telegram.")
        telegram.say("another thing", chat=OWNER)
        await gateway.while_alive(telegram.next_message(OWNER))
        assert "in another chat" in await refused("one", "two")
        await tab.say("/new")
        await tab.hears("new conversation")
        assert "present conversation" in await refused("one", "two")
        assert tab.said == ["one", "/new"]
