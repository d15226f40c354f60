"""A BERT sentence encoder (such as all-MiniLM-L6-v2) from its folder, in numpy: no torch, no network.

The folder is what sentence-transformers writes: `config.json`, `model.safetensors`, `vocab.txt` (or `tokenizer.json`),
and where they are there `sentence_bert_config.json` (how much of a text is read), `tokenizer_config.json` and
`1_Pooling/config.json`. Arithmetic as in Devlin et al. 2018 and the model's own `config.json`; the mean of the last
layer over the text's pieces (or its first), made length 1.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.memory.embedding.encoder import NoEmbedding, Vector
from agent.memory.embedding.safetensors import Floats, tensors
from agent.memory.embedding.wordpiece import WordPiece, is_cjk

WEIGHTS = "model.safetensors"
_AT_ONCE = 8
"""Texts: more at once are no faster without an accelerator, and keep a question waiting."""
_USUAL_LENGTH = 256
_FOREIGN = 0.3
"""Part of a text in characters that an English vocabulary does not have, from which on the model does not know it."""


@dataclass(frozen=True, slots=True)
class _Shape:
    layers: int
    heads: int
    width: int
    epsilon: float
    length: int
    first_only: bool


@dataclass(frozen=True, slots=True)
class _Linear:
    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        y: Floats = x @ self.weight + self.bias
        return y


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: Floats
    bias: Floats
    epsilon: float

    def __call__(self, x: Floats) -> Floats:
        centred = x - x.mean(-1, keepdims=True)
        y: Floats = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + self.epsilon) * self.weight + self.bias
        return y


@dataclass(frozen=True, slots=True)
class _Layer:
    query: _Linear
    key: _Linear
    value: _Linear
    attended: _Linear
    attended_norm: _Norm
    wide: _Linear
    narrow: _Linear
    norm: _Norm


class Bert:
    """Loads `folder`. Raises `NoEmbedding` where it is not such a model."""

    batch = _AT_ONCE

    def __init__(self, folder: Path) -> None:
        try:
            self._shape, self._activation = _shape(folder)
            self._tokens = _tokenizer(folder)
            weights = tensors(folder / WEIGHTS)
            self._read(weights)
            self.id = f"bert-{_sha256(folder / WEIGHTS)[:16]}-{self._shape.length}"
        except OSError as error:
            what = f"the model in {folder} cannot be read ({Path(str(error.filename)).name}: {error.strerror})"
            raise NoEmbedding(what) from error
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise NoEmbedding(f"the folder {folder} holds no BERT model with WordPiece ({what})") from error

    @property
    def size(self) -> int:
        """Numbers in a vector."""
        return self._shape.width

    def encode(self, texts: Sequence[str], seconds: float) -> Sequence[Vector]:
        numbers = [self._tokens(text, self._shape.length) for text in texts]
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

    def _read(self, weights: Mapping[str, Floats]) -> None:
        prefix = "bert." if "bert.embeddings.word_embeddings.weight" in weights else ""

        def tensor(name: str) -> Floats:
            return weights[prefix + name]

        def linear(name: str) -> _Linear:
            return _Linear(np.ascontiguousarray(tensor(f"{name}.weight").T), tensor(f"{name}.bias"))

        def norm(name: str) -> _Norm:
            return _Norm(tensor(f"{name}.weight"), tensor(f"{name}.bias"), self._shape.epsilon)

        self._words = tensor("embeddings.word_embeddings.weight")
        # one text is given, so all its pieces are of the first of BERT's two
        self._places = (
            tensor("embeddings.position_embeddings.weight") + tensor("embeddings.token_type_embeddings.weight")[0]
        )
        self._first_norm = norm("embeddings.LayerNorm")
        self._layers = [
            _Layer(
                linear(f"{at}.attention.self.query"),
                linear(f"{at}.attention.self.key"),
                linear(f"{at}.attention.self.value"),
                linear(f"{at}.attention.output.dense"),
                norm(f"{at}.attention.output.LayerNorm"),
                linear(f"{at}.intermediate.dense"),
                linear(f"{at}.output.dense"),
                norm(f"{at}.output.LayerNorm"),
            )
            for at in (f"encoder.layer.{number}" for number in range(self._shape.layers))
        ]

    def _encoded(self, numbers: Sequence[Sequence[int]]) -> list[Vector]:
        longest = max(map(len, numbers))
        filled = np.array([[*one, *[0] * (longest - len(one))] for one in numbers])
        there = np.array([[1.0] * len(one) + [0.0] * (longest - len(one)) for one in numbers], np.float32)
        x = self._first_norm(self._words[filled] + self._places[:longest])
        unseen = ((1.0 - there) * np.float32(-1e9))[:, None, None, :]
        for layer in self._layers:
            x = layer.attended_norm(x + layer.attended(self._attention(layer, x, unseen)))
            x = layer.norm(x + layer.narrow(self._activation(layer.wide(x))))
        pooled = x[:, 0] if self._shape.first_only else (x * there[:, :, None]).sum(1) / there.sum(1, keepdims=True)
        return list(pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12))

    def _attention(self, layer: _Layer, x: Floats, unseen: Floats) -> Floats:
        texts, pieces, width = x.shape
        heads = self._shape.heads

        def apart(y: Floats) -> Floats:
            return y.reshape(texts, pieces, heads, width // heads).transpose(0, 2, 1, 3)

        scores = (
            apart(layer.query(x)) @ apart(layer.key(x)).transpose(0, 1, 3, 2) / np.float32(math.sqrt(width // heads))
            + unseen
        )
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        weighted: Floats = (shares / shares.sum(-1, keepdims=True)) @ apart(layer.value(x))
        return weighted.transpose(0, 2, 1, 3).reshape(texts, pieces, width)


def _gelu(x: Floats) -> Floats:
    y: Floats = x * 0.5 * (1.0 + _erf(x * np.float32(math.sqrt(0.5))))
    return y


def _gelu_tanh(x: Floats) -> Floats:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return np.asarray(0.5 * x * (1.0 + np.tanh(inner)), np.float32)


def _relu(x: Floats) -> Floats:
    return np.maximum(x, 0.0)


def _erf(x: Floats) -> Floats:
    """Abramowitz and Stegun 7.1.26; off by at most 1.5e-7."""
    size = np.abs(x)
    t = 1.0 / (1.0 + 0.3275911 * size)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    y: Floats = np.sign(x) * (1.0 - series * np.exp(-size * size))
    return y


_ACTIVATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "relu": _relu,
}


def _shape(folder: Path) -> tuple[_Shape, Callable[[Floats], Floats]]:
    config = _json(folder / "config.json")
    kind, places = config.get("model_type"), config.get("position_embedding_type", "absolute")
    if kind != "bert" or places != "absolute":
        raise ValueError(f"it is of the kind {kind}")
    pooling = _json_or_empty(folder / "1_Pooling" / "config.json")
    first_only = bool(pooling.get("pooling_mode_cls_token"))
    if pooling and not first_only and not pooling.get("pooling_mode_mean_tokens"):
        raise ValueError("it pools in another way than by mean or first piece")
    longest = int(config["max_position_embeddings"])
    wanted = _json_or_empty(folder / "sentence_bert_config.json").get("max_seq_length")
    length = min(longest, int(wanted) if wanted else _USUAL_LENGTH)
    shape = _Shape(
        layers=int(config["num_hidden_layers"]),
        heads=int(config["num_attention_heads"]),
        width=int(config["hidden_size"]),
        epsilon=float(config["layer_norm_eps"]),
        length=length,
        first_only=first_only,
    )
    return shape, _ACTIVATIONS[config["hidden_act"]]


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
    found = json.loads(file.read_text("utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{file.name} is not as expected")
    return found


def _json_or_empty(file: Path) -> dict[str, Any]:
    return _json(file) if file.exists() else {}


def _sha256(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
