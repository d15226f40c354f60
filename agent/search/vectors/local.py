"""A sentence model run by onnxruntime and tokenizers. Import it only if both are installed."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from agent.languages.sentences import Sentence
from agent.search.vectors.encoder import NoEmbedding, Vector
from agent.search.vectors.model_folder import ModelFolder, Pooling, cannot_be_read, read_folder

# Read when the library is loaded: without it, it makes an identifier of this machine and reports to its maker.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime  # type: ignore[import-untyped]

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

_AT_ONCE = 8
"""Texts per run; more are not faster without an accelerator, and delay questions."""
_MOST_CHARS = 8_000
"""Characters of a text: a tokenizer reads all of it before it truncates."""
_TIMES_ITS_FILE = 2
"""Memory for loading, as a factor of the file: it is read, then laid out again."""
_ERRORS_ALONE = 3
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_POOLED = "sentence_embedding"
_FOREIGN = 0.3
"""Share of unknown pieces or letters from which a text is unsupported."""
_LEAST_PIECES = 200
"""Pieces of several letters that show support of a script; an English vocabulary has some dozens of Cyrillic
letters."""
_LEAST_SIGNS = 3_000
"""The same for Chinese characters; an English vocabulary has a few hundred."""
_SIGNS = "CJK"


def free_memory() -> int | None:
    """Available bytes; None if unknown."""
    found = [_number(Path("/proc/meminfo"), "MemAvailable:", 1_024), free_in_group(Path("/sys/fs/cgroup"))]
    if not any(found) and "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    return min((size for size in found if size is not None), default=None)


class LocalModel:
    """The model in `folder`. Raises `NoEmbedding` if it cannot be run."""

    batch = _AT_ONCE
    engine = f"onnxruntime {onnxruntime.__version__}"

    def __init__(self, folder: Path, memory: Callable[[], int | None] = free_memory) -> None:
        self._folder = folder
        self._model = read_folder(folder)
        try:
            self.megabytes = self._model.bytes / 1e6
            free = memory()
            wanted = _TIMES_ITS_FILE * self._model.bytes
            if free is not None and wanted > free:
                sizes = {"size": self.megabytes, "wanted": wanted / 1e6, "free": free / 1e6}
                raise NoEmbedding(
                    Sentence(
                        "the model in {folder} of {size} MB takes about {wanted} MB of memory, and {free} MB are free",
                        folder=folder,
                        **{name: f"{size:,.0f}" for name, size in sizes.items()},
                    )
                )
            self.id = self._model.id
            self._tokenizer = _tokenizer(self._model)
            self._session = _session(self._model.graph_files)
            self._inputs = _inputs(self._session)
            self._output, self._is_pooled = _output(self._session)
            self._scripts = _scripts(self._tokenizer)
            self._unknown = _unknown(self._tokenizer)
            (probe,) = self._encode(["What is said here?"], "")
        except NoEmbedding:
            raise
        except OSError as error:
            raise cannot_be_read(folder, error) from error
        except Exception as error:  # neither library has exceptions of its own; MemoryError is one, too
            first_line = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            why = Sentence("the model in {folder} cannot be run ({why})", folder=folder, why=first_line)
            raise NoEmbedding(why) from error
        if not np.isfinite(probe).all() or not probe.any():
            raise NoEmbedding(Sentence("the model in {folder} answers with something that is no vector", folder=folder))
        self.size = len(probe)
        """Numbers in a vector."""

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Vector]:
        prefix = self._model.question_prefix if is_question else self._model.passage_prefix
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))  # similar lengths need little padding
        found: list[Vector] = [()] * len(texts)
        for start in range(0, len(order), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            vectors = self._encode([texts[at] for at in part], prefix)
            vectors[~np.isfinite(vectors).all(1)] = 0  # a text that the model fails on
            for at, vector in zip(part, vectors, strict=True):
                found[at] = vector
        return found

    def knows(self, text: str) -> bool:
        """Judges by the scripts of its vocabulary and by unknown pieces."""
        letters = [char for char in unicodedata.normalize("NFKC", text) if char.isalpha()]
        foreign = sum(_script(char) not in self._scripts for char in letters)
        if foreign > _FOREIGN * len(letters):
            return False
        clean = _clean(text, lower=self._model.lower)
        with _translate_panics():
            pieces: list[int] = self._tokenizer.encode(clean, add_special_tokens=False).ids
        return not letters or pieces.count(self._unknown) <= _FOREIGN * len(pieces)

    def close(self) -> None: ...

    def _encode(self, texts: Sequence[str], prefix: str) -> Floats:
        clean = [_clean(prefix + text, lower=self._model.lower) for text in texts]
        with _translate_panics():
            pieces = self._tokenizer.encode_batch(clean)
        rows = {
            "input_ids": [encoding.ids for encoding in pieces],
            "attention_mask": [encoding.attention_mask for encoding in pieces],
            "token_type_ids": [encoding.type_ids for encoding in pieces],
        }
        tensors: dict[str, Numbers] = {name: np.array(rows[name], kind) for name, kind in self._inputs.items()}
        (answer,) = self._session.run([self._output], tensors)
        vectors = np.asarray(answer, np.float32)
        if not self._is_pooled:
            vectors = _pool(vectors, np.array(rows["attention_mask"], np.int64), self._model.pooling)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise NoEmbedding(
                Sentence("the model in {folder} answers with something that is no vector", folder=self._folder)
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)


def _tokenizer(model: ModelFolder) -> Tokenizer:
    with _translate_panics():
        tokenizer = Tokenizer.from_file(str(model.tokenizer))
    known = tokenizer.padding or {}
    token = model.padding or str(known.get("pad_token") or "")
    number = tokenizer.token_to_id(token) if token else None
    if number is None:
        token, number = "[PAD]", 0  # hidden from the graph by the mask
    tokenizer.enable_padding(pad_id=number, pad_token=token)
    tokenizer.enable_truncation(model.length)
    return tokenizer


@contextmanager
def _translate_panics() -> Iterator[None]:
    """Translate the Rust panic of a damaged tokenizer, which is no `Exception` and may quote the text."""
    try:
        yield
    except BaseException as panic:
        if type(panic).__module__ != "pyo3_runtime":
            raise
        raise NoEmbedding(Sentence("the model's tokenizer.json is damaged: its library broke")) from panic


def _session(files: Sequence[Path]) -> Any:
    """An inference session. Reads all into memory: replacing a mapped file in place would crash the process."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # background work
    options.log_severity_level = _ERRORS_ALONE
    graph, *weights = [(file.name, file.read_bytes()) for file in files]
    if weights:
        names, contents = zip(*weights, strict=True)
        options.add_external_initializers_from_files_in_memory(names, contents, [len(content) for content in contents])
    return onnxruntime.InferenceSession(graph[1], options, providers=["CPUExecutionProvider"])


def _inputs(session: Any) -> dict[str, type]:
    inputs: dict[str, type] = {
        tensor.name: np.int32 if tensor.type == "tensor(int32)" else np.int64 for tensor in session.get_inputs()
    }
    if "input_ids" not in inputs or not _INPUTS.issuperset(inputs):
        raise ValueError(f"its graph asks for {', '.join(inputs)}, which is no model of texts alone")
    return inputs


def _output(session: Any) -> tuple[str, bool]:
    """The output to read; true if already one vector per text."""
    outputs = session.get_outputs()
    ranks = {output.name: len(output.shape) for output in outputs}
    if ranks.get(_POOLED) == 2:
        return _POOLED, True
    if (of_pieces := next((name for name, rank in ranks.items() if rank == 3), None)) is not None:
        return of_pieces, False
    if len(outputs) == 1 and outputs[0].type in ("tensor(float)", "tensor(float16)") and 2 in ranks.values():
        return outputs[0].name, True
    raise ValueError(f"its graph answers {', '.join(ranks)}, which is no vector of a text")


def _pool(vectors: Floats, mask: Numbers, pooling: Pooling) -> Floats:
    there = mask[:, :, None].astype(np.float32)
    match pooling:
        case Pooling.FIRST:
            found = vectors[:, 0]
        case Pooling.LAST:
            found = vectors[np.arange(len(vectors)), np.maximum(mask.sum(1) - 1, 0)]
        case Pooling.GREATEST:
            found = np.where(there > 0, vectors, -np.inf).max(1)
        case _:
            found = (vectors * there).sum(1) / np.maximum(there.sum(1), 1)
    return np.asarray(found, np.float32)


def _scripts(tokenizer: Tokenizer) -> Collection[str]:
    with _translate_panics():
        pieces = tokenizer.decode_batch([[number] for number in range(tokenizer.get_vocab_size())])
    found: Counter[str] = Counter()
    for piece in pieces:
        letters = [char for char in islice(piece, 50) if char.isalpha()]
        if letters and (len(letters) > 1 or _script(letters[0]) == _SIGNS):
            found[_script(letters[0])] += 1
    least = {script: _LEAST_SIGNS if script == _SIGNS else _LEAST_PIECES for script in found}
    return {"LATIN", *(script for script, count in found.items() if count >= least[script])}


def _unknown(tokenizer: Tokenizer) -> int:
    """The id of the unknown piece; -1 if there is none."""
    for token in ("[UNK]", "<unk>"):
        if (number := tokenizer.token_to_id(token)) is not None:
            return int(number)
    return -1


@lru_cache(maxsize=4_096)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _clean(text: str, *, lower: bool) -> str:
    whole = text[:_MOST_CHARS].encode("utf-8", "replace").decode("utf-8")
    return whole.lower() if lower else whole


def free_in_group(folder: Path) -> int | None:
    """Bytes left in the container's limit; None if there is none."""
    limit, used = (_number(folder / name) for name in ("memory.max", "memory.current"))
    if limit is None or used is None:
        return None
    given_up = _number(folder / "memory.stat", "inactive_file ") or 0  # page cache that can be reclaimed
    return max(0, limit - max(0, used - given_up))


def _number(file: Path, after: str = "", unit: int = 1) -> int | None:
    try:
        word = file.read_text("ascii").partition(after)[2].split()[0] if after else file.read_text("ascii").strip()
    except (OSError, ValueError, IndexError):
        return None
    return int(word) * unit if word.isdigit() else None
