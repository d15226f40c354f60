"""An embedder that is configured and cannot work is told, with the reason: by the doctor, by `memory status` and at the
start."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from channels.checks import Finding
from gateway.cli import daybook as daybook_command
from gateway.doctor.examine import examine
from gateway.embedder.build import model_folder
from gateway.embedder.offer import GAIN
from gateway.home import Home
from tests.agent.search.vectors import tiny_model
from tests.fakes.embeddings import KEY, MODEL, Embeddings, is_too_slow
from tests.gateway.conftest import Daybook

Wanted = Mapping[str, str] | str


def found(home: Path, embedding: Wanted) -> Finding:
    config = {"channels": {"web": {"enabled": False}}, "memory": {"search": {"embedding": embedding}}}
    (home / "config.yaml").write_text(yaml.safe_dump(config), "utf-8")
    while True:
        (one,) = (finding for finding in examine(Home(home), {}) if finding.check == "embedding")
        if not is_too_slow(one.message):
            return one


def status(home: Path) -> str:
    while True:
        done = CliRunner().invoke(daybook_command, ["--home", str(home), "memory", "status", "--json"])
        assert done.exit_code == 0, done.output
        problem = str(json.loads(done.stdout)["embedder_problem"])
        if not is_too_slow(problem):
            return problem


def server(fake: Embeddings | None, **changes: str) -> dict[str, str]:
    base = fake.base_url if fake is not None else "http://127.0.0.1:9/v1"
    return {"base_url": base, "model": MODEL, "api_key": KEY, **changes}


async def told(home: Path, embedding: Wanted, why: str) -> None:
    """By the doctor, and by `memory status`."""
    one = await asyncio.to_thread(found, home, embedding)
    assert not one.ok and why in one.message and one.fix, one
    assert why in await asyncio.to_thread(status, home)


async def test_a_home_without_an_embedder_has_no_problem(tmp_path: Path) -> None:
    for embedding in ("auto", "none"):
        assert (await asyncio.to_thread(found, tmp_path, embedding)).ok
        assert await asyncio.to_thread(status, tmp_path) == ""


async def test_a_folder_that_is_missing_and_one_that_lacks_a_file(tmp_path: Path) -> None:
    await told(tmp_path, {"model_dir": "nowhere"}, "there is no folder")
    tiny_model.write(tmp_path / "model")
    assert (await asyncio.to_thread(found, tmp_path, {"model_dir": "model"})).ok
    assert await asyncio.to_thread(status, tmp_path) == ""
    (tmp_path / "model" / "tokenizer.json").unlink()
    await told(tmp_path, {"model_dir": "model"}, "lacks tokenizer.json")
    tiny_model.write(tmp_path / "model", factor=float("nan"))
    await told(tmp_path, {"model_dir": "model"}, "something that is no vector")


async def test_without_a_model_the_doctor_says_how_to_get_one(tmp_path: Path) -> None:
    hint = (await asyncio.to_thread(found, tmp_path, "auto")).message
    assert "no model is installed" in hint and GAIN in hint and "`daybook memory embedder --fetch`" in hint
    assert GAIN not in (await asyncio.to_thread(found, tmp_path, "none")).message
    model_folder(Home(tmp_path)).mkdir(parents=True)
    (model_folder(Home(tmp_path)) / "model.safetensors").write_text("of the old kind")
    assert "of a kind that is no longer supported" in (await asyncio.to_thread(found, tmp_path, "auto")).message


async def test_a_model_in_the_home_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    folder = tiny_model.write(model_folder(Home(tmp_path)))
    (folder / "onnx" / "model.onnx").unlink()
    (folder / "onnx" / "model.onnx").symlink_to(tmp_path / "gone")
    one = await asyncio.to_thread(found, tmp_path, "auto")
    assert not one.ok and "the installed model can't be read: the model in" in one.message and one.fix
    assert "lacks onnx/model.onnx" in one.message
    assert (await asyncio.to_thread(found, tmp_path, "none")).ok
    assert await asyncio.to_thread(status, tmp_path) == ""


@pytest.mark.parametrize("library", ["numpy", "onnxruntime", "tokenizers"])
async def test_without_a_library_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    tiny_model.write(model_folder(Home(tmp_path)))
    monkeypatch.setitem(sys.modules, library, None)
    await told(tmp_path, {"model_dir": "state/models/embedding"}, "pip install 'daybook-assistant[meaning]'")
    unused = await asyncio.to_thread(found, tmp_path, "auto")
    assert unused.ok and f"not used: {library} is not installed" in unused.message


async def test_a_server_that_is_not_there_refuses_the_key_or_knows_no_such_model(tmp_path: Path) -> None:
    await told(tmp_path, server(None), "cannot be reached")
    async with Embeddings().serving() as fake:
        assert (await asyncio.to_thread(found, tmp_path, server(fake))).ok
        assert await asyncio.to_thread(status, tmp_path) == ""
        await told(tmp_path, server(fake, api_key="sk-wrong"), "refused the key (401")
        assert "sk-wrong" not in (await asyncio.to_thread(found, tmp_path, server(fake, api_key="sk-wrong"))).message
        await told(tmp_path, server(fake, model="other"), "refused it (404)")
        fake.answer = "[]"
        await told(tmp_path, server(fake), "not what such servers answer")


async def test_vectors_of_another_size_than_those_kept(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "memory").mkdir(parents=True)
    (tmp_path / "workspace" / "memory" / "2026-10-18.md").write_text("- Ben bought an automobile.\n", "utf-8")
    async with Embeddings().serving() as fake:
        assert (await asyncio.to_thread(found, tmp_path, server(fake))).ok
        index = ["--home", str(tmp_path), "memory", "index"]
        assert (await asyncio.to_thread(CliRunner().invoke, daybook_command, index)).exit_code == 0
        fake.size = 32
        await told(tmp_path, server(fake), "the embedder changed its size")


async def test_a_start_says_it_in_the_log(daybook: Daybook, caplog: pytest.LogCaptureFixture) -> None:
    """Also where nothing is there to be embedded yet."""
    daybook.settings["memory"] = {"search": {"embedding": server(None)}}
    async with daybook.running(), asyncio.timeout(120):
        while "searched by words only: the embedding server cannot be reached" not in caplog.text:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
