"""What goes wrong with backups."""

from __future__ import annotations

import sqlite3
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says


class WrongPassphrase(ValueError):
    """The passphrase is another one, or the file was changed."""

    def __init__(self) -> None:
        super().__init__(Sentence("This isn't its passphrase, or the file is damaged."))


class BackupError(Exception):
    """One `Sentence`: what happened, and what to do."""


@contextmanager
def backup_errors(cannot: Sentence) -> Iterator[None]:
    """Translates errors to `BackupError`s that begin with `cannot`."""
    try:
        yield
    except WrongPassphrase as error:
        raise BackupError(str(error)) from error
    except (tarfile.TarError, EOFError, sqlite3.Error, zlib.error) as error:
        raise BackupError(Sentence("{what}: it is damaged, or no backup.", what=cannot)) from error
    except OSError as error:
        raise BackupError(Sentence("{what}: {why}.", what=cannot, why=system_says(error))) from error


def unreadable(source: Path) -> Sentence:
    return Sentence("Can't read {file}", file=source)


def damaged(source: Path) -> BackupError:
    return BackupError(Sentence("{file} is damaged. Take another backup.", file=source))


def no_backup(source: Path, name: str) -> BackupError:
    return BackupError(
        Sentence("{file} is no backup: it should not hold {name}. Nothing was restored.", file=source, name=name)
    )
