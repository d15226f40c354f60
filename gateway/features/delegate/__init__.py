"""Has a longer task done aside, by a turn of its own."""

from __future__ import annotations

from gateway.manifest import Feature

FEATURE = Feature(opening="gateway.features.delegate.tools:opened")
