"""What a user's time zone tells of how days are written and when the seasons are: a value of its own, since rankings
hand it on to the readers of days."""

from __future__ import annotations

import re
from dataclasses import dataclass
from zoneinfo import ZoneInfo

_MONTH_FIRST = re.compile(
    "US/.*|America/(?:New_York|Chicago|Denver|Los_Angeles|Phoenix|Detroit|Boise|Anchorage|Juneau|Sitka|Nome|Adak"
    "|Metlakatla|Yakutat|Menominee|Indiana/.*|Kentucky/.*|North_Dakota/.*|Puerto_Rico)|Pacific/Honolulu|Asia/Manila"
)
_SOUTHERN = re.compile(
    "Australia/.*|Pacific/Auckland|Africa/(?:Johannesburg|Harare|Maputo|Windhoek|Gaborone|Lusaka)"
    "|America/(?:Argentina/.*|Buenos_Aires|Sao_Paulo|Santiago|Montevideo|Asuncion|La_Paz)"
)
_DAY_FIRST = re.compile(rf"Europe/.*|Africa/.*|America/(?:Bogota|Lima|Mexico_City|Caracas)|{_SOUTHERN.pattern}")


@dataclass(frozen=True, slots=True)
class Region:
    """`month_first`: 12/7 is a day of December; None where that is not known, and both days may be meant."""

    month_first: bool | None = None
    is_southern: bool = False


ANYWHERE = Region()


def region_of(zone: ZoneInfo) -> Region:
    """Nothing else is known of how a user writes days. Canada and East Asia write them in more than one order."""
    key = zone.key or ""
    month_first = True if _MONTH_FIRST.fullmatch(key) else False if _DAY_FIRST.fullmatch(key) else None
    return Region(month_first, _SOUTHERN.fullmatch(key) is not None)
