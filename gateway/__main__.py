"""`daybook`, also `python -m gateway`."""

from __future__ import annotations

from gateway.cli import daybook


def main() -> None:
    daybook(prog_name="daybook")


if __name__ == "__main__":
    main()
