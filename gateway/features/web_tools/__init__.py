"""Reads pages of the web, and searches it."""

from __future__ import annotations

from gateway.manifest import Feature

FEATURE = Feature(
    opening="gateway.features.web_tools.opening:opened",
    checks="gateway.features.web_tools.checks:web_search",
    config=["gateway.features.web_tools.config:WithWeb"],
)
