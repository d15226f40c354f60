"""The home folder: its paths and locks; the limit of open files; the version.

Folders are 0700, files with secrets 0600; nothing that exists is overwritten.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from filelock import FileLock, Timeout

from agent.fs import create
from agent.languages.sentences import Sentence
from agent.languages.system_reasons import reason_of


class HomeError(Exception):
    """The text says why, and what to do."""


class HomeBusy(HomeError):
    """Another process uses this home; `pid` if known. `host`: its computer, if that may be another."""

    def __init__(self, home: Path, pid: int | None, host: str = "") -> None:
        who = Sentence("{process} on {host}", process=_process(pid), host=host) if host else _process(pid)
        super().__init__(
            Sentence(
                "Another Daybook ({who}) is using {home}. Stop it, or choose another home with --home.",
                who=who,
                home=home,
            )
        )
        self.pid = pid


class WorkspaceUnusable(HomeError):
    def __init__(self, agent: str, folder: Path, error: OSError) -> None:
        super().__init__(
            Sentence(
                "Agent {name} can't use its workspace {folder}: {why}. Make it a folder you can write to, or set "
                "agents.{name}.workspace.",
                name=agent,
                folder=folder,
                why=reason_of(error),
            )
        )


class TokenBusy(Exception):
    def __init__(self, pid: int | None) -> None:
        super().__init__(
            Sentence(
                "another Daybook ({who}) is using this token; give each of them a bot of its own", who=_process(pid)
            )
        )
        self.pid = pid


@dataclass(frozen=True, slots=True)
class Home:
    """`path` is absolute."""

    path: Path

    @property
    def config_file(self) -> Path:
        return self.path / "config.yaml"

    @property
    def env_file(self) -> Path:
        return self.path / ".env"

    @property
    def state(self) -> Path:
        return self.path / "state"

    @property
    def database(self) -> Path:
        return self.state / "daybook.db"

    @property
    def claim(self) -> Path:
        """Holds the id of the PostgreSQL database that this home's messages are in; missing with SQLite."""
        return self.state / "database-id"

    def index(self, *, is_shared: bool) -> Path:
        """The folder of the search index. In a home that several computers share, each has its own: SQLite's log needs
        one computer."""
        return self.state / "index" / _host() if is_shared else self.state

    @property
    def sessions(self) -> Path:
        return self.state / "sessions"

    @property
    def media(self) -> Path:
        return self.state / "media"

    @property
    def outgoing(self) -> Path:
        return self.state / "outgoing"

    @property
    def speech(self) -> Path:
        """Recordings in the making."""
        return self.state / "speech"

    @property
    def programs(self) -> Path:
        """What running programs write to their /tmp."""
        return self.state / "programs"

    def consents(self, agent: str) -> Path:
        """What the owner has said yes to for good."""
        return self.state / "consents" / f"{agent}.db"

    @property
    def had_sandbox(self) -> Path:
        """Exists once programs had a sandbox on this computer."""
        return self.state / f"had-sandbox-{_host()}"

    @property
    def web_token(self) -> Path:
        return self.state / "web-token"

    @property
    def uploads(self) -> Path:
        return self.state / "web"

    @property
    def socket(self) -> Path:
        return self.state / "gateway.sock"

    @property
    def lock_file(self) -> Path:
        return self.state / "gateway.lock"

    @property
    def active_work(self) -> Path:
        """What each process works on, and the stacks of those whose event loop hung."""
        return self.state / "active-work"

    @property
    def log_file(self) -> Path:
        """In a home that several computers may share, each has its own."""
        return self.state / (f"gateway-{_host()}.log" if self.claim.exists() else "gateway.log")

    @property
    def mcp(self) -> Path:
        return self.state / "mcp"

    @property
    def mcp_logins(self) -> Path:
        """The owner's logins at MCP servers, with their tokens."""
        return self.mcp / "logins"

    @property
    def imports(self) -> Path:
        """A file for each finished import."""
        return self.state / "imports"

    @property
    def memory_tests(self) -> Path:
        return self.state / "memory-tests.json"

    @property
    def embedder_declined(self) -> Path:
        """Exists once the owner has declined search by meaning."""
        return self.state / "embedder-declined"

    @property
    def last_good_schedule(self) -> Path:
        return self.state / "schedule-last-good.yaml"

    def workspace(self, folder: str) -> Path:
        return self.path / os.path.expanduser(folder)  # noqa: PTH111 (the other raises for an unknown user)

    def create(self) -> None:
        """Raises `HomeError`."""
        with _readable_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
            for folder in (self.state, self.sessions, self.media):
                folder.mkdir(mode=0o700, exist_ok=True)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Locks the home for this process. Raises `HomeBusy` at once."""
        self.create()
        with contextlib.ExitStack() as held:
            with _readable_errors(self.path):
                holder = held.enter_context(_locked(self.lock_file))
            if holder is not None:
                raise HomeBusy(self.path, holder.pid)
            yield


def _host() -> str:
    return re.sub(r"[^\w.-]", "-", socket.gethostname()) or "unknown"


def find_home(option: str | None, environ: Mapping[str, str]) -> Home:
    """The home of `--home`, else `$DAYBOOK_HOME`, else `~/.daybook`."""
    chosen = option or environ.get("DAYBOOK_HOME") or "~/.daybook"
    try:
        return Home(Path(chosen).expanduser().absolute())
    except RuntimeError as error:
        raise HomeError(Sentence("Can't find the folder {folder}. Choose one with --home.", folder=chosen)) from error


def shown(path: Path) -> str:
    """A path for people: printable, with `~/` for their home folder."""
    try:
        text = f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):  # elsewhere, or the user has no home folder
        text = str(path)
    return os.fsencode(text).decode(errors="replace")


@contextlib.contextmanager
def hold_token(token: str, environ: Mapping[str, str]) -> Iterator[None]:
    """Locks a token, by its hash, among all processes of this user. Raises `TokenBusy`."""
    name = hashlib.sha256(token.encode()).hexdigest()[:32]
    with _locked(_token_folder(environ) / f"{name}.lock") as holder:
        if holder is not None:
            raise TokenBusy(holder.pid)
        yield


def write_private(file: Path, text: str) -> None:
    """Raises `FileExistsError`."""
    create(file, text.encode())


@dataclass(frozen=True, slots=True)
class _Holder:
    pid: int | None


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[_Holder | None]:
    """Yields None if the lock is ours, else who holds it.

    The pid is beside the lock: on Windows a locked file cannot be read.
    """
    beside = file.with_suffix(".pid")
    lock = FileLock(file, timeout=0, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        yield _Holder(_read_pid(beside))
        return
    try:
        beside.unlink(missing_ok=True)
        write_private(beside, f"{os.getpid()}\n")
        yield None
    finally:
        beside.unlink(missing_ok=True)
        lock.release()


def _read_pid(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _process(pid: int | None) -> str:
    return Sentence("process {id}", id=pid) if pid else Sentence("unknown process")


def _token_folder(environ: Mapping[str, str]) -> Path:
    """One folder for all homes of a user, temporary where none is writable."""
    base = environ.get("XDG_STATE_HOME") or Path(environ.get("HOME") or "~").expanduser() / ".local" / "state"
    folder = Path(base) / "daybook" / "tokens"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):
        pass
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"daybook-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@contextlib.contextmanager
def _readable_errors(home: Path) -> Iterator[None]:
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise HomeError(
            Sentence(
                "Can't use {home}: {file} is not a folder. Choose another home with --home.",
                home=home,
                file=error.filename,
            )
        ) from error
    except PermissionError as error:
        raise HomeError(
            Sentence(
                "Can't write to {file}. Give yourself write access, or choose another home with --home.",
                file=error.filename or home,
            )
        ) from error
    except OSError as error:
        raise HomeError(
            Sentence("Can't use {home}: {why}. Choose another home with --home.", home=home, why=reason_of(error))
        ) from error


if sys.platform != "win32":
    import resource

WANTED = 4_096


def allow_many() -> None:
    """Raises the limit of open files: 256 on macOS are too few for many chats, 1,024 on Linux in a storm."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


DISTRIBUTION = "daybook-assistant"


def version() -> str:
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0+checkout"
