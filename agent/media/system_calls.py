"""Refuses system calls that a reader of files does not need (seccomp): sockets, also local ones, which Landlock allows;
other processes and programs; and changes of a file without opening it.

Linux on x86-64 and ARM, 64 bits each; elsewhere nothing is refused.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

_SET_SECCOMP, _FILTER = 22, 2
"""PR_SET_SECCOMP and SECCOMP_MODE_FILTER (prctl(2))."""
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column in the tables below, and AUDIT_ARCH_…"""
_NONE = -1
_REFUSED = {
    # sockets: io_uring makes them too
    "socket": (41, 198),
    "socketpair": (53, 199),
    "io_uring_setup": (425, 425),
    # programs and processes
    "fork": (57, _NONE),
    "vfork": (58, _NONE),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "setpriority": (141, 140),
    "sched_setscheduler": (144, 119),
    # memory that others see
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # files by their names
    "chmod": (90, _NONE),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, _NONE),
    "fchown": (93, 55),
    "lchown": (94, _NONE),
    "fchownat": (260, 54),
    "utime": (132, _NONE),
    "utimes": (235, _NONE),
    "futimesat": (261, _NONE),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "open_by_handle_at": (304, 265),
    # the system itself
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
}
_CLONE, _CLONE3, _TGKILL, _PRLIMIT = (56, 220), (435, 435), (234, 131), (302, 261)
_THREAD = 0x10000
"""CLONE_THREAD: a thread is no process."""
_OTHER_ABI = 0x40000000
"""From here on the numbers are those of x32."""

_LOAD, _EQUALS, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in the data of a filter."""
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse_system_calls(libc: ctypes.CDLL) -> None:
    """Lasts, for this process and its threads. PR_SET_NO_NEW_PRIVS must be set."""
    machine = _MACHINES.get(platform.machine())
    if machine is not None:
        code = _code(*machine, os.getpid())
        libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(_Program(len(code) // 8, code)), 0, 0)


def _code(column: int, architecture: int, own: int) -> bytes:
    refused, allowed = _step(_RETURN, _ERROR | errno.EPERM), _step(_RETURN, _ALLOW)
    steps = [_step(_LOAD, _ARCHITECTURE), _step(_EQUALS, architecture, 1, 0), refused]
    steps += [_step(_LOAD, _NUMBER), _step(_AT_LEAST, _OTHER_ABI, 0, 1), refused]
    for numbers in _REFUSED.values():
        if numbers[column] != _NONE:
            steps += [_step(_EQUALS, numbers[column], 0, 1), refused]
    # the C library falls back to `clone`, whose flags can be seen
    steps += [_step(_EQUALS, _CLONE3[column], 0, 1), _step(_RETURN, _ERROR | errno.ENOSYS)]
    for numbers, test, value in ((_CLONE, _HAS, _THREAD), (_TGKILL, _EQUALS, own), (_PRLIMIT, _EQUALS, 0)):
        steps += [_step(_EQUALS, numbers[column], 0, 4), _step(_LOAD, _FIRST_ARGUMENT), _step(test, value, 0, 1)]
        steps += [allowed, refused]
    return b"".join([*steps, allowed])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
