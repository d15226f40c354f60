"""Commands in every language: their names, menus and answers, and the language of a chat from its first word."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from agent.languages.codes import ALL_LANGUAGES, Language, of_environment, of_locale
from agent.languages.moments import number_in
from agent.languages.registry import LANGUAGES
from agent.languages.terms import fold
from channels.discord.command_sync import LOCALES, payload
from gateway.commands.registry import all_commands
from gateway.commands.runner import ParsedCommand
from tests.gateway.conftest import ALICE, GROUP, OWNER, STRANGER, Daybook

OTHERS = pytest.mark.parametrize("language", ALL_LANGUAGES[1:])
ENGLISH_WORDS = re.compile(r"\b(the|and|this|that|your?|with|of|is|are|what|not|here|last|yet|nothing|which)\b")
"""Words that no other language of ours has."""


# names ----------------------------------------------------------------------------------------------------------------


@OTHERS
def test_every_command_has_a_name_in_every_language(language: Language) -> None:
    names = LANGUAGES[language].command_names
    assert names.keys() == {one.name for one in all_commands().menu}
    for word in "|".join(names.values()).split("|"):
        assert re.fullmatch(r"[^\W\d_]+", word), "a letter that ends a command"


def test_a_word_means_one_command_in_all_languages() -> None:
    english = {one.name: one.name for one in all_commands().menu}
    meant = [
        english,
        *(
            {fold(word): name for name, words in table.command_names.items() for word in words.split("|")}
            for table in LANGUAGES.values()
        ),
    ]
    for one, other in combinations(meant, 2):
        assert {word: (one[word], other[word]) for word in one.keys() & other.keys() if one[word] != other[word]} == {}
    assert [len(words) for words in meant[1:]] == [
        sum(len(words.split("|")) for words in table.command_names.values()) for table in LANGUAGES.values()
    ]


@pytest.mark.parametrize(
    ("typed", "name", "argument"),
    [
        ("/hilfe", "help", ""),
        ("/HILFE!", "help", ""),
        ("/erinnere morgen 15 Uhr Tee", "remind", "morgen 15 Uhr Tee"),
        ("/rückgängig", "undo", ""),
        ("/ruckgangig", "undo", ""),
        ("/rappelle demain", "remind", "demain"),
        ("/état", "status", ""),
        ("/帮助", "help", ""),
        ("/帮助。", "help", ""),
        ("/提醒 明天九点 开会", "remind", "明天九点 开会"),
        ("/提醒明天九点开会", "remind", "明天九点开会"),
        ("/提醒明天九点，开会。", "remind", "明天九点，开会。"),
        ("/会話一覧", "sessions", ""),
        ("/help me", "help", "me"),
        ("/frobnicate now", "frobnicate", "now"),
    ],
)
def test_a_command_is_understood_in_whichever_language_it_is_typed(typed: str, name: str, argument: str) -> None:
    assert all_commands().parse(typed) == ParsedCommand(name, argument)


@pytest.mark.parametrize("text", ["/etc/passwd: what is it?", "/ 帮助", "/42", "hilfe", "und /hilfe"])
def test_what_is_no_command_in_english_is_none_in_others(text: str) -> None:
    assert all_commands().parse(text) is None


# menus ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ALL_LANGUAGES)
def test_menus_fit_the_platforms_in_every_language(language: Language) -> None:
    """Discord cuts descriptions at 100 characters, Telegram at 256."""
    for one in all_commands().menu:
        assert 1 <= len(one.described(language)) <= 100 and len(one.used(language)) <= 100, one.name


@OTHERS
def test_menus_are_in_every_language(language: Language) -> None:
    locales = [locale for locale in LOCALES if of_locale(locale) is language]
    assert locales
    for one in all_commands().menu:
        told = payload(one)["description_localizations"]
        assert isinstance(told, dict)
        assert {told[locale] for locale in locales} == {one.described(language)} != {one.description}


# answers --------------------------------------------------------------------------------------------------------------


async def asked(daybook: Daybook, *commands: str, language: str = "", chat: str = OWNER, **more: object) -> list[str]:
    """The answers to some commands, given one after the other by somebody whose app has that language."""
    for command in commands:
        count = len(daybook.chat.heard(chat))
        daybook.chat.say(command, chat=chat, sender=chat, language=language, **more)  # type: ignore[arg-type]
        await daybook.chat.wait_until(lambda count=count: len(daybook.chat.heard(chat)) > count)  # type: ignore[misc]
    return daybook.chat.heard(chat)


@OTHERS
async def test_no_answer_to_the_owner_has_english_in_it(daybook: Daybook, language: Language) -> None:
    """From the first word on, because the platform tells the language."""
    daybook.model.then("OK.")
    commands = (
        *("/help", "/new", "/status", "/context", "/why", "/model", "/usage", "/sessions", "/switch", "/switch 7x"),
        *("/stop", "/memory", "/memory xyzzy", "/memory test", "/pair", "/pair ABCDEFGH", "/compact", "/activation"),
        *("/export", "/language", "/language tlhingan", "/hlep", "/xyzzy"),
    )
    async with daybook.running():
        answers = [await asked(daybook, "1234", language=language)]
        answers = await asked(daybook, *commands, language=language)
    assert len(answers) == len(commands) + 1
    for command, answer in zip(commands, answers[1:], strict=True):
        words = re.sub(r"`[^`]*`|/\w+", "", answer.replace("Daybook", "").replace("English", ""))
        assert not ENGLISH_WORDS.search(words), (command, answer)


async def test_a_germans_first_words_are_answered_in_german(daybook: Daybook) -> None:
    async with daybook.running():
        helped, status, none, unknown = await asked(daybook, "/hilfe", "/status", "/stopp", "/hilfee", language="de-AT")
    assert helped.startswith("Schreib mir einfach wie einem Menschen.")
    assert "- `/remind WANN WAS` (`/erinnere`) eine Erinnerung stellen" in helped
    assert "- Gespräch: gerade ruhig" in status and "- Kontext: " in status and " Token (" in status
    assert none == "Gerade läuft nichts."
    assert unknown == "/hilfee kenne ich nicht. Meinst du /hilfe? Alles steht in /help."


async def test_conversations_are_listed_by_their_titles_with_a_button_each(daybook: Daybook) -> None:
    daybook.model.then("Notiert.")
    async with daybook.running():
        *_, listed = await asked(daybook, "Die Zahl ist 42", "/neu", "/gespräche", language="de")
        platform_id, shown = list(daybook.chat.standing(OWNER).items())[-1]
        labels = [button.label for row in shown.buttons for button in row]
        daybook.chat.press(platform_id, next(label for label in labels if "42" in label))
        back = (await daybook.chat.wait_heard(4, chat=OWNER))[-1]
    assert ". ein neues Gespräch, 0 Nachrichten, zuletzt heute um 08:30" in listed
    assert ". Die Zahl ist 42, 2 Nachrichten" in listed and not re.search(r"\d{8}-\d{6}", listed)
    assert sorted(label[3:] for label in labels) == ["Die Zahl ist 42", "ein neues Gespräch"]
    assert back == "Wir sind wieder in dem Gespräch, das heute um 08:30 begonnen hat (2 Nachrichten)."


def test_numbers_are_written_as_in_the_language() -> None:
    written = {language: number_in(language, 12345.678, 2) for language in map(Language, ("en", "de", "fr", "ja"))}
    assert list(written.values()) == ["12,345.68", "12.345,68", "12\u202f345,68", "12,345.68"]


# which language -------------------------------------------------------------------------------------------------------


async def test_the_language_is_chosen_by_a_button_and_outlives_a_restart(daybook: Daybook) -> None:
    async with daybook.running():
        (asks,) = await asked(daybook, "/language", language="en")
        labels = [button.label for row in list(daybook.chat.standing(OWNER).values())[-1].buttons for button in row]
        daybook.chat.press(list(daybook.chat.standing(OWNER))[-1], "Deutsch")
        await daybook.chat.wait_until(lambda: daybook.chat.heard(OWNER) == ["Ab jetzt spreche ich hier Deutsch."])
    async with daybook.running():
        assert (await asked(daybook, "/stop", language="en"))[-1] == "Gerade läuft nichts."
        assert "Ab jetzt spreche ich die Sprache, " not in (await asked(daybook, "/language auto", language="en"))[-1]
        assert (await asked(daybook, "/stop", language="en"))[-1] == "Nothing is running."
    assert asks == "I speak English here. Which language shall it be?"
    assert labels == [*(LANGUAGES[one].name for one in ALL_LANGUAGES), "The one that I write"]


@pytest.mark.parametrize("said", ["français", "FRANCAIS", "fr"])
async def test_the_language_is_chosen_by_its_own_name_or_code(daybook: Daybook, said: str) -> None:
    async with daybook.running():
        (answer,) = await asked(daybook, f"/sprache {said}", language="de")
        assert answer == "Désormais, je parle Français ici."


async def test_what_is_chosen_goes_before_what_is_written_and_that_before_the_platform(daybook: Daybook) -> None:
    daybook.model.then("OK.", "OK.")
    async with daybook.running():
        await asked(daybook, "Hi", language="de")  # a greeting in passing tells less than the app
        assert (await asked(daybook, "/stop", language="de"))[-1] == "Gerade läuft nichts."
        await asked(daybook, "Il faut que je rappelle ma mère demain matin", language="de")
        assert (await asked(daybook, "/stop", language="de"))[-1] == "Rien n’est en cours."
        await asked(daybook, "/language es", language="de")
        assert (await asked(daybook, "/stop", language="de"))[-1] == "No hay nada en marcha."


async def test_where_nothing_tells_it_is_the_owners_language(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {}}, "allow": [ALICE]}}
    async with daybook.running():
        assert (await asked(daybook, "/stop", chat=ALICE))[-1] == "Nothing is running."
        await asked(daybook, "/stop", language="ja")
        assert (await asked(daybook, "/stop", chat=ALICE))[-1] == "今は何もしていません。"
        assert (await asked(daybook, "/stop", language="tlh", chat=ALICE))[-1] == "今は何もしていません。"
        assert (await asked(daybook, "/stop", language="fr-CH", chat=ALICE))[-1] == "Rien n’est en cours."


async def test_a_group_has_a_language_of_its_own(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running():
        await asked(daybook, "/language de", language="en")
        for command in ("/stop", "/language fr", "/stop"):
            count = len(daybook.chat.heard(GROUP))
            daybook.chat.say(command, chat=GROUP, sender=OWNER, group=True, language="en")
            await daybook.chat.wait_heard(count + 1, chat=GROUP)
        assert (await asked(daybook, "/stop", language="en"))[-1] == "Gerade läuft nichts."
    assert daybook.chat.heard(GROUP)[0] == "Nothing is running."
    assert daybook.chat.heard(GROUP)[-1] == "Rien n’est en cours."


async def test_a_strangers_language_is_known_from_their_first_word(daybook: Daybook) -> None:
    async with daybook.running() as running:
        daybook.chat.say("hi", chat=STRANGER, sender=STRANGER, language="de")
        await daybook.chat.wait_heard(1, chat=STRANGER)
        (code,) = await running.codes()
        await running.approve(code)
        await daybook.chat.wait_heard(2, chat=STRANGER)
        assert (await asked(daybook, "/stop", chat=STRANGER))[-1] == "Gerade läuft nichts."


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "fr_FR.UTF-8"}, "fr"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
        ({"LANG": "C.UTF-8"}, None),
        ({"LANG": "POSIX"}, None),
        ({}, None),
    ],
)
def test_a_terminal_tells_its_language(environ: dict[str, str], language: str | None) -> None:
    assert of_environment(environ) == language
