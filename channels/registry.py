"""The channels, each a folder and a line: what is not listed is not there. The terminal and the web page are the
gateway's own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from channels.manifest import ChannelManifest

CHANNELS = (
    "telegram",
    "discord",
)
MANIFESTS: Mapping[str, ChannelManifest] = {name: import_module(f"channels.{name}").CHANNEL for name in CHANNELS}
