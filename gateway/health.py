"""How each channel is."""

from __future__ import annotations

from channels.message import ChannelStatus, Health
from gateway.supervise import Supervised


def channel_status(supervised: Supervised) -> ChannelStatus:
    """What the supervisor knows, else what the channel says of itself."""
    if supervised.failure is not None:
        return supervised.failure
    source = supervised.source
    status: ChannelStatus = getattr(source, "status", ChannelStatus(Health.OK))
    return status
