"""A stream encrypted by a passphrase: AES-256-GCM in chunks, the key made by scrypt.

The number of a chunk is its nonce, and whether it is the last one is authenticated, so that none can be changed, moved
or cut off unnoticed.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from gateway.features.backup.archive import MAGIC
from gateway.features.backup.errors import WrongPassphrase

_CHUNK = 1 << 20
_TAG = 16
_SALT = 16
_MORE, _LAST = b"more", b"last"


class EncryptingWriter:
    """Writes to `file`; `finish` ends it."""

    def __init__(self, file: BinaryIO, passphrase: str) -> None:
        salt = os.urandom(_SALT)
        file.write(MAGIC + salt)
        self._file = file
        self._cipher = _cipher(passphrase, salt)
        self._waiting = bytearray()
        self._number = 0

    def write(self, data: bytes) -> int:
        self._waiting += data
        while len(self._waiting) > _CHUNK:
            self._put(bytes(self._waiting[:_CHUNK]), _MORE)
            del self._waiting[:_CHUNK]
        return len(data)

    def finish(self) -> None:
        self._put(bytes(self._waiting), _LAST)

    def _put(self, chunk: bytes, what: bytes) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number), chunk, what))
        self._number += 1


class DecryptingReader:
    """Reads what `EncryptingWriter` wrote, after its `MAGIC`. Raises `WrongPassphrase`."""

    def __init__(self, file: BinaryIO, passphrase: str) -> None:
        self._file = file
        self._cipher = _cipher(passphrase, file.read(_SALT))
        self._next = file.read(_CHUNK + _TAG)
        self._plain = b""
        self._number = 0

    def read(self, size: int) -> bytes:
        while len(self._plain) < size and self._next:
            chunk, self._next = self._next, self._file.read(_CHUNK + _TAG)
            try:
                plain = self._cipher.decrypt(_nonce(self._number), chunk, _MORE if self._next else _LAST)
            except InvalidTag as error:
                raise WrongPassphrase from error
            self._plain += plain
            self._number += 1
        result, self._plain = self._plain[:size], self._plain[size:]
        return result


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    """Takes half a second and 128 MB: guessing is to be dear."""
    return AESGCM(Scrypt(salt=salt.ljust(_SALT, b"\0"), length=32, n=1 << 17, r=8, p=1).derive(passphrase.encode()))


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "big")
