"""Zones as people name them: by a city or country, or by the time that it is there. Reads files of the system once."""

from __future__ import annotations

import difflib
import re
import unicodedata
import zoneinfo
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.files import read_file

_CITIES: Mapping[str, str] = {
    "Europe/Berlin": "germany|deutschland|munich|münchen|hamburg|frankfurt|cologne|köln|stuttgart|leipzig|düsseldorf",
    "Europe/London": "england|great britain|united kingdom|scotland|wales|edinburgh|manchester|birmingham|glasgow",
    "America/New_York": "boston|washington|washington dc|miami|atlanta|philadelphia|usa east|new jersey|florida",
    "America/Los_Angeles": "san francisco|seattle|san diego|las vegas|portland|silicon valley",
    "America/Chicago": "houston|dallas|austin|san antonio|minneapolis|new orleans|texas|st louis",
    "Asia/Shanghai": "beijing|shenzhen|guangzhou|chengdu|hangzhou|wuhan",
    "Asia/Tokyo": "osaka|kyoto|nagoya|sapporo|yokohama",
    "Asia/Kolkata": "india|delhi|new delhi|mumbai|bombay|bangalore|bengaluru|chennai|hyderabad|pune",
    "Europe/Paris": "france|lyon|marseille|toulouse|nice|bordeaux|lille|strasbourg",
    "Europe/Madrid": "spain|barcelona|valencia|sevilla|seville|bilbao",
    "Europe/Rome": "italy|italia|roma|milan|milano|naples|napoli|turin|torino|florence|firenze|venice|venezia|bologna",
    "Europe/Vienna": "austria|österreich|graz|linz|salzburg|innsbruck",
    "Europe/Zurich": "switzerland|schweiz|suisse|svizzera|geneva|genf|genève|basel|bern|lausanne",
    "Europe/Amsterdam": "netherlands|nederland|holland|rotterdam|utrecht|the hague|den haag|eindhoven",
    "Europe/Brussels": "belgium|belgique|belgië|antwerp|antwerpen|ghent|gent",
    "Europe/Lisbon": "portugal|lisboa|porto",
    "Europe/Dublin": "ireland|cork|galway",
    "Europe/Warsaw": "poland|polska|kraków|krakow|gdańsk|wrocław|warszawa",
    "Europe/Prague": "czechia|czech republic|praha|brno",
    "Europe/Stockholm": "sweden|sverige|gothenburg|göteborg|malmö",
    "Europe/Copenhagen": "denmark|danmark|aarhus",
    "Europe/Oslo": "norway|norge|bergen",
    "Europe/Helsinki": "finland|suomi|tampere",
    "Europe/Athens": "greece|thessaloniki",
    "Europe/Kyiv": "ukraine|kiev|lviv|odesa",
    "Europe/Istanbul": "turkey|türkiye|ankara|izmir",
    "Europe/Bucharest": "romania|cluj",
    "Europe/Budapest": "hungary",
    "Europe/Moscow": "russia|saint petersburg|st petersburg",
    "America/Sao_Paulo": "brazil|brasil|rio de janeiro|rio|brasilia",
    "America/Mexico_City": "mexico|guadalajara|monterrey",
    "America/Toronto": "ottawa|montreal|québec|quebec|ontario",
    "America/Denver": "salt lake city|colorado|usa mountain",
    "America/Phoenix": "arizona",
    "America/Vancouver": "british columbia",
    "America/Argentina/Buenos_Aires": "argentina",
    "America/Bogota": "colombia|medellín",
    "America/Lima": "peru",
    "America/Santiago": "chile",
    "America/Caracas": "venezuela",
    "America/Halifax": "nova scotia",
    "America/St_Johns": "newfoundland",
    "America/Anchorage": "alaska",
    "Pacific/Honolulu": "hawaii",
    "Asia/Singapore": "",
    "Asia/Hong_Kong": "",
    "Asia/Taipei": "taiwan",
    "Asia/Seoul": "korea|south korea|busan",
    "Asia/Bangkok": "thailand",
    "Asia/Jakarta": "indonesia",
    "Asia/Ho_Chi_Minh": "vietnam|saigon|hanoi",
    "Asia/Manila": "philippines",
    "Asia/Kuala_Lumpur": "malaysia",
    "Asia/Dubai": "emirates|uae|abu dhabi",
    "Asia/Karachi": "pakistan|lahore|islamabad",
    "Asia/Dhaka": "bangladesh",
    "Asia/Kathmandu": "nepal",
    "Asia/Tehran": "iran",
    "Asia/Jerusalem": "israel|tel aviv",
    "Asia/Riyadh": "saudi arabia",
    "Asia/Tashkent": "uzbekistan",
    "Asia/Yangon": "myanmar|rangoon",
    "Africa/Lagos": "nigeria",
    "Africa/Cairo": "egypt",
    "Africa/Johannesburg": "south africa|cape town",
    "Africa/Nairobi": "kenya",
    "Africa/Casablanca": "morocco",
    "Australia/Sydney": "canberra|new south wales",
    "Australia/Melbourne": "victoria",
    "Australia/Brisbane": "queensland",
    "Australia/Perth": "western australia",
    "Australia/Adelaide": "south australia",
    "Pacific/Auckland": "new zealand|wellington",
    "Atlantic/Reykjavik": "iceland",
    "Atlantic/Azores": "",
    "Pacific/Kiritimati": "",
    "Pacific/Pago_Pago": "samoa",
}
"""Zones by how many people say that they live there, with cities and countries that the zone's own name lacks."""
_SAME = frozenset({"UTC", "Etc/UTC", "Etc/UCT", "Etc/GMT", "Etc/Universal", "Etc/Zulu", "UCT", "GMT", "Zulu"})
"""Names of the zone that machines have where nobody chose."""
_AREAS = ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
_TIME = re.compile(r"(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2}))? ?(?P<half>am|pm)?")
_STEP = timedelta(minutes=15)
"""Zones differ by this, or several of it."""
_DAY = timedelta(days=1)
_HALF_A_YEAR = timedelta(days=182)


def is_utc(zone: str) -> bool:
    return zone in _SAME


def zone_name(language: Language, zone: str) -> str:
    """The name that people use: "Berlin", „Tokio“, 東京."""
    if is_utc(zone):
        return "UTC"
    known = _phrases(language).get(zone)
    return known[0].title() if known else zone.rpartition("/")[2].replace("_", " ")


def is_same_time(zone: ZoneInfo, other: ZoneInfo, now: datetime) -> bool:
    """Whether both zones show the same time now and in half a year."""
    moments = (now, now + _HALF_A_YEAR)
    return all(moment.astimezone(zone).utcoffset() == moment.astimezone(other).utcoffset() for moment in moments)


def zones_meant(text: str, now: datetime, language: Language = Language.ENGLISH) -> Sequence[str]:
    """The zones of a city, a country or an IANA name, or those where it is that time now, the likeliest first."""
    wanted = _key(text)
    times = _times(wanted, now)
    return _zones_at(times, now, language) if times else _named().get(wanted, ())


def nearest(text: str, count: int = 3) -> Sequence[str]:
    """Zones whose names are written most like the text."""
    wanted, known = _key(text), {name: zones for name, zones in _named().items() if zones[0] in _places()}
    begun = [name for name in known if len(wanted) > 2 and name.startswith(wanted)]
    alike = difflib.get_close_matches(wanted, known, n=4 * count, cutoff=0.0)
    return tuple(dict.fromkeys(known[name][0] for name in (*begun, *alike)))[:count]


def _times(text: str, now: datetime) -> Sequence[time]:
    """The times that a text may be; "1:26" may also be on a clock of twelve hours, and "1 pm" is any minute of it."""
    match = _TIME.fullmatch(text)
    if match is None:
        return ()
    hour, minute, half = int(match["hour"]), int(match["minute"] or now.minute), match["half"]
    hours = [hour % 12 + (12 if half == "pm" else 0)] if half else [hour]
    if not half and 1 <= hour <= 12 and not text.startswith("0"):
        hours.append((hour + 12) % 24)
    is_real = minute < 60 and (1 <= hour <= 12 if half else hour < 24)
    return [time(candidate, minute) for candidate in hours] if is_real else ()


def _zones_at(times: Iterable[time], now: datetime, language: Language) -> Sequence[str]:
    here = now.astimezone(UTC)
    ahead = [round((datetime.combine(here.date(), at, UTC) - here) / _STEP) * _STEP for at in times]
    offsets = {offset + day for offset in ahead for day in (-_DAY, timedelta(), _DAY)}
    own = (zone for zone in _phrases(language) if zone in _CITIES)
    found = [zone for zone in dict.fromkeys((*own, *_CITIES)) if here.astimezone(ZoneInfo(zone)).utcoffset() in offsets]
    rest = (zone for zone in sorted(_places()) if here.astimezone(ZoneInfo(zone)).utcoffset() in offsets)
    return tuple(found) or tuple(rest)


@cache
def _phrases(language: Language) -> Mapping[str, tuple[str, ...]]:
    """The names of each zone in the grammar of the language."""
    table = read_file(language)["time"]
    assert isinstance(table, dict) and isinstance(table["zones"], dict)
    return {zone: tuple(str(phrases).split("|")) for zone, phrases in table["zones"].items()}


@cache
def _named() -> Mapping[str, tuple[str, ...]]:
    """The zones of each known name. Blocks for some milliseconds, the first time."""
    found: dict[str, list[str]] = {}

    def add(names: Iterable[str], zone: str) -> None:
        for name in names:
            if zone not in (zones := found.setdefault(_key(name), [])):
                zones.append(zone)

    for zone, cities in _CITIES.items():
        add((zone, zone.rpartition("/")[2], *filter(None, cities.split("|"))), zone)
    for language in ALL_LANGUAGES:
        for zone, phrases in _phrases(language).items():
            add([name for name in phrases if _key(name) not in found], zone.removesuffix("!"))
    for zone in sorted(_places()):
        city = zone.rpartition("/")[2]
        add((zone, city) if _key(city) not in found else (zone,), zone)
    for zone in sorted(zoneinfo.available_timezones()):
        add((zone,) if _key(zone) not in found else (), zone)
    return {name: tuple(zones) for name, zones in found.items()}


@cache
def _places() -> frozenset[str]:
    return frozenset(zone for zone in zoneinfo.available_timezones() if zone.partition("/")[0] in _AREAS)


def _key(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.strip().strip(".!?。！？").casefold())
    return " ".join("".join(char for char in plain if not unicodedata.combining(char)).replace("_", " ").split())
