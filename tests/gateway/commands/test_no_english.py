"""No English word in a chat of another language: what commands, pairing and the schedule say."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from agent.languages.codes import Language
from tests.english import english_in
from tests.gateway.commands.test_commands import ask, texts
from tests.gateway.conftest import OWNER, STRANGER, Daybook
from tests.languages import SAID


@dataclass(frozen=True, slots=True)
class Words:
    """What a person of that language writes."""

    language: Language
    fact: str
    about: str
    yes: str
    hour: str
    """08:30, to be said after /daily."""
    no_hour: str
    reminder: str
    weekly: str
    promise: str


GERMAN = Words(
    Language("de"),
    "Mein Fahrrad hat die Nummer 4711",
    "Fahrrad",
    "ja",
    "um halb neun",
    "irgendwann",
    "morgen um 15 Uhr Tee trinken",
    "jeden Montag und Freitag um 8 Uhr Vitamine nehmen",
    "Oma besuchen",
)
FRENCH = Words(
    Language("fr"),
    "Mon vélo porte le numéro 4711",
    "vélo",
    "oui",
    "à huit heures et demie",
    "un jour",
    "demain à 15h boire du thé",
    "tous les lundis à 8h prendre mes vitamines",
    "Voir Mamie",
)
CHINESE = Words(
    Language.CHINESE,
    "我的自行车编号是4711",
    "自行车",
    "是",
    "早上八点半",
    "某个时候",
    "明天下午三点喝茶",
    "每周一早上八点吃维生素",
    "看奶奶",
)


def english(answer: str, words: Words) -> list[str]:
    quoted = (words.fact, words.reminder, words.weekly, words.promise, words.no_hour)
    return english_in(answer, words.language, *quoted)


@pytest.mark.parametrize("words", [GERMAN, FRENCH, CHINESE], ids=["de", "fr", "zh"])
async def test_a_chat_is_answered_without_an_english_word(daybook: Daybook, words: Words) -> None:
    said: list[str] = []

    async def tell(text: str) -> str:
        said.append(await ask(daybook, text, chat=OWNER))
        return said[-1]

    daybook.model.then("…")
    async with daybook.running():
        await ask(daybook, SAID[words.language], chat=OWNER)
        await tell("/daily")
        assert "08:30" in await tell(f"/daily {words.hour}")
        assert "`/daily 21:00`" in await tell(f"/daily {words.no_hour}")
        assert "08:30" in await tell("/jobs")
        await tell("/daily off")
        assert "memory/" not in await tell(f"/remember {words.fact}")
        assert words.fact in await tell(f"/forget {words.about}")
        labels = [
            one.label for message in daybook.chat.standing(OWNER).values() for row in message.buttons for one in row
        ]
        assert "daybook sessions prune" in await tell(words.yes)
        assert "memory/" not in await tell("/undo")
        await tell("/forget qwertzuiop")
        await tell("/forget")
        await tell(f"/remind {words.reminder}")
        await tell(f"/remind {words.weekly}")
        listed = await tell("/jobs")
        assert listed.count("\n- ") >= 3 and "15:00" in listed and "08:00" in listed
        name = listed.split("`")[1]
        for verb in ("pause", "resume", "delete", "snooze"):
            await tell(f"/jobs {verb} {name}")
        await tell("/jobs dance")
        await tell("/done")
        (daybook.workspace / "memory" / "open.md").write_text(f"- [ ] 2026-11-22 {words.promise}\n")
        assert words.promise in await tell("/done")
        await tell("/done qwertzuiop")
        await tell(f"/done {words.promise}")
        await tell("/whoami")
        await tell("/approvals")
        await tell("/answer ABCDEF yes")
        await tell("/answer ABCDEF qwertzuiop")
    assert labels
    assert [(text, found) for text in [*said, *labels] if (found := english(text, words))] == []


@pytest.mark.parametrize("words", [GERMAN, FRENCH, CHINESE], ids=["de", "fr", "zh"])
async def test_what_cannot_be_written_or_forgotten_is_said_without_a_path(daybook: Daybook, words: Words) -> None:
    async with daybook.running():
        await ask(daybook, SAID[words.language], chat=OWNER)
        memory = daybook.workspace / "MEMORY.md"
        memory.write_text(f"- {words.fact}\n")
        await ask(daybook, f"/remember {words.fact}", chat=OWNER)
        await ask(daybook, f"/forget {words.about}", chat=OWNER)
        for file in (memory, *daybook.workspace.glob("memory/*.md")):
            file.chmod(0o400)
        said = [await ask(daybook, text, chat=OWNER) for text in (words.yes, f"/remember {words.fact}", "/undo")]
    assert said[0].count("\n- ") == 2, said[0]
    assert [text for text in said if english(text, words) or ".md" in text] == []


@pytest.mark.parametrize("words", [GERMAN, FRENCH, CHINESE], ids=["de", "fr", "zh"])
async def test_a_stranger_is_met_in_their_language(daybook: Daybook, words: Words) -> None:
    async with daybook.running() as gateway:
        await ask(daybook, SAID[words.language], chat=STRANGER, sender=STRANGER)
        (code,) = await gateway.codes()
        await gateway.approve(code)
        await daybook.chat.wait_until(lambda: len(texts(daybook, STRANGER)) == 2)
        await gateway.ask("pair.revoke", id=f"telegram:{STRANGER}")
        await daybook.chat.wait_until(lambda: len(texts(daybook, STRANGER)) == 3)
    said = texts(daybook, STRANGER)
    assert code in said[0] and all(text.strip() for text in said)
    assert [(text, found) for text in said if (found := english_in(text, words.language, code))] == []


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("21:00", "21:00"),
        ("21.30", "21:30"),
        ("9 pm", "21:00"),
        ("half past eight in the evening", "20:30"),
        ("every day at 21:00", "21:00"),
        ("um halb neun", "08:30"),
        ("à 21h", "21:00"),
        ("晚上九点", "21:00"),
        ("午後9時", "21:00"),
    ],
)
async def test_the_hour_of_the_summary_may_be_said_in_words(daybook: Daybook, said: str, time: str) -> None:
    async with daybook.running():
        answer = await ask(daybook, f"/daily {said}", chat=OWNER)
        assert f"here at {time}." in answer
        assert f"at {time}" in await ask(daybook, "/daily", chat=OWNER)


@pytest.mark.parametrize("said", ["soon", "25:00", "tomorrow at 9 pm", "in two hours", "9 pm tea", "every Monday at 8"])
async def test_what_is_no_hour_of_the_summary_is_asked_for_with_an_example(daybook: Daybook, said: str) -> None:
    async with daybook.running():
        answer = await ask(daybook, f"/daily {said}", chat=OWNER)
    assert answer.startswith(f"I don't understand “{said}” as a time. `/daily 21:00`")


def test_letters_of_a_code_are_no_words() -> None:
    german = Language("de")
    assert english_in("Schick ihm diesen Code: 4LL733XS oder YOU7THE2", german) == []
    assert english_in("Schick ihm the code, you’ll see", german) != []
    assert english_in("在the里", Language("zh")) == ["the"]
