"""The features, each a folder and a line: what is not listed is not there."""

from __future__ import annotations

from importlib import import_module

from gateway.manifest import Feature

NAMES = (
    "imports",
    "backup",
    "service",
    "delegate",
    "web_tools",
    "office",
    "speech",
    "pictures",
    "programs",
    "mcp",
)
FEATURES: tuple[Feature, ...] = tuple(import_module(f"{__name__}.{name}").FEATURE for name in NAMES)
