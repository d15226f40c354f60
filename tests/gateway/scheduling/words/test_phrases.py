"""A time in any part of a text. It is Saturday, 21 November 2026, 08:30 in Berlin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.languages.codes import ALL_LANGUAGES, Language
from gateway.recurrence import At, InvalidWhen, fields, next_after
from gateway.scheduling.words.meaning import HourMissing, Timed
from gateway.scheduling.words.phrases import length_in, read, said_in

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 21, 8, 30, tzinfo=ZONE)


def timed(said: str, *languages: Language, now: datetime = NOW) -> tuple[dict[str, str], str]:
    """The fields of the time, and the rest."""
    phrase = read(said, now, languages)
    assert phrase is not None and isinstance(phrase.time, Timed), said
    return fields(phrase.time.when), phrase.rest


@pytest.mark.parametrize(
    ("said", "when", "rest"),
    [
        ("in 20 minutes stretch", "2026-11-21T08:50+01:00", "stretch"),
        ("in 20 Minuten: dehnen", "2026-11-21T08:50+01:00", "dehnen"),
        ("in einer halben Stunde Tee", "2026-11-21T09:00+01:00", "Tee"),
        ("in 1h30m tea", "2026-11-21T10:00+01:00", "tea"),
        ("in 2 days tea", "2026-11-23T08:30", "tea"),
        ("in 20 min. tea", "2026-11-21T08:50+01:00", "tea"),
        ("in 2 hours and 30 minutes tea", "2026-11-21T11:00+01:00", "tea"),
        ("29.2. 10:00 leap", "2028-02-29T10:00", "leap"),
        ("3pm to call", "2026-11-21T15:00", "call"),
        ("8:00 run", "2026-11-22T08:00", "run"),
        ("tomorrow at 3pm to buy milk", "2026-11-22T15:00", "buy milk"),
        ("at 3pm tomorrow call mum", "2026-11-22T15:00", "call mum"),
        ("tomorrow call mum at 3pm", "2026-11-22T15:00", "call mum"),
        ("pay rent on 1 December at 9:00", "2026-12-01T09:00", "pay rent"),
        ("pay rent on the 1st of every month at 9:00", "0 9 1 * *", "pay rent"),
        ("buy bread at 9 tomorrow", "2026-11-22T09:00", "buy bread"),
        ("read chapter 8 and 9 tomorrow at 15:00", "2026-11-22T15:00", "read chapter 8 and 9"),
        ("24.12. um 18 Uhr Geschenke", "2026-12-24T18:00", "Geschenke"),
        ("20.11. 18:00 Geschenke", "2027-11-20T18:00", "Geschenke"),
        ("Samstag um 9 Uhr Markt", "2026-11-21T09:00", "Markt"),
        ("saturday 08:00 market", "2026-11-28T08:00", "market"),
        ("heute abend um 8 Uhr Film", "2026-11-21T20:00", "Film"),
        ("every monday and sunday 9:30 gym", "30 9 * * 1,0", "gym"),
        ("every weekday at 8 the weather", "0 8 * * 1-5", "the weather"),
        ("alle 2 Stunden trinken", "2h", "trinken"),
        ("tomorrow 15:00 and bring 2 eggs", "2026-11-22T15:00", "and bring 2 eggs"),
        ("tomorrow 15:00 Monday's report", "2026-11-22T15:00", "Monday's report"),
        ("tomorrow 15:00 from Ann: the keys", "2026-11-22T15:00", "from Ann: the keys"),
        ("２０：３０にお茶", "2026-11-21T20:30", "お茶"),
        ("tomorrow \u200fat ٣pm tea", "2026-11-22T15:00", "tea"),
        ("tomorrow at 9 " + "more, and " * 100 + "cake", "2026-11-22T09:00", "more, and " * 100 + "cake"),
        ("TOMORROW AT 3PM CALL MUM", "2026-11-22T15:00", "CALL MUM"),
        ("at 5pm buy christmas presents", "2026-11-21T17:00", "buy christmas presents"),
        ("tomorrow at 5pm wrap the christmas presents", "2026-11-22T17:00", "wrap the christmas presents"),
        ("on christmas at 9 call mum", "2026-12-25T09:00", "call mum"),
        ("demain 9h marché de noël", "2026-11-22T09:00", "marché de noël"),
        ("le soir de noël à 20h appeler mamie", "2026-12-25T20:00", "appeler mamie"),
        ("domani alle 17 comprare i regali di natale", "2026-11-22T17:00", "comprare i regali di natale"),
        ("mañana a las 17 comprar los regalos de navidad", "2026-11-22T17:00", "comprar los regalos de navidad"),
    ],
)
def test_it_is_found_and_the_rest_is_what_is_to_be_done(said: str, when: str, rest: str) -> None:
    found, left = timed(said)
    assert (next(iter(found.values())), left) == (when, rest)


@pytest.mark.parametrize(
    "said",
    [
        "next full moon plant",
        "in 5 people",
        "every month pay",
        "5 apples",
        "every monday at 9 and thursday at 10 gym",
        "every day at 8 except sunday pills",
        "every week at 9:00 bins",
        "every day at 8 until 2020-01-01 pills",
        "every 2 hours from 9 to 17 water",
        "every day at 8:15 about the 20:45 train",
        "every monday at 8:15 and tuesday at 20:45",
        "every two days at 8:15 and 20:45",
        "every 2 hours between 9 and 17 water",
        "every hour until 18:00 water",
        "alle 2 Stunden von 9 bis 17 Uhr trinken",
        "tomorrow at 3pm Miami time call",
        "24 December next year at 9:00 call",
        "tomorrow at 8 or 9 call",
        "at 8 for two hours",
        "tomorrow at noon to book the 8:15 train",
        "yesterday at 5",
        "3/12 at 9:00 call",
        "at 9am call the first customer",
        "domani leggere i capitoli 8 e 9",
        "dalle 9 alle 17 lavoro",
        "dal 3 al 5 maggio ferie",
        "dom alle 9 calcio",
        "domani alle 9 nei giorni feriali",
        "more and " * 100 + "tomorrow at 9",
        "",
    ],
)
def test_what_is_not_all_understood_is_asked_about(said: str) -> None:
    phrase = read(said, NOW)
    assert phrase is None or phrase.time is None


@pytest.mark.parametrize(
    "said",
    [
        "2026-02-30 10:00 x",
        "tomorrow 25:00 x",
        "31.2. 10:00 x",
        "in 0 minutes x",
        "in 10000 years x",
        "9999-12-31 24:00 x",
    ],
)
def test_what_cannot_be_is_refused(said: str) -> None:
    with pytest.raises(InvalidWhen):
        read(said, NOW)


@pytest.mark.parametrize(
    ("said", "day", "rest"),
    [
        ("tomorrow call Ann", "2026-11-22", "call Ann"),
        ("am 3. die Miete", "2026-12-03", "die Miete"),
        ("下周五交报告", "2026-11-27", "交报告"),
        ("every Monday bins", None, "bins"),
    ],
)
def test_a_day_without_an_hour_wants_one(said: str, day: str | None, rest: str) -> None:
    phrase = read(said, NOW)
    assert phrase is not None and isinstance(phrase.time, HourMissing)
    assert (str(phrase.time.day) if phrase.time.day else None, phrase.rest) == (day, rest)


@pytest.mark.parametrize(
    ("language", "said", "length"),
    [
        ("de", "in ner dreiviertelstunde", 45),
        ("de", "in 'ner viertelstunde", 15),
        ("de", "ne halbe stunde", 30),
        ("fr", "d'une heure et demie", 90),
        ("es", "de una hora y media", 90),
        ("it", "di un'ora e mezza", 90),
        ("en", "three quarters of an hour", 45),
        ("ja", "1時間半", 90),
        ("zh", "一个半小时", 90),
    ],
)
def test_a_length_is_found_as_it_is_spoken(language: str, said: str, length: int) -> None:
    found = length_in(said, Language(language))
    assert found is not None and found[0] == timedelta(minutes=length)
    assert said_in(f"... {said} ...", Language(language)) in said


def test_days_that_are_words_of_other_languages_are_german_ones_alone() -> None:
    assert timed("do um 15 Uhr Müll", Language("de"))[0] == {"at": "2026-11-26T15:00"}
    assert timed("do the dishes at 15:00", Language.ENGLISH) == ({"at": "2026-11-21T15:00"}, "do the dishes")
    assert timed("llamar a mi madre a las 15:00", Language("es"))[1] == "llamar a mi madre"


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("every 2 days at 9:00 water", "2026-11-21T09:00"),
        ("alle 3 Tage um 8 Uhr gießen", "2026-11-22T08:00"),
        ("every second tuesday at 19:00 bins", "2026-11-24T19:00"),
    ],
)
def test_every_few_days_begins_with_the_next_such_time(said: str, first: str) -> None:
    phrase = read(said, NOW)
    assert phrase is not None and isinstance(phrase.time, Timed)
    due = next_after(phrase.time.when, ZONE, NOW)
    assert due is not None and due.astimezone(ZONE).strftime("%Y-%m-%dT%H:%M") == first


def test_a_repetition_ends_after_its_last_day() -> None:
    phrase = read("every day at 8 until Tuesday pills", NOW)
    assert phrase is not None and isinstance(phrase.time, Timed)
    due, days = NOW, []
    while (due := next_after(phrase.time.when, ZONE, due)) is not None:  # type: ignore[assignment]
        days.append(due.astimezone(ZONE).day)
    assert days == [22, 23, 24]


@pytest.mark.parametrize("night", ["2027-03-28T01:30+01:00", "2026-10-25T01:55+02:00", "2026-10-25T02:55+02:00"])
@pytest.mark.parametrize(("said", "minutes"), [("in 10m", 10), ("in half an hour", 30), ("in 1h30m", 90)])
def test_hours_and_minutes_are_as_long_in_the_nights_on_which_the_clocks_change(
    said: str, minutes: int, night: str
) -> None:
    now = datetime.fromisoformat(night).astimezone(ZONE)
    phrase = read(f"{said} tea", now)
    assert phrase is not None and isinstance(phrase.time, Timed)
    due = next_after(phrase.time.when, ZONE, now)
    assert due is not None and due - now.astimezone(UTC) == timedelta(minutes=minutes)


class Parts(NamedTuple):
    """How a language says days from today, hours, and joins them."""

    days: dict[str, int]
    hours: dict[str, tuple[int, int]]
    tasks: tuple[str, ...]
    glue: str = " "


PARTS = {
    Language.ENGLISH: Parts(
        {"tomorrow": 1, "the day after tomorrow": 2, "on Friday": 6, "on December 3": 12},
        {
            "at 15:00": (15, 0),
            "at 3pm": (15, 0),
            "at half past seven": (7, 30),
            "at noon": (12, 0),
            "at three": (15, 0),
        },
        ("call mum", "read chapter 9 of it", "buy 2 kg of flour"),
    ),
    Language("de"): Parts(
        {"morgen": 1, "übermorgen": 2, "am Freitag": 6, "am 3.12.": 12},
        {
            "um 15 Uhr": (15, 0),
            "um halb acht": (7, 30),
            "mittags": (12, 0),
            "um drei": (15, 0),
            "um 20 Uhr 15": (20, 15),
        },
        ("Mama anrufen", "Kapitel 9 lesen", "2 kg Mehl kaufen"),
    ),
    Language("es"): Parts(
        {"mañana": 1, "pasado mañana": 2, "el viernes": 6, "el 3 de diciembre": 12},
        {
            "a las 15:00": (15, 0),
            "a las tres de la tarde": (15, 0),
            "a las siete y media": (7, 30),
            "al mediodía": (12, 0),
        },
        ("llamar a mamá", "leer el capítulo 9", "comprar 2 kg de harina"),
    ),
    Language("fr"): Parts(
        {"demain": 1, "après-demain": 2, "vendredi": 6, "le 3 décembre": 12},
        {"à 15h": (15, 0), "à 7h30": (7, 30), "à midi": (12, 0), "à trois heures de l'après-midi": (15, 0)},
        ("appeler maman", "lire le chapitre 9", "acheter 2 kg de farine"),
    ),
    Language("it"): Parts(
        {"domani": 1, "dopodomani": 2, "venerdì": 6, "il 3 dicembre": 12},
        {"alle 15:00": (15, 0), "alle tre del pomeriggio": (15, 0), "alle sette e mezza": (7, 30), "all'una": (13, 0)},
        ("chiamare la mamma", "leggere il capitolo 9", "comprare 2 kg di farina"),
    ),
    Language.CHINESE: Parts(
        {"明天": 1, "后天": 2, "周五": 6, "12月3号": 12},
        {"下午三点": (15, 0), "15点": (15, 0), "早上七点半": (7, 30), "中午": (12, 0), "晚上8点一刻": (20, 15)},
        ("给妈妈打电话", "看第9章", "买2公斤面粉"),
        "",
    ),
    Language.JAPANESE: Parts(
        {"明日": 1, "明後日": 2, "金曜日に": 6, "12月3日に": 12},
        {"15時に": (15, 0), "午後3時に": (15, 0), "朝7時半に": (7, 30), "正午に": (12, 0)},
        ("母に電話", "第9章を読む", "小麦粉を2袋買う"),
        "",
    ),
}


@pytest.mark.parametrize("language", ALL_LANGUAGES)
@given(data=st.data())
def test_parts_in_any_order_mean_what_was_said_or_are_asked_about(language: Language, data: st.DataObject) -> None:
    parts = PARTS[language]
    day, hour, task = (data.draw(st.sampled_from(list(one))) for one in (parts.days, parts.hours, parts.tasks))
    more = data.draw(st.sampled_from(["", *parts.days, *parts.hours]).filter(lambda one: one != "morgen"))  # „Morgen“
    pieces = data.draw(st.sampled_from(list(permutations([day, hour, task]))))
    said = parts.glue.join([*pieces, more]).strip()
    phrase = read(said, NOW, (language,))
    assert phrase is not None
    if not isinstance(phrase.time, Timed):
        assert more or phrase.time is None
        return
    assert isinstance(phrase.time.when, At)
    at = phrase.time.when.moment
    first = NOW.date() + timedelta(days=parts.days[day])
    said_again = (more in parts.hours and parts.hours[more] == parts.hours[hour]) or parts.days.get(more) == parts.days[
        day
    ]
    assert not more or said_again
    assert (at.date(), (at.hour, at.minute), phrase.rest) == (first, parts.hours[hour], task)


@pytest.mark.parametrize("language", ALL_LANGUAGES)
def test_all_orders_of_a_day_an_hour_and_a_task_are_understood(language: Language) -> None:
    parts, missed = PARTS[language], []
    for day, hour, task in ((day, hour, task) for day in parts.days for hour in parts.hours for task in parts.tasks):
        for pieces in permutations([day, hour, task]):
            phrase = read(parts.glue.join(pieces), NOW, (language,))
            if phrase is None or not isinstance(phrase.time, Timed) or phrase.rest != task:
                missed.append((parts.glue.join(pieces), phrase))
    assert len(missed) <= len(parts.days) * len(parts.hours) * len(parts.tasks) * 6 // 20, missed[:5]


@given(
    st.text(max_size=60), st.sampled_from(["", "in 2 hours ", "tomorrow ", "every ", "at 9", "2026-11-2", "9.", "下周"])
)
def test_no_words_break_it(text: str, beginning: str) -> None:
    try:
        read(beginning + text, NOW)
    except InvalidWhen as error:
        assert str(error)
