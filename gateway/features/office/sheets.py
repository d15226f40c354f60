"""Workbooks (.xlsx, .xlsb, .xls, .ods) as lines of cells, separated by tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import IO

from agent.media.sniff import Unreadable

_ROWS = 100
"""Rows of one piece."""
_LONG = re.compile(r"(-?)PT(\d{1,9})H(\d\d)M(\d\d)[.,\d]*+S")
"""Times of a day and more, which calamine leaves as OpenDocument writes them."""
_SPELLED = str.maketrans({"\t": " ", "\r": None, "\n": " / "})

Cell = int | float | str | bool | time | date | datetime | timedelta


def from_workbook(file: IO[bytes]) -> Iterator[str]:
    """Each sheet after its name. Raises `Unreadable` for a protected file, calamine's errors for a damaged one."""
    from python_calamine import (  # noqa: PLC0415 (only where a workbook is read)
        PasswordError,
        SheetTypeEnum,
        load_workbook,
    )

    try:
        workbook = load_workbook(file)
    except PasswordError as error:
        raise Unreadable("it is protected by a password") from error
    for at, sheet in enumerate(workbook.sheets_metadata):
        if sheet.typ in (SheetTypeEnum.WorkSheet, SheetTypeEnum.MacroSheet):
            rows = workbook.get_sheet_by_index(at).iter_rows()  # all of them are in memory now
            yield f"\n[Sheet {sheet.name}]\n"
            while some := list(islice(rows, _ROWS)):
                lines = ("\t".join(map(_shown, row)).rstrip() for row in some)
                yield "".join(line + "\n" for line in lines if line)


def _shown(value: Cell) -> str:
    """A value as spreadsheets show it: 14:30 for a time, 30:00 for thirty hours."""
    match value:
        case bool():
            return str(value).upper()
        case str() if found := _LONG.fullmatch(value):
            return f"{found[1]}{int(found[2])}:{found[3]}" + (f":{found[4]}" if found[4] != "00" else "")
        case str():
            return value.translate(_SPELLED)
        case datetime():
            return f"{value.date().isoformat()} {_clock(value.time())}"
        case date():
            return value.isoformat()
        case time():
            return _clock(value)
        case timedelta():
            seconds = round(abs(value.total_seconds()))
            sign = "-" if value < timedelta(0) else ""
            rest = f":{seconds % 60:02}" if seconds % 60 else ""
            return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}{rest}"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return f"{value:.15g}"


def _clock(value: time) -> str:
    return value.isoformat("seconds" if value.second else "minutes")
