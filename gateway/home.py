"""The home folder: its paths, who may use it now, and how it is made. And the limit of open files, and the version.

Folders are 0700 and files with secrets 0600. Nothing that exists is overwritten or changed in its permissions.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from filelock import FileLock, Timeout


class HomeError(Exception):
    """The home cannot be used. One sentence with the path, the reason and what to do."""


class HomeBusy(HomeError):
    """Another process uses this home. `pid` is None where it is unknown."""

    def __init__(self, home: Path, pid: int | None) -> None:
        super().__init__(f"another Daybook ({_process(pid)}) is using {home}; stop it, or name another --home")
        self.pid = pid


class TokenBusy(Exception):
    """Another gateway of this user polls with the same token."""

    def __init__(self, pid: int | None) -> None:
        super().__init__(f"another Daybook ({_process(pid)}) is using this token; one bot serves one gateway")
        self.pid = pid


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of a home; `path` is absolute. Making one touches nothing on disk."""

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
    def sessions(self) -> Path:
        return self.state / "sessions"

    @property
    def media(self) -> Path:
        return self.state / "media"

    @property
    def outgoing(self) -> Path:
        return self.state / "outgoing"

    @property
    def web_token(self) -> Path:
        return self.state / "web-token"

    @property
    def uploads(self) -> Path:
        """Files from the web page."""
        return self.state / "web"

    @property
    def socket(self) -> Path:
        return self.state / "gateway.sock"

    @property
    def lock_file(self) -> Path:
        return self.state / "gateway.lock"

    @property
    def in_hand(self) -> Path:
        """What the running gateway works on."""
        return self.state / "in-hand.json"

    @property
    def stack(self) -> Path:
        """The stacks of a gateway that ended because its event loop hung."""
        return self.state / "stack.txt"

    @property
    def memory_tests(self) -> Path:
        """The memory tests that passed at the last run."""
        return self.state / "memory-tests.json"

    @property
    def embedder_declined(self) -> Path:
        """Exists once the owner has declined search by meaning."""
        return self.state / "embedder-declined"

    @property
    def last_good_schedule(self) -> Path:
        """The last readable `schedule.yaml`."""
        return self.state / "schedule-last-good.yaml"

    def workspace(self, folder: str) -> Path:
        """The folder of an agent's `workspace` setting: relative to the home, or absolute."""
        return self.path / Path(folder).expanduser()

    def create(self) -> None:
        """Makes the home and its state folder where they are missing. Raises `HomeError`."""
        with _told(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
            for folder in (self.state, self.sessions, self.media):
                folder.mkdir(mode=0o700, exist_ok=True)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Locks the home for this process. Raises `HomeBusy` at once; a killed process holds nothing."""
        self.create()
        with contextlib.ExitStack() as held:
            with _told(self.path):
                holder = held.enter_context(_locked(self.lock_file))
            if holder is not None:
                raise HomeBusy(self.path, holder.pid)
            yield


def find_home(option: str | None, environ: Mapping[str, str]) -> Home:
    """The home of `--home`, else of `$DAYBOOK_HOME`, else `~/.daybook`; empty counts as not given."""
    chosen = option or environ.get("DAYBOOK_HOME") or "~/.daybook"
    try:
        return Home(Path(chosen).expanduser().absolute())
    except RuntimeError as error:
        raise HomeError(f"{chosen} cannot be resolved ({error}); name a folder with --home") from error


def shown(path: Path) -> str:
    """A path for people: with `~/` below the user's home folder, and printable whatever its bytes are."""
    try:
        text = f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):  # elsewhere, or the user has no home folder
        text = str(path)
    return os.fsencode(text).decode(errors="replace")


@contextlib.contextmanager
def hold_token(token: str, environ: Mapping[str, str]) -> Iterator[None]:
    """Locks a token for this process, among all of this user's. Raises `TokenBusy`.

    The lock is named by a hash: the token itself is nowhere on disk.
    """
    name = hashlib.sha256(token.encode()).hexdigest()[:32]
    with _locked(_token_folder(environ) / f"{name}.lock") as holder:
        if holder is not None:
            raise TokenBusy(holder.pid)
        yield


def write_private(file: Path, text: str) -> None:
    """Makes a file that only its owner can read. Raises `FileExistsError`; never overwrites."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


@dataclass(frozen=True, slots=True)
class _Holder:
    pid: int | None


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[_Holder | None]:
    """Yields None where the lock is ours, else who holds it.

    The pid is beside the lock: on Windows a locked file cannot be read, and whoever tries to take the lock empties it.
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
    return f"process {pid}" if pid else "its process could not be told"


def _token_folder(environ: Mapping[str, str]) -> Path:
    """One folder for all homes of a user; a temporary one where the user has no writable home folder."""
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
def _told(home: Path) -> Iterator[None]:
    """Turns the system's errors into one sentence."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise HomeError(
            f"{home} cannot be the home: {error.filename} is not a folder; name another with --home"
        ) from error
    except PermissionError as error:
        raise HomeError(
            f"{error.filename or home} is not writable; give yourself the right, or name another --home"
        ) from error
    except OSError as error:
        raise HomeError(f"{home} cannot be used: {error.strerror or error}; name another with --home") from error


if sys.platform != "win32":
    import resource

WANTED = 4_096


def allow_many() -> None:
    """Raises this process's limit of open files: macOS's 256 are too few for connections, transcripts and indexes of
    many chats, and Linux's 1,024 in a storm."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


DISTRIBUTION = "daybook-assistant"


def version() -> str:
    """The installed version; a checkout that was never installed has none."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0+checkout"
