"""Voices: a server that speaks OpenAI's API, over HTTP, and programs; and whatever they may do instead."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.features.speech.speak import Recording, Speaker, SpeechFailed, SpeechProgram, SpeechServer, record
from tests import files
from tests.fakes.bell import Bell
from tests.fakes.openai_media import KEY, SPEECH_MODEL, VOICE, OpenAiMedia
from tests.fakes.parking import Parking

COPY = ("sh", "-c", 'cat > /dev/null; cp "$1" "$2"', "-")


@pytest.fixture
async def server() -> AsyncIterator[OpenAiMedia]:
    async with OpenAiMedia().serving() as serving:
        yield serving


def voice(server: OpenAiMedia, key: str = KEY, seconds: float = 60.0) -> SpeechServer:
    return SpeechServer(f"{server.base_url}/", SPEECH_MODEL, VOICE, key, seconds)


def program(tmp_path: Path, content: bytes) -> SpeechProgram:
    """Writes that, whatever it is to say."""
    (tmp_path / "sound").write_bytes(content)
    return SpeechProgram((*COPY, str(tmp_path / "sound"), "{file}"))


async def failed(speaker: Speaker, folder: Path) -> str:
    with pytest.raises(SpeechFailed) as why:
        await record(speaker, "Hello.", folder)
    return str(why.value)


async def test_a_server_is_sent_the_text_and_gives_a_voice_note(server: OpenAiMedia, tmp_path: Path) -> None:
    recording = await record(voice(server), "Guten Morgen.", tmp_path)
    assert recording == Recording(tmp_path / "speech.wav", "ogg", is_voice=True)
    assert recording.path.read_bytes() == files.opus("Guten Morgen.")
    assert server.spoken == ["Guten Morgen."]


async def test_what_a_server_may_do_instead(server: OpenAiMedia, tmp_path: Path) -> None:
    assert await failed(voice(server, "sk-wrong"), tmp_path) == "the server refused it (401)"
    server.status = 500
    assert await failed(voice(server), tmp_path) == "the server refused it (500)"
    server.status, server.body = 200, b""
    assert await failed(voice(server), tmp_path) == "what came is empty"
    server.body, server.content_type = b"<!doctype html><p>Log in</p>", "text/html"
    assert await failed(voice(server), tmp_path) == "what came is no sound but a web page"
    server.body, server.content_type = b'{"error": 1}', "application/json"
    assert await failed(voice(server), tmp_path) == "what came is no sound but a text"
    server.body = files.opus() + bytes(16_000_000)
    assert await failed(voice(server), tmp_path) == "what came has more than 15 MB"
    server.body, server.megabytes = None, 1_000
    assert await failed(voice(server), tmp_path) == "the answer is too large"
    server.megabytes, server.hold = 0, Parking(Bell())
    assert await failed(voice(server, seconds=0.3), tmp_path) == "the server cannot be reached (no answer in time)"
    server.hold.release()


async def test_a_server_that_is_gone(tmp_path: Path) -> None:
    async with OpenAiMedia().serving() as server:
        speaker = voice(server)
    assert "cannot be reached" in await failed(speaker, tmp_path)


async def test_no_key_of_ours_is_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    monkeypatch.setenv("HF_HOME", "/models")
    speaker = SpeechProgram(("sh", "-c", 'env > "$1.env"; exit 1', "-", "{file}"))
    assert "failed (exit code 1)" in await failed(speaker, tmp_path)
    seen = (tmp_path / "speech.wav.env").read_text()
    assert "canary" not in seen and "HF_HOME=/models" in seen and "PATH=" in seen


async def test_a_program_reads_the_text_and_writes_a_file(tmp_path: Path) -> None:
    script = f'import sys; open(sys.argv[1], "wb").write({files.opus()!r} + sys.stdin.buffer.read())'
    speaker = SpeechProgram((sys.executable, "-c", script, "{file}"))
    recording = await record(speaker, "$(rm -rf x) 你好 'quoted'", tmp_path)
    assert recording.is_voice
    assert recording.path.read_bytes() == files.opus() + "$(rm -rf x) 你好 'quoted'\n".encode()


async def test_what_a_program_may_do_instead(tmp_path: Path) -> None:
    def sh(script: str, seconds: float = 60.0) -> SpeechProgram:
        return SpeechProgram(("sh", "-c", f"{script} # $1", "-", "{file}"), seconds)

    missing = SpeechProgram(("no-such-voice", "{file}"))
    assert await failed(missing, tmp_path) == ("the program no-such-voice cannot be started (there is no such program)")
    assert await failed(sh("exit 3"), tmp_path) == "the program sh failed (exit code 3)"
    assert await failed(sh("true"), tmp_path) == "no file was written"
    assert await failed(sh("sleep 60", 0.3), tmp_path) == "the program sh took too long"
    assert await failed(sh("yes", 0.3), tmp_path) == "the program sh took too long"
    assert await failed(program(tmp_path, b""), tmp_path) == "what came is empty"
    assert await failed(program(tmp_path, b"oops\n"), tmp_path) == "what came is no sound but a text"


async def test_without_a_converter_other_sounds_stay_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("sh", "cat", "cp"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for content, ending in ((files.wav(), "wav"), (files.MP3, "mp3"), (files.OGG, "ogg")):
        recording = await record(program(tmp_path, content), "Hello.", tmp_path)
        assert (recording.ending, recording.is_voice) == (ending, False)
        assert recording.path.read_bytes() == content


async def test_a_converter_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    broken = tmp_path / "bin" / "ffmpeg"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    recording = await record(program(tmp_path, files.wav()), "Hello.", tmp_path)
    assert (recording.ending, recording.is_voice) == ("wav", False)


@pytest.mark.requires("ffmpeg")
async def test_a_converter_makes_voice_notes(tmp_path: Path) -> None:
    recording = await record(program(tmp_path, files.wav()), "Hello.", tmp_path)
    assert (recording.path.name, recording.ending, recording.is_voice) == ("speech.ogg", "ogg", True)
    damaged = await record(program(tmp_path, b"ID3" + bytes(20)), "Hello.", tmp_path)
    assert (damaged.ending, damaged.is_voice) == ("mp3", False)


@pytest.mark.requires("ffmpeg")
@pytest.mark.requires("espeak-ng")
async def test_a_real_voice(tmp_path: Path) -> None:
    speaker = SpeechProgram(("espeak-ng", "--stdin", "-w", "{file}"))
    recording = await record(speaker, "Good morning. " * 20, tmp_path)
    assert recording.is_voice and recording.path.stat().st_size > 10_000


async def test_speaking_that_is_stopped_leaves_no_program(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    speaker = SpeechProgram(("sh", "-c", f"exec 3>'{fifo}'; echo started >&3; sleep 60; : $1", "-", "{file}"))
    working = asyncio.create_task(speaker.speak("Hello.", tmp_path / "speech.wav"))
    async with asyncio.timeout(120):
        held = await asyncio.to_thread(fifo.open)
        with held:
            await asyncio.to_thread(held.readline)
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working
            assert await asyncio.to_thread(held.read) == ""


def test_a_key_is_not_shown() -> None:
    assert "sk-1" not in repr(SpeechServer("http://x", "m", "v", "sk-1"))
