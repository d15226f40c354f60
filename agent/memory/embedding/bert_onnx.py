"""BERT's arithmetic run by onnxruntime, about twice as fast as numpy: the same weights, written down as a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray

from agent.memory.embedding.bert_layers import Weights
from agent.memory.embedding.onnx_graph import Graph
from agent.memory.embedding.safetensors import Floats

_ERRORS_ALONE = 3


class OnnxLayers:
    """As `Layers`. Raises `KeyError` where a weight is missing, and what onnxruntime raises."""

    engine = f"onnxruntime {onnxruntime.__version__}"

    def __init__(self, weights: Weights) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # as numpy here: work behind the talks
        options.log_severity_level = _ERRORS_ALONE
        self._session = onnxruntime.InferenceSession(_model(weights), options, providers=["CPUExecutionProvider"])

    def __call__(self, numbers: NDArray[np.int64], there: Floats) -> Floats:
        (found,) = self._session.run(None, {"numbers": numbers, "there": there})
        return np.asarray(found, np.float32)


def _model(weights: Weights) -> bytes:
    graph, shape = Graph(), weights.shape
    heads, part = shape.heads, shape.width // shape.heads

    def linear(x: str, name: str) -> str:
        weight, bias = weights.linear(name)
        return graph.done("Add", graph.done("MatMul", x, graph.tensor(weight)), graph.tensor(bias))

    def norm(x: str, name: str) -> str:
        scale, shift = map(graph.tensor, weights.norm(name))
        return graph.done("LayerNormalization", x, scale, shift, axis=-1, epsilon=shape.epsilon)

    apart, whole = graph.ints(0, 0, heads, part), graph.ints(0, 0, shape.width)

    def of_heads(x: str, turned: tuple[int, ...]) -> str:
        return graph.done("Transpose", graph.done("Reshape", x, apart), perm=turned)

    def attention(x: str, layer: str) -> str:
        query, key, value = (linear(x, f"{layer}.attention.self.{name}") for name in ("query", "key", "value"))
        scores = graph.done("MatMul", of_heads(query, (0, 2, 1, 3)), of_heads(key, (0, 2, 3, 1)))
        shares = graph.done("Softmax", graph.done("Add", graph.done("Mul", scores, usual), unseen), axis=-1)
        told = graph.done("Transpose", graph.done("MatMul", shares, of_heads(value, (0, 2, 1, 3))), perm=(0, 2, 1, 3))
        return linear(graph.done("Reshape", told, whole), f"{layer}.attention.output.dense")

    pieces = graph.done("Slice", graph.done("Shape", "numbers"), graph.ints(1), graph.ints(2))
    places = graph.done("Slice", graph.tensor(weights.places), graph.ints(0), pieces, graph.ints(0))
    words = graph.done("Gather", graph.tensor(weights.words), "numbers")
    usual = graph.floats(1 / math.sqrt(part))
    absent = graph.done("Mul", graph.done("Sub", graph.floats(1), "there"), graph.floats(-1e9))
    unseen = graph.done("Unsqueeze", absent, graph.ints(1, 2))
    x = norm(graph.done("Add", words, places), "embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(shape.layers)):
        x = norm(graph.done("Add", x, attention(x, layer)), f"{layer}.attention.output.LayerNorm")
        wide = _ACTIVATIONS[shape.activation](graph, linear(x, f"{layer}.intermediate.dense"))
        x = norm(graph.done("Add", x, linear(wide, f"{layer}.output.dense")), f"{layer}.output.LayerNorm")
    return graph.model({"numbers": int, "there": float}, 2, x)


def _gelu(graph: Graph, x: str) -> str:
    bent = graph.done("Erf", graph.done("Mul", x, graph.floats(math.sqrt(0.5))))
    return _halved(graph, x, bent)


def _gelu_tanh(graph: Graph, x: str) -> str:
    cube = graph.done("Mul", graph.done("Mul", x, graph.done("Mul", x, x)), graph.floats(0.044715))
    inner = graph.done("Mul", graph.done("Add", x, cube), graph.floats(math.sqrt(2 / math.pi)))
    return _halved(graph, x, graph.done("Tanh", inner))


def _relu(graph: Graph, x: str) -> str:
    return graph.done("Relu", x)


def _halved(graph: Graph, x: str, bent: str) -> str:
    """x / 2 * (1 + bent)"""
    return graph.done("Mul", graph.done("Mul", x, graph.floats(0.5)), graph.done("Add", bent, graph.floats(1)))


_ACTIVATIONS: Mapping[str, Callable[[Graph, str], str]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "relu": _relu,
}
