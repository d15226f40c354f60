"""A German, a Frenchwoman and a Chinese, what each of them types, presses and reads, and their first day."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from agent.languages.codes import Language
from tests.english import english_in
from tests.flows.story import Story
from tests.flows.test_daily import at


@dataclass(frozen=True, slots=True)
class Person:
    language: Language
    locale: str
    discords_locale: str
    hello: str
    greeted: str
    unclear: str
    """A note of no language."""
    noted: str
    order: str
    """A reminder of the next day at nine."""
    promised: str
    thing: str
    """What it reminds of."""
    later: str
    """The button that puts it off by ten minutes."""
    put_off: str
    done: str
    """The button that ends it."""
    ended: str


PERSONS = (
    Person(
        Language("de"),
        "de-DE",
        "de",
        "Hallo",
        "Für richtige Gespräche verbinde auf der Seite unter Einstellungen ein Sprachmodell.",
        "Pizza 4711",
        "Notiert:",
        "Erinnere mich morgen um 9 Uhr an den Zahnarzt",
        "Ich erinnere dich morgen um 09:00.",
        "Zahnarzt",
        "In 10 Minuten",
        "Ich erinnere dich heute um 09:10 noch einmal.",
        "Erledigt",
        "✓ Erledigt.",
    ),
    Person(
        Language("fr"),
        "fr-FR",
        "fr",
        "Bonjour",
        "Pour de vraies conversations, connecte un modèle de langage sur la page, sous Réglages.",
        "Pizza 4711",
        "Noté :",
        "Rappelle-moi demain à 9 h d'appeler le dentiste",
        "Je te le rappellerai demain à 09:00.",
        "appeler le dentiste",
        "Dans 10 minutes",
        "Je te le rappellerai aujourd'hui à 09:10.",
        "C'est fait",
        "✓ C'est fait.",
    ),
    Person(
        Language.CHINESE,
        "zh-CN",
        "zh-CN",
        "你好",
        "想真正聊天，请在网页的“设置”里连接一个语言模型。",
        "Pizza 4711",
        "记下了：",
        "明天上午九点提醒我看牙医",
        "09:00",
        "看牙医",
        "10 分钟后",
        "09:10",
        "完成",
        "✓ 已完成。",
    ),
)


class Seat(ABC):
    """Where a person sits. `seen`: every text that they had before them, labels of buttons too."""

    shown_when_put_off = 1
    """How often a reminder stands there that was put off."""

    def __init__(self) -> None:
        self.seen: dict[str, None] = {}

    @abstractmethod
    async def says(self, words: str) -> None: ...

    @abstractmethod
    async def press(self, label: str) -> None:
        """Presses the newest button of that name."""

    @abstractmethod
    async def until(self, part: str, times: int) -> list[str]:
        """Waits until `part` stands there so many times, and returns all that stands there."""

    async def reads(self, part: str, times: int = 1) -> None:
        self.seen |= dict.fromkeys(await self.until(part, times))

    def english(self, person: Person, *quoted: str) -> list[tuple[str, list[str]]]:
        """The texts that have English words, with those words; what is quoted does not count."""
        return [(text, found) for text in self.seen if (found := english_in(text, person.language, *quoted))]


async def first_day(told: Story, person: Person, seat: Seat) -> None:
    """From the first words to the end of a reminder that was put off once."""
    await seat.says(person.hello)
    await seat.reads(person.greeted)
    await seat.says(person.unclear)
    await seat.reads(person.noted)
    await seat.says(person.order)
    await seat.reads(person.promised)
    at(told, "2026-11-22 09:00")
    await seat.reads(f"⏰ {person.thing}")
    await seat.press(person.later)
    await seat.reads(person.put_off)
    at(told, "2026-11-22 09:10")
    await seat.reads(f"⏰ {person.thing}", seat.shown_when_put_off + 1)
    await seat.press(person.done)
    await seat.reads(person.ended)
