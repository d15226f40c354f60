from __future__ import annotations

import subprocess
import sys

import pytest

from channels.registry import CHANNELS, load


def test_every_channel_can_be_loaded() -> None:
    assert {name: load(name).__name__ for name in CHANNELS} == {
        "telegram": "TelegramChannel",
        "discord": "DiscordChannel",
        "web": "WebChannel",
    }
    with pytest.raises(KeyError):
        load("pigeon")


def test_the_registry_imports_no_platform_library() -> None:
    """`--help` and `doctor` must not pay for what they do not use."""
    code = (
        "import sys, channels.registry, channels.message;"
        "sys.exit(any(name in sys.modules for name in ('telegram', 'httpx', 'discord', 'aiohttp', 'markdown_it')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
