"""Transcribers: a server that speaks OpenAI's API, over HTTP, and a program."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agent.media.sniff import Unreadable
from gateway.features.speech.transcribe import Endpoint, Program
from gateway.turns.attachments import Transcriber
from tests import forked


async def strict(request: web.Request) -> web.Response:
    """As OpenAI's server: key, model and a file whose name says its format."""
    if request.headers.get("Authorization") != "Bearer sk-1":
        return web.json_response({"error": {"message": "Incorrect API key"}}, status=401)
    form = await request.post()
    file = form.get("file")
    if form.get("model") != "whisper-1" or not isinstance(file, web.FileField) or not file.filename.endswith(".ogg"):
        return web.json_response({"error": {"message": "bad request"}}, status=400)
    return web.json_response({"text": f" {file.file.read().decode()} was said \n"})


@asynccontextmanager
async def server(answer: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/v1/audio/transcriptions", answer)
    async with TestServer(app) as running:
        yield str(running.make_url("/v1"))


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    file = tmp_path / "voice.ogg"
    file.write_bytes(b"hello")
    return file


async def refused(transcriber: Transcriber, voice: Path) -> str:
    with pytest.raises(Unreadable) as why:
        await transcriber.transcribe(voice)
    return str(why.value)


async def test_a_server_is_sent_the_file_and_gives_the_words(voice: Path) -> None:
    async with server(strict) as address:
        assert await Endpoint(address + "/", "whisper-1", "sk-1").transcribe(voice) == "hello was said"


async def test_what_a_server_may_do_instead(voice: Path) -> None:
    async with server(strict) as address:
        assert "401" in await refused(Endpoint(address, "whisper-1", "sk-secret"), voice)
    assert "cannot be reached" in await refused(Endpoint(address, "whisper-1"), voice)
    for body, why in (("no JSON", "not what such servers"), ("[1]", "not what"), ('{"text": " "}', "no words")):

        async def answer(_: web.Request, body: str = body) -> web.Response:
            return web.Response(text=body)

        async with server(answer) as address:
            assert why in await refused(Endpoint(address, "m"), voice)


async def test_a_program_prints_the_words(voice: Path) -> None:
    assert await Program(("cat", "{file}")).transcribe(voice) == "hello"
    assert "exit code 3" in await refused(Program(("sh", "-c", "exit 3", "{file}")), voice)
    assert "cannot be started" in await refused(Program(("no-such-program", "{file}")), voice)
    assert "no words" in await refused(Program(("true", "{file}")), voice)
    lots = await Program(("sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' a # $1", "-", "{file}")).transcribe(voice)
    assert len(lots) == 400_000


@pytest.mark.skipif(os.name == "nt", reason="sh")
async def test_a_program_and_what_it_started_end_with_a_gateway_that_is_killed(tmp_path: Path) -> None:
    """All of them hold `fifo` open, whose end is read when the last is gone."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = f"exec 3>'{fifo}'; echo started >&3; sleep 60 & sleep 60; : $1"
    life = (
        "import asyncio, sys; from pathlib import Path; from gateway.features.speech.transcribe import Program\n"
        "asyncio.run(Program(('sh', '-c', sys.argv[1], '-', '{file}')).transcribe(Path('voice.ogg')))"
    )
    gateway = await forked.create_subprocess_exec(sys.executable, "-c", life, script)
    try:
        async with asyncio.timeout(120):
            held = await asyncio.to_thread(fifo.open)
            with held:
                assert await asyncio.to_thread(held.readline) == "started\n"
                gateway.kill()
                await gateway.wait()
                assert await asyncio.to_thread(held.read) == ""
    finally:
        if gateway.returncode is None:
            gateway.kill()
            await gateway.wait()


async def test_a_program_that_is_stopped_leaves_nothing_behind(voice: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = Program(("sh", "-c", f"exec 3>'{fifo}'; echo started >&3; sleep 60 & sleep 60; : $1", "-", "{file}"))
    working = asyncio.create_task(program.transcribe(voice))
    async with asyncio.timeout(120):
        held = await asyncio.to_thread(fifo.open)
        with held:
            await asyncio.to_thread(held.readline)
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working
            assert await asyncio.to_thread(held.read) == ""


def test_a_key_is_not_shown() -> None:
    assert "sk-1" not in repr(Endpoint("http://x", "m", "sk-1"))
