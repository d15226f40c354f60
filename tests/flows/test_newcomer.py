"""The first quarter of an hour: no key, a bot's token, a code, and one memory in two places."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess

NEWCOMER = {"owners": [], "model": {"provider": "offline"}}


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    async with GatewayProcess(telegram, model, NEWCOMER) as process:
        yield process


@pytest.mark.timeout(1800)  # many processes, one after the other
async def test_the_first_one_approved_is_the_owner_in_the_bot_and_in_the_terminal(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    telegram.say("Hello?")
    greeting = await telegram.next_message(OWNER)
    code = re.search(r"pair approve (\w{8})", greeting.text)
    assert code, greeting.text

    approved = await gateway.cli("pair", "approve", code[1].lower())
    assert approved.code == 0
    assert f"telegram:{OWNER}" in approved.out
    assert "is the owner now" in approved.out
    assert (await gateway.cli("pair", "approve", code[1])).code == 1, "a code is good once"

    welcome = await gateway.while_alive(telegram.next_message(OWNER, after=greeting.id))
    assert welcome.text.startswith("You're approved, and you are my owner now.")

    telegram.say("Remember that my cat is called Luna.")
    noted = await gateway.while_alive(telegram.next_message(OWNER, after=welcome.id))
    assert "Luna" in noted.text
    found = await gateway.cli("chat", "-m", "What is my cat called?")
    assert found.code == 0
    assert "my cat is called Luna" in found.out
    sessions = (await gateway.cli("sessions", "list", "--json")).json()
    assert [session["key"] for session in sessions] == ["main/owner"]

    apart = await gateway.cli("chat", "--session", "work", "-m", "/whoami")
    assert "main/owner/work" in apart.out
    assert model.requests == []

    revoked = await gateway.cli("pair", "revoke", f"telegram:{OWNER}")
    assert revoked.code == 0
    assert (await gateway.cli("pair", "revoke", f"telegram:{OWNER}")).code == 1


async def test_a_question_brings_its_answer_and_nothing_that_only_stands_beside_it(gateway: GatewayProcess) -> None:
    """The first conversation of README."""
    for said in ("My bike is in the cellar, the key hangs by the door.", "Remember that Anna's birthday is on 3 May"):
        assert (await gateway.cli("chat", "-m", said)).code == 0
    found = await gateway.cli("chat", "-m", "Where is the bike?")
    assert "the key hangs by the door" in found.out and "Anna" not in found.out


async def test_after_the_evening_a_question_finds_the_fact_and_never_itself(gateway: GatewayProcess) -> None:
    """The README's bike, after the day was summed up and its talk ended."""
    said = (
        "My bike is in the cellar, the key hangs by the door.",
        "Where is the bike?",
        "The plumber comes on Friday.",
    )
    for words in (*said, "Who has the key?", "/daily now", "Where is the bike?", "/new"):
        assert (await gateway.cli("chat", "-m", words)).code == 0
    for asked in ("Where is the bike?", "Who has the key?", "/memory bike"):
        found = re.findall("^> .*", (await gateway.cli("chat", "-m", asked)).out, re.MULTILINE)
        assert "My bike is in the cellar" in found[0]
        assert not any("?" in passage for passage in found)


async def test_the_end_of_a_talk_adds_nothing_to_a_note(gateway: GatewayProcess) -> None:
    """A fact stands once in a day's log, not as a note and as a talk; nothing of the offline assistant does."""
    assert (await gateway.cli("chat", "-m", "My bike is in the cellar")).code == 0
    assert (await gateway.cli("chat", "-m", "/new")).code == 0
    (log,) = (gateway.workspace / "memory").glob("20*.md")
    text = log.read_text("utf-8")
    assert text.count("in the cellar") == 1 and "talk-" not in text
    assert "no language model" not in text and "Noted in" not in text


async def test_the_way_back_is_told_while_telegram_refuses_the_token(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    wrong = {**NEWCOMER, "channels": {"telegram": {"token": "123456789:AAFwrongwrongwrongwrongwrongwrongwrong"}}}
    async with GatewayProcess(telegram, model, wrong, start_now=False) as process:
        doctor = await process.cli("doctor", "--json")
        assert doctor.code == 1
        bad = [one for one in doctor.json() if not one["ok"]]
        assert [one["check"] for one in bad] == ["telegram"]
        assert "@BotFather" in bad[0]["cure"]

        await process.start(wait=False)
        status = await process.until_status(lambda status: status["channels"]["telegram"]["state"] == "down")
        assert "token" in status["channels"]["telegram"]["last_error"]
        said = await process.cli("chat", "-m", "hello")
        assert said.code == 0, "the other channels go on"
        for text in (doctor.out, doctor.err, str(status), process.log):
            assert "AAFwrong" not in text
        assert await process.terminate() == 0


@pytest.mark.parametrize(
    ("tell", "ask", "word"),
    [
        ("Remember that my cat is called Luna.", "What is my cat called?", "Luna"),
        ("Merk dir: Mein Bruder heißt Jonas.", "Wie heißt mein Bruder?", "Jonas"),
        ("记住我对花生过敏。", "我对什么过敏？", "花生"),
        ("Recuerda que mi cumpleaños es el 3 de mayo.", "¿Cuándo es mi cumpleaños?", "3 de mayo"),
        ("Souviens-toi que j'habite à Lyon.", "Où est-ce que j'habite ?", "Lyon"),
        ("覚えておいて：会議は火曜の10時です。", "会議はいつですか？", "火曜の10時"),
    ],
)
async def test_what_is_told_without_any_account_is_found_again_in_the_same_language(
    telegram: FakeTelegram, model: FakeAnthropic, tell: str, ask: str, word: str
) -> None:
    alone = {**NEWCOMER, "channels": {"telegram": {"enabled": False}}}
    async with GatewayProcess(telegram, model, alone, start_now=False) as process:
        told = await process.cli("chat", stdin=f"{tell}\n{ask}\n")
        assert (told.code, told.err) == (0, "")
        noted, found = told.out.split(word, 1)
        assert "memory/" not in told.out and noted.strip()
        assert word in found.split("**", 1)[1]
        [log] = (process.workspace / "memory").glob("*.md")
        assert tell in log.read_text(encoding="utf-8")
