"""Starts programs below the launcher, which ends all that they start with them, and with us."""

from __future__ import annotations

import asyncio
import socket
import sys
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("launch.py")
_LIMIT = 65_536
"""Bytes of a pipe that are read ahead."""


@dataclass(frozen=True, slots=True)
class LaunchedProgram:
    """`process` is the launcher; its pipes are the program's. Nobody else has `held`, which tells it that we live, and
    run what started it: the system closes it when we die and when we start ourselves again."""

    process: Process
    transport: asyncio.SubprocessTransport
    held: socket.socket

    def close(self) -> None:
        """Closes the pipes, also those that are full or held open by others. Kills a launcher that still runs."""
        self.transport.close()
        self.held.close()


async def launch(
    arguments: Sequence[str], *, stdin: int, env: Mapping[str, str], cwd: Path, pass_fds: Sequence[int] = ()
) -> LaunchedProgram:
    """`arguments`: the launcher's, after its starter. Raises `OSError`, `ValueError`."""
    loop = asyncio.get_running_loop()
    held, starter = socket.socketpair()
    with starter:
        try:
            transport, protocol = await loop.subprocess_exec(
                lambda: SubprocessStreamProtocol(limit=_LIMIT, loop=loop),
                *(sys.executable, "-I", "-S", str(_LAUNCHER), str(starter.fileno()), *arguments),
                stdin=stdin,
                stdout=PIPE,
                stderr=PIPE,
                env=env,
                cwd=cwd,
                start_new_session=True,
                pass_fds=(starter.fileno(), *pass_fds),
            )
        except BaseException:
            held.close()
            raise
    return LaunchedProgram(Process(transport, protocol, loop), transport, held)
