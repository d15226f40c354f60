"""The parts that a command line names: the files that a yes is bound to, and the leading words that a lasting yes holds
for."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

_SHELLS = frozenset({"ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"})
_INTERPRETERS = frozenset({"lua", "node", "perl", "php", "python", "ruby", "Rscript"})
_STARTERS = frozenset(
    (
        *(
            "awk",
            "bwrap",
            "chroot",
            "doas",
            "docker",
            "env",
            "eval",
            "exec",
            "find",
            "flatpak",
            "gawk",
            "gdb",
            "ionice",
        ),
        *("make", "mawk", "nice", "nohup", "npx", "parallel", "perf", "podman", "rsync", "script", "setsid", "ssh"),
        *("stdbuf", "strace", "su", "sudo", "systemd-run", "taskset", "time", "timeout", "unshare", "watch", "xargs"),
    )
)
"""Programs that run what their further words say, so that a yes for their name alone would be a yes for everything."""
_BETWEEN = re.compile(r"[\s'\"`;|&<>(){}$=,:]")
_MOST_FOLDERS = 20
_RUN_IN_A_FOLDER = ("__main__.py", "index.js", "package.json", "Makefile", "makefile", "GNUmakefile")
"""Files that programs look for in a folder that they are given, without a word of their names."""
_LARGEST = 64_000_000
"""Bytes; of a larger file only the size and the time of change count."""


def is_shell_line(argv: Sequence[str]) -> bool:
    """True for a script in an argument, which is asked about whatever else is allowed."""
    name = PurePosixPath(argv[0]).name
    return name in _SHELLS and any(argument.startswith("-") and "c" in argument for argument in argv[1:])


def leading_words(argv: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The words that a lasting yes may be given for; empty if there are none. Blocks."""
    name = PurePosixPath(argv[0]).name
    if name in _SHELLS or name in _STARTERS:
        return ()
    if name.rstrip(".0123456789") in _INTERPRETERS:
        return tuple(argv[:2]) if len(argv) > 1 and (folder / argv[1]).is_file() else ()
    is_word = len(argv) > 1 and not argv[1].startswith("-") and argv[1].isprintable()
    return tuple(argv[: 2 if is_word else 1])


def state_of(argv: Sequence[str], folder: Path, root: Path, program: str | None) -> str:
    """Names the state of the program and of each file of the workspace that the words name. Blocks."""
    whole = hashlib.sha256((program or "").encode("utf-8", "replace"))
    for path in _files_named(argv, folder, root):
        whole.update(f"\n{path} {_digest(path)}".encode("utf-8", "replace"))
    return whole.hexdigest()


def _files_named(argv: Sequence[str], folder: Path, root: Path) -> Iterator[Path]:
    words = tuple(dict.fromkeys([*argv, *(part for word in argv for part in _parts(word))]))
    folders = [folder]
    for word in words:  # `cd notes && python3 tool.py`, `git -C notes …`
        with suppress(OSError, ValueError):
            if len(folders) < _MOST_FOLDERS and (folder / word).is_dir():
                folders.append(folder / word)
    names = [*words, *_RUN_IN_A_FOLDER, *(f"{word.replace('.', '/')}.py" for word in words)]  # `python3 -m tool`
    for path in dict.fromkeys(at / name for at in folders for name in names):
        with suppress(OSError, ValueError):
            if path.is_file() and path.resolve().is_relative_to(root.resolve()):
                yield path


def _parts(word: str) -> list[str]:
    """The words inside a word: of a shell's script, of `--file=name`."""
    quoted: list[str] = []
    with suppress(ValueError):
        quoted = shlex.split(word)
    return [*quoted, *_BETWEEN.split(word)]


def _digest(path: Path) -> str:
    found = path.stat()
    if found.st_size > _LARGEST:
        return f"{found.st_size} {found.st_mtime_ns}"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
