"""Creates a workspace from the template; its files are the owner's from then on."""

from __future__ import annotations

import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from agent.fs import atomic_write
from agent.memory.paths import make_private

_OTHER_NAMES = {"AGENTS.md": "CLAUDE.md", "MEMORY.md": "memory.md"}
"""A file under its other name is read only if ours is missing, so ours is then not created."""


def template_folder() -> Traversable:
    return files("workspace_template")


def create(root: Path, template: Traversable | None = None) -> tuple[Path, ...]:
    """Copies the template; returns new files. Existing ones stay, also dangling links and those under their other name.
    Folders 0700, files 0600. Blocks. Raises `OSError`."""
    make_private(root)
    return tuple(_copy(template if template is not None else template_folder(), root))


def _copy(source: Traversable, target: Path) -> list[Path]:
    written: list[Path] = []
    for item in sorted(source.iterdir(), key=lambda item: item.name):
        path = target / item.name
        if item.name.startswith("__") or item.name.endswith((".py", ".pyc")):
            continue
        if item.is_dir():
            path.mkdir(mode=0o700, exist_ok=True)
            written += _copy(item, path)
        elif not any(
            os.path.lexists(path.with_name(name)) for name in (path.name, _OTHER_NAMES.get(path.name)) if name
        ):
            atomic_write(path, item.read_bytes())
            written.append(path)
    return written
