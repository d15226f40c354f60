from __future__ import annotations

import subprocess
import sys

from channels.registry import CHANNELS, MANIFESTS


def test_every_channel_has_a_manifest_of_its_name() -> None:
    assert [manifest.name for manifest in MANIFESTS.values()] == [*CHANNELS] == ["telegram", "discord"]
    answers = [question.answer for manifest in MANIFESTS.values() for question in manifest.questions]
    assert len(answers) == len({*answers})


def test_manifests_import_no_platform_library() -> None:
    """`--help` and `doctor` must not pay for what they do not use."""
    code = (
        "import sys, channels.registry, channels.message;"
        "sys.exit(any(name in sys.modules for name in ('telegram', 'httpx', 'discord', 'aiohttp', 'markdown_it')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
