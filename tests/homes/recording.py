"""Homes as files of text: a folder beside this file for each, called after the schema of its daybook.db. Databases
are SQL dumps in it, and what is made again from the rest (the search index, locks) is left out. Where the fakes
listened, placeholders stand in config.yaml."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.flows.process import GatewayProcess

HOMES = Path(__file__).parent
PAGE_TOKEN = "the-recorded-token-of-a-page-that-is-no-more"
_LEFT_OUT = (
    "*.db",
    "*.db.lock",
    "gateway.lock",
    "gateway.pid",
    "gateway.sock",
    "*.db-wal",
    "*.db-shm",
    "*.log",
    "*.log.*",
)
_DUMP = ".sql"
_KEPT_NUMBERS = ("user_version", "application_id")
"""Of a database; a dump has none of them."""


def names() -> list[str]:
    return sorted(folder.parent.name for folder in HOMES.glob("*/state"))


def record(gateway: GatewayProcess) -> Path:
    """Write down the home of a gateway that was killed. Returns its folder, new or replaced."""
    assert not gateway.is_running
    with closing(sqlite3.connect(gateway.home / "state" / "daybook.db")) as database:
        (schema,) = database.execute("PRAGMA user_version").fetchone()
    folder = HOMES / f"{schema:02}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(gateway.home, folder, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    for file in databases(gateway.home):
        dump = (folder / file.relative_to(gateway.home)).with_suffix(_DUMP)
        dump.write_text(_dumped(file), encoding="utf-8")
    token = folder / "state" / "web-token"
    if token.exists():
        token.write_text(f"{PAGE_TOKEN}\n", encoding="utf-8")
    config = folder / "config.yaml"
    text = config.read_text(encoding="utf-8")
    for placeholder, address in _addresses(gateway):
        text = text.replace(address, placeholder)
    config.write_text(text, encoding="utf-8")
    return folder


def restore(name: str, gateway: GatewayProcess) -> None:
    """Put a recorded home in the place of a gateway's that has not been started."""
    shutil.rmtree(gateway.home)
    shutil.copytree(HOMES / name, gateway.home)
    for dump in gateway.home.rglob(f"*{_DUMP}"):
        with closing(sqlite3.connect(dump.with_suffix(".db"))) as database:
            database.executescript(dump.read_text(encoding="utf-8"))
        dump.unlink()
    config = gateway.home / "config.yaml"
    text = config.read_text(encoding="utf-8")
    for placeholder, address in _addresses(gateway):
        text = text.replace(placeholder, address)
    config.write_text(text, encoding="utf-8")
    for path in (gateway.home, *gateway.home.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def databases(home: Path) -> list[Path]:
    """Those that nothing else could be made again from."""
    indexes = {home / "state" / "memory.db", *(home / "state" / "memory").rglob("*.db")}
    return sorted({*(home / "state").rglob("*.db")} - indexes)


def _addresses(gateway: GatewayProcess) -> Iterator[tuple[str, str]]:
    """Placeholders and what they stand for; the longer address before the one that it begins with."""
    yield "@TELEGRAM_FILES@", gateway.telegram.base_file_url
    yield "@TELEGRAM@", gateway.telegram.base_url
    yield "@MODEL@", gateway.model.base_url


def _dumped(file: Path) -> str:
    with closing(sqlite3.connect(file)) as database:
        numbers = [(name, database.execute(f"PRAGMA {name}").fetchone()[0]) for name in _KEPT_NUMBERS]
        lines = [*database.iterdump(), *(f"PRAGMA {name}={number};" for name, number in numbers)]
    return "".join(f"{line}\n" for line in lines)
