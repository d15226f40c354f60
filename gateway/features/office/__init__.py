"""Reads Word, Excel, PowerPoint and OpenDocument files."""

from __future__ import annotations

from agent.media.sniff import Kind
from gateway.manifest import Feature

FEATURE = Feature(
    readers={
        Kind.ZIP: "gateway.features.office.office:from_office",
        Kind.OLD_OFFICE: "gateway.features.office.office:from_old_office",
    }
)
