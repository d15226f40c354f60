"""A day that was not spoken in English, told in its own language and from its own log."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agent.languages.codes import ALL_LANGUAGES, Language
from gateway.turns.user_message import late_mark
from tests.flows.story import ALICE, GROUP
from tests.flows.test_daily import DAY, a_day, at, awake, ran, says
from tests.flows.test_daily_everywhere import Window
from tests.languages import SAID

BEDTIME = datetime.fromisoformat(f"{DAY}T21:00+01:00")


@pytest.mark.parametrize("language", ALL_LANGUAGES)
async def test_missed_while_down_it_says_so_in_the_language_of_the_day(tmp_path: Path, language: Language) -> None:
    async with a_day(tmp_path) as (told, _):
        async with awake(told):
            await says(told, f"{DAY} 09:00", SAID[language])
        at(told, "2026-11-22 07:00")
        async with awake(told):
            late = await told.hears("A full day")
    assert late_mark(BEDTIME, BEDTIME + timedelta(hours=10), language).strip("_") in late.text
    told.no_request_was_refused()


async def test_where_nobody_has_spoken_the_day_s_log_tells_the_language(tmp_path: Path) -> None:
    """Said in Telegram, told in the terminal."""
    window = Window()
    async with a_day(tmp_path, schedule={"daily_summary": {"to": ["terminal:main"]}}) as (told, _):
        async with awake(told):
            await says(told, f"{DAY} 09:00", SAID[Language("de")])
        at(told, "2026-11-22 07:00")
        async with awake(told) as gateway:
            assert await ran(gateway, "daily-summary") == "done"
            with gateway.terminal.attach("main", window):
                async with asyncio.timeout(120):
                    while not window.read:  # noqa: ASYNC110  no bell rings
                        await asyncio.sleep(0)
    assert late_mark(BEDTIME, BEDTIME + timedelta(hours=10), Language("de")).strip("_") in window.read[0]


async def test_a_german_day_is_asked_for_in_the_language_of_the_chat_from_the_german_log_alone(tmp_path: Path) -> None:
    """Another chat of the same bot speaks English."""
    schedule = {"daily_summary": {"to": [f"telegram:{ALICE}", f"telegram:{GROUP}"]}}
    german, english = SAID[Language("de")], SAID[Language.ENGLISH]
    async with a_day(tmp_path, schedule=schedule) as (told, diarist):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", german)
            await says(told, f"{DAY} 10:00", english, GROUP)
            at(told, f"{DAY} 21:00")
            assert await ran(gateway, "daily-summary") == "done"
        bodies = [one.body for one in told.asked if "daily summary" in str(one.body["system"])]
        mine, ours = sorted(diarist.summaries, key=lambda shown: english in shown)
        assert len(bodies) == 2
        assert all("in the language of the chat, which is that of the log" in str(one["system"]) for one in bodies)
        assert german in mine and english not in mine
        assert english in ours and german not in ours
        told.no_request_was_refused()


async def test_without_a_model_no_word_of_ours_in_a_german_day_is_english(tmp_path: Path) -> None:
    said = "Ich habe die Fliesen bestellt, und der Maurer kommt um neun"
    async with a_day(tmp_path) as (told, _):
        told.model.reply = lambda _: "Das ist gut, ich merke es mir"
        async with awake(told):
            for minute in range(25):
                await says(told, f"{DAY} 09:{minute:02}", said)
        told.model.fail(529, times=200)
        at(told, "2026-11-22 07:00")
        async with awake(told):
            late = (await told.hears("Verspätung: Das war gestern um 21:00 fällig")).text
    assert "(ein Auszug; nicht gezeigte Nachrichten: 30)" in late and "Assistent: Das ist gut" in late
    assert not any(english in late for english in ("messages", "Assistant", "Sorry"))


async def test_what_is_ticked_off_below_a_german_summary_is_answered_in_german(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _), awake(told):
        await says(told, f"{DAY} 09:00", SAID[Language("de")])
        await says(told, f"{DAY} 09:01", "I'll send the invoice by 2026-11-27")
        at(told, f"{DAY} 21:00")
        summary = await told.hears("☐")
        told.telegram.press(summary.id, summary.buttons[0][0]["callback_data"])
        assert "send the invoice" in (await told.hears("Erledigt: ")).text
