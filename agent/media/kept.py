"""Runs a program that ends with its starter: `python kept.py INPUT COMMAND…`. `INPUT`: a file for stdin, `-` for none.

The program would go on after its starter is killed. This process reads a pipe that only the starter holds open: when
the pipe ends, it kills the program and its children; when the program ends, it ends with the same exit code. Run by its
path, without imports of Daybook: it starts in milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


def _run(source: str, command: list[str]) -> int:
    try:
        with open(os.devnull if source == "-" else source, "rb") as stdin:  # noqa: PTH123 (pathlib takes long to import)
            program = subprocess.Popen(command, stdin=stdin, start_new_session=True)
    except OSError:
        return 126
    threading.Thread(target=_watch, args=(program,), daemon=True).start()
    code = program.wait()
    return code if code >= 0 else 128 - code


def _watch(program: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # as Windows says that nobody is there
        while os.read(0, 1):
            pass
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(program.pid, signal.SIGKILL)
        else:
            program.kill()


if __name__ == "__main__":
    sys.exit(_run(sys.argv[1], sys.argv[2:]))
