"""The chat in the browser, from a fresh home to a `kill -9`: what a person says, sees, and sees again."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from PIL import Image

from tests.channels.web.browser import Browser, Tab, browser
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.stores import holds
from tests.flows.test_daily import DAY, a_day, at, awake, ran

_TOLD = re.compile(r"the web page is at (\S+) \(its token: (\S+);")
WEB: Mapping[str, object] = {"channels": {"web": {"enabled": True, "port": 0}}}


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    async with GatewayProcess(telegram, model, WEB) as process:
        yield process


async def where(gateway: GatewayProcess) -> tuple[str, str]:
    """Address and token, as this start's log tells them."""
    async with asyncio.timeout(120):
        while len(told := _TOLD.findall(gateway.log)) < gateway.starts:  # noqa: ASYNC110  a log rings no bell
            await asyncio.sleep(0.02)
    address, file = told[-1]
    return address, await asyncio.to_thread(_token, file)


def _token(file: str) -> str:
    return Path(file).read_text(encoding="utf-8").strip()


@asynccontextmanager
async def at_the_page(gateway: GatewayProcess) -> AsyncIterator[Browser]:
    async with browser(*await where(gateway)) as one:
        yield one


async def test_the_first_words_of_a_newcomer(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    settings = {**WEB, "owners": [], "model": {"provider": "offline"}}
    async with GatewayProcess(telegram, model, settings) as gateway:
        ran = await gateway.cli("web")
        found = re.search(r"(http://\S+)/#once=(\S+)", ran.out)
        assert found and found[1] in gateway.log
        file = gateway.home / "state" / "web-token"
        token = file.read_text().strip()
        assert token in ran.out and file.stat().st_mode & 0o777 == 0o600
        async with browser(found[1]) as one:
            assert await one.log_in("what?") == 401
            assert await one.follow(found[2]) == 200
            async with one.opened() as tab:
                await tab.say("Remember that my cat is called Luna.")
                await tab.hears("Luna")
                await tab.say("/whoami")
                await tab.hears("owner")
        assert "Luna" in (await gateway.cli("chat", "-m", "What is my cat called?")).out, "one person, one memory"
        async with browser(found[1], token) as other, other.opened() as tab:
            await tab.hears("Luna")
            assert await other.follow(found[2]) == 401, "a link works once"
        assert not [secret for secret in (token, found[2]) if secret in gateway.log + ran.err]
        sessions = (await gateway.cli("sessions", "list", "--json")).json()
        assert [session["key"] for session in sessions] == ["main/owner"]


async def test_a_reply_streams_into_every_tab_and_stands_there_after_a_reload(
    model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    async with at_the_page(gateway) as one, one.opened() as tab, one.opened() as other:
        stream = model.hold(after=2)
        model.answer(["**Once** ", "upon ", "a time."])
        await tab.told("kept", await tab.say("a story, please"))
        await model.held(stream)
        await other.until(
            lambda: [frame for frame in other.of_type("draft") if "<strong>Once</strong>" in frame["html"]]
        )
        assert other.said == ["a story, please"] and other.heard == []
        stream.release()
        final = await other.hears("<strong>Once</strong> upon a time.")
        assert final["turn"] == other.of_type("draft")[0]["turn"]
        await tab.until(lambda: tab.heard)
        assert tab.of_type("busy")[-1] == {"type": "busy", "on": False}
        async with one.opened() as reloaded:
            assert reloaded.messages == tab.messages == other.messages
            assert len(reloaded.messages) == 2


async def test_what_is_said_in_the_page_goes_on_in_telegram(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    async with at_the_page(gateway) as one, one.opened() as tab:
        model.answer("In May, then.")
        await tab.say("The trip is in May.")
        await tab.hears("In May, then.")
        model.answer("In May.")
        telegram.say("When is the trip?", chat=OWNER)
        await gateway.while_alive(telegram.next_message(OWNER))
    assert "The trip is in May." in str(model.bodies[-1])


async def test_what_is_forgotten_is_a_mark_in_every_tab_until_it_is_undone(
    model: FakeAnthropic, gateway: GatewayProcess, tmp_path: Path
) -> None:
    (gateway.workspace / "MEMORY.md").write_text("# Memory\n\n- Luna is a cat\n- tea\n")
    async with at_the_page(gateway) as one, one.opened() as tab, one.opened() as other, one.opened("work") as work:
        model.answer("Luna is **fine**.\nSo is tea.")
        photo = await one.upload(b"a cat", "luna.txt", "text/plain")
        await tab.say("How is Luna?\nAnd tea?", photo)
        await other.hears("fine")
        model.answer("Whose Luna?")
        await work.say("I wrote about Luna")
        await work.hears("Whose Luna?")
        model.answer("Only tea.")
        await tab.say("tea")
        await other.hears("Only tea.")

        await tab.say("/forget luna")
        asked = await tab.hears("I found this about")
        assert "on the page" in asked["html"] and "What lasts" in asked["html"]
        await tab.press("Delete")
        await tab.hears("Deleted from")
        mark = tab.said[-1]
        assert re.fullmatch(r"\[forgotten \d{4}-\d\d-\d\d\]", mark)
        for open_one in (tab, other):
            await open_one.hears("Deleted from")
            assert _with_luna(open_one) == []
            assert open_one.said == [f"{mark}\nAnd tea?", "tea", mark]
            assert [file["name"] for file in open_one.messages[0]["files"]] == [mark]
            assert "So is tea." in open_one.heard[0] and "Only tea." in open_one.heard[1]
        await work.until(lambda: not _with_luna(work))  # one person, one scope
        async with one.opened() as reloaded:
            assert reloaded.messages == tab.messages
        async with one.get(await one.path_of(tab.messages[0]["files"][0]["url"])) as got:
            assert await got.read() == b"a cat"
        async with asyncio.timeout(120):
            while await asyncio.to_thread(holds, gateway.home, b"luna", tmp_path):  # noqa: ASYNC110  the last bytes go behind the answer
                await asyncio.sleep(0.02)

        await tab.say("/undo")
        await other.hears("Undone")
        assert [text.splitlines()[0] for text in other.said] == ["How is Luna?", "tea", "/forget luna", "/undo"]
        assert "Luna is" in other.heard[0] and work.said == ["I wrote about Luna"]
        async with one.opened() as reloaded:
            assert reloaded.messages == other.messages


def _with_luna(tab: Tab) -> list[object]:
    return [message for message in tab.messages if "luna" in str(message).lower()]


async def test_stop_is_heard_while_an_answer_is_written(model: FakeAnthropic, gateway: GatewayProcess) -> None:
    async with at_the_page(gateway) as one, one.opened() as tab:
        stream = model.hold(after=1)
        model.answer(["It is ", "endless."])
        await tab.say("a long story")
        await model.held(stream)
        await tab.say("/stop")
        await tab.until(lambda: [html for html in tab.heard if "Stopped" in html])
        stream.release()


async def test_pictures_and_files_go_both_ways(model: FakeAnthropic, gateway: GatewayProcess) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (32, 32), "red").save(picture, "PNG")
    (gateway.workspace / "boat.png").write_bytes(picture.getvalue())
    (gateway.workspace / "plan.txt").write_text("The plan.")
    async with at_the_page(gateway) as one, one.opened() as tab:
        model.answer(tool=("send_message", {"text": "Here they are.", "files": ["plan.txt", "boat.png"]}))
        model.answer("Sent.")
        seen = await one.upload(picture.getvalue(), "red.png", "image/png")
        read = await one.upload(b"Tea at four", "note.txt", "text/plain")
        await tab.say("what is this?", seen, read)
        await tab.hears("Sent.")
        asked = model.bodies[0]["messages"][-1]["content"]
        assert [block["type"] for block in asked].count("image") == 1 and "Tea at four" in str(asked)
        files = [file for message in tab.messages for file in message["files"]]
        assert [(file["name"], file["image"]) for file in files] == [
            ("red.png", True),
            ("note.txt", False),
            ("plan.txt", False),
            ("boat.png", True),
        ]
        contents = []
        for file in files:
            async with one.get(await one.path_of(file["url"])) as got:
                contents.append(await got.read())
        assert contents == [picture.getvalue(), b"Tea at four", b"The plan.", picture.getvalue()]


async def test_a_reminder_rings_in_the_page_and_is_put_off_by_its_button(gateway: GatewayProcess) -> None:
    """Nobody looks when it rings."""
    added = await gateway.cli("schedule", "add", "--id", "tea", "--at", "2030-01-01T00:00", "--to", "web:main", "Tea!")
    assert added.code == 0, added.err
    assert (await gateway.cli("schedule", "run", "tea")).code == 0
    async with at_the_page(gateway) as one, one.opened() as tab:
        ringing = await tab.hears("Tea!")
        assert ringing["buttons"]
        label = next(one["label"] for row in ringing["buttons"] for one in row if "hour" in one["label"])
        await tab.told("kept", await tab.press(label))
        await tab.until(lambda: len(tab.heard) > 1 or tab.heard[0] != ringing["html"])
        assert tab.said == [], "a press says nothing"


async def test_the_day_is_told_in_the_page(tmp_path: Path) -> None:
    web = {"channels": {"web": {"enabled": True, "port": 0}}, "schedule": {"daily_summary": {"to": ["web:main"]}}}
    async with a_day(tmp_path, **web) as (told, _):
        async with awake(told) as gateway:
            assert gateway.web is not None
            await gateway.web.begun.wait()
            token = told.home.web_token.read_text().strip()
            async with browser(gateway.web.address, token) as one:
                async with one.opened() as tab:
                    at(told, f"{DAY} 09:00")
                    await tab.say("I'll send the invoice by 2026-11-27")
                    await tab.hears("Fine.")
                    await told.idle()
                at(told, f"{DAY} 21:00")
                assert await ran(gateway, "daily-summary") == "done"
                async with one.opened() as tab:
                    summary = await tab.hears("A full day")
                    assert "send the invoice" in summary["html"]
                    await tab.say("/daily 08:30")
                    await tab.hears("08:30")
                    await tab.say("/daily now")
                    await tab.until(lambda: len([html for html in tab.heard if "A full day" in html]) == 2)
                await told.idle()
        assert told.heard() == [], "nothing of it went elsewhere"


async def test_a_foreign_page_or_address_gets_nothing(gateway: GatewayProcess) -> None:
    address, token = await where(gateway)
    port = urlsplit(address).port
    async with browser(address, token) as one:
        for headers in ({"Host": f"evil.org:{port}"}, {"Origin": "http://evil.org"}):
            for path in ("/", "/ws", "/metrics", "/session"):
                async with one.get(path, headers=headers) as refused:
                    assert refused.status == 403
        for origin in ("http://evil.org", f"http://localhost:{port}", "null"):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await one.connect(Origin=origin)
            assert refused.value.status == 403
    async with browser(address) as stranger:
        async with stranger.get("/session") as refused:
            assert refused.status == 401
        with pytest.raises(aiohttp.WSServerHandshakeError) as unknown:
            await stranger.connect()
        assert unknown.value.status == 401


async def test_a_copy_of_a_cookie_stays_worthless_after_a_restart(gateway: GatewayProcess) -> None:
    address, token = await where(gateway)
    async with browser(address) as one:
        assert await one.log_in(token) == 200
        async with one.get("/session") as let_in:
            stolen, key = let_in.request_info.headers["Cookie"], one.key
        async with one.post("/logout") as left:
            assert left.status == 204
    name, _, value = stolen.partition("=")
    await gateway.kill()
    await gateway.start()
    address, _ = await where(gateway)
    port = urlsplit(address).port
    async with browser(address) as thief:
        thief.key = key
        for cookie in (stolen, f"daybook-{port}={value}"):
            async with thief.get("/session", headers={"Cookie": cookie}) as refused:
                assert refused.status == 401, name


async def test_probes_tell_how_the_house_is(telegram: FakeTelegram, gateway: GatewayProcess) -> None:
    address, _ = await where(gateway)
    async with browser(address) as one:
        async with one.get("/healthz") as healthy:
            assert healthy.status == 200
        async with one.get("/readyz") as ready:
            assert (ready.status, (await ready.json())["channels"]["telegram"]) == (200, "ok")
        async with one.get("/metrics") as figures:
            text = await figures.text()
    assert 'daybook_channel_state{channel="web",state="ok"} 1.0\n' in text
    assert "daybook_inbox_waiting 0.0\n" in text and "daybook_cost_usd_today 0.0\n" in text
    status = (await gateway.cli("status", "--json")).json()
    assert status["channels"]["web"] == {"state": "ok", "last_error": ""}
    doctor = {one["check"]: one for one in (await gateway.cli("doctor", "--json")).json()}
    assert doctor["web"]["ok"] and address in doctor["web"]["message"]


async def test_killed_between_the_commit_and_the_answer(model: FakeAnthropic, gateway: GatewayProcess) -> None:
    """The page says it again after the restart, under the same id, as it cannot know how far it came."""
    async with at_the_page(gateway) as one, one.opened() as tab:
        held = model.hold(after=0)
        model.answer("Answered once.")
        id = await tab.say("question")
        await tab.told("kept", id)
        await model.held(held)
        await gateway.kill()
        await tab.gone()

    model.answer("Answered once.")
    await gateway.start()
    address, token = await where(gateway)
    async with browser(address, token) as one, one.opened() as tab:
        await tab.say("question", id=id)
        await tab.told("kept", id)
        await tab.hears("Answered once.")
        model.answer("The last answer.")
        await tab.say("the last question")
        await tab.hears("The last answer.")
        assert tab.said == ["question", "the last question"]
        assert tab.heard == ["<p>Answered once.</p>", "<p>The last answer.</p>"]


@pytest.mark.timeout(1800)
async def test_killed_again_and_again_nothing_is_lost_and_nothing_stands_twice(
    model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    model.reply = lambda body: "Yes."
    ids = [f"{number:032x}" for number in range(4)]
    for number, id in enumerate(ids):
        async with at_the_page(gateway) as one, one.opened() as tab:
            await tab.say(f"question {number}", id=id)
            if number % 3:
                await tab.told("kept", id)
            if number % 3 == 2:
                await tab.until(lambda: tab.heard)
            await gateway.kill()
        await gateway.start()
    async with at_the_page(gateway) as one, one.opened() as tab:
        for number, id in enumerate(ids):
            await tab.say(f"question {number}", id=id)
            await tab.told("kept", id)
        model.reply = lambda body: "The last answer." if "the last question" in str(body["messages"][-1]) else "Yes."
        await tab.say("the last question")
        await tab.hears("The last answer.")
        assert sorted(tab.said) == sorted([*(f"question {number}" for number in range(4)), "the last question"])
        assert all("may be a repeat" not in html for html in tab.heard)
    status: Any = (await gateway.cli("status", "--json")).json()
    assert (status["inbox"]["waiting"], status["outbox"]["repeated"]) == (0, 0)


async def test_an_end_with_pages_open_is_in_order_and_in_time(model: FakeAnthropic, gateway: GatewayProcess) -> None:
    async with at_the_page(gateway) as one, one.opened() as tab, one.opened() as other:
        model.answer("Ready.")
        await tab.say("hello")
        await tab.hears("Ready.")
        assert await gateway.terminate() == 0
        assert await tab.gone() == await other.gone() == aiohttp.WSCloseCode.GOING_AWAY


async def test_without_a_page_there_is_none(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    async with GatewayProcess(telegram, model, {"channels": {"web": {"enabled": False}}}) as gateway:
        assert "is turned off" in (await gateway.cli("web")).err
        assert (await gateway.cli("status", "--json")).json()["channels"]["web"]["state"] == "off"
        assert not (gateway.home / "state" / "web-token").exists()


async def test_where_another_program_has_the_port_the_page_is_at_the_next(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    other = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = other.sockets[0].getsockname()[1]
    async with GatewayProcess(telegram, model, {"channels": {"web": {"enabled": True, "port": port}}}) as gateway:
        address, token = await where(gateway)
        taken = urlsplit(address).port or 0
        assert port < taken <= port + 20
        assert f"another program is using port {port}, so the page is at port {taken}" in gateway.log
        doctor = {one["check"]: one for one in (await gateway.cli("doctor", "--json")).json()}
        assert doctor["web"]["ok"] and address in doctor["web"]["message"]
        assert f"{address}/#once=" in (await gateway.cli("web")).out
        async with browser(address, token) as one, one.opened() as tab:
            await tab.say("/whoami")
            await tab.hears("owner")
    other.close()
    await other.wait_closed()


async def test_a_page_that_cannot_listen_takes_nothing_else_down(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    web = {"enabled": True, "host": "203.0.113.7", "port": 0}
    async with GatewayProcess(telegram, model, {"channels": {"web": web}}) as gateway:
        status = await gateway.until_status(lambda status: status["channels"]["web"]["state"] == "down")
        assert "203.0.113.7 is not an address of this machine" in status["channels"]["web"]["last_error"]
        assert "203.0.113.7 is not an address of this machine" in (await gateway.cli("web")).err
        telegram.say("/whoami")
        await gateway.while_alive(telegram.next_message(OWNER))
