"""The gateway, which on SIGUSR1 also tells its tasks: one line of JSON on stderr, the name of each task's coroutine.

`soak.py` starts it in place of `python -m gateway`, with the same arguments.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter

from gateway.__main__ import main

TOLD = "tasks: "


def _tell(*_: object) -> None:
    """Runs between two steps of the loop, in its thread."""
    coroutines = (task.get_coro() for task in asyncio.all_tasks())
    print(TOLD + json.dumps(Counter(getattr(one, "__qualname__", repr(one)) for one in coroutines)), file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _tell)
    main()
