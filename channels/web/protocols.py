"""What the page's server asks of the gateway, and tells it.

Who takes what a person says on a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from channels.message import ChannelStatus
from channels.web.frames import Press, Say


class WebHost(Protocol):
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


class WebMessageNotKept(Exception):
    """What was said is not on disk. The text says why. `again`: the same may be said again later."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


class WebChat(Protocol):
    async def say(self, chat: str, said: Say) -> None:
        """Returns when it is on disk; a repeat is known and does nothing. Raises `NotKept`."""

    async def press(self, chat: str, pressed: Press) -> None:
        """Returns when it is on disk. Raises `NotKept`."""
