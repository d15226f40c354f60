"""The page's question: asked once, answered once, and what was remembered before is taken in while searches go on."""

from __future__ import annotations

import asyncio
import sys

import pytest

from agent.model.base import Json
from agent.search.vectors.encoder import NoEmbedding
from gateway.embedder.build import Embedders, model_folder
from gateway.embedder.fetch import FetchedModel
from gateway.embedder.offer import QUESTION, EmbedderOffer
from gateway.home import Home
from gateway.rpc.protocol import OperationError
from gateway.supervisor import BackgroundTasks
from tests.agent.search.vectors import tiny_model
from tests.fakes.embeddings import KEY, MODEL, Embeddings, is_too_slow
from tests.gateway.conftest import Daybook, Running


async def asked(running: Running, **parameters: Json) -> dict[str, Json]:
    found = await running.ask("memory.embedder", **parameters)
    assert isinstance(found, dict)
    return found


async def test_a_no_is_for_good(daybook: Daybook) -> None:
    async with daybook.running() as running:
        offered = await asked(running)
        assert offered["state"] == "offered" and str(offered["text"]).startswith(QUESTION)
        assert (await asked(running, answer="no"))["state"] == ""
        with pytest.raises(OperationError):
            await asked(running, answer="perhaps")
    async with daybook.running() as running:
        assert (await asked(running))["state"] == ""


async def test_who_has_chosen_is_not_asked(daybook: Daybook) -> None:
    daybook.settings["memory"] = {"search": {"embedding": "none"}}
    async with daybook.running() as running:
        assert (await asked(running))["state"] == ""


async def test_a_model_that_comes_while_it_runs_is_taken_up(daybook: Daybook) -> None:
    log = daybook.workspace / "memory" / "2026-10-18.md"
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"- The cat sits outside, number {at}.\n" for at in range(90)), "utf-8")
    async with daybook.running() as running:
        tiny_model.write(model_folder(daybook.home))
        states = {str((await asked(running, answer="use"))["state"])}
        async with asyncio.timeout(120):
            while not await is_embedded(running):
                now = await asked(running)
                states.add(str(now["state"]))
                assert not now["of"] or 0 <= int(str(now["done"])) <= int(str(now["of"]))
                assert await running.ask("memory.search", query="cat", n=1)
                await asyncio.sleep(0.01)
        assert states <= {"", "embedding"} and (await asked(running))["state"] == ""


async def is_embedded(running: Running) -> bool:
    known = await running.ask("memory.status")
    assert isinstance(known, dict)
    return bool(known["passages"]) and known["embedded"] == known["passages"]


class Shop:
    """Brings a model when it may."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.problem: Exception | None = None

    async def __call__(self, home: Home) -> FetchedModel:
        await self.may.wait()
        if self.problem is not None:
            raise self.problem
        return FetchedModel(tiny_model.write(model_folder(home)))


async def test_a_yes_fetches_and_what_fails_is_told_and_tried_again(daybook: Daybook) -> None:
    shop, spawner = Shop(), BackgroundTasks()
    shop.problem = NoEmbedding("the model couldn't be downloaded (no network)")
    offer = EmbedderOffer(daybook.home, daybook.config, {}, Embedders(), spawner, shop)
    async with asyncio.TaskGroup() as group:
        spawner.group = group
        for _ in range(2):
            assert await offer.operate("yes") == {"state": "fetching", "text": "", "done": 0, "of": 0}
        shop.may.set()
        await spawner.idle()
        failed = await offer.operate()
        assert isinstance(failed, dict) and failed["state"] == "failed"
        assert "no network" in str(failed["text"]) and str(model_folder(daybook.home)) in str(failed["text"])
        shop.problem = ZeroDivisionError()
        await offer.operate("yes")
        await spawner.idle()
        failed = await offer.operate()
        assert isinstance(failed, dict) and failed["state"] == "failed" and "ZeroDivisionError." in str(failed["text"])
        shop.problem = None
        await offer.operate("yes")
        await spawner.idle()
        assert (model_folder(daybook.home) / "tokenizer.json").exists()


async def test_a_yes_fetches_nothing_where_a_model_is_in_its_place(daybook: Daybook) -> None:
    async with daybook.running() as running:
        folder = tiny_model.write(model_folder(daybook.home))
        before = (folder / "onnx" / "model.onnx").stat()
        assert (await asked(running, answer="yes"))["state"] == ""
        now = (folder / "onnx" / "model.onnx").stat()
        assert (now.st_ino, now.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # reading it changes its atime
        assert await running.ask("memory.search", query="cat") == []


async def test_a_yes_replaces_no_model_that_lacks_its_library(
    daybook: Daybook, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_model.write(model_folder(daybook.home), seed=6)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    async with daybook.running() as running:
        told = await asked(running, answer="yes")
        assert told["state"] == "failed" and "A model is installed, but onnxruntime is not installed" in str(
            told["text"]
        )
        monkeypatch.undo()
        assert (await asked(running))["state"] == ""


async def test_a_model_that_somebody_puts_there_is_taken_up_by_itself(daybook: Daybook) -> None:
    daybook.workspace.joinpath("memory").mkdir(parents=True)
    (daybook.workspace / "memory" / "2026-10-18.md").write_text("- The cat sits outside.\n", "utf-8")
    async with daybook.running() as running:
        assert (await asked(running))["state"] == "offered"
        tiny_model.write(model_folder(daybook.home))
        async with asyncio.timeout(120):
            while not await is_embedded(running):
                assert (await asked(running))["state"] == ""
                await asyncio.sleep(0.01)


async def test_an_embedder_that_does_not_work_is_told_and_tried_again(daybook: Daybook) -> None:
    log = daybook.workspace / "memory" / "2026-10-18.md"
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"- The cat sits outside, number {at}.\n" for at in range(90)), "utf-8")
    async with Embeddings(status=503).serving() as fake:
        server = {"base_url": fake.base_url, "model": MODEL, "api_key": KEY}
        daybook.settings["memory"] = {"search": {"embedding": server}}
        async with daybook.running() as running, asyncio.timeout(600):
            while not (now := await asked(running))["text"] or is_too_slow(str(now["text"])):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert now["state"] == "failed"
            assert now["text"] == "Memory is searched by words only: the embedding server refused it (503)."
            fake.status = 200
            await asked(running, answer="yes")
            while not await is_embedded(running) or (await asked(running))["state"]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert not model_folder(daybook.home).exists(), "no model is fetched where another embedder is wanted"
            fake.status = 503
            await running.ask("memory.search", query="dog")
            while (await asked(running))["state"] != "failed":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert (await asked(running, answer="no"))["state"] == ""
