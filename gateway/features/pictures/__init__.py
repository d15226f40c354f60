"""Makes pictures from words, at a server."""

from __future__ import annotations

from gateway.manifest import Feature

FEATURE = Feature(
    opening="gateway.features.pictures.opening:opened",
    checks="gateway.features.pictures.checks:pictures",
    config=["gateway.features.pictures.config:WithImages"],
)
