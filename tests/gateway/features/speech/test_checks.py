"""The doctor lets a voice say a word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from channels.checks import Finding
from gateway.config import Config
from gateway.config.whole import whole
from gateway.features.speech.checks import speech
from gateway.home import Home
from tests import files
from tests.fakes.openai_media import KEY, SPEECH_MODEL, VOICE, OpenAiMedia


@pytest.fixture
async def server() -> AsyncIterator[OpenAiMedia]:
    async with OpenAiMedia().serving() as serving:
        yield serving


def config(speak: dict[str, object]) -> Config:
    return whole().model_validate({"media": {"speak": speak}})


def spoken(server: OpenAiMedia, **more: Any) -> Config:
    speaker = {"base_url": server.base_url, "model": SPEECH_MODEL, "voice": VOICE, "api_key": KEY}
    return config(speaker | more)


async def said(with_voice: Config, seconds: float = 30) -> Finding:
    (finding,) = await asyncio.to_thread(lambda: list(speech(Home(Path()), with_voice, seconds)))
    assert finding.check == "speech" and bool(finding.fix) is not finding.ok and KEY not in str(finding)
    return finding


def test_what_is_off_is_not_mentioned() -> None:
    assert [*speech(Home(Path()), whole()())] == []


async def test_a_voice_that_works(server: OpenAiMedia) -> None:
    assert (await said(spoken(server))).message == "answers can be said aloud"
    assert server.spoken == ["Hello."]


async def test_a_voice_that_does_not(server: OpenAiMedia, tmp_path: Path) -> None:
    wrong = await said(spoken(server, voice="nobody"))
    assert wrong.message == "answers are not said aloud: the server refused it (400)"
    program = config({"command": ["no-such-voice", "{file}"]})
    assert "there is no such program" in (await said(program)).message
    slow = config({"command": ["sh", "-c", "sleep 60", "{file}"]})
    assert (await said(slow, 0.2)).message == "answers are not said aloud: no answer within 0.2 s"


async def test_without_a_converter_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "voice").write_text('#!/bin/sh\n/bin/cp "${0%/*}/hello.wav" "$1"\n')
    (tmp_path / "voice").chmod(0o755)
    (tmp_path / "hello.wav").write_bytes(files.wav())
    monkeypatch.setenv("PATH", str(tmp_path))
    found = await said(config({"command": ["voice", "{file}"]}))
    assert found.ok and "as files (wav); with ffmpeg installed" in found.message
