"""Gives up rights of a process: other files (Landlock), the network, and most system calls (seccomp). Linux only, as
far as the system allows it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from agent.media.system_calls import refuse_system_calls

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls, the same on all machines."""
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
"""PR_SET_NO_NEW_PRIVS (prctl(2))."""
_NEW_USERS, _NEW_NETWORK = 0x10000000, 0x40000000
"""CLONE_NEWUSER and CLONE_NEWNET (unshare(2))."""
_WRITE_FILE, _READ_FILE, _READ_FOLDER, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_BITS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Rights that a version of Landlock knows; later ones know 16."""
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom")


def confine(file: Path, target: Path) -> None:
    """Leaves the process its libraries, `file` to read and `target`, which exists, to write. Call before any thread."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.unshare(_NEW_USERS | _NEW_NETWORK)  # fails where the system lets no user do it
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _leave_files(libc, file, target)
    refuse_system_calls(libc)


def _leave_files(libc: ctypes.CDLL, file: Path, target: Path) -> None:
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    handled = (1 << _BITS.get(version, 16)) - 1
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(ctypes.c_uint64(handled)), 8, 0)
    if rules < 0:
        return
    try:
        ours = {Path(place).resolve() for place in (*_SYSTEM, sys.prefix, sys.base_prefix, *filter(None, sys.path))}
        _allow(libc, rules, [*ours, file.resolve()], _READ_FILE | _READ_FOLDER)
        _allow(libc, rules, [target], (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled)
        libc.syscall(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _allow(libc: ctypes.CDLL, rules: int, paths: Iterable[Path], rights: int) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
                rule = _Beneath(rights if is_folder else rights & ~_READ_FOLDER, descriptor)
                libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0)
            finally:
                os.close(descriptor)
