"""Checks of the embedder and of the search index. The index is derived: any fault is mended by building it again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agent.search.engine import MAIN
from agent.search.vectors.encoder import NoEmbedding
from agent.search.vectors.protocol import CHANGED_SIZE
from gateway.config import Config
from gateway.config.schema import Embedding
from gateway.doctor.probe import Finding
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
    """Checks each agent's embedder: loads a local model, or asks a server once."""
    known: set[object] = set()
    for name, agent in config.agents.items():
        wanted = agent.memory.search.embedding
        settings = embedding_of(wanted, home)
        if settings in known:
            continue
        known.add(settings)
        key = "memory.search.embedding" if len(config.agents) == 1 else f"memory.search.embedding of agent {name}"
        if settings is None:
            cure = f"put the model in {model_folder(home)} right, or take it away" if _is_broken(home, wanted) else ""
            what = f"memory is searched by words, days and names; {_hint(home, wanted)}"
            yield Finding(_CHECK, not cure, what, cure)
            continue
        try:
            if absent := needs(settings):
                raise NoEmbedding(absent)
            model = encoder(settings)
            with closing(model):
                size = len(model.encode(["Who comes to dinner?"], _SECONDS)[0])
        except NoEmbedding as problem:
            cure = f"put {key} right, or set it to none; `daybook memory embedder` tries it"
            yield Finding(_CHECK, False, f"memory is searched by words alone: {problem}", cure)
        except Exception as bug:  # whatever a library says of a model that is not as it should be
            what = f"memory is searched by words alone: the embedder broke ({type(bug).__name__}: {bug})"
            yield Finding(_CHECK, False, what, f"take another model in {key}")
        else:
            kept = _kept_size(home.state / "memory.db", model.id) if name == MAIN else 0
            if kept and kept != size:
                cure = "`daybook memory index --force` embeds everything anew"
                what = f"memory is searched by words alone: {CHANGED_SIZE} ({kept} numbers in the index, {size} now)"
                yield Finding(_CHECK, False, what, cure)
            else:
                yield Finding(_CHECK, True, f"the embedder works ({size} numbers a vector)")


def _hint(home: Home, wanted: Embedding) -> str:
    """Why there is no embedder, and how to get one where nobody decided against it."""
    if wanted == "none":
        return "no embedder is wanted"
    if is_there(home):
        return f"a local model is there and is not used: {missing()}"
    old = OLD_MODEL if has_old_model(home) else unreadable(home) or "there is no model"
    return f"{old}. {GAIN}: `daybook memory embedder --fetch` ({LOADED} MB) brings one"


def _is_broken(home: Home, wanted: Embedding) -> bool:
    return wanted == "auto" and bool(unreadable(home))


def _kept_size(file: Path, model: str) -> int:
    """Numbers in the newest vector of a model in the owner's index; 0 where there is none."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            query = "SELECT length(vector) FROM vector WHERE model = ? ORDER BY id DESC LIMIT 1"
            row = connection.execute(query, [model]).fetchone()
    except sqlite3.Error:  # a damaged index is told by its own check
        return 0
    return int(row[0]) - _SCALE_BYTES if row else 0


def index(state: Path) -> Iterator[Finding]:
    """Checks the owner's index, and that of each other audience."""
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
    """SQLite's complaint about a file; empty where it has none. A file that is being written is not damaged."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            return "" if found == "ok" else str(found)
    except sqlite3.OperationalError as error:
        return "" if "locked" in str(error) else str(error)
    except sqlite3.DatabaseError as error:
        return str(error)
