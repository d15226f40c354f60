"""From configuration to what opens the things that come with messages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent.clock import Clock
from agent.media.reader import Reader
from agent.media.store import Store
from agent.media.transcribe import Endpoint, Program, Transcriber
from channels.message import Channel
from gateway.config.model import LocalTranscriber, MediaConfig, RemoteTranscriber
from gateway.in_hand import InHand
from gateway.intake import Intake, Space


def build_intake(
    config: MediaConfig,
    state: Path,
    channels: Mapping[str, Channel],
    in_hand: InHand,
    clock: Clock,
    wait: float,
    space: Space,
) -> Intake:
    reader, transcriber = Reader(config.max_chars, config.max_pages), _transcriber(config)
    return Intake(channels, Store(state), reader, transcriber, config.max_mb * 1_000_000, in_hand, clock, wait, space)


def _transcriber(config: MediaConfig) -> Transcriber | None:
    match config.transcribe:
        case RemoteTranscriber() as remote:
            key = remote.api_key.get_secret_value() if remote.api_key else ""
            return Endpoint(remote.base_url, remote.model, key)
        case LocalTranscriber() as local:
            return Program(local.command)
        case None:
            return None
