"""What `daybook doctor` finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """`cure` says what to do; empty where all is well."""

    check: str
    ok: bool
    message: str
    cure: str = ""
