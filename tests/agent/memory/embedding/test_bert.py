"""A model's folder runs in numpy as its authors wrote it down, and what is no such folder is refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.memory.embedding.bert import Bert
from agent.memory.embedding.encoder import NoEmbedding
from agent.memory.embedding.wordpiece import WordPiece
from tests.agent.memory.embedding import tiny_bert
from tests.agent.memory.embedding.tiny_bert import VOCABULARY

PIECES = WordPiece(VOCABULARY, lower=True)
TEXTS = ["The cat sits outside.", "A dog plays guitar?", "cat", "", "the dog plays, the cat plays outside"]


def pieces(text: str, most: int = 50) -> list[str]:
    words = list(VOCABULARY)
    return [words[number] for number in PIECES(text, most)[1:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sits outside.", "the cat sits out ##side ."),
        ("Playing, plays", "play ##ing , play ##s"),
        ("Don't", "don ' t"),
        ("Café", "caf ##e"),
        ("unbelievable unbelievers", "un ##believ ##able [UNK]"),
        ("猫狗cat", "猫 狗 cat"),
        ("cat\t\n\u00a0dog\u200b\0", "cat dog"),
        ("x" * 101, "[UNK]"),
        ("", ""),
    ],
)
def test_words_are_cut_into_the_longest_pieces_known(text: str, expected: str) -> None:
    assert pieces(text) == expected.split()


def test_a_long_text_is_read_from_its_beginning() -> None:
    numbers = PIECES("cat " * 100, 10)
    assert (len(numbers), numbers[0], numbers[-1]) == (10, VOCABULARY["[CLS]"], VOCABULARY["[SEP]"])


@pytest.mark.parametrize("engine", ["numpy", "onnxruntime"])
def test_vectors_are_those_of_the_paper_whatever_else_is_in_the_batch(tmp_path: Path, engine: str) -> None:
    model, made = Bert(tiny_bert.write(tmp_path), onnx=engine != "numpy"), tiny_bert.weights()
    assert model.engine.split()[0] == engine
    together = model.encode(TEXTS, 1)
    for text, vector in zip(TEXTS, together, strict=True):
        assert list(vector) == pytest.approx(tiny_bert.embedded(PIECES(text, 24), made), abs=2e-6)
        assert list(model.encode([text], 1)[0]) == pytest.approx(list(vector), abs=2e-6)


def test_a_model_is_named_by_its_weights(tmp_path: Path) -> None:
    one, same, other = (Bert(tiny_bert.write(tmp_path / name, seed)) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert one.id == same.id != other.id


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_onnxruntime_and_numpy_give_the_same_vectors_under_the_same_name(tmp_path: Path, activation: str) -> None:
    folder = tiny_bert.write(tmp_path, hidden_act=activation)
    fast, slow = Bert(folder), Bert(folder, onnx=False)
    assert fast.id == slow.id and fast.engine != slow.engine == "numpy"
    for one, other in zip(fast.encode(TEXTS, 1), slow.encode(TEXTS, 1), strict=True):
        assert list(one) == pytest.approx(list(other), abs=1e-5)


def test_the_first_piece_may_stand_for_the_text(tmp_path: Path) -> None:
    folder = tiny_bert.write(tmp_path)
    mean = Bert(folder).encode(TEXTS, 1)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    first = [Bert(folder, onnx=onnx).encode(TEXTS, 1) for onnx in (True, False)]
    assert list(first[0][0]) == pytest.approx(list(first[1][0]), abs=1e-5)
    assert list(first[0][0]) != pytest.approx(list(mean[0]), abs=1e-3)


def test_an_english_model_does_not_know_chinese(tmp_path: Path) -> None:
    model = Bert(tiny_bert.write(tmp_path))
    asked = ["Where is the cat?", "我的猫在哪里", "ねこはどこ", "Who is 李 of the office", "?!"]
    assert [model.knows(text) for text in asked] == [True, False, False, True, True]


def test_the_vocabulary_may_stand_in_the_tokenizer(tmp_path: Path) -> None:
    folder = tiny_bert.write(tmp_path)
    before = Bert(folder).encode(TEXTS, 1)
    (folder / "vocab.txt").unlink()
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordPiece", "vocab": VOCABULARY}}), "utf-8")
    assert [list(one) for one in Bert(folder).encode(TEXTS, 1)] == [list(one) for one in before]


def refusal(folder: Path) -> str:
    with pytest.raises(NoEmbedding) as caught:
        Bert(folder)
    return str(caught.value)


def test_other_kinds_of_model_are_refused(tmp_path: Path) -> None:
    assert "of the kind xlm-roberta" in refusal(tiny_bert.write(tmp_path / "kind", model_type="xlm-roberta"))
    assert "silu" in refusal(tiny_bert.write(tmp_path / "act", hidden_act="silu"))
    unigram = tiny_bert.write(tmp_path / "unigram")
    (unigram / "vocab.txt").unlink()
    (unigram / "tokenizer.json").write_text('{"model": {"type": "Unigram"}}')
    assert "its tokenizer is Unigram" in refusal(unigram)


@pytest.mark.parametrize("bytes_", [b"", b"\x05", b"{}" * 40, b"\xff" * 64, b"\x02\0\0\0\0\0\0\0[]"])
def test_damaged_weights_are_refused(tmp_path: Path, bytes_: bytes) -> None:
    folder = tiny_bert.write(tmp_path)
    (folder / "model.safetensors").write_bytes(bytes_)
    assert "no safetensors file" in refusal(folder) or "is missing" in refusal(folder)


def test_half_of_the_weights_are_refused(tmp_path: Path) -> None:
    folder = tiny_bert.write(tmp_path)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert "no safetensors file" in refusal(folder)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "config.json" in refusal(tmp_path / "nowhere")
    folder = tiny_bert.write(tmp_path)
    (folder / "model.safetensors").unlink()
    assert "model.safetensors" in refusal(folder)


def test_half_precision_is_read(tmp_path: Path) -> None:
    exact = Bert(tiny_bert.write(tmp_path)).encode(TEXTS, 1)
    (tmp_path / "model.safetensors").write_bytes(halved((tmp_path / "model.safetensors").read_bytes()))
    for one, other in zip(Bert(tmp_path).encode(TEXTS, 1), exact, strict=True):
        assert list(one) == pytest.approx(list(other), abs=0.05)


def halved(data: bytes) -> bytes:
    """All tensors as BF16: the upper half of each number."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    raw = data[8 + length :]
    for name, what in header.items():
        if name != "__metadata__":
            what["dtype"] = "BF16"
            what["data_offsets"] = [at // 2 for at in what["data_offsets"]]
    upper = b"".join(raw[at + 2 : at + 4] for at in range(0, len(raw), 4))
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + upper


def lengths(vectors: Sequence[Sequence[float]]) -> list[float]:
    return [sum(number * number for number in vector) for vector in vectors]


def test_vectors_are_of_length_one(tmp_path: Path) -> None:
    assert lengths(Bert(tiny_bert.write(tmp_path)).encode(TEXTS, 1)) == pytest.approx([1.0] * len(TEXTS), abs=1e-5)
