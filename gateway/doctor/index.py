"""What `doctor` looks for in the search index, which is derived: any fault of it is mended by building it anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from gateway.doctor.finding import Finding


def index(state: Path) -> Iterator[Finding]:
    """The owner's file, and one for each other audience."""
    files = [file for file in (state / "memory.db", *sorted((state / "memory").rglob("*.db"))) if file.exists()]
    faults = {file: fault for file in files if (fault := _fault(file))}
    for file, fault in faults.items():
        cure = "`daybook memory index --force` builds it anew from the files, as the next search does"
        yield Finding("index", False, f"{file} is damaged: {fault}", cure)
    if not files:
        yield Finding("index", True, "there is no search index yet; the first search makes it")
    elif not faults:
        count = "1 file" if len(files) == 1 else f"{len(files)} files"
        yield Finding("index", True, f"the search index can be read ({count})")


def _fault(file: Path) -> str:
    """Empty where SQLite finds none. A file that is being written is not damaged."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            return "" if found == "ok" else str(found)
    except sqlite3.OperationalError as error:
        return "" if "locked" in str(error) else str(error)
    except sqlite3.DatabaseError as error:
        return str(error)
