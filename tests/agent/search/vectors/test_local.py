"""A model's folder runs as it says of itself, whatever its tokenizer, pooling, prefix and numbers; and what is no such
folder is refused in a sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from onnx import ModelProto, TensorProto, load, save

from agent.search.vectors.encoder import NoEmbedding
from agent.search.vectors.local import LocalModel, free_in_group, free_memory
from agent.search.vectors.model_folder import has_graph, read_folder, stamp
from tests.agent.search.vectors import tiny_model
from tests.agent.search.vectors.tiny_model import ENGLISH, MANY

TEXTS = {
    "The cat sits outside.": "[CLS] the cat sits out ##side . [SEP]",
    "A dog plays guitar?": "[CLS] a dog play ##s guitar ? [SEP]",
    "Café": "[CLS] caf ##e [SEP]",
    "cat dog zebra": "[CLS] cat dog [UNK] [SEP]",
    "": "[CLS] [SEP]",
}
IN_MANY = {
    "the cats.": "<s> ▁the ▁cat s . </s>",
    "кошка 猫": "<s> ▁кошка ▁猫 </s>",
    "dog狗?": "<s> ▁dog 狗 ? </s>",
}


PANICS = json.dumps(
    {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAAECAwQ="},
        "model": {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 0},
    }
)
"""A tokenizer whose library ends in a panic."""


def numbers(pieces: str, words: list[str] = ENGLISH) -> list[int]:
    return [words.index(piece) for piece in pieces.split()]


def assert_gives(model: LocalModel, texts: Mapping[str, str], words: list[str], pooling: str = "mean_tokens") -> None:
    """Together and one by one, the vectors of those pieces."""
    rows = tiny_model.table(len(words))
    together = model.encode(list(texts), 1)
    for (text, pieces), vector in zip(texts.items(), together, strict=True):
        expected = tiny_model.embedded(numbers(pieces, words), rows, pooling)
        assert list(vector) == pytest.approx(expected, abs=2e-6), text
        assert list(model.encode([text], 1)[0]) == pytest.approx(expected, abs=2e-6), text


@pytest.mark.parametrize("pooling", ["mean_tokens", "cls_token", "max_tokens", "lasttoken", "mean_sqrt_len_tokens"])
def test_vectors_are_those_of_the_pieces_whatever_else_is_in_the_batch(tmp_path: Path, pooling: str) -> None:
    model = LocalModel(tiny_model.write(tmp_path, pooling=pooling))
    assert_gives(model, TEXTS, ENGLISH, pooling)
    assert model.size == tiny_model.WIDTH and model.engine.startswith("onnxruntime ")


def test_a_tokenizer_of_many_languages_runs_as_well(tmp_path: Path) -> None:
    model = LocalModel(
        tiny_model.write(tmp_path, words=MANY, tokenizer="unigram", inputs=("input_ids", "attention_mask"))
    )
    assert_gives(model, IN_MANY, MANY)


def test_numbers_of_8_bits_in_the_only_graph_that_is_there(tmp_path: Path) -> None:
    model = LocalModel(tiny_model.write(tmp_path, bits=8, graph="onnx/model_qint8_avx512_vnni.onnx"))
    assert_gives(model, TEXTS, ENGLISH)


def test_a_graph_beside_the_tokenizer_and_nothing_else(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path, graph="model.onnx")
    for name in ("modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "tokenizer_config.json"):
        (folder / name).unlink()
    (folder / "config.json").unlink()
    assert_gives(LocalModel(folder), TEXTS, ENGLISH)


def test_a_graph_that_pools_by_itself(tmp_path: Path) -> None:
    model = LocalModel(tiny_model.write(tmp_path, is_pooled=True, graph="model.onnx"))
    assert_gives(model, TEXTS, ENGLISH)  # the mean is one of the two shares, so its direction is the same


def test_of_several_graphs_the_usual_one_counts_else_the_largest(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path, bits=8, graph="onnx/model_qint8.onnx", factor=float("nan"))
    tiny_model.write(folder, graph="onnx/model_O1.onnx")
    assert_gives(LocalModel(folder), TEXTS, ENGLISH)
    tiny_model.write(folder, seed=6)
    assert list(LocalModel(folder).encode(["cat"], 1)[0]) == pytest.approx(
        tiny_model.embedded(numbers("[CLS] cat [SEP]"), tiny_model.table(len(ENGLISH), 6)), abs=2e-6
    )


def test_what_the_model_wants_before_a_question_and_a_passage_is_put_there(tmp_path: Path) -> None:
    rows = tiny_model.table(len(ENGLISH))
    model = LocalModel(tiny_model.write(tmp_path, prompts={"query": "query: ", "document": "passage: "}))
    asked, kept = model.encode(["cat"], 1, is_question=True)[0], model.encode(["cat"], 1)[0]
    assert list(asked) == pytest.approx(tiny_model.embedded(numbers("[CLS] query : cat [SEP]"), rows), abs=2e-6)
    assert list(kept) == pytest.approx(tiny_model.embedded(numbers("[CLS] passage : cat [SEP]"), rows), abs=2e-6)


def test_a_prefix_for_all_stands_for_either(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path, prompts={"any": "query: "})
    (folder / "config_sentence_transformers.json").write_text(
        '{"prompts": {"any": "query: "}, "default_prompt_name": "any"}'
    )
    expected = tiny_model.embedded(numbers("[CLS] query : cat [SEP]"), tiny_model.table(len(ENGLISH)))
    for is_question in (True, False):
        assert list(LocalModel(folder).encode(["cat"], 1, is_question=is_question)[0]) == pytest.approx(
            expected, abs=2e-6
        )


def test_a_long_text_is_read_from_its_beginning(tmp_path: Path) -> None:
    model = LocalModel(tiny_model.write(tmp_path, length=10))
    expected = tiny_model.embedded(numbers("[CLS]" + " cat" * 8 + " [SEP]"), tiny_model.table(len(ENGLISH)))
    assert list(model.encode(["cat " * 300_000], 1)[0]) == pytest.approx(expected, abs=2e-6)


def test_half_a_character_is_read_as_another(tmp_path: Path) -> None:
    assert len(LocalModel(tiny_model.write(tmp_path)).encode(["cat \ud83d"], 1)[0]) == tiny_model.WIDTH


def test_a_model_is_named_by_all_that_its_vectors_depend_on(tmp_path: Path) -> None:
    def id(name: str, **changes: object) -> str:
        return LocalModel(tiny_model.write(tmp_path / name, **changes)).id  # type: ignore[arg-type]

    others = {
        id("seed", seed=6),
        id("pooling", pooling="cls_token"),
        id("length", length=12),
        id("prefix", prompts={"document": "passage: "}),
        id("bits", bits=8),
    }
    assert id("a") == id("b") and len(others | {id("a")}) == 6


def test_the_stamp_tells_of_each_file_that_is_exchanged(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path)
    for name in ("onnx/model.onnx", "tokenizer.json", "1_Pooling/config.json"):
        before = stamp(folder)
        assert stamp(folder) == before
        (folder / name).rename(folder / "moved")
        (folder / name).write_bytes((folder / "moved").read_bytes())
        assert stamp(folder) != before
    assert stamp(tmp_path / "nowhere") == []


# languages


def test_a_vocabulary_tells_which_languages_a_model_knows(tmp_path: Path) -> None:
    english = LocalModel(tiny_model.write(tmp_path / "english", words=[*ENGLISH, *map(chr, range(ord("а"), ord("я")))]))
    asked = ["The cat plays a guitar?", "我的猫在哪里", "ねこはどこ", "Где моя кошка", "the cat, 李, a dog", "?!"]
    assert [english.knows(text) for text in asked] == [True, False, False, False, True, True]
    signs = [chr(code) for code in range(0x4E00, 0xA000)]
    pairs = [f"▁{chr(0x430 + one)}{chr(0x430 + other)}" for one in range(20) for other in range(15)]
    kana = [f"▁{chr(0x3042 + one)}{chr(0x3042 + other)}" for one in range(20) for other in range(15)]
    letters = [*map(chr, range(0x430, 0x450)), *map(chr, range(0x3041, 0x3097))]
    words = list(dict.fromkeys([*MANY, *signs, *pairs, *kana, *letters]))
    many = LocalModel(
        tiny_model.write(tmp_path / "many", words=words, tokenizer="unigram", inputs=("input_ids", "attention_mask"))
    )
    assert all(
        many.knows(text) for text in ("the cat", "我的猫在哪里", "ねこはどこ", "где моя кошка", "猫 and the cat")
    )


def test_a_text_of_unknown_pieces_is_not_known(tmp_path: Path) -> None:
    model = LocalModel(tiny_model.write(tmp_path))
    assert [model.knows(text) for text in ("the cat sits outside", "zebra, yak and emu", "")] == [True, False, True]


# what is no model


def refusal(folder: Path) -> str:
    with pytest.raises(NoEmbedding) as caught:
        LocalModel(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("without", "says"),
    [
        ("onnx/model.onnx", "lacks onnx/model.onnx"),
        ("tokenizer.json", "lacks tokenizer.json"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, without: str, says: str) -> None:
    folder = tiny_model.write(tmp_path)
    assert has_graph(folder)
    (folder / without).unlink()
    assert says in refusal(folder) and not has_graph(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere") == f"there is no folder {tmp_path / 'nowhere'}"


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("modules.json", '[{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]', "its steps is Dense"),
        ("modules.json", '[{"path": ""}]', "nothing named"),
        ("modules.json", "{}", "modules.json is not as expected"),
        ("modules.json", "[" * 10_000, "modules.json is no JSON"),
        ("1_Pooling/config.json", '{"pooling_mode_weightedmean_tokens": true}', "it pools by weightedmean"),
        ("1_Pooling/config.json", '{"pooling_mode": "attention"}', "it pools by attention"),
        (
            "1_Pooling/config.json",
            '{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}',
            "it pools by mean, cls",
        ),
        ("1_Pooling/config.json", "[]", "config.json is not as expected"),
        ("config_sentence_transformers.json", '{"prompts": ["query: "]}', "its prompts are not as expected"),
        ("tokenizer.json", "", "cannot be run"),
        ("tokenizer.json", '{"model": {"type": "Other"}}', "cannot be run"),
        ("tokenizer.json", PANICS, "tokenizer.json is damaged"),
        ("onnx/model.onnx", "", "cannot be run"),
        ("onnx/model.onnx", "no graph" * 99, "cannot be run"),
    ],
)
def test_a_folder_that_says_what_cannot_be_done_is_refused(tmp_path: Path, file: str, text: str, says: str) -> None:
    folder = tiny_model.write(tmp_path)
    (folder / file).write_text(text)
    assert says in refusal(folder)


def test_the_newer_way_to_name_a_pooling(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "cls", "embedding_dimension": 8}))
    assert_gives(LocalModel(folder), TEXTS, ENGLISH, "cls_token")


@pytest.mark.parametrize("length", ["many", -3, 0, 7, True, 1e30])
def test_a_length_that_is_none_is_the_usual_one(tmp_path: Path, length: object) -> None:
    folder = tiny_model.write(tmp_path)
    for name, key in (("sentence_bert_config.json", "max_seq_length"), ("config.json", "max_position_embeddings")):
        (folder / name).write_text(json.dumps({key: length}))
    assert read_folder(folder).length == 256


def test_a_folder_in_which_nothing_can_be_read_is_none(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path / "model", graph="onnx/model_O1.onnx")
    graph = folder / "onnx" / "model_O1.onnx"
    graph.rename(folder / "moved")
    graph.symlink_to(folder / "gone")
    assert not has_graph(folder) and "lacks onnx/model.onnx" in refusal(folder)
    graph.unlink()
    graph.mkdir()
    assert not has_graph(folder)
    unreadable = tmp_path / ("name too long" * 100)
    assert not has_graph(unreadable) and "cannot be read" in refusal(unreadable)


def test_the_older_layout_with_a_folder_for_the_first_step(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path)
    (folder / "0_Transformer").mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "sentence_bert_config.json", "config.json", "onnx"):
        (folder / name).rename(folder / "0_Transformer" / name)
    steps = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([{**steps[0], "path": "0_Transformer"}, *steps[1:]]))
    assert has_graph(folder)
    assert_gives(LocalModel(folder), TEXTS, ENGLISH)
    before = stamp(folder)
    (folder / "0_Transformer" / "onnx" / "model.onnx").write_bytes(b"another")
    assert stamp(folder) != before


@pytest.mark.parametrize("name", ["model.onnx_data", "model.onnx.data"])
def test_weights_in_a_file_of_their_own_may_be_exchanged_while_it_runs(tmp_path: Path, name: str) -> None:
    folder = tiny_model.write(tmp_path)
    move_weights(folder, name)
    model = LocalModel(folder)
    (folder / "onnx" / name).write_bytes(b"")  # a mapped file that is cut short would end the process
    assert_gives(model, TEXTS, ENGLISH)
    assert "cannot be run" in refusal(folder)


def test_weights_in_a_file_of_another_name_are_refused(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path)
    move_weights(folder, "weights.bin")
    assert "cannot be run" in refusal(folder)


def move_weights(folder: Path, name: str) -> None:
    graph = folder / "onnx" / "model.onnx"
    save(
        load(str(graph)),
        str(graph),
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=name,
        size_threshold=100,
    )
    assert (graph.parent / name).stat().st_size >= len(ENGLISH) * tiny_model.WIDTH * 4


def test_half_a_graph_is_refused(tmp_path: Path) -> None:
    file = tiny_model.write(tmp_path) / "onnx" / "model.onnx"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert "cannot be run" in refusal(tmp_path)


def test_a_graph_for_something_else_than_texts_is_refused(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path, inputs=("input_ids", "attention_mask", "pixel_values"))
    assert "its graph asks for input_ids, attention_mask, pixel_values" in refusal(folder)
    file = folder / "onnx" / "model.onnx"
    graph = ModelProto.FromString(file.read_bytes())
    del graph.graph.input[2]
    graph.graph.node[-1].op_type = "Shape"
    del graph.graph.node[-1].input[1:]
    graph.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    del graph.graph.output[0].type.tensor_type.shape.dim[1:]
    file.write_bytes(graph.SerializeToString())
    assert "its graph answers last_hidden_state, which is no vector of a text" in refusal(folder)


def test_a_vocabulary_larger_than_the_models_is_refused_where_it_breaks(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path)
    tiny_model.write(tmp_path / "larger", words=[*ENGLISH, "what", "is", "said", "here"])
    (folder / "tokenizer.json").write_bytes((tmp_path / "larger" / "tokenizer.json").read_bytes())
    assert "cannot be run" in refusal(folder)


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), 0.0])
def test_a_model_that_answers_no_numbers_is_refused(tmp_path: Path, factor: float) -> None:
    assert "answers with something that is no vector" in refusal(tiny_model.write(tmp_path, factor=factor))


def test_a_model_larger_than_memory_is_not_loaded(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path)
    with pytest.raises(NoEmbedding, match=r"of 0 MB takes about 0 MB of memory, and 0 MB are free"):
        LocalModel(folder, memory=lambda: 1_000)
    LocalModel(folder, memory=lambda: None)
    assert (free_memory() or 1) > 0


def test_files_read_lately_give_way_within_a_limit(tmp_path: Path) -> None:
    assert free_in_group(tmp_path) is None
    (tmp_path / "memory.max").write_text("2000\n")
    (tmp_path / "memory.current").write_text("1900\n")
    assert free_in_group(tmp_path) == 100
    (tmp_path / "memory.stat").write_text("anon 200\nfile 1700\nactive_file 100\ninactive_file 1600\nslab 5\n")
    assert free_in_group(tmp_path) == 1_700
    (tmp_path / "memory.max").write_text("max\n")
    assert free_in_group(tmp_path) is None


def test_what_runs_a_model_reports_to_nobody(tmp_path: Path) -> None:
    """onnxruntime makes an identifier of the machine as soon as it is loaded, and sends it to its maker."""
    around = {name: text for name, text in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    around |= {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", "import agent.search.vectors.local"]
    done = subprocess.run(command, env=around, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("*")) == []
