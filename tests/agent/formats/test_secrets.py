"""Known secrets are struck out of text, however a program or a page writes them."""

from __future__ import annotations

import base64
import html
import json
import random
import time
from urllib.parse import quote

import pytest

from agent.formats.secrets import STRUCK, KnownSecrets

SECRET = "sk-ant-api03-Ab_9+c/d&e:FGHIJ"
STRIKE = KnownSecrets([SECRET, "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"])


def wrapped(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"../config.yaml:  api_key: {SECRET}\n",
        f"https://api.telegram.org/bot{'110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'}/getMe",
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower().replace("ghij", "GHIJ").replace("ab_", "Ab_").replace("fGHIJ", "FGHIJ"),
        quote(SECRET),
        html.escape(SECRET),
        json.dumps({"key": SECRET}),
        SECRET[::-1],
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        wrapped(SECRET, 7),
        wrapped(f"x{SECRET}y", 3),
        f"\x1b[01;31m\x1b[K{SECRET[:6]}\x1b[m\x1b[K{SECRET[6:]}",
        SECRET.encode("utf-16-le").decode(),
        *(base64.b64encode(b"x" * before + SECRET.encode() + b"\n").decode() for before in range(4)),
        *(base64.urlsafe_b64encode(b"x" * before + SECRET.encode()).decode() for before in range(4)),
        wrapped(base64.b64encode(b"api_key: " * 9 + SECRET.encode()).decode(), 76),
    ],
)
def test_it_is_struck_out(text: str) -> None:
    struck = STRIKE(text)
    assert STRUCK in struck and SECRET not in struck
    assert len(struck.replace(STRUCK, "")) <= len(text) - len(SECRET) + 4
    assert STRIKE(struck) == struck


def test_the_rest_stays_byte_for_byte() -> None:
    dice = random.Random(1)
    for _ in range(500):
        parts = ["".join(dice.choice("ab\n\r é\0") for _ in range(dice.randint(0, 9))) for _ in range(3)]
        assert STRIKE(SECRET.join(parts)) == STRUCK.join(parts)
        assert STRIKE("".join(parts)) == "".join(parts)


def test_short_ones_tear_nothing_to_pieces() -> None:
    assert KnownSecrets(["ollama", ""])("ask ollama") == "ask ollama"


def test_bytes_of_any_kind() -> None:
    data = bytes(range(256)) + SECRET.encode() + bytes(range(256))
    assert STRIKE.in_bytes(data) == bytes(range(256)) + STRUCK.encode() + bytes(range(256))
    umlaut = KnownSecrets(["pässwörd-lang"])
    assert umlaut.in_bytes("x pässwörd-lang".encode()) == b"x " + STRUCK.encode()


def test_it_takes_no_longer_for_longer_texts_than_it_must() -> None:
    many = KnownSecrets([f"secret-number-{number}" for number in range(30)])
    begun = time.process_time()
    many("secret-number-" * 100_000)
    assert time.process_time() - begun < 10
