"""Commands as a person types them where this one was started."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from gateway.home import Home, HomeError, find_home

_NAME = "daybook"


def typed(home: Home, *words: str) -> str:
    """A command for this home: `daybook web`, or `.venv/bin/daybook web` where that is how it is found from here."""
    return shlex.join([*_program(), *_home_option(home), *words])


def _program() -> list[str]:
    script = Path(sys.argv[0]).absolute()
    if script.stem != _NAME:  # `python -m gateway`
        script = Path(sys.executable).with_name(_NAME)
    if not script.is_file():
        return [sys.executable, "-m", "gateway"]
    on_path = shutil.which(_NAME)
    if on_path and Path(on_path).samefile(script):
        return [_NAME]
    here = Path.cwd()
    return [str(script.relative_to(here) if script.is_relative_to(here) else script)]


def _home_option(home: Home) -> list[str]:
    try:
        is_usual = find_home(None, {}) == home  # $DAYBOOK_HOME may be set for this command alone
    except HomeError:  # the user has no folder
        is_usual = False
    return [] if is_usual else ["--home", str(home.path)]
