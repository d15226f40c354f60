"""Reads a `.safetensors` file: eight bytes that say how long the header is, the header as JSON, then the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.parsing import load_json

Floats = NDArray[np.float32]

_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}
_LARGEST_HEADER = 100_000_000


def tensors(file: Path) -> dict[str, Floats]:
    """All tensors of floats by name. Raises `ValueError` where it is no such file, and `OSError`."""
    data = file.read_bytes()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or not 2 <= length <= min(len(data) - 8, _LARGEST_HEADER):
        raise ValueError(f"{file.name} is no safetensors file, or only a part of one")
    try:
        header: dict[str, Any] = load_json(data[8 : 8 + length])
        found = header.items()
        return {name: _tensor(data, 8 + length, what) for name, what in found if _is_float(name, what)}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{file.name} is no safetensors file, or only a part of one") from error


def _is_float(name: str, what: dict[str, Any]) -> bool:
    return name != "__metadata__" and (what["dtype"] in _TYPES or what["dtype"] == "BF16")


def _tensor(data: bytes, start: int, what: dict[str, Any]) -> Floats:
    first, last = what["data_offsets"]
    raw = data[start + first : start + last]
    if what["dtype"] == "BF16":  # the upper half of a float32
        numbers = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = np.frombuffer(raw, _TYPES[what["dtype"]]).astype(np.float32)
    return numbers.reshape(what["shape"])
