"""Each feature can be deleted: its folder, its line and its tests; and everything else still works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

from gateway.features import NAMES
from tests.forked import _SHARED, ROOT

_PARTS = ("agent", "channels", "gateway", "tests", "workspace_template", "pyproject.toml")
_KERNEL = ("tests/gateway/messages", "tests/gateway/policy", "tests/gateway/test_router.py")
_STORY = """
import asyncio, os
import gateway
from gateway.app import open_gateway
from gateway.cli import COMMANDS
from gateway.config import load
from gateway.config.reference import keys
from gateway.doctor.examine import examine
from gateway.home import Home
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess

async def story():
    async with FakeTelegram() as telegram, FakeAnthropic() as model:
        process = GatewayProcess(telegram, model, start_now=False)
        os.environ["XDG_STATE_HOME"] = process.environ["XDG_STATE_HOME"]  # who uses which token is noted there
        home = Home(process.home)
        config, stop = load(home, {}).config, asyncio.Event()
        async with open_gateway(home, config, channels=True) as opened, asyncio.TaskGroup() as group:
            group.create_task(opened.run(stop))
            telegram.say("Hello")
            await telegram.next_message(OWNER)
            stop.set()
        found = await asyncio.to_thread(examine, home, {})
        assert all(one.ok for one in found), [one for one in found if not one.ok]

print(gateway.__file__, *COMMANDS, *(key.name for key in keys()))
asyncio.run(story())
"""


def _copy_without(names: tuple[str, ...], folder: Path) -> Path:
    for part in _PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part)
        else:
            shutil.copy2(ROOT / part, folder / part)
    listing = folder / "gateway" / "features" / "__init__.py"
    lines = listing.read_text().splitlines(keepends=True)
    listing.write_text("".join(line for line in lines if line.strip() not in {f'"{name}",' for name in names}))
    for name in names:
        shutil.rmtree(folder / "gateway" / "features" / name)
        shutil.rmtree(folder / "tests" / "gateway" / "features" / name)
    return folder


def _ran(folder: Path, *words: str) -> str:
    environ = {name: value for name, value in os.environ.items() if name != _SHARED}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env={**environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize(
    "names", [NAMES, *(pytest.param((name,), marks=pytest.mark.full) for name in NAMES)], ids="-".join
)
def test_features_can_be_deleted_with_their_lines(names: tuple[str, ...], tmp_path: Path) -> None:
    """All of them at once; with `--full` each alone, too."""
    folder = _copy_without(names, tmp_path)
    shown = _ran(folder, "-c", _STORY)
    assert shown.startswith(str(folder)), "it is the copy that runs"
    manifests = [import_module(f"gateway.features.{name}").FEATURE for name in names]
    commands = {command for manifest in manifests for command in manifest.commands}
    settings = {key for manifest in manifests for section in manifest.config for key in resolve_name(section).texts}
    there = shown.split()[1:]
    assert (commands | settings).isdisjoint(there) and {"doctor", "media.max_mb"} <= set(there)


@pytest.mark.full
def test_the_kernel_is_tested_without_features(tmp_path: Path) -> None:
    folder = _copy_without(NAMES, tmp_path)
    _ran(folder, "-m", "pytest", "-p", "no:cacheprovider", "-x", "--quick", *_KERNEL)


def test_nothing_names_the_folder_of_a_feature_but_the_list() -> None:
    """Imports are a contract of the linter; this is about names in strings."""
    for package in ("agent", "channels", "gateway"):
        for file in (ROOT / package).rglob("*.py"):
            if file.is_relative_to(ROOT / "gateway" / "features"):
                continue
            names = [f"features.{name}" for name in NAMES if f"features.{name}" in file.read_text(encoding="utf-8")]
            assert not names, file


def test_no_test_of_the_kernel_imports_a_feature() -> None:
    """Stories (`tests/flows`) and the recorded surface are of everything."""
    of_everything = [ROOT / "tests" / name for name in ("gateway/features", "flows", "recorded", "strength.py")]
    for file in (ROOT / "tests").rglob("*.py"):
        if any(file.is_relative_to(path) for path in of_everything):
            continue
        text = file.read_text(encoding="utf-8")
        assert not [name for name in NAMES if f"gateway.features.{name} " in text or f"features.{name}." in text], file
