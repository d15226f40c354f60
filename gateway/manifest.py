"""What each feature says of itself. A list of commands is shown without importing one: all here is light."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command of `daybook`."""

    help: str
    """The first paragraph of its `--help`."""
    command: str
    """`module:attribute`."""
    after: str = ""
    """The command that it follows in the list; empty: the last."""


@dataclass(frozen=True, slots=True)
class Feature:
    """The manifest of a feature. Functions are named as `module:attribute` and imported when they are needed."""

    commands: Mapping[str, CommandLine] = field(default_factory=dict)
    opening: str = ""
    """From the `Kernel` to an asynchronous context manager of the `FeatureParts`, open while the gateway is."""
    checks: str = ""
    """From the home and its configuration to the doctor's findings. May block for some seconds."""
    secrets: str = ""
    """From the home to what no model may see."""
