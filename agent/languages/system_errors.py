"""Says in sentences why the system refused a file, whatever wraps its error."""

from __future__ import annotations

import errno
import socket
import sqlite3
import ssl
from collections.abc import Iterator
from pathlib import PurePath

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.languages.system_reasons import REASONS, own_words

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""EFBIG: a limit of the process (`ulimit -f`); nothing more fits, too."""
_OF_A_DISK = _NO_ROOM | {errno.EROFS, errno.EIO, getattr(errno, "ESTALE", errno.EIO), errno.ENODEV, errno.ENXIO}
"""Named by writes and syncs, which name no file."""
_OTHER_NUMBERS = (ssl.SSLError, socket.gaierror)
"""Their numbers are not those of the system."""
_OF_SQLITE = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_READONLY: errno.EROFS, sqlite3.SQLITE_IOERR: errno.EIO}


def system_says(error: OSError) -> str:
    """Why the system refused, as a clause."""
    inner = next((cause for cause in _chain(error) if isinstance(cause, OSError) and cause.errno), error)
    return REASONS.get(_number(error)) or own_words(inner)


def is_full(error: BaseException) -> bool:
    """True where nothing more fits, whatever wraps the system's error."""
    return _number(error) in _NO_ROOM


def is_about_files(error: Exception) -> bool:
    """Whether an error is about files: connections, certificates and timeouts are `OSError`s, too."""
    if not isinstance(error, OSError):
        return False
    is_certain = isinstance(error, StorageUnavailable) or _number(error) in _OF_A_DISK
    return is_certain or any(isinstance(cause, OSError) and cause.filename for cause in _chain(error))


def cannot(error: OSError) -> str:
    """What failed and why, as a clause that names the file where it matters."""
    if is_full(error):
        return REASONS[errno.ENOSPC]
    if _number(error) == errno.EROFS:
        return REASONS[errno.EROFS]
    file = next((cause.filename for cause in _chain(error) if isinstance(cause, OSError) and cause.filename), "")
    parts = PurePath(file).parts[-2:] if isinstance(file, str) else ()
    if name := "/".join(parts).lstrip("/"):
        return Sentence("I can't read or write {file}: {why}", file=name, why=system_says(error))
    return Sentence("I can't read or write what I need: {why}", why=system_says(error))


def again(error: OSError) -> str:
    """The end of a sentence that says until when something waits."""
    return Sentence("there is space again") if is_full(error) else Sentence("that works again")


def _number(error: BaseException) -> int:
    for cause in _chain(error):
        if isinstance(cause, OSError) and cause.errno and not isinstance(cause, _OTHER_NUMBERS):
            return cause.errno
        code = getattr(cause, "sqlite_errorcode", 0) if isinstance(cause, sqlite3.Error) else 0
        if found := _OF_SQLITE.get(code & 0xFF):
            return found
    return 0


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, the innermost first: it knows most."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__
    return reversed(chain)
