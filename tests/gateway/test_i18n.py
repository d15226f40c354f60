"""Reminders, late marks and summaries speak the language of the chat."""

from __future__ import annotations

import dataclasses
import itertools
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.moments import moment_in
from agent.languages.registry import LANGUAGES as TABLES
from channels.message import Address, InboundMessage, Origin, Quote
from channels.scripted import ScriptedChannel
from gateway.i18n import ChatLanguage, after
from gateway.store import chat_rows
from gateway.turns.user_message import late_mark, missed_mark
from tests.gateway.conftest import ALICE, BERLIN, OWNER, Daybook
from tests.gateway.scheduling.test_reminders import TEN, press, rings, shown
from tests.gateway.scheduling.test_requests import ask
from tests.gateway.scheduling.test_service import write
from tests.languages import SAID

LANGUAGES = pytest.mark.parametrize("language", ALL_LANGUAGES)


def message(text: str) -> InboundMessage:
    return ScriptedChannel("telegram").say(text)


async def tells(daybook: Daybook, language: Language, chat: str = OWNER) -> None:
    daybook.model.then("…")
    await ask(daybook, SAID[language], chat=chat, sender=chat)


@LANGUAGES
async def test_a_reminder_rings_in_the_language_of_the_chat_after_a_restart_too(
    daybook: Daybook, language: Language
) -> None:
    words = TABLES[language].reminders
    async with daybook.running():
        await tells(daybook, language)
        await ask(daybook, "/remind in 10 minutes tea")
    async with daybook.running():
        await rings(daybook, "tea", 1, TEN)
        labels = [words.done, words.in_10_minutes, words.in_an_hour, words.tomorrow]
        assert shown(daybook, "tea")[1] == labels
        when = moment_in(language, *[datetime(2026, 11, 21, 8, 50, tzinfo=BERLIN)] * 2)
        assert f"⏰ {words.again.format(when=when)}" in await press(daybook, "tea", words.in_10_minutes)
        await rings(daybook, "tea", 1, TEN)
        assert await press(daybook, "tea", words.done) == f"⏰ tea\n\n_✓ {words.is_done}_"


@LANGUAGES
async def test_what_comes_late_says_so_in_the_language_of_the_chat(daybook: Daybook, language: Language) -> None:
    """A text as it stands, and a prompt's answer."""
    when = "when: {at: '2026-11-21T09:00'}, to: owner"
    write(daybook, f"{{id: tea, text: Tea, {when}}}", f"{{id: news, kind: prompt, text: The news, {when}}}")
    async with daybook.running():
        await tells(daybook, language)
    daybook.moment.pass_(timedelta(hours=2))
    daybook.model.then("1234")
    nine = datetime(2026, 11, 21, 9, tzinfo=BERLIN)
    mark = late_mark(nine, nine + timedelta(hours=1), language)
    async with daybook.running():
        heard = await daybook.chat.wait_heard(3, chat=OWNER)
    assert sorted(heard[1:]) == [f"1234\n\n{mark}", f"⏰ Tea\n\n{mark}"]


async def test_each_chat_is_told_of_what_was_missed_in_its_own_language(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    nine = "when: {at: '2026-11-21T09:00'}"
    async with daybook.running():
        await tells(daybook, Language("fr"))
        await tells(daybook, Language("de"), chat=ALICE)
    write(
        daybook,
        f"{{id: tea, text: Tea, {nine}, to: owner}}",
        f"{{id: cake, text: Cake, {nine}, to: 'telegram:{ALICE}'}}",
    )
    daybook.moment.pass_(timedelta(hours=14))
    async with daybook.running():
        mine = (await daybook.chat.wait_heard(2, chat=OWNER))[1]
        hers = (await daybook.chat.wait_heard(2, chat=ALICE))[1]
    assert mine.startswith(TABLES[Language("fr")].reminders.missed) and "Tea (`tea`)" in mine
    assert hers.startswith(TABLES[Language("de")].reminders.missed) and "Cake (`cake`)" in hers


@LANGUAGES
async def test_of_an_empty_day_it_is_said_in_the_language_of_the_chat(daybook: Daybook, language: Language) -> None:
    async with daybook.running():
        await tells(daybook, language)
        daybook.moment.pass_(timedelta(days=2))
        await ask(daybook, "/daily now")
        empty = (await daybook.chat.wait_heard(3, chat=OWNER))[-1]
    table = TABLES[language]
    assert empty == table.chat.nothing_said.format(day=table.moments.today)


async def test_a_chat_of_which_nothing_is_known_is_told_in_english(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "/remind in 10 minutes tea")
        await rings(daybook, "tea", 1, TEN)
        assert shown(daybook, "tea")[1][0] == "Done"


# which language -------------------------------------------------------------------------------------------------------


@LANGUAGES
def test_a_sentence_tells_the_language_and_the_day_keeps_it(language: Language) -> None:
    known = after(ChatLanguage(), message(SAID[language]), "2026-11-21")
    assert known == ChatLanguage(language, "2026-11-21")
    for other in ALL_LANGUAGES:
        assert after(known, message(SAID[other]), "2026-11-21") == known
        assert after(known, message(SAID[other]), "2026-11-22").language is other


@given(st.lists(st.sampled_from([*SAID.values(), "Hallo", "ok", "12", "", "merci", "/remember the bike", "hi"])))
def test_once_a_day_has_told_it_nothing_said_later_changes_it(texts: list[str]) -> None:
    """After greetings, which only stand in for what is not known yet."""
    known = ChatLanguage(Language("de"), "2026-11-20")
    seen = [known]
    for text in texts:
        seen.append(known := after(known, message(text), "2026-11-21"))
    changes = [language for before, language in itertools.pairwise(seen) if language != before]
    assert len(changes) <= 1


def test_greetings_stand_in_until_a_sentence_tells() -> None:
    greeted = after(ChatLanguage(), message("Hi"), "2026-11-21")
    assert greeted == ChatLanguage(Language.ENGLISH)
    assert after(greeted, message(SAID[Language("de")]), "2026-11-21") == ChatLanguage(Language("de"), "2026-11-21")
    spoken = ChatLanguage(Language("de"), "2026-11-20")
    assert after(spoken, message("Hi"), "2026-11-21") == spoken


@pytest.mark.parametrize("language", [None, *ALL_LANGUAGES])
def test_commands_and_what_others_wrote_tell_nothing(language: Language | None) -> None:
    known = ChatLanguage(language, "2026-11-20" if language else "")
    forwarded = Quote("Bob", "", forwarded=True)
    for other in (
        message("/remind tomorrow 15:00 the bike is in the cellar"),
        dataclasses.replace(message("the bike is in the cellar"), origin=Origin.COMMAND),
        dataclasses.replace(message("the bike is in the cellar"), quote=forwarded),
        message(""),
    ):
        assert after(known, other, "2026-11-21") == known


def chat(language: Language | None, thread: str | None = None) -> chat_rows.KnownChat:
    address = Address("telegram", "-1", thread)
    return chat_rows.KnownChat(address, chat_rows.ChatKind.GROUP, "", "7", "Bob", language=language)


def test_a_topic_has_its_own_language_else_that_of_the_chat() -> None:
    known = [chat(None), chat(Language("fr"), "7"), chat(Language("de"), "8"), chat(None, "9")]
    spoken = [chat_rows.language_in(known, Address("telegram", "-1", thread)) for thread in (None, "7", "8", "9")]
    assert spoken == [Language("fr"), Language("fr"), Language("de"), Language("fr")]
    assert chat_rows.language_in(known, Address("telegram", "-2")) == Language.ENGLISH


@LANGUAGES
def test_marks(language: Language) -> None:
    due = datetime(2026, 11, 21, 9, tzinfo=BERLIN)
    late, strings = datetime(2026, 11, 22, 7, tzinfo=BERLIN), TABLES[language].reminders
    said = moment_in(language, due, late)
    assert said in late_mark(due, late, language) and "09:00" in said
    missed = missed_mark([(due, f"Tea {at}", f"tea-{at}") for at in range(23)], late, language)
    assert missed.count(f"- {said}: Tea") == 20
    assert "Tea 19" in missed and "Tea 20" not in missed and strings.more.format(number=3) in missed
