"""A BERT sentence encoder (such as all-MiniLM-L6-v2) from its folder, without torch and without the network.

The folder is what sentence-transformers writes: `config.json`, `model.safetensors`, `vocab.txt` (or `tokenizer.json`),
and where they are there `sentence_bert_config.json` (how much of a text is read), `tokenizer_config.json` and
`1_Pooling/config.json`. The vector of a text is the mean of the last layer over its pieces (or its first), made length
1. The layers run in onnxruntime where that is installed, else in numpy: the same vectors to 1e-5, so of the same id.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from agent.memory.embedding.bert_layers import Layers, NumpyLayers, Shape, Weights
from agent.memory.embedding.encoder import NoEmbedding, Vector
from agent.memory.embedding.safetensors import tensors
from agent.memory.embedding.wordpiece import WordPiece, is_cjk
from agent.parsing import load_json

_log = logging.getLogger(__name__)

WEIGHTS = "model.safetensors"
_AT_ONCE = 8
"""Texts: more at once are no faster without an accelerator, and keep a question waiting."""
_USUAL_LENGTH = 256
_FOREIGN = 0.3
"""Part of a text in characters that an English vocabulary does not have, from which on the model does not know it."""


class Bert:
    """Loads `folder`. Raises `NoEmbedding` where it is not such a model."""

    batch = _AT_ONCE

    def __init__(self, folder: Path, *, onnx: bool = True) -> None:
        """`onnx`: by onnxruntime, where that is installed."""
        try:
            config = _json(folder / "config.json")
            shape = _shape(config)
            self._width = shape.width
            self._first_only = _first_only(folder)
            self._length = _length(folder, config)
            self._tokens = _tokenizer(folder)
            weights = Weights(tensors(folder / WEIGHTS), shape)
            self._layers = (_by_onnx(weights) if onnx else None) or NumpyLayers(weights)
            self.id = f"bert-{_sha256(folder / WEIGHTS)[:16]}-{self._length}"
        except OSError as error:
            what = f"the model in {folder} cannot be read ({Path(str(error.filename)).name}: {error.strerror})"
            raise NoEmbedding(what) from error
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise NoEmbedding(f"the folder {folder} holds no BERT model with WordPiece ({what})") from error

    @property
    def engine(self) -> str:
        """What runs it."""
        return self._layers.engine

    @property
    def size(self) -> int:
        """Numbers in a vector."""
        return self._width

    def encode(self, texts: Sequence[str], seconds: float) -> Sequence[Vector]:
        numbers = [self._tokens(text, self._length) for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(numbers[at]))  # alike in length: little is filled up
        found: list[Vector] = [()] * len(texts)
        for start in range(0, len(order), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            for at, vector in zip(part, self._encoded([numbers[at] for at in part]), strict=True):
                found[at] = vector
        return found

    def knows(self, text: str) -> bool:
        letters = [char for char in text if char.isalnum()]
        foreign = sum(is_cjk(char) or _is_syllabic(char) for char in letters)
        return self._tokens.writes_cjk or foreign <= _FOREIGN * len(letters)

    def close(self) -> None:
        pass

    def _encoded(self, numbers: Sequence[Sequence[int]]) -> list[Vector]:
        longest = max(map(len, numbers))
        filled = np.array([[*one, *[0] * (longest - len(one))] for one in numbers], np.int64)
        there = np.array([[1.0] * len(one) + [0.0] * (longest - len(one)) for one in numbers], np.float32)
        x = self._layers(filled, there)
        pooled = x[:, 0] if self._first_only else (x * there[:, :, None]).sum(1) / there.sum(1, keepdims=True)
        return list(pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12))


def _by_onnx(weights: Weights) -> Layers | None:
    """None where onnxruntime is not installed, or does not take it."""
    if find_spec("onnxruntime") is None:
        return None
    try:
        from agent.memory.embedding.bert_onnx import OnnxLayers  # noqa: PLC0415 (68 MB, only for a local model)

        return OnnxLayers(weights)
    except KeyError:
        raise
    except Exception as error:  # its own kinds have no common base; numpy does as well
        _log.warning("the embedder runs in numpy, for onnxruntime does not take it: %s", error)
        return None


def _shape(config: dict[str, Any]) -> Shape:
    kind, places = config.get("model_type"), config.get("position_embedding_type", "absolute")
    if kind != "bert" or places != "absolute":
        raise ValueError(f"it is of the kind {kind}")
    return Shape(
        layers=int(config["num_hidden_layers"]),
        heads=int(config["num_attention_heads"]),
        width=int(config["hidden_size"]),
        epsilon=float(config["layer_norm_eps"]),
        activation=str(config["hidden_act"]),
    )


def _first_only(folder: Path) -> bool:
    pooling = _json_or_empty(folder / "1_Pooling" / "config.json")
    first_only = bool(pooling.get("pooling_mode_cls_token"))
    if pooling and not first_only and not pooling.get("pooling_mode_mean_tokens"):
        raise ValueError("it pools in another way than by mean or first piece")
    return first_only


def _length(folder: Path, config: dict[str, Any]) -> int:
    """How many pieces of a text are read."""
    wanted = _json_or_empty(folder / "sentence_bert_config.json").get("max_seq_length")
    return min(int(config["max_position_embeddings"]), int(wanted) if wanted else _USUAL_LENGTH)


def _tokenizer(folder: Path) -> WordPiece:
    lower = _json_or_empty(folder / "tokenizer_config.json").get("do_lower_case", True)
    words = folder / "vocab.txt"
    if words.exists():
        lines = words.read_text("utf-8").split("\n")
        return WordPiece({line.rstrip("\r"): at for at, line in enumerate(lines) if line}, lower=bool(lower))
    model = _json(folder / "tokenizer.json")["model"]
    if model.get("type") != "WordPiece":
        raise ValueError(f"its tokenizer is {model.get('type')}")
    return WordPiece(model["vocab"], lower=bool(lower))


def _is_syllabic(char: str) -> bool:
    """Kana and Hangul, which are not counted as CJK by BERT."""
    return "\u3040" <= char <= "\u30ff" or "\uac00" <= char <= "\ud7af"


def _json(file: Path) -> dict[str, Any]:
    found = load_json(file.read_text("utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{file.name} is not as expected")
    return found


def _json_or_empty(file: Path) -> dict[str, Any]:
    return _json(file) if file.exists() else {}


def _sha256(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
