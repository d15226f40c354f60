"""Which patterns were found to be linear, so that `make test` feeds only the others: `fed.txt` has a mark for each.

`python -m tests.linear.fed` feeds what has changed and, if all of it is linear, records it.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.linear import patterns

_HERE = Path(__file__).parent
_FILE = _HERE / "fed.txt"
_JUDGES = ("judge.py", "shapes.py")
"""A change in them asks for all patterns again."""


@cache
def _judges() -> bytes:
    return b"".join((_HERE / name).read_bytes() for name in _JUDGES)


def mark_of(found: patterns.Found) -> str:
    """The same as long as a pattern, the way it is used and the judge stay as they are."""
    pattern = found.pattern
    what = repr((pattern.pattern, pattern.flags, sorted(found.methods))).encode()
    return hashlib.sha256(what + _judges()).hexdigest()[:16]


def known() -> set[str]:
    return set(_FILE.read_text().split())


def main() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.linear.feeding", "changed", "600"], stdout=subprocess.PIPE)
    if done.returncode or b'{"found"' in done.stdout:
        sys.exit("\n".join(one for one in done.stdout.decode().splitlines() if '{"found"' in one) or "it was ended")
    _FILE.write_text("".join(f"{one}\n" for one in sorted({mark_of(found) for found in patterns.everything()})))


if __name__ == "__main__":
    main()
