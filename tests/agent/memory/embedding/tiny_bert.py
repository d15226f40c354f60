"""A BERT of a few random weights in the folder format of the real ones, and its arithmetic written a second time: plain
loops after the paper, no numpy, nothing of ours."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "cat",
    "sits",
    "out",
    "##side",
    "a",
    "dog",
    "play",
    "##s",
    "play",
    "##ing",
    "guitar",
    "?",
    ".",
    ",",
    "'",
    "don",
    "t",
    "caf",
    "##e",
    "猫",
    "狗",
    "un",
    "##believ",
    "##able",
]
VOCABULARY = {word: at for at, word in enumerate(dict.fromkeys(WORDS))}
WIDTH, WIDE, HEADS, LAYERS, PLACES = 8, 16, 2, 2, 24

Row = list[float]
Tensor = tuple[list[int], Row]
"""Shape, and numbers row by row."""


def weights(seed: int = 5) -> dict[str, Tensor]:
    source = random.Random(seed)

    def tensor(*shape: int, around: float = 0.0) -> Tensor:
        numbers = [around + source.gauss(0, 0.4) for _ in range(math.prod(shape))]
        return list(shape), [struct.unpack("<f", struct.pack("<f", number))[0] for number in numbers]

    made = {
        "embeddings.word_embeddings.weight": tensor(len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": tensor(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": tensor(2, WIDTH),
    }
    sizes = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (WIDE, WIDTH),
        "output.dense": (WIDTH, WIDE),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        for name, (outer, inner) in sizes.items():
            made[f"encoder.layer.{layer}.{name}.weight"] = tensor(outer, inner)
            made[f"encoder.layer.{layer}.{name}.bias"] = tensor(outer)
        norms += [f"encoder.layer.{layer}.{name}.LayerNorm" for name in ("attention.output", "output")]
    for name in norms:
        made[f"{name}.weight"] = tensor(WIDTH, around=1.0)
        made[f"{name}.bias"] = tensor(WIDTH)
    return made


def write(folder: Path, seed: int = 5, **config: object) -> Path:
    """The folder of a model. `config` goes over its `config.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", "utf-8")
    usual = {
        "model_type": "bert",
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": WIDE,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": PLACES,
    }
    (folder / "config.json").write_text(json.dumps(usual | config), "utf-8")
    (folder / "model.safetensors").write_bytes(packed(weights(seed)))
    return folder


def packed(tensors: Mapping[str, Tensor]) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, (shape, numbers) in tensors.items():
        raw = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


# the arithmetic, a second time ---------------------------------------------------------------------------------------


def embedded(numbers: Sequence[int], made: Mapping[str, Tensor]) -> Row:
    """The mean of the last layer over all pieces, made length 1."""

    def rows(name: str) -> list[Row]:
        (_, width), flat = made[name]
        return [flat[at : at + width] for at in range(0, len(flat), width)]

    def linear(name: str, x: Row) -> Row:
        bias = made[f"{name}.bias"][1]
        return [
            sum(a * b for a, b in zip(row, x, strict=True)) + c
            for row, c in zip(rows(f"{name}.weight"), bias, strict=True)
        ]

    def norm(name: str, x: Row) -> Row:
        mean = sum(x) / len(x)
        spread = math.sqrt(sum((a - mean) ** 2 for a in x) / len(x) + 1e-12)
        scale, shift = made[f"{name}.weight"][1], made[f"{name}.bias"][1]
        return [(a - mean) / spread * b + c for a, b, c in zip(x, scale, shift, strict=True)]

    words, places, kinds = (rows(f"embeddings.{one}_embeddings.weight") for one in ("word", "position", "token_type"))
    xs = [
        norm("embeddings.LayerNorm", [a + b + c for a, b, c in zip(words[number], places[at], kinds[0], strict=True)])
        for at, number in enumerate(numbers)
    ]
    for layer in (f"encoder.layer.{at}" for at in range(LAYERS)):
        q, k, v = ([linear(f"{layer}.attention.self.{one}", x) for x in xs] for one in ("query", "key", "value"))
        attended = []
        for at in range(len(xs)):
            out: Row = []
            for head in range(HEADS):
                part = slice(head * WIDTH // HEADS, (head + 1) * WIDTH // HEADS)
                scores = [
                    sum(a * b for a, b in zip(q[at][part], one[part], strict=True)) / math.sqrt(WIDTH / HEADS)
                    for one in k
                ]
                powers = [math.exp(score) for score in scores]
                out += [
                    sum(power / sum(powers) * one[number] for power, one in zip(powers, v, strict=True))
                    for number in range(part.start, part.stop)
                ]
            attended.append(out)
        mixed = [
            norm(f"{layer}.attention.output.LayerNorm", _sum(x, linear(f"{layer}.attention.output.dense", out)))
            for x, out in zip(xs, attended, strict=True)
        ]
        xs = [
            norm(
                f"{layer}.output.LayerNorm",
                _sum(x, linear(f"{layer}.output.dense", [_gelu(a) for a in linear(f"{layer}.intermediate.dense", x)])),
            )
            for x in mixed
        ]
    mean = [sum(x[at] for x in xs) / len(xs) for at in range(WIDTH)]
    length = math.sqrt(sum(a * a for a in mean))
    return [a / length for a in mean]


def _sum(one: Row, other: Row) -> Row:
    return [a + b for a, b in zip(one, other, strict=True)]


def _gelu(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))
