"""The doctor lets a voice say a word, and asks the server of pictures for its models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.config.capabilities import MediaConfig
from gateway.doctor.media import pictures, speech
from gateway.setup.probe import Finding
from tests import files
from tests.fakes.openai_media import IMAGE_MODEL, KEY, SPEECH_MODEL, VOICE, OpenAiMedia


@pytest.fixture
async def server() -> AsyncIterator[OpenAiMedia]:
    async with OpenAiMedia().serving() as serving:
        yield serving


def spoken(server: OpenAiMedia, **more: Any) -> MediaConfig:
    speaker = {"base_url": server.base_url, "model": SPEECH_MODEL, "voice": VOICE, "api_key": KEY}
    return MediaConfig.model_validate({"speak": speaker | more})


def drawn(server: OpenAiMedia, **more: Any) -> MediaConfig:
    return MediaConfig.model_validate(
        {"images": {"base_url": server.base_url, "model": IMAGE_MODEL, "api_key": KEY} | more}
    )


async def said(config: MediaConfig, seconds: float = 30) -> Finding:
    (finding,) = await asyncio.to_thread(lambda: list(speech(config, seconds)))
    assert finding.check == "speech" and bool(finding.fix) is not finding.ok and KEY not in str(finding)
    return finding


async def looked(config: MediaConfig) -> Finding:
    (finding,) = await asyncio.to_thread(lambda: list(pictures(config)))
    assert finding.check == "pictures" and bool(finding.fix) is not finding.ok and KEY not in str(finding)
    return finding


def test_what_is_off_is_not_mentioned() -> None:
    assert [*speech(MediaConfig()), *pictures(MediaConfig())] == []


async def test_a_voice_that_works(server: OpenAiMedia) -> None:
    assert (await said(spoken(server))).message == "answers can be said aloud"
    assert server.spoken == ["Hello."]


async def test_a_voice_that_does_not(server: OpenAiMedia, tmp_path: Path) -> None:
    wrong = await said(spoken(server, voice="nobody"))
    assert wrong.message == "answers are not said aloud: the server refused it (400)"
    program = MediaConfig.model_validate({"speak": {"command": ["no-such-voice", "{file}"]}})
    assert "there is no such program" in (await said(program)).message
    slow = MediaConfig.model_validate({"speak": {"command": ["sh", "-c", "sleep 60", "{file}"]}})
    assert (await said(slow, 0.2)).message == "answers are not said aloud: no answer within 0.2 s"


async def test_without_a_converter_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "voice").write_text('#!/bin/sh\n/bin/cp "${0%/*}/hello.wav" "$1"\n')
    (tmp_path / "voice").chmod(0o755)
    (tmp_path / "hello.wav").write_bytes(files.wav())
    monkeypatch.setenv("PATH", str(tmp_path))
    found = await said(MediaConfig.model_validate({"speak": {"command": ["voice", "{file}"]}}))
    assert found.ok and "as files (wav); with ffmpeg installed" in found.message


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
