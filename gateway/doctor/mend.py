"""Mends permissions, missing folders, leftovers of a Daybook that was killed."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator, Mapping

from agent.languages.sentences import Sentence
from agent.workspace import create, template_folder
from gateway.config import ConfigError, load
from gateway.doctor.examine import open_to_others, private_paths
from gateway.home import Home, HomeBusy, HomeError


def mend(home: Home, environ: Mapping[str, str]) -> list[str]:
    """Mends what it can; returns a sentence for each thing that was mended. Blocks."""
    done: list[str] = []
    try:
        done += _folders(home, environ)
    except (ConfigError, HomeError, OSError):  # the doctor reports what is wrong with them
        return done
    done += _permissions(home)
    try:
        with home.hold():
            done += _leftovers(home)
    except HomeBusy:
        pass  # a running Daybook still uses its socket
    return done


def _folders(home: Home, environ: Mapping[str, str]) -> Iterator[str]:
    missing = [folder for folder in (home.path, home.state, home.sessions, home.media) if not folder.exists()]
    home.create()
    for folder in missing:
        yield Sentence("made the folder {folder}", folder=folder)
    for agent in load(home, environ).config.agents.values():
        workspace = home.workspace(agent.workspace)
        if not workspace.exists():
            create(workspace, template_folder())
            yield Sentence("made the workspace {folder}", folder=workspace)


def _permissions(home: Home) -> Iterator[str]:
    for path in private_paths(home):
        if open_to_others(path):
            with contextlib.suppress(OSError):  # not ours: the doctor says so
                path.chmod(stat.S_IMODE(path.stat().st_mode) & stat.S_IRWXU)
                yield Sentence("made {path} readable for you only", path=path)


def _leftovers(home: Home) -> Iterator[str]:
    """Removes a dead gateway's socket; the caller holds the home."""
    if stat.S_ISSOCK(_mode(home)):
        home.socket.unlink()
        yield Sentence("removed {file}, which a Daybook left that was killed", file=home.socket)


def _mode(home: Home) -> int:
    try:
        return home.socket.lstat().st_mode
    except OSError:
        return 0
