"""How many files the process may have open: connections, transcripts and indexes of many chats are more than the 256 of
macOS, and in a storm more than the 1,024 of many a Linux."""

from __future__ import annotations

import sys

if sys.platform != "win32":
    import resource

WANTED = 4_096


def allow_many() -> None:
    """Raise our own limit as far as we may and need."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
