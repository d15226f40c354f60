"""Interfaces between the page's server, the gateway and the channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from channels.message import ChannelStatus
from channels.web.frames import PressFrame, ResendFrame, SayFrame, StopFrame


class WebHost(Protocol):
    @property
    def timezone(self) -> str:
        """The user's zone, by its IANA name."""

    @property
    def serves(self) -> bool:
        """False where another gateway serves the page, so that this one only says how it is."""

    def listens(self, address: str) -> None:
        """Called with the page's address; empty when it is not served."""

    def redeem(self, secret: str) -> bool:
        """True the first time that the secret of a link is shown in time."""

    async def channels(self) -> Mapping[str, ChannelStatus]: ...

    def offers(self, operation: str) -> bool:
        """Whether a person may do that on the page."""

    async def call(self, operation: str, parameters: Mapping[str, object]) -> object:
        """Calls one of the gateway's operations. Raises `ActionFailed`."""

    async def metrics(self) -> str:
        """Prometheus' text format. Raises `NotRecorded`."""


class WebMessageNotKept(Exception):
    """A message is not on disk. The text says why. `again`: a retry may succeed later."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


class WebChat(Protocol):
    """`language`: of the browser."""

    async def say(self, chat: str, frame: SayFrame, language: str) -> None:
        """Returns once the message is on disk; a repeat has no effect. Raises `WebMessageNotKept`."""

    async def resend(self, chat: str, frame: ResendFrame, language: str) -> None:
        """Sends a new version of a message: the conversation goes on from before it. Returns once it is on disk; a
        message is replaced once. Raises `WebMessageNotKept`."""

    async def press(self, chat: str, frame: PressFrame, language: str) -> None:
        """Returns once the press is on disk. Raises `WebMessageNotKept`."""

    async def stop(self, chat: str, frame: StopFrame, language: str) -> None:
        """Stops the answer in progress. Raises `WebMessageNotKept`."""
