"""Interfaces between the page's server, the gateway and the channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from channels.message import ChannelStatus
from channels.web.frames import PressFrame, SayFrame


class WebHost(Protocol):
    def listens(self, address: str) -> None:
        """Called with the page's address; empty when it is not served."""

    async def channels(self) -> Mapping[str, ChannelStatus]: ...

    async def embedder(self, answer: str) -> object:
        """State of the model for semantic search, as JSON: `state` is `offered`, `fetching`, `failed`, `embedding` or
        empty. `answer` is `yes` or `no`, empty for a query."""

    async def metrics(self) -> str:
        """Prometheus' text format. Raises `NotRecorded`."""


class WebMessageNotKept(Exception):
    """A message is not on disk. The text says why. `again`: a retry may succeed later."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


class WebChat(Protocol):
    async def say(self, chat: str, said: SayFrame) -> None:
        """Returns once the message is on disk; a repeat has no effect. Raises `WebMessageNotKept`."""

    async def press(self, chat: str, pressed: PressFrame) -> None:
        """Returns once the press is on disk. Raises `WebMessageNotKept`."""
