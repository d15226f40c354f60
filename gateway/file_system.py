"""Whether the file system of a home answers. One on another computer may stop answering for ever, without any error.

A call then waits and cannot be ended, so each question has a thread of its own, which is left behind.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from agent.languages.system_reasons import reason_of
from agent.memory.paths import FOLDERS

PATIENCE = 5
"""Seconds after which a command says that there is no answer."""
SILENT = 20
"""Seconds after which a gateway gives up what it does. A server that is being replaced may be slow, but not so slow."""
_EVERY = 2.0
_ask = getattr(os, "statvfs", os.stat)  # which no cache of the system answers, where there is one


def layout_problems(workspace: Path) -> Iterator[tuple[Path, str]]:
    """Folders of the layout that are something else or cannot be read, with why. Blocks."""
    for name in sorted(FOLDERS):
        folder = workspace / name
        try:
            os.scandir(folder).close()
        except FileNotFoundError:  # made when it is needed
            if folder.is_symlink():
                yield folder, "it is a link that leads nowhere"
        except NotADirectoryError:
            if folder.exists() or folder.is_symlink():
                yield folder, "it is a file"
        except OSError as error:
            yield folder, reason_of(error)


class Question:
    """Asks whether a file system answers, at once and in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answered = threading.Event()
        threading.Thread(target=self._wait, name="daybook-file-system", daemon=True).start()

    def is_answered(self, seconds: int) -> bool:
        """Waits so long for the answer. A time in which this process stood still itself does not count."""
        return any(self._answered.wait(1.0) for _ in range(seconds))

    def _wait(self) -> None:
        with contextlib.suppress(OSError):  # an answer, too
            _ask(self._path)
        self._answered.set()


def no_answer(path: Path) -> str:
    return (
        f"The file system of {path} does not answer. See whether its server runs and can be reached, or mount it again."
    )


def wait_for(path: Path) -> None:
    """Returns once the file system of a path answers; prints where it does not."""
    question = Question(path)
    if not question.is_answered(PATIENCE):
        print(f"{no_answer(path)} Waiting for it.", file=sys.stderr, flush=True)
        while not question.is_answered(SILENT):
            pass


@contextlib.contextmanager
def watching(path: Path, on_silent: Callable[[], None], seconds: int = SILENT) -> Iterator[None]:
    """Prints, inside, where the file system of a path does not answer for so long, and calls `on_silent`, in another
    thread, each time that begins. It is not logged: the log may be there."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_EVERY):
            question = Question(path)
            if question.is_answered(seconds) or over.is_set():
                continue
            print(no_answer(path), file=sys.stderr, flush=True)
            on_silent()
            while not (over.is_set() or question.is_answered(1)):
                pass

    threading.Thread(target=watch, name="daybook-file-systems", daemon=True).start()
    try:
        yield
    finally:
        over.set()
