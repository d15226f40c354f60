"""The gateway, which notes every function of the product that is called between SIGUSR1 and SIGUSR2, and then writes
them to `$DAYBOOK_TRACE`: a line `file name` for each, of all threads.

`structure.py` starts it in place of `python -m gateway`, with the same arguments.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

from gateway.__main__ import main

OUTPUT = "DAYBOOK_TRACE"
_ROOT = Path(__file__).resolve().parents[1]
_called: set[CodeType] = set()
_is_on = False


def _note(frame: FrameType, event: str, _: object) -> None:
    if _is_on and event == "call":
        _called.add(frame.f_code)


def _begin(*_: object) -> None:
    global _is_on
    _called.clear()
    _is_on = True


def _end(*_: object) -> None:
    global _is_on
    _is_on = False
    lines = (_line(code) for code in tuple(_called))
    file = Path(os.environ[OUTPUT])
    scratch = file.with_suffix(".new")
    scratch.write_text("".join(sorted({line for line in lines if line})), encoding="utf-8")
    scratch.replace(file)


def _line(code: CodeType) -> str:
    """Empty for what is no function of the product: libraries, this file, modules, comprehensions."""
    file = Path(code.co_filename)
    is_ours = file.is_relative_to(_ROOT) and file.relative_to(_ROOT).parts[0] in ("gateway", "channels", "agent")
    return "" if not is_ours or code.co_name.startswith("<") else f"{file.relative_to(_ROOT)} {code.co_qualname}\n"


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _begin)
    signal.signal(signal.SIGUSR2, _end)
    threading.setprofile(_note)
    sys.setprofile(_note)
    main()
