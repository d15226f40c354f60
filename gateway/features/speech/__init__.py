"""Says answers aloud, and turns recordings into words."""

from __future__ import annotations

from gateway.manifest import Feature

FEATURE = Feature(
    opening="gateway.features.speech.opening:opened",
    checks="gateway.features.speech.checks:speech",
    config=["gateway.features.speech.config:WithSpeech"],
)
