"""A sentence model of a few random numbers in the folder that sentence-transformers writes, and its arithmetic written
a second time in plain loops. A piece's vector is its own plus the mean of all."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing

WIDTH = 8
ENGLISH = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sits", "out", "##side", "a", "dog", "play", "##s", "##ing"),
    *("guitar", "?", ".", ",", "'", "don", "t", "caf", "##e", "un", "query", "passage", ":"),
]
MANY = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁the", "▁cat", "▁кошка", "▁猫", "狗", "▁dog", "s", ".", "?"]
_POOLINGS = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")

Row = list[float]


def table(size: int, seed: int = 5) -> list[Row]:
    """Of a vector for each piece, in eighths, so that 8 bits hold them."""
    source = random.Random(seed)
    return [[source.randint(-100, 100) / 64 for _ in range(WIDTH)] for _ in range(size)]


def write(
    folder: Path,
    seed: int = 5,
    *,
    words: Sequence[str] = ENGLISH,
    tokenizer: str = "wordpiece",
    pooling: str = "mean_tokens",
    graph: str = "onnx/model.onnx",
    bits: int = 32,
    factor: float = 1.0,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
    is_pooled: bool = False,
    length: int = 24,
    prompts: Mapping[str, str] | None = None,
) -> Path:
    """`factor`: what all numbers are multiplied by. `is_pooled`: the graph gives one vector a text."""
    cut = _wordpiece(words) if tokenizer == "wordpiece" else _unigram(words)
    folder.mkdir(parents=True, exist_ok=True)
    cut.save(str(folder / "tokenizer.json"))
    file = folder / graph
    file.parent.mkdir(parents=True, exist_ok=True)
    save(_graph(table(len(words), seed), bits, factor, inputs, is_pooled), str(file))
    steps = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    _json(
        folder / "modules.json",
        [{"idx": at, "path": path, "type": f"some.where.{kind}"} for at, (path, kind) in enumerate(steps)],
    )
    (folder / "1_Pooling").mkdir(exist_ok=True)
    modes = {f"pooling_mode_{name}": name == pooling for name in _POOLINGS}
    _json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": WIDTH, **modes})
    _json(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    _json(folder / "tokenizer_config.json", {"pad_token": "[PAD]" if tokenizer == "wordpiece" else "<pad>"})
    _json(folder / "config.json", {"max_position_embeddings": 64})
    if prompts is not None:
        _json(folder / "config_sentence_transformers.json", {"prompts": prompts, "default_prompt_name": None})
    return folder


def embedded(numbers: Sequence[int], rows: Sequence[Row], pooling: str = "mean_tokens") -> Row:
    """The vector of a text whose pieces have those numbers."""
    own = [rows[number] for number in numbers]
    mean = [math.fsum(column) / len(own) for column in zip(*own, strict=True)]
    pieces = [[one + other for one, other in zip(row, mean, strict=True)] for row in own]
    match pooling:
        case "cls_token":
            found = pieces[0]
        case "lasttoken":
            found = pieces[-1]
        case "max_tokens":
            found = [max(column) for column in zip(*pieces, strict=True)]
        case _:
            found = [math.fsum(column) / len(pieces) for column in zip(*pieces, strict=True)]
    size = math.sqrt(math.fsum(one * one for one in found))
    return [one / size for one in found]


def _wordpiece(words: Sequence[str]) -> Tokenizer:
    made = Tokenizer(models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(name, words.index(name)) for name in ("[CLS]", "[SEP]")]
    )
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    return made


def _unigram(words: Sequence[str]) -> Tokenizer:
    made = Tokenizer(models.Unigram([(word, -float(at)) for at, word in enumerate(words)], words.index("<unk>")))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[(name, words.index(name)) for name in ("<s>", "</s>")]
    )
    made.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    return made


def _graph(rows: Sequence[Row], bits: int, factor: float, inputs: Sequence[str], is_pooled: bool) -> object:
    weights = np.array(rows, np.float32)
    constants = [
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "pieces"),
        numpy_helper.from_array(np.array(factor, np.float32), "factor"),
    ]
    if bits == 8:
        constants += [
            numpy_helper.from_array((weights * 64).astype(np.int8), "small"),
            numpy_helper.from_array(np.array(1 / 64, np.float32), "scale"),
        ]
        nodes = [helper.make_node("DequantizeLinear", ["small", "scale"], ["weights"])]
    else:
        constants.append(numpy_helper.from_array(weights, "weights"))
        nodes = []
    steps = [
        ("Gather", ["weights", "input_ids"], "plain"),
        ("Mul", ["plain", "factor"], "own"),
        ("Cast", ["attention_mask"], "there"),
        ("Unsqueeze", ["there", "last"], "mask"),
        ("Mul", ["own", "mask"], "shown"),
        ("ReduceSum", ["shown", "pieces"], "sum"),
        ("ReduceSum", ["mask", "pieces"], "count"),
        ("Div", ["sum", "count"], "mean"),
        ("Add", ["own", "mean"], "last_hidden_state"),
    ]
    nodes += [
        helper.make_node(kind, given, [name], **({"to": TensorProto.FLOAT} if kind == "Cast" else {}))
        for kind, given, name in steps
    ]
    shape: list[str | int] = ["batch", "length", WIDTH]
    name = "last_hidden_state"
    if is_pooled:
        nodes.append(helper.make_node("ReduceSum", ["shown", "pieces"], ["sentence_embedding"], keepdims=0))
        shape, name = ["batch", WIDTH], "sentence_embedding"
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(one, TensorProto.INT64, ["batch", "length"]) for one in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value), "utf-8")
