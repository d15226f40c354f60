"""What the system's numbers of errors mean, as clauses; nothing else may say why a disk does not work. Imports little:
every command starts with it."""

from __future__ import annotations

import errno

from agent.languages.sentences import Sentence

_FULL = Sentence("the disk is full")
_NOT_ALLOWED = Sentence("the permissions do not allow it")
_TOO_MANY = Sentence("too many files are open")
REASONS = {
    errno.ENOSPC: _FULL,
    errno.EFBIG: _FULL,
    errno.EDQUOT: Sentence("the disk quota is used up"),
    errno.EROFS: Sentence("the disk is read-only"),
    errno.EIO: Sentence("the disk fails to read or write"),
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.ENOENT: Sentence("there is no such file"),
    errno.EISDIR: Sentence("it is a folder"),
    errno.ENOTDIR: Sentence("a folder of its path is a file"),
    errno.ENAMETOOLONG: Sentence("its name is too long"),
    errno.ELOOP: Sentence("it is a link that leads nowhere"),
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
}


def reason_of(error: OSError) -> str:
    """Why the system refused a file or folder."""
    return REASONS.get(error.errno or 0) or own_words(error)


def own_words(error: OSError) -> str:
    """The text of an error, as a clause."""
    return (error.strerror or str(error)).lower().rstrip(".") or Sentence("the system does not say why")
