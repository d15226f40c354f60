"""Runs an installed program that reads or writes a file. It ends with this process, however that ends."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from agent.media import kept

_CHUNK = 65_536
_FILE = "{file}"
_KNOWN = frozenset(
    {
        *("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "SYSTEMROOT", "TMPDIR", "TZ", "USER"),
        *("CUDA_VISIBLE_DEVICES", "DYLD_LIBRARY_PATH", "HF_HOME", "LD_LIBRARY_PATH", "OMP_NUM_THREADS"),
    }
)
_KNOWN_KINDS = ("LC_", "XDG_")
"""All that a program, which reads strangers' files, sees of the environment: no keys."""


class ProgramFailed(Exception):
    """The text names the program and says why."""


async def run(command: Sequence[str], file: Path, seconds: float, *, most: int = 0, stdin: Path | None = None) -> bytes:
    """The first `most` bytes of its stdout. `file` takes the place of `{file}`. Raises `ProgramFailed`."""
    arguments = [part.replace(_FILE, str(file)) for part in command]
    name = arguments[0]
    if shutil.which(name) is None:
        raise ProgramFailed(f"{name} cannot be started (there is no such program)")
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", kept.__file__, str(stdin or "-"), *arguments),
            stdin=asyncio.subprocess.PIPE,  # held open for as long as this process lives
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if name in _KNOWN or name.startswith(_KNOWN_KINDS)},
        )
    except OSError as error:
        raise ProgramFailed(f"{name} cannot be started ({error.strerror})") from error
    assert process.stdin is not None and process.stdout is not None
    try:
        async with asyncio.timeout(seconds):
            printed = b""
            while chunk := await process.stdout.read(_CHUNK):
                printed += chunk[: most - len(printed)]
            code = await process.wait()
    except TimeoutError as error:
        raise ProgramFailed(f"{name} took too long") from error
    finally:
        process.stdin.close()  # the sign for it to end
        while await process.stdout.read(_CHUNK):
            pass  # `wait` alone waits for ever for a pipe that is full
        await process.wait()
    if code:
        raise ProgramFailed(f"{name} failed (exit code {code})")
    return printed
