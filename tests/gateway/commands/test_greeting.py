"""The greeting says in two lines what Daybook can do, with examples to press that do what they say."""

from __future__ import annotations

import re

import pytest

from agent.languages import examples
from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.examples import FIRST, nearest
from agent.model.offline.intent import IntentKind, understand
from agent.model.offline.model import OfflineModel
from gateway.i18n import example_buttons
from tests.gateway.commands.test_plain_commands import notes
from tests.gateway.commands.test_plain_orders import reminders
from tests.gateway.conftest import OWNER, STRANGER, Daybook
from tests.gateway.scheduling.test_requests import ask

HELLO = {
    "en": "Hello",
    "de": "Guten Tag",
    "es": "Buenos días",
    "fr": "Bonjour",
    "it": "Buongiorno",
    "ja": "こんにちは",
    "zh": "你好",
}


@pytest.mark.parametrize("language", ALL_LANGUAGES)
def test_each_example_fits_into_a_button_and_is_understood(language: Language) -> None:
    for example in examples.ALL:
        text = example.in_language(language)
        assert len(text.encode()) <= 64, text
        wanted = IntentKind.FILE if example == FIRST[0] else None
        wish = understand(text).wish
        assert wish is wanted if wanted else wish in (IntentKind.COMMAND, IntentKind.FIND), text


@pytest.mark.parametrize("language", ALL_LANGUAGES)
async def test_without_a_model_a_greeting_has_examples_that_work_when_pressed(
    daybook: Daybook, offline: None, language: Language
) -> None:
    daybook.model = OfflineModel(daybook.moment.clock, ".env")  # type: ignore[assignment]
    async with daybook.running():
        heard = await ask(daybook, HELLO[language])
        assert len(heard.splitlines()) == 2 and "ANTHROPIC" not in heard
        id, shown = next(iter(daybook.chat.standing(OWNER).items()))
        told, asked, reminder = (button.label for row in shown.buttons for button in row)
        assert shown.buttons == example_buttons(language)
        daybook.chat.press(id, told)
        assert told in (await daybook.chat.wait_heard(2, chat=OWNER))[1]
        daybook.chat.press(id, asked)
        assert told.rstrip(".。") in (await daybook.chat.wait_heard(3, chat=OWNER))[2]
        daybook.chat.press(id, reminder)
        assert "9:00" in (await daybook.chat.wait_heard(4, chat=OWNER))[3]
        ((_, at),) = await reminders(daybook)
        assert at == "2026-11-22T09:00"
    assert told in notes(daybook) and asked not in notes(daybook) and reminder not in notes(daybook)


async def test_who_is_approved_reads_what_it_can_do_and_presses(daybook: Daybook) -> None:
    daybook.model.then("On 4 May.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hallo, bist du da?", chat="5", sender=STRANGER)
        (offer,) = await daybook.chat.wait_heard(chat="5")
        await gateway.approve(re.findall(r"\b[A-Z2-9]{8}\b", offer)[0])
        welcome = (await daybook.chat.wait_heard(2, chat="5"))[1]
        assert welcome.splitlines() == ["Du bist zugelassen.", examples.ABILITIES.in_language(Language("de"))]
        (id,) = [id for id, one in daybook.chat.standing("5").items() if one.text == welcome]
        daybook.chat.press(id, FIRST[1].in_language(Language("de")), sender=STRANGER)
        assert (await daybook.chat.wait_heard(3, chat="5"))[2] == "On 4 May."
    assert FIRST[1].in_language(Language("de")) in daybook.asked()


async def test_start_is_greeted(daybook: Daybook) -> None:
    async with daybook.running():
        assert await ask(daybook, "/start") == examples.ABILITIES
        (shown,) = daybook.chat.standing(OWNER).values()
        assert shown.buttons == example_buttons(Language.ENGLISH)


@pytest.mark.parametrize(
    ("language", "said", "first"),
    [
        (Language.ENGLISH, "Buy milk", "Add milk to the shopping list"),
        (Language.ENGLISH, "Call the dentist", "Remind me tomorrow at 9 to call the dentist."),
        (Language("de"), "Kauf Milch", "Setz Milch auf die Einkaufsliste"),
        (Language.CHINESE, "买牛奶", "把牛奶加到购物清单"),
    ],
)
def test_the_nearest_examples_share_words(language: Language, said: str, first: str) -> None:
    assert next(one.in_language(language) for one in nearest(language, said)) == first
