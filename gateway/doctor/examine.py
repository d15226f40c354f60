"""Runs every check of `daybook doctor`. Reads only; changes nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.clock import utc_stamp
from agent.session.transcript import Transcript, TranscriptUnusable
from gateway.config import Config, ConfigError, dotenv_names, load
from gateway.doctor import clock, schedule, workspace
from gateway.doctor.channels import discord, telegram, web
from gateway.doctor.model import model
from gateway.doctor.probe import Finding
from gateway.doctor.search import embedding, index
from gateway.factories import tokens
from gateway.home import Home
from gateway.store import inbox_rows, outbox_rows
from gateway.store.database import reading

_LEAST_FREE = 200_000_000
"""Bytes that should be free on the home's disk."""
_STUCK_AFTER = timedelta(minutes=15)
"""A message that waits for longer is stuck, or nothing runs that would serve it."""


def examine(home: Home, environ: Mapping[str, str]) -> list[Finding]:
    """The findings of every check. Takes as long as the slowest server, some seconds at most. Never raises for what it
    finds."""
    try:
        loaded = load(home, environ)
    except ConfigError as error:
        bad = [Finding("config", False, str(one), f"edit {one.file}") for one in error.problems]
        return [*bad, *_home(home), *_disk(home), *_contents(home)]
    config = loaded.config
    warnings = [Finding("config", True, f"warning: {one}") for one in loaded.warnings]
    checks: list[Callable[[], list[Finding]]] = [
        lambda: telegram(config.channels.telegram),
        lambda: discord(config.channels.discord),
        lambda: list(web(home, config.channels.web)),
        lambda: model(config.model),
        lambda: list(embedding(home, config)),
        lambda: list(_home(home)),
        lambda: list(_contents(home, config)),
        lambda: list(_disk(home)),
    ]
    with ThreadPoolExecutor(len(checks)) as pool:
        results = list(pool.map(lambda check: check(), checks))
    warnings += clock.check_zone(config, environ)
    found = [finding for result in results for finding in result]
    if not any(finding.check == "clock" for finding in found):
        found.append(Finding("clock", True, "this machine's clock is compared with nothing: no server was asked"))
    return [Finding("config", True, "valid"), *warnings, *found]


def _home(home: Home) -> Iterator[Finding]:
    path = _nearest(home.path)
    if not path.is_dir():
        yield Finding("home", False, f"{path} is not a folder", "name another home with --home")
        return
    if not os.access(path, os.W_OK | os.X_OK):
        what = f"{path} is not writable" if path == home.path else f"{home.path} cannot be made: {path} is not writable"
        cure = f"chown it to yourself, or chmod u+wx {path}"
        if _is_read_only(path):
            what, cure = f"{what}: its file system is read-only", "mount it writable, or name another home with --home"
        yield Finding("home", False, what, cure)
        return
    if path != home.path:
        yield Finding("home", True, f"{home.path} does not exist yet; the first start makes it")
        return
    yield Finding("home", True, f"{home.path} is writable")
    private = [home.path, home.state, home.env_file, home.web_token, home.database, home.config_file]
    exposed = [path for path in private if _open_to_others(path)]
    for path in exposed:
        cure = f"chmod go-rwx {path}"
        yield Finding("permissions", False, f"{path} can be read by other users of this machine", cure)
    if not exposed:
        yield Finding("permissions", True, "secrets and memory are yours alone")


def _nearest(path: Path) -> Path:
    """`path`, or the nearest folder above it that can be seen."""
    return next((one for one in (path, *path.parents) if os.path.lexists(one)), Path(path.anchor))


def _is_read_only(path: Path) -> bool:
    return hasattr(os, "statvfs") and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _contents(home: Home, config: Config | None = None) -> Iterator[Finding]:
    """Checks what is in the home; nothing where the home itself cannot be used."""
    if not os.access(_nearest(home.path), os.W_OK | os.X_OK):
        return
    if config is not None:
        yield from _workspaces(home, config)
        folder = home.workspace(config.agents[config.default_agent].workspace)
        now = datetime.now(UTC)
        if folder.is_dir():
            yield from schedule.check_schedule(home, folder, config.zone, now, {*tokens(config), "terminal"})
        yield from schedule.check_own_jobs(home, config, now)
    yield from index(home.state)
    yield from _transcripts(home)
    yield from _queues(home)


def _open_to_others(path: Path) -> bool:
    try:
        return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    except OSError:
        return False


def _workspaces(home: Home, config: Config) -> Iterator[Finding]:
    for name, agent in config.agents.items():
        folder = home.workspace(agent.workspace)
        if not folder.exists():
            yield Finding("workspace", True, f"{folder} (agent {name}) does not exist yet; the first start makes it")
        elif not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            cure = f"make {folder} a folder that you can write to, or set agents.{name}.workspace"
            yield Finding("workspace", False, f"{folder} (agent {name}) is not a writable folder", cure)
        else:
            yield from _unreadable_pages(folder)
            yield from workspace.skills(folder, dotenv_names(home))
            yield from workspace.common(folder)
            yield from workspace.index(folder, agent.memory.max_index_lines, agent.memory.max_index_bytes)


def _unreadable_pages(folder: Path) -> Iterator[Finding]:
    """Checks the owner's own files, which anybody may have edited with anything."""
    bad = 0
    for page in sorted(folder.rglob("*.md")):
        if page.is_dir() and not page.is_symlink():
            bad += 1
            yield Finding("workspace", False, f"{page} is a folder, where a file is to be", "move it away")
        if page.is_symlink() or not page.is_file():
            continue
        if not page.stat().st_mode & stat.S_IWUSR:
            yield Finding("workspace", True, f"{page} is read-only: I write nothing into it; chmod u+w to change that")
        try:
            page.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            bad += 1
            why = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else f"cannot be read: {error.strerror}"
            yield Finding("workspace", False, f"{page} {why}", "save it as UTF-8, or move it out of the workspace")
    if not bad:
        yield Finding("workspace", True, f"{folder} is readable")


def _transcripts(home: Home) -> Iterator[Finding]:
    count = bad = 0
    for path in sorted(home.sessions.rglob("*.jsonl")):
        count += 1
        try:
            damage = Transcript.read(path).damage
        except TranscriptUnusable as error:
            bad += 1
            yield Finding("transcripts", False, str(error), f"move {path} away; the session then starts anew")
            continue
        for one in damage:
            if not one.torn:  # a torn tail mends itself at the next turn
                bad += 1
                what = f"line {one.line} of {path} is damaged and skipped: {one.why}"
                yield Finding("transcripts", False, what, "restore the file from a backup, or delete that line")
    if not bad:
        sound = "1 transcript is sound" if count == 1 else f"{count} transcripts are sound"
        yield Finding("transcripts", True, sound)
    if owed := sum(1 for _ in home.sessions.rglob("*.owed")):
        waits = "1 part of a conversation waits" if owed == 1 else f"{owed} parts of conversations wait"
        yield Finding("transcripts", True, f"{waits} to be told in HISTORY.md; that is done when a model answers")


def _disk(home: Home) -> Iterator[Finding]:
    place = _nearest(home.path)
    free = shutil.disk_usage(place).free
    message = f"{free / 1e9:.1f} GB free at {place}"
    yield Finding(
        "disk", free >= _LEAST_FREE, message, "" if free >= _LEAST_FREE else "make room: nothing can be kept soon"
    )


def _queues(home: Home) -> Iterator[Finding]:
    if not home.database.exists():
        yield Finding("queue", True, "nothing waits")
        return
    try:
        with reading(home.database) as connection:
            before = utc_stamp(datetime.now(UTC) - _STUCK_AFTER)
            inbox, outbox = (rows.waiting_since(connection, before) for rows in (inbox_rows, outbox_rows))
            unread, failed = inbox_rows.counts(connection).unreadable, outbox_rows.counts(connection).failed
    except sqlite3.Error as error:
        cure = f"stop the gateway and move {home.database} away; the workspace is not touched by that"
        yield Finding("queue", False, f"{home.database} cannot be read: {error}", cure)
        return
    cure = "start the gateway (`daybook gateway`); `daybook status` shows which channel is down"
    minutes = f"{_STUCK_AFTER.total_seconds() / 60:.0f} minutes"
    for name, count in (("inbox", inbox), ("outbox", outbox)):
        waits = "1 message waits" if count == 1 else f"{count} messages wait"
        yield Finding(name, not count, f"{waits} for more than {minutes}", cure if count else "")
    if failed:
        yield Finding("outbox", True, f"{failed} replies could not be delivered (a blocked bot, a chat that is gone)")
    if unread:
        yield Finding("inbox", True, f"{unread} events of a platform could not be read and were kept")
