"""Where a line names an own reminder and says another time for it, no second one is set in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from agent.languages.codes import Language
from agent.model.offline.model import OfflineModel
from tests.gateway.commands.test_plain_commands import notes
from tests.gateway.commands.test_plain_orders import reminders
from tests.gateway.commands.understood import world
from tests.gateway.conftest import OWNER, Daybook
from tests.gateway.scheduling.test_requests import ask

DENTIST, BREAD, MUM = "dentist", "bread", "mum"


@dataclass(frozen=True, slots=True)
class _Ways:
    """`reasons`: clauses that name a reminder and say that its time no longer fits, each with its key; `orders`: with a
    place for the time; `times`: how 19:00 and 20:30 are said; `whole`: one clause says all of it; `joint` and `since`:
    between a reason and an order, and the other way round."""

    reasons: Sequence[tuple[str, str]]
    orders: Sequence[str]
    times: tuple[str, str]
    whole: Sequence[tuple[str, str]]
    since: str
    joint: str = ", "


WAYS = {
    "en": _Ways(
        [
            (BREAD, "the bread needs longer"),
            (BREAD, "the bread isn't ready yet"),
            (MUM, "I can't call mum then"),
            (DENTIST, "the dentist was moved"),
        ],
        [
            "set the reminder to {}",
            "remind me at {} instead",
            "shift it to {}",
            "can you make it {}?",
            "remind me at {}",
        ],
        ("7pm", "8:30pm"),
        [
            (DENTIST, "the dentist is at {} now"),
            (DENTIST, "remind me of the dentist at {} instead"),
            (MUM, "call mum not at 5pm but at {}"),
            (MUM, "remind me to call mum at {} rather than 5pm"),
            (BREAD, "move the bread to {}"),
        ],
        " because ",
    ),
    "de": _Ways(
        [
            (BREAD, "das Brot braucht länger"),
            (BREAD, "das Brot ist noch nicht fertig"),
            (MUM, "ich komm nicht dazu Mama anzurufen"),
            (DENTIST, "der Zahnarzt wurde verschoben"),
        ],
        [
            "stell die Erinnerung auf {}",
            "erinner mich lieber um {}",
            "verschieb das auf {}",
            "kannst du es auf {} legen?",
            "erinner mich um {}",
        ],
        ("19 Uhr", "20:30 Uhr"),
        [
            (DENTIST, "der Zahnarzt ist jetzt um {}"),
            (DENTIST, "erinner mich doch erst um {} an den Zahnarzt"),
            (MUM, "Mama anrufen nicht um 17 Uhr sondern um {}"),
            (MUM, "erinner mich um {} statt um 17 Uhr Mama anzurufen"),
            (BREAD, "leg das Brot auf {}"),
        ],
        ", denn ",
    ),
    "es": _Ways(
        [
            (BREAD, "al pan le falta un rato"),
            (BREAD, "el pan todavía no está listo"),
            (MUM, "no puedo llamar a mamá entonces"),
            (DENTIST, "me han cambiado el dentista"),
        ],
        [
            "pon el recordatorio {}",
            "recuérdamelo mejor {}",
            "cámbialo {}",
            "puedes ponerlo {}?",
            "recuérdamelo {}",
        ],
        ("a las 19:00", "a las 20:30"),
        [
            (DENTIST, "el dentista ahora es {}"),
            (DENTIST, "recuérdame el dentista mejor {}"),
            (MUM, "llamar a mamá no a las 17 sino {}"),
            (MUM, "recuérdame llamar a mamá {} en vez de a las 17"),
            (BREAD, "pasa el pan {}"),
        ],
        " porque ",
    ),
    "fr": _Ways(
        [
            (BREAD, "le pain a besoin de plus de temps"),
            (BREAD, "le pain n'est pas encore prêt"),
            (MUM, "je pourrai pas appeler maman à ce moment"),
            (DENTIST, "le dentiste a été décalé"),
        ],
        [
            "mets le rappel à {}",
            "rappelle-le-moi plutôt à {}",
            "décale-le à {}",
            "tu peux le mettre à {} ?",
            "rappelle-le-moi à {}",
        ],
        ("19h", "20h30"),
        [
            (DENTIST, "le dentiste est maintenant à {}"),
            (DENTIST, "rappelle-moi plutôt le dentiste à {}"),
            (MUM, "appeler maman pas à 17h mais à {}"),
            (MUM, "rappelle-moi d'appeler maman à {} au lieu de 17h"),
            (BREAD, "décale le pain à {}"),
        ],
        " parce que ",
    ),
    "it": _Ways(
        [
            (BREAD, "al pane serve più tempo"),
            (BREAD, "il pane non è ancora pronto"),
            (MUM, "non riesco a chiamare la mamma"),
            (DENTIST, "mi hanno spostato il dentista"),
        ],
        [
            "metti il promemoria {}",
            "ricordamelo invece {}",
            "spostalo {}",
            "puoi metterlo {}?",
            "ricordamelo {}",
        ],
        ("alle 19:00", "alle 20:30"),
        [
            (DENTIST, "il dentista adesso è {}"),
            (DENTIST, "ricordami il dentista {} invece"),
            (MUM, "chiamare la mamma non alle 17 ma {}"),
            (MUM, "ricordami di chiamare la mamma {} invece che alle 17"),
            (BREAD, "sposta il pane {}"),
        ],
        " perché ",
    ),
    "ja": _Ways(
        [
            (BREAD, "パンがもう少しかかる"),
            (BREAD, "パンがまだ焼けてない"),
            (MUM, "お母さんに電話できない"),
            (DENTIST, "歯医者が変わった"),
        ],
        [
            "リマインダーを{}にして",
            "やっぱり{}に知らせて",
            "{}にずらして",
            "{}に変更してもらえる？",
            "{}にリマインドして",
        ],
        ("19時", "20時半"),
        [
            (DENTIST, "歯医者は{}になった"),
            (DENTIST, "歯医者はやっぱり{}にリマインドして"),
            (MUM, "お母さんに電話するのは17時じゃなくて{}にして"),
            (BREAD, "パンを{}にずらして"),
        ],
        "、",
        "から、",
    ),
    "zh": _Ways(
        [
            (BREAD, "面包还得再烤一会儿"),
            (BREAD, "面包还没烤好"),
            (MUM, "那时候来不及给妈妈打电话"),
            (DENTIST, "牙医改时间了"),
        ],
        ["提醒改到{}", "还是{}提醒我吧", "挪到{}", "能帮我换到{}吗？", "{}再提醒我"],
        ("晚上7点", "晚上8点半"),
        [
            (DENTIST, "牙医现在是{}"),
            (DENTIST, "看牙医还是{}提醒我"),
            (MUM, "给妈妈打电话不是下午5点是{}"),
            (BREAD, "把面包挪到{}"),
        ],
        "，因为",
        "，",
    ),
}


@pytest.mark.parametrize("language", WAYS)
async def test_a_reminder_that_a_line_names_is_moved_or_asked_about(tmp_path: Path, language: str) -> None:
    ways = WAYS[language]
    known, _ = world.corpus(Language(language))
    both = list(product(ways.reasons, ways.orders))
    forms = [(key, f"{reason}{ways.joint}{order}") for (key, reason), order in both]
    forms += [(key, f"{order}{ways.since}{reason}") for (key, reason), order in both if not order.endswith(("?", "？"))]
    lines = [
        (key, form.format(ways.times[at % 2]), ("19:00", "20:30")[at % 2])
        for at, (key, form) in enumerate([*forms, *ways.whole])
    ]
    answers = await world.in_turn(known, [line for _, line, _ in lines], tmp_path)
    wrong: list[str] = []
    moved = 0
    for (key, line, time), (shown, jobs) in zip(lines, answers, strict=True):
        at = jobs.get(known.reminders[key])
        is_there = at is not None and f"{at.astimezone(world.BERLIN):%H:%M}" == time
        moved += is_there
        asks = bool(shown.buttons) and "?" in shown.text.replace("？", "?")
        if jobs.keys() != set(known.reminders.values()) or not (is_there or asks):
            wrong.append(f"{line}: {shown.text[:90]!r}")
    assert wrong == []
    assert moved > 0.8 * len(lines), moved


@pytest.fixture
def assistant(daybook: Daybook, offline: None) -> Daybook:
    daybook.model = OfflineModel(daybook.moment.clock, ".env")  # type: ignore[assignment]
    return daybook


async def _set_up(daybook: Daybook) -> None:
    await ask(daybook, "Remind me tomorrow at 16:00: dentist")
    await ask(daybook, "Remind me tomorrow at 17:00 to call mum")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("the dentist called, can't find my card, remind me at 15:00", "the dentist called, can't find my card"),
        ("remind me to call the plumber at 15:00 instead", "call the plumber instead"),
        ("remind me tomorrow at 15:00 to call mum", "call mum"),
        ("remind me at 15:00 to buy milk instead of cream", "buy milk instead of cream"),
        ("the bread is finished, remind me at 15:00 to buy flour", "buy flour"),
    ],
)
async def test_what_is_no_change_sets_another(assistant: Daybook, line: str, text: str) -> None:
    async with assistant.running():
        await _set_up(assistant)
        await ask(assistant, line)
        every = await reminders(assistant)
    assert sorted(when[-5:] for _, when in every) == ["15:00", "16:00", "17:00"]
    assert any(text in task for task, _ in every)


async def test_something_else_to_be_done_is_asked_about_and_set_on_a_press(assistant: Daybook) -> None:
    async with assistant.running():
        await _set_up(assistant)
        answer = await ask(assistant, "the dentist is tomorrow at 18:15 now, remind me to bring the x-rays")
        assert answer == "Shall I remind you tomorrow at 18:15 instead? “dentist”"
        assert [when[-5:] for _, when in await reminders(assistant)] == ["16:00", "17:00"]
        (id, shown) = list(assistant.chat.standing(OWNER).items())[-1]
        assert [button.label for row in shown.buttons for button in row] == ["Move it", "New reminder", "Note it"]
        assistant.chat.press(id, "New reminder", OWNER)
        await assistant.chat.wait_until(lambda: "I'll remind" in assistant.chat.standing(OWNER)[id].text)
        every = await reminders(assistant)
    assert [when[-5:] for _, when in every] == ["16:00", "17:00", "18:15"]
    assert "x-rays" in every[-1][0] and notes(assistant) == ""


@pytest.mark.parametrize(
    "line",
    ["the dentist is at 18:00 now, remind me an hour before", "can't do the dentist on Monday, remind me at 15:00"],
)
async def test_where_it_is_not_clear_when_nothing_changes(assistant: Daybook, line: str) -> None:
    async with assistant.running():
        await _set_up(assistant)
        await ask(assistant, line)
        assert [when[-5:] for _, when in await reminders(assistant)] == ["16:00", "17:00"]


async def test_what_is_to_be_done_instead_is_not_cancelled_too(assistant: Daybook) -> None:
    async with assistant.running():
        await _set_up(assistant)
        await ask(assistant, "cancel the dentist, I'll call mum at 5pm instead")
        assert [text for text, _ in await reminders(assistant)] == ["call mum"]


@pytest.mark.parametrize(
    "line",
    ["you can drop the big red button", "Du kannst die Heizung im Bad abstellen", "you can delete old photos there"],
)
async def test_what_may_be_deleted_somewhere_else_is_a_note(assistant: Daybook, line: str) -> None:
    async with assistant.running():
        await _set_up(assistant)
        assert line in await ask(assistant, line)
    assert line in notes(assistant)
