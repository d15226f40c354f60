"""Runs every check of `daybook doctor`. Changes nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from pkgutil import resolve_name

from agent.clock import Clock, utc_stamp
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.memory.consents import Consents
from agent.session.transcript import Transcript, TranscriptUnusable
from channels.checks import Finding
from channels.registry import MANIFESTS
from gateway.config import Config, ConfigError, dotenv_names, load
from gateway.doctor import schedule, workspace
from gateway.doctor.connections import channel, model, web
from gateway.doctor.search import embedding, index
from gateway.doctor.shared import check_shared
from gateway.factories import tokens
from gateway.file_system import PATIENCE, Question, layout_problems
from gateway.home import Home
from gateway.manifest import features
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import OperationError
from gateway.setup.probe import check_zone
from gateway.spoken_time import span
from gateway.store import inbox_rows, outbox_rows
from gateway.store.connection import reading
from gateway.store.schema import STEPS, schema_version

_LEAST_FREE = 200_000_000
"""Bytes that should be free on the home's disk."""
_STUCK_AFTER = timedelta(minutes=15)
"""A message that waits for longer is stuck, or no gateway runs."""


def examine(home: Home, environ: Mapping[str, str]) -> list[Finding]:
    """Runs every check, also of features; takes some seconds."""
    try:
        loaded = load(home, environ)
    except ConfigError as error:
        bad = [
            Finding("config", False, str(problem), Sentence("edit {file}", file=problem.file))
            for problem in error.problems
        ]
        return [*bad, *_home(home), *_disk(home), *_contents(home)]
    config = loaded.config
    warnings = [Finding("config", True, Sentence("warning: {what}", what=str(warning))) for warning in loaded.warnings]
    checks: list[Callable[[], list[Finding]]] = [
        *(partial(channel, MANIFESTS[name], settings) for name, settings in config.channels.platforms.items()),
        lambda: list(web(home, config.channels.web)),
        lambda: model(config.model),
        lambda: list(embedding(home, config)),
        *(partial(_of_feature, feature.checks, home, config) for feature in features() if feature.checks),
        lambda: list(_home(home)),
        lambda: list(_contents(home, config)),
        lambda: list(_disk(home)),
    ]
    with ThreadPoolExecutor(len(checks)) as pool:
        results = list(pool.map(lambda check: check(), checks))
    warnings += check_zone(home, config, environ)
    found = [finding for result in results for finding in result]
    if not any(finding.check == "clock" for finding in found):
        found.append(Finding("clock", True, "not checked, because no server was asked"))
    return [Finding("config", True, "valid"), *warnings, *found]


def _of_feature(name: str, home: Home, config: Config) -> list[Finding]:
    checks: Callable[[Home, Config], Iterator[Finding]] = resolve_name(name)
    return list(checks(home, config))


def silent(home: Home) -> list[Finding]:
    """A finding if the home's file system does not answer: then no other check would end."""
    if Question(home.path).is_answered(PATIENCE):
        return []
    what = Sentence("the file system of {path} does not answer", path=home.path)
    return [Finding("home", False, what, "look whether its server runs and can be reached, or mount it again")]


def _home(home: Home) -> Iterator[Finding]:
    path = _nearest(home.path)
    if not path.is_dir():
        yield Finding("home", False, Sentence("{path} is not a folder", path=path), "choose another home with --home")
        return
    if not os.access(path, os.W_OK | os.X_OK):
        what = (
            Sentence("can't write to {path}", path=path)
            if path == home.path
            else Sentence("can't create {path}: {folder} is not writable", path=home.path, folder=path)
        )
        if hasattr(os, "statvfs") and os.statvfs(path).f_flag & os.ST_RDONLY:
            what = Sentence("{what}: its file system is read-only", what=what)
            yield Finding("home", False, what, "mount it writable, or choose another home with --home")
        else:
            fix = Sentence("give yourself write access: chmod u+wx {path}, or chown it", path=path)
            yield Finding("home", False, what, fix)
        return
    if path != home.path:
        yield Finding(
            "home", True, Sentence("{path} does not exist yet; Daybook creates it when it starts", path=home.path)
        )
        return
    yield Finding("home", True, Sentence("{path} is writable", path=home.path))
    exposed = [path for path in private_paths(home) if open_to_others(path)]
    for path in exposed:
        fix = Sentence("chmod go-rwx {path}", path=path)
        yield Finding(
            "permissions", False, Sentence("{path} can be read by other users of this computer", path=path), fix
        )
    if not exposed:
        yield Finding("permissions", True, "only you can read secrets and memory")


def _nearest(path: Path) -> Path:
    """`path`, or the nearest folder above that can be seen."""
    return next((candidate for candidate in (path, *path.parents) if os.path.lexists(candidate)), Path(path.anchor))


def _contents(home: Home, config: Config | None = None) -> Iterator[Finding]:
    """Checks what is in a home that can be used."""
    if not os.access(_nearest(home.path), os.W_OK | os.X_OK):
        return
    if config is not None:
        yield from _workspaces(home, config)
        folder = home.workspace(config.agents[config.default_agent].workspace)
        now = datetime.now(UTC)
        if folder.is_dir():
            yield from schedule.check_schedule(home, folder, config, now, {*tokens(config), "terminal"})
        yield from schedule.check_own_jobs(home, config, now)
        yield from check_shared(home, config)
    yield from _lost(home)
    yield from index(home.index(is_shared=config is not None and config.is_shared))
    yield from _transcripts(home)
    yield from _queues(home, config.postgres_url if config is not None else None)


def _lost(home: Home) -> Iterator[Finding]:
    """Asks a running gateway what it misses: the disk alone doesn't tell what was there."""
    for trouble in asyncio.run(_troubles(home)):
        what = Sentence("the running Daybook misses something: {what}", what=trouble)
        yield Finding("home", False, what, "put it back, or restart Daybook")


async def _troubles(home: Home) -> list[str]:
    try:
        async with asyncio.timeout(PATIENCE), connect(home.socket) as connection:
            found = await connection.call("status", {})
    except (NotRunning, OperationError, TimeoutError):
        return []
    troubles = found.get("troubles") if isinstance(found, Mapping) else None
    return [str(trouble) for trouble in troubles] if isinstance(troubles, list) else []


def private_paths(home: Home) -> list[Path]:
    """Paths of secrets and memory, whether they exist or not."""
    return [home.path, home.state, home.env_file, home.web_token, home.database, home.config_file]


def open_to_others(path: Path) -> bool:
    try:
        return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    except OSError:
        return False


def _workspaces(home: Home, config: Config) -> Iterator[Finding]:
    for name, agent in config.agents.items():
        folder = home.workspace(agent.workspace)
        if not folder.exists():
            yield Finding(
                "workspace",
                True,
                Sentence(
                    "{folder} (agent {name}) does not exist yet; Daybook creates it when it starts",
                    folder=folder,
                    name=name,
                ),
            )
        elif not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            fix = Sentence(
                "make {folder} a folder you can write to, or set agents.{name}.workspace", folder=folder, name=name
            )
            yield Finding(
                "workspace",
                False,
                Sentence("{folder} (agent {name}) is not a writable folder", folder=folder, name=name),
                fix,
            )
        else:
            for path, why in layout_problems(folder):
                what = Sentence("{path} should be a folder, but {why}", path=path, why=why)
                yield Finding("workspace", False, what, "move it somewhere else, then restart Daybook")
            yield from _unreadable_pages(folder)
            consents = Consents(home.consents(name), Clock(config.zone))
            yield from workspace.skills(folder, consents, dotenv_names(home))
            yield from workspace.common(folder)
            yield from workspace.index(folder, agent.memory.max_index_lines, agent.memory.max_index_bytes)


def _unreadable_pages(folder: Path) -> Iterator[Finding]:
    """Checks the Markdown files, which people edit with any program."""
    bad = 0
    for page in sorted(folder.rglob("*.md")):
        if page.is_dir() and not page.is_symlink():
            bad += 1
            yield Finding(
                "workspace",
                False,
                Sentence("{page} is a folder, but should be a file", page=page),
                "move it somewhere else",
            )
        if page.is_symlink() or not page.is_file():
            continue
        if not page.stat().st_mode & stat.S_IWUSR:
            yield Finding(
                "workspace",
                True,
                Sentence("{page} is read-only, so Daybook won't change it; chmod u+w to allow that", page=page),
            )
        try:
            page.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            bad += 1
            what = (
                Sentence("{page} is not UTF-8 text", page=page)
                if isinstance(error, UnicodeDecodeError)
                else Sentence("{page} can't be read: {why}", page=page, why=error.strerror)
            )
            yield Finding("workspace", False, what, "save it as UTF-8, or move it out of the workspace")
    if not bad:
        yield Finding("workspace", True, Sentence("{folder} is readable", folder=folder))


def _transcripts(home: Home) -> Iterator[Finding]:
    count = bad = 0
    for path in sorted(home.sessions.rglob("*.jsonl")):
        count += 1
        try:
            damage = Transcript.read(path).damage
        except TranscriptUnusable as error:
            bad += 1
            yield Finding(
                "transcripts",
                False,
                str(error),
                Sentence("move {path} somewhere else; the conversation then starts over", path=path),
            )
            continue
        for damaged in damage:
            if not damaged.torn:  # a torn tail mends itself at the next turn
                bad += 1
                what = Sentence(
                    "line {line} of {path} is damaged and skipped: {why}", line=damaged.line, path=path, why=damaged.why
                )
                yield Finding("transcripts", False, what, "restore the file from a backup, or delete that line")
    if not bad:
        fine = "1 conversation is fine" if count == 1 else Sentence("{count} conversations are fine", count=count)
        yield Finding("transcripts", True, fine if count else "no conversations yet")
    if owed := sum(1 for _ in home.sessions.rglob("*.owed")):
        part = "1 part of a conversation waits to be summarized in HISTORY.md, once a model answers"
        several = "{count} parts of conversations wait to be summarized in HISTORY.md, once a model answers"
        yield Finding("transcripts", True, part if owed == 1 else Sentence(several, count=owed))


def _disk(home: Home) -> Iterator[Finding]:
    path = _nearest(home.path)
    free = shutil.disk_usage(path).free
    message = Sentence("{size} GB free at {path}", size=f"{free / 1e9:.1f}", path=path)
    yield Finding(
        "disk",
        free >= _LEAST_FREE,
        message,
        "" if free >= _LEAST_FREE else "free some space; soon nothing can be saved",
    )


def _queues(home: Home, url: str | None) -> Iterator[Finding]:
    try:
        with reading(home.database, url) as connection:
            if connection is None:
                yield Finding("queue", True, "nothing is waiting")
                return
            version = 0 if url is not None else schema_version(connection)
            if version > len(STEPS):
                what = "{database} was written by a newer Daybook (schema {version}, known {known})"
                yield Finding(
                    "queue",
                    False,
                    Sentence(what, database=home.database, version=version, known=len(STEPS)),
                    "update Daybook: `daybook update`",
                )
                return
            before = utc_stamp(datetime.now(UTC) - _STUCK_AFTER)
            inbox, outbox = (rows.waiting_since(connection, before) for rows in (inbox_rows, outbox_rows))
            unread, failed = inbox_rows.counts(connection).unreadable, outbox_rows.counts(connection).failed
    except StorageUnavailable as error:
        if url is not None:
            return  # said by the check of the database
        move = Sentence(
            "stop Daybook and move {database} somewhere else; your workspace is not affected", database=home.database
        )
        yield Finding(
            "queue", False, Sentence("can't read {database}: {error}", database=home.database, error=error), move
        )
        return
    fix = "start Daybook (`daybook gateway`); `daybook status` shows which channel is down"
    waited = span(_STUCK_AFTER)
    for name, count in (("inbox", inbox), ("outbox", outbox)):
        some = (
            "1 message has been waiting for more than {span}"
            if count == 1
            else "{count} messages have been waiting for more than {span}"
        )
        what = some if count else "no messages have been waiting for more than {span}"
        yield Finding(name, not count, Sentence(what, count=count, span=waited), fix if count else "")
    if failed:
        yield Finding(
            "outbox",
            True,
            Sentence(
                "{failed} replies couldn't be delivered (the bot was blocked, or the chat is gone)", failed=failed
            ),
        )
    if unread:
        yield Finding("inbox", True, Sentence("{unread} messages couldn't be read; they are kept", unread=unread))
