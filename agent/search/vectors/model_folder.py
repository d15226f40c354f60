"""Reads a model folder in the layout of sentence-transformers.

modules.json its steps; without it, mean pooling onnx/model.onnx, or model.onnx the graph; else the largest .onnx file
tokenizer.json the tokenizer; its pad token in tokenizer_config.json 1_Pooling/config.json pooling
sentence_bert_config.json maximum length config_sentence_transformers.json prefixes of questions and passages
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

from agent.formats.parsing import load_json
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.search.vectors.encoder import NoEmbedding

GRAPH = Path("onnx", "model.onnx")
TOKENIZER = "tokenizer.json"

_LONGEST = 512
"""Pieces read at most: no passage is longer, and cost is quadratic."""
_USUAL_LENGTH = 256
_SHORTEST = 8
"""Fewer cannot hold a sentence."""
_MOST_FILES = 200
"""Files looked at, in case the folder is not a model's."""
_MODELS_FILES = (".json", ".onnx", ".onnx_data", ".onnx.data")


class Pooling(StrEnum):
    MEAN = "mean"
    FIRST = "first"
    LAST = "last"
    GREATEST = "greatest"


_POOLINGS: Mapping[str, Pooling] = {
    "mean": Pooling.MEAN,
    "mean_sqrt_len": Pooling.MEAN,  # differs in length only; vectors are normalised
    "cls": Pooling.FIRST,
    "last": Pooling.LAST,
    "max": Pooling.GREATEST,
}
_KNOWN_STEPS = frozenset({"Transformer", "Pooling", "Normalize"})


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model's files and settings. `length` in pieces; `padding` empty: the tokenizer's own."""

    graph: Path
    tokenizer: Path
    pooling: Pooling
    length: int
    lower: bool
    padding: str
    question_prefix: str
    passage_prefix: str

    @property
    def graph_files(self) -> list[Path]:
        """The graph and its separate weight files."""
        beside = (self.graph.with_name(self.graph.name + end) for end in ("_data", ".data"))
        return [self.graph, *(file for file in beside if file.is_file())]

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.graph_files)

    @property
    def id(self) -> str:
        """A hash of everything that affects vectors."""
        digest = hashlib.sha256(repr((self.pooling, self.length, self.lower)).encode())
        digest.update(repr((self.question_prefix, self.passage_prefix)).encode())
        for file in (self.tokenizer, *self.graph_files):
            with file.open("rb") as data:
                digest.update(hashlib.file_digest(data, "sha256").digest())
        return f"local-{digest.hexdigest()[:24]}"


def has_graph(folder: Path) -> bool:
    """True if the file names show a usable model."""
    try:
        return any(
            (own / TOKENIZER).is_file() and _graph_of(folder, own) is not None for own in _candidate_folders(folder)
        )
    except OSError:
        return False


def stamp(folder: Path) -> object:
    """A value that changes with any file."""
    found: list[tuple[str, int, int, int]] = []
    for place in (
        *(own / sub for own in _candidate_folders(folder) for sub in ("", GRAPH.parent)),
        folder / "1_Pooling",
    ):
        try:
            for file in islice(place.iterdir(), _MOST_FILES):
                if file.name.endswith(_MODELS_FILES):
                    known = file.stat()
                    found.append((str(file), known.st_ino, known.st_size, known.st_mtime_ns))
        except OSError:
            continue  # reported when the model is read
    return sorted(found)


def read_folder(folder: Path) -> ModelFolder:
    """Raises `NoEmbedding` for an unsupported or invalid model."""
    try:
        if not folder.is_dir():
            raise NoEmbedding(Sentence("there is no folder {folder}", folder=folder))
        steps = _steps(folder)
        own = folder / steps.get("Transformer", "")
        graph, tokenizer = _graph_of(folder, own), own / TOKENIZER
        if graph is None or not tokenizer.is_file():
            lacks = TOKENIZER if graph is not None else GRAPH.as_posix()
            raise NoEmbedding(Sentence("the model in {folder} lacks {file}", folder=folder, file=lacks))
        settings = _json_or_empty(own / "sentence_bert_config.json")
        named = _json_or_empty(own / "tokenizer_config.json")
        question, passage = _prefixes(_json_or_empty(folder / "config_sentence_transformers.json"))
        return ModelFolder(
            graph=graph,
            tokenizer=tokenizer,
            pooling=_pooling(folder, steps, has_prefix=bool(question or passage)),
            length=_length(settings, named, _json_or_empty(own / "config.json")),
            lower=settings.get("do_lower_case") is True,
            padding=_word(named.get("pad_token")),
            question_prefix=question,
            passage_prefix=passage,
        )
    except OSError as error:
        raise cannot_be_read(folder, error) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise NoEmbedding(Sentence("the model in {folder} cannot be used ({why})", folder=folder, why=error)) from error


def cannot_be_read(folder: Path, error: OSError) -> NoEmbedding:
    file, why = Path(str(error.filename)).name, system_says(error)
    return NoEmbedding(
        Sentence("the model in {folder} cannot be read ({file}: {why})", folder=folder, file=file, why=why)
    )


def _steps(folder: Path) -> dict[str, str]:
    file = folder / "modules.json"
    if not file.exists():
        return {"Transformer": ""}
    found: dict[str, str] = {}
    for step in _json(file, list):
        kind = str(step["type"]).rpartition(".")[2] if isinstance(step, dict) and "type" in step else "nothing named"
        if kind not in _KNOWN_STEPS:
            known = ", ".join(sorted(_KNOWN_STEPS))
            raise ValueError(Sentence("one of its steps is {kind}; only {known} can be done", kind=kind, known=known))
        found[kind] = _word(step.get("path"))
    return found


def _candidate_folders(folder: Path) -> tuple[Path, Path]:
    """In newer and older layouts."""
    return folder, folder / "0_Transformer"


def _graph_of(folder: Path, own: Path) -> Path | None:
    return _largest_graph(own) or _largest_graph(folder)


def _largest_graph(folder: Path) -> Path | None:
    for usual in (folder / GRAPH, folder / GRAPH.name):
        if usual.is_file():
            return usual
    found = [file for place in (folder / GRAPH.parent, folder) for file in islice(place.glob("*.onnx"), _MOST_FILES)]
    there = (file for file in found if file.is_file())
    return max(there, key=lambda file: (file.stat().st_size, file.name), default=None)


def _pooling(folder: Path, steps: Mapping[str, str], *, has_prefix: bool) -> Pooling:
    config = _json_or_empty(folder / steps.get("Pooling", "1_Pooling") / "config.json")
    old = [
        name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token").removesuffix("token")
        for name, chosen in config.items()
        if name.startswith("pooling_mode_") and chosen is True
    ]
    modes = [str(config["pooling_mode"]).removesuffix("token")] if "pooling_mode" in config else old
    if not config:
        return Pooling.MEAN
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        named = ", ".join(modes) or "-"
        raise ValueError(Sentence("it pools by {modes}, which is not known here", modes=named))
    if config.get("include_prompt") is False and has_prefix:
        raise ValueError(Sentence("it leaves its prefix out when it pools, which is not known here"))
    return _POOLINGS[modes[0]]


def _length(settings: Mapping[str, Any], named: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    """Invalid numbers are ignored."""
    lengths = (settings.get("max_seq_length"), named.get("model_max_length"), _USUAL_LENGTH)
    positions = config.get("max_position_embeddings")
    return min(_LONGEST, next(filter(_is_length, lengths)), positions if _is_length(positions) else _LONGEST)


def _is_length(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= _SHORTEST


def _prefixes(config: Mapping[str, Any]) -> tuple[str, str]:
    prompts = config.get("prompts") or {}
    if not isinstance(prompts, dict):
        raise ValueError(Sentence("its prompts are not as expected"))
    usual = prompts.get(config.get("default_prompt_name")) or ""
    passage = next((prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name)), usual)
    return str(prompts.get("query") or usual), str(passage)


def _word(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else ""


def _json(file: Path, kind: type) -> Any:
    try:
        found = load_json(file.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(Sentence("{file} is no JSON", file=file.name)) from error
    if not isinstance(found, kind):
        raise ValueError(Sentence("{file} is not as expected", file=file.name))
    return found


def _json_or_empty(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = _json(file, dict) if file.exists() else {}
    return found
