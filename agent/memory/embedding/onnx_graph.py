"""Writes a network down as ONNX defines it (onnx.proto3 of onnx/onnx, IR version 8), so that onnxruntime can run it.

Of protobuf this needs three things: numbers of variable length, fields with a length before them, floats. Nothing here
knows a model.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Tensor = NDArray[np.float32] | NDArray[np.int64]
Attribute = int | float | Sequence[int]

_IR_VERSION = 8
_OPSET = 17
"""The first with LayerNormalization."""
_FLOAT, _INT64 = 1, 7
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7


class Graph:
    """Operations in the order in which they are done; each names its result, which others take by that name."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._count = 0

    def tensor(self, values: Tensor) -> str:
        """A constant."""
        name = self._name()
        kind = _FLOAT if values.dtype == np.float32 else _INT64
        dims = b"".join(_number(1, size) for size in values.shape)
        self._parts.append(_field(5, dims + _number(2, kind) + _text(8, name) + _field(9, values.tobytes())))
        return name

    def floats(self, *values: float) -> str:
        return self.tensor(np.array(values, np.float32))

    def ints(self, *values: int) -> str:
        return self.tensor(np.array(values, np.int64))

    def done(self, operation: str, *inputs: str, **attributes: Attribute) -> str:
        name = self._name()
        node = b"".join(_text(1, one) for one in inputs) + _text(2, name) + _text(4, operation)
        node += b"".join(_field(5, _attribute(key, value)) for key, value in attributes.items())
        self._parts.append(_field(1, node))
        return name

    def model(self, inputs: Mapping[str, type], rank: int, output: str) -> bytes:
        """`inputs` by name, of `rank` dimensions of any size."""
        ends = [_field(11, _value(name, _FLOAT if kind is float else _INT64, rank)) for name, kind in inputs.items()]
        ends.append(_field(12, _text(1, output) + _field(2, _field(1, _number(1, _FLOAT)))))
        graph = b"".join([*self._parts, _text(2, "graph"), *ends])
        return _number(1, _IR_VERSION) + _field(7, graph) + _field(8, _number(2, _OPSET))

    def _name(self) -> str:
        self._count += 1
        return f"x{self._count}"


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, _ATTRIBUTE_FLOAT)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _ATTRIBUTE_INT)
    return _text(1, name) + b"".join(_number(8, one) for one in value) + _number(20, _ATTRIBUTE_INTS)


def _value(name: str, kind: int, rank: int) -> bytes:
    shape = b"".join(_field(1, _text(2, f"size{at}")) for at in range(rank))
    return _text(1, name) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))


def _text(field: int, value: str) -> bytes:
    return _field(field, value.encode())


def _field(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value % (1 << 64))  # negative ones as 64 bits of two's complement


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
