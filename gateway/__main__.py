"""`daybook`, also `python -m gateway`."""

from __future__ import annotations

import contextlib
import sys

from gateway.cli import daybook


def main() -> None:
    # A path may hold any bytes, and no command ends because it names one.
    with contextlib.suppress(AttributeError):  # it was replaced, or there is none
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    daybook(prog_name="daybook")


if __name__ == "__main__":
    main()
