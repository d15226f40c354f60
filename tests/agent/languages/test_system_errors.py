"""Every cause of the system is said as what it is, and "full" only of what is full."""

from __future__ import annotations

import errno
import socket
import sqlite3
import ssl

import pytest

from agent.formats.sqlite import StorageUnavailable
from agent.languages.system_errors import again, cannot, is_about_files, is_full, system_says
from agent.session.transcript import TranscriptNotWritten

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@pytest.mark.parametrize("file", [None, "/home/somebody/workspace/memory/MEMORY.md"])
def test_only_a_full_disk_is_called_full(file: str | None) -> None:
    for number, name in errno.errorcode.items():
        error = OSError(number, "As The System Says", file)
        wrapped = (_wrapped(TranscriptNotWritten("No."), error), _wrapped(StorageUnavailable("No."), error))
        for raised in (error, *wrapped):
            said = cannot(raised)
            assert ("full" in said) is (number in _FULL), name
            assert is_full(raised) is (number in _FULL), name
            assert ("space" in again(raised)) is (number in _FULL), name
            assert number in (*_FULL, errno.EROFS) or said.endswith(system_says(error)), name
            assert file is None or is_about_files(raised), name
            assert "somebody" not in said, name


def _wrapped(outer: OSError, inner: Exception) -> OSError:
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize(
    "error",
    [
        ssl.SSLError(1, "certificate verify failed"),
        ssl.SSLError(28, "certificate verify failed"),
        ssl.SSLCertVerificationError(1, "certificate verify failed"),
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        ConnectionResetError("reset"),
        TimeoutError(),
        BrokenPipeError(errno.EPIPE, "Broken pipe"),
        OSError("a sentence"),
        ValueError("none at all"),
    ],
)
def test_what_is_not_about_files(error: Exception) -> None:
    assert not is_about_files(error)
    if isinstance(error, OSError):
        assert "full" not in cannot(error) and "permissions" not in cannot(error)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (sqlite3.SQLITE_FULL, "the disk is full"),
        (sqlite3.SQLITE_READONLY, "the disk is read-only"),
        (sqlite3.SQLITE_IOERR, "I can't read or write what I need: the disk fails to read or write"),
        (sqlite3.SQLITE_CORRUPT, "I can't read or write what I need: daybook.db could not be written"),
        (0, "I can't read or write what I need: daybook.db could not be written"),
    ],
)
def test_what_a_database_says(code: int, said: str) -> None:
    cause = sqlite3.OperationalError("so it is")
    cause.sqlite_errorcode = code
    error = _wrapped(StorageUnavailable("daybook.db could not be written."), cause)
    assert cannot(error) == said and is_about_files(error)
