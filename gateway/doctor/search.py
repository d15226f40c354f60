"""Checks of the embedder and of the search index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agent.formats.sqlite import connect_read_only
from agent.languages.sentences import Sentence
from agent.search.engine import MAIN
from agent.search.vectors.encoder import NoEmbedding
from agent.search.vectors.protocol import CHANGED_SIZE
from channels.checks import Finding
from gateway.config import Config
from gateway.config.schema import Embedding
from gateway.embedder.build import (
    OLD_MODEL,
    embedding_of,
    encoder,
    has_old_model,
    is_there,
    missing,
    model_folder,
    needs,
    unreadable,
)
from gateway.embedder.fetch import LOADED
from gateway.embedder.offer import GAIN
from gateway.home import Home

_SECONDS = 10.0
_CHECK = "embedding"
_SCALE_BYTES = 4
"""Before the numbers of a vector in the index, a byte each."""


def embedding(home: Home, config: Config) -> Iterator[Finding]:
    """Loads each agent's local model, or asks its server once."""
    known: set[object] = set()
    for name, agent in config.agents.items():
        wanted = agent.memory.search.embedding
        settings = embedding_of(wanted, home)
        if settings in known:
            continue
        known.add(settings)
        key = (
            "memory.search.embedding"
            if len(config.agents) == 1
            else Sentence("memory.search.embedding of agent {name}", name=name)
        )
        if settings is None:
            is_broken = wanted == "auto" and bool(unreadable(home))
            fix = (
                Sentence("replace the model in {folder}, or remove it", folder=model_folder(home)) if is_broken else ""
            )
            what = Sentence("memory is searched by words, days and names; {hint}", hint=_hint(home, wanted))
            yield Finding(_CHECK, not fix, what, fix)
            continue
        try:
            if absent := needs(settings):
                raise NoEmbedding(absent)
            model = encoder(settings)
            with closing(model):
                size = len(model.encode(["Who comes to dinner?"], _SECONDS)[0])
        except NoEmbedding as problem:
            fix = Sentence("correct {key}, or set it to none; `daybook memory embedder` tests it", key=key)
            yield Finding(_CHECK, False, Sentence("memory is searched by words only: {problem}", problem=problem), fix)
        except Exception as bug:  # whatever a library says of a model that is not as it should be
            what = Sentence(
                "memory is searched by words only: the model failed ({name}: {bug})", name=type(bug).__name__, bug=bug
            )
            yield Finding(_CHECK, False, what, Sentence("choose another model in {key}", key=key))
        else:
            kept = _kept_size(home.index(is_shared=config.is_shared) / "memory.db", model.id) if name == MAIN else 0
            if kept and kept != size:
                fix = "`daybook memory index --force` indexes everything again"
                what = Sentence(
                    "memory is searched by words only: {what} ({kept} numbers in the index, {size} now)",
                    what=CHANGED_SIZE,
                    kept=kept,
                    size=size,
                )
                yield Finding(_CHECK, False, what, fix)
            else:
                yield Finding(_CHECK, True, Sentence("search by meaning works ({size} numbers per vector)", size=size))


def _hint(home: Home, wanted: Embedding) -> Sentence:
    if wanted == "none":
        return Sentence("search by meaning is turned off")
    if is_there(home):
        return Sentence("a model is installed but not used: {why}", why=missing())
    old = OLD_MODEL if has_old_model(home) else unreadable(home) or Sentence("no model is installed")
    more = "{now}. {gain}: `daybook memory embedder --fetch` ({size} MB) adds it"
    return Sentence(more, now=old, gain=GAIN, size=LOADED)


def _kept_size(file: Path, model: str) -> int:
    """Numbers in the newest vector of a model in the owner's index; 0 where there is none."""
    try:
        with connect_read_only(file) as connection:
            query = "SELECT length(vector) FROM vector WHERE model = ? ORDER BY id DESC LIMIT 1"
            row = connection.execute(query, [model]).fetchone()
    except sqlite3.Error:  # a damaged index is reported by its own check
        return 0
    return int(row[0]) - _SCALE_BYTES if row else 0


def index(state: Path) -> Iterator[Finding]:
    """Checks the index of the owner, and of each other audience."""
    files = [file for file in (state / "memory.db", *sorted((state / "memory").rglob("*.db"))) if file.exists()]
    faults = {file: fault for file in files if (fault := _fault(file))}
    for file, fault in faults.items():
        fix = "`daybook memory index --force` rebuilds it from your files, and so does the next search"
        yield Finding("index", False, Sentence("{file} is damaged: {fault}", file=file, fault=fault), fix)
    if not files:
        yield Finding("index", True, "no search index yet; the first search builds it")
    elif not faults:
        count = Sentence("1 file" if len(files) == 1 else "{count} files", count=len(files))
        yield Finding("index", True, Sentence("the search index is fine ({count})", count=count))


def _fault(file: Path) -> str:
    """SQLite's complaint about a file, or "". A locked file is not damaged."""
    try:
        with connect_read_only(file) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            return "" if found == "ok" else str(found)
    except sqlite3.OperationalError as error:
        return "" if "locked" in str(error) else str(error)
    except sqlite3.DatabaseError as error:
        return str(error)
