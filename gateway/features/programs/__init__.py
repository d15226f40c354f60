"""Programs that people approve: where they run, what they may use, and how their end is told."""

from __future__ import annotations

from gateway.manifest import Feature

FEATURE = Feature(
    opening="gateway.features.programs.opening:opened",
    checks="gateway.features.programs.checks:programs",
    exposure="gateway.features.programs.checks:exposure",
    config=["gateway.features.programs.config:WithPrograms"],
)
