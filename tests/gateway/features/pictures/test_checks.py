"""The doctor asks the server of pictures for its models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from channels.checks import Finding
from gateway.config import Config
from gateway.config.whole import whole
from gateway.features.pictures.checks import pictures
from gateway.home import Home
from tests.fakes.openai_media import IMAGE_MODEL, KEY, OpenAiMedia


@pytest.fixture
async def server() -> AsyncIterator[OpenAiMedia]:
    async with OpenAiMedia().serving() as serving:
        yield serving


def drawn(server: OpenAiMedia, **more: Any) -> Config:
    images = {"base_url": server.base_url, "model": IMAGE_MODEL, "api_key": KEY} | more
    return whole().model_validate({"media": {"images": images}})


async def looked(config: Config) -> Finding:
    (finding,) = await asyncio.to_thread(lambda: list(pictures(Home(Path()), config)))
    assert finding.check == "pictures" and bool(finding.fix) is not finding.ok and KEY not in str(finding)
    return finding


def test_what_is_off_is_not_mentioned() -> None:
    assert list(pictures(Home(Path()), whole()())) == []


async def test_the_server_of_pictures(server: OpenAiMedia) -> None:
    where = server.origin.removeprefix("http://")
    assert (await looked(drawn(server))).message == f"{where} answers"
    assert (await looked(drawn(server, api_key="sk-wrong"))).message == f"{where} doesn't accept the key"
    assert (await looked(drawn(server, model="none"))).message == f"{where} has no model none"
    server.status = 503
    assert (await looked(drawn(server))).message == f"{where} answered with status 503"
    server.status = 404
    assert (await looked(drawn(server))).ok, "it does not say which models it has"
    assert server.drawn == []


async def test_a_server_of_pictures_that_is_gone() -> None:
    async with OpenAiMedia().serving() as server:
        config = drawn(server)
    assert "can't reach" in (await looked(config)).message
