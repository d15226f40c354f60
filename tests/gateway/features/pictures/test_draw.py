"""Pictures from a server that speaks OpenAI's API, over HTTP; and whatever it may do instead."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gateway.features.pictures.draw import ImageServer
from gateway.features.pictures.painter import NotDrawn
from tests import files
from tests.fakes.bell import Bell
from tests.fakes.openai_media import IMAGE_MODEL, KEY, URL_MODEL, OpenAiMedia
from tests.fakes.parking import Parking


@pytest.fixture
async def server() -> AsyncIterator[OpenAiMedia]:
    async with OpenAiMedia().serving() as serving:
        yield serving


def painter(server: OpenAiMedia, model: str = IMAGE_MODEL, key: str = KEY, seconds: float = 60.0) -> ImageServer:
    return ImageServer(f"{server.base_url}/", model, key, seconds)


async def failed(painter: ImageServer) -> str:
    with pytest.raises(NotDrawn) as why:
        await painter.draw("a boat")
    assert KEY not in str(why.value)
    return str(why.value)


@pytest.mark.parametrize("model", [IMAGE_MODEL, URL_MODEL])
async def test_a_server_draws_whether_or_not_it_may_be_asked_for_bytes(server: OpenAiMedia, model: str) -> None:
    picture = await painter(server, model).draw("a boat")
    assert picture.content == files.picture()
    assert (picture.cost, picture.input, picture.output) == (None, 12, 272)
    assert server.drawn == ["a boat"]


async def test_a_price_is_taken_where_it_is_told(server: OpenAiMedia) -> None:
    server.cost = 0.04
    assert (await painter(server).draw("a boat")).cost == 0.04
    server.body = b'{"data": [{"b64_json": "aGk="}], "usage": {"cost": -1, "output_tokens": "many"}}'
    picture = await painter(server).draw("a boat")
    assert (picture.content, picture.cost, picture.output) == (b"hi", None, 0)


async def test_an_address_is_opened_on_the_same_server_with_the_key(server: OpenAiMedia) -> None:
    server.picture_url = f"{server.origin}/pictures/1.png"
    assert (await painter(server, URL_MODEL).draw("a boat")).content == files.picture()
    assert server.keys[-1] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/x.png",
        "https://127.0.0.1/x.png",
        "https://[::1]/x.png",
        "https://[::ffff:10.0.0.1]/x.png",
        "https://169.254.169.254/latest",
        "https://me@example.org/x.png",
        "http://example.org/x.png",
        "file:///etc/passwd",
        "data:image/png;base64,aGk=",
    ],
)
async def test_an_address_elsewhere_must_be_public(server: OpenAiMedia, url: str) -> None:
    server.picture_url = url
    assert await failed(painter(server, URL_MODEL)) == "its address is not public"


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f.1"])
async def test_a_name_that_leads_into_a_private_network_is_not_opened(server: OpenAiMedia, host: str) -> None:
    server.picture_url = f"https://{host}/x.png"
    assert "its address is not public" in await failed(painter(server, URL_MODEL))
    async with OpenAiMedia().serving() as other:
        server.picture_url = f"{other.origin}/pictures/1.png"
        assert await failed(painter(server, URL_MODEL)) == "its address is not public"
        assert other.keys == []


async def test_what_a_server_may_do_instead(server: OpenAiMedia) -> None:
    assert await failed(painter(server, key="sk-wrong")) == "the server refused it (401)"
    assert await failed(painter(server, "no-such-model")) == "the server refused it (404)"
    for status in (400, 500):
        server.status = status
        assert await failed(painter(server)) == f"the server refused it ({status})"
    server.status = 200
    for body in (
        b"",
        b"<html>",
        b"[]",
        b'{"data": []}',
        b'{"data": [{}]}',
        b'{"data": [{"b64_json": "?"}]}',
        b"[" * 99_999,
    ):
        server.body = body
        assert await failed(painter(server)) == "the server's answer is not what such servers answer"
    server.body, server.megabytes = None, 1_000
    assert await failed(painter(server)) == "the server's answer is not what such servers answer"
    server.megabytes, server.hold = 0, Parking(Bell())
    assert await failed(painter(server, seconds=0.3)) == "the server cannot be reached (no answer in time)"
    server.hold.release()
    server.hold, server.picture = None, bytes(16_000_000)
    server.picture_url = f"{server.origin}/pictures/1.png"
    assert await failed(painter(server, URL_MODEL)) == "it has more than 15 MB"


async def test_a_server_that_is_gone() -> None:
    async with OpenAiMedia().serving() as server:
        gone = painter(server)
    assert "cannot be reached" in await failed(gone)


def test_a_key_is_not_shown() -> None:
    assert "sk-1" not in repr(ImageServer("http://x", "m", "sk-1"))
