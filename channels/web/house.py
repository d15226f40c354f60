"""What the page's server asks of the gateway, and tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from channels.message import ChannelStatus


class House(Protocol):
    def listens(self, address: str) -> None:
        """The page can be opened there; empty: nowhere now."""

    async def channels(self) -> Mapping[str, ChannelStatus]:
        """How each channel is that is on."""

    async def embedder(self, answer: str) -> object:
        """What the owner is asked of a model that finds by meaning, and how far that is, as JSON: `state` is `offered`,
        `fetching`, `failed` or `embedding`, or empty where there is nothing to show. `answer` is `yes` or `no`, empty
        where the page only looks."""

    async def metrics(self) -> str:
        """Figures in Prometheus' text format. Raises `NotRecorded` where they cannot be read."""
