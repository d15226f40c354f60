"""For a process of a test: at SIGCONT it starts itself again, as a gateway that stood still, and does nothing more."""

from __future__ import annotations

import os
import signal
import time

from gateway.supervisor import start_again

SAID = b"started again\n"
_IS_AGAIN = "STARTED_AGAIN"


def at_sigcont() -> None:
    if _IS_AGAIN in os.environ:
        print(SAID.decode(), end="", flush=True)
        time.sleep(600)
    signal.signal(signal.SIGCONT, _again)


def _again(_number: int, _frame: object) -> None:
    os.environ[_IS_AGAIN] = "yes"
    start_again()
