"""Runs a program that ends with whoever started it: `python kept.py COMMAND…`.

A program of the machine knows nothing of us: where we are killed, it would go on to nobody's use. This process reads a
pipe that only its starter holds open. When that ends, the program and what it has started are killed; when the program
ends, this ends with its exit code. Run by its path and with nothing imported of ours: it starts in a few milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


def _run(command: list[str]) -> int:
    try:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError:
        return 126
    threading.Thread(target=_watch, args=(program,), daemon=True).start()
    code = program.wait()
    return code if code >= 0 else 128 - code


def _watch(program: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # as Windows says that nobody is there
        while os.read(0, 1):
            pass
    _kill(program)


def _kill(program: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(program.pid, signal.SIGKILL)
        else:
            program.kill()


if __name__ == "__main__":
    sys.exit(_run(sys.argv[1:]))
