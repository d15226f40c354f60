"""BERT's arithmetic (Devlin et al. 2018): from the numbers of pieces to a vector for each piece, in numpy alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agent.memory.embedding.safetensors import Floats


@dataclass(frozen=True, slots=True)
class Shape:
    """`activation` is a key of `ACTIVATIONS`."""

    layers: int
    heads: int
    width: int
    epsilon: float
    activation: str


class Layers(Protocol):
    """`numbers` of pieces, a row a text, filled up at the end; `there` is 1 where a piece is, else 0. The last layer's
    vector of each piece. Any thread may call."""

    engine: str

    def __call__(self, numbers: NDArray[np.int64], there: Floats) -> Floats: ...


class Weights:
    """By the names that BERT gives its parts. Raises `KeyError`."""

    def __init__(self, tensors: Mapping[str, Floats], shape: Shape) -> None:
        self._tensors = tensors
        self._prefix = "bert." if "bert.embeddings.word_embeddings.weight" in tensors else ""
        self.shape = shape
        self.words = self["embeddings.word_embeddings.weight"]
        # one text is given, so all its pieces are of the first of BERT's two
        self.places = self["embeddings.position_embeddings.weight"] + self["embeddings.token_type_embeddings.weight"][0]

    def __getitem__(self, name: str) -> Floats:
        return self._tensors[self._prefix + name]

    def linear(self, name: str) -> tuple[Floats, Floats]:
        """What to multiply with from the right, and what to add."""
        return np.ascontiguousarray(self[f"{name}.weight"].T), self[f"{name}.bias"]

    def norm(self, name: str) -> tuple[Floats, Floats]:
        return self[f"{name}.weight"], self[f"{name}.bias"]


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


class NumpyLayers:
    """As `Layers`. Raises `KeyError` where a weight is missing."""

    engine = "numpy"

    def __init__(self, weights: Weights) -> None:
        self._shape = weights.shape
        self._words, self._places = weights.words, weights.places
        self._activation = ACTIVATIONS[weights.shape.activation]

        def linear(name: str) -> _Linear:
            return _Linear(*weights.linear(name))

        def norm(name: str) -> _Norm:
            return _Norm(*weights.norm(name), weights.shape.epsilon)

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
            for at in (f"encoder.layer.{number}" for number in range(weights.shape.layers))
        ]

    def __call__(self, numbers: NDArray[np.int64], there: Floats) -> Floats:
        x = self._first_norm(self._words[numbers] + self._places[: numbers.shape[1]])
        unseen = ((1.0 - there) * np.float32(-1e9))[:, None, None, :]
        for layer in self._layers:
            x = layer.attended_norm(x + layer.attended(self._attention(layer, x, unseen)))
            x = layer.norm(x + layer.narrow(self._activation(layer.wide(x))))
        return x

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


ACTIVATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "relu": _relu,
}
