"""The version of this program."""

from __future__ import annotations

from importlib import metadata

DISTRIBUTION = "daybook-assistant"


def version() -> str:
    """As installed; a checkout that was never installed has none."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0+checkout"
