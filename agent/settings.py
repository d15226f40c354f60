"""The agent's settings and their defaults."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path


class GroupLogs(enum.StrEnum):
    """The daily logs in a group's prompt (`memory.group_daily_logs`)."""

    OWN = "own"
    SHARED = "shared"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`context_window` in tokens (None: by the server); `effort` and `cache` as in `ModelRequest`."""

    name: str = "claude-sonnet-5-5"
    max_tokens: int = 8192
    context_window: int | None = None
    effort: str | None = None
    cache: str = "5m"


@dataclass(frozen=True, slots=True)
class FlushSettings:
    """The safety lines are added to any prompt."""

    enabled: bool = True
    prompt: str | None = None
    system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Sizes in tokens. `idle_reset_minutes` None: never."""

    reserve_tokens: int = 20_000
    keep_recent_tokens: int = 20_000
    flush_soft_threshold_tokens: int = 4_000
    max_tool_rounds: int = 40
    flush: FlushSettings = FlushSettings()
    idle_reset_minutes: int | None = None


@dataclass(frozen=True, slots=True)
class RecallSettings:
    enabled: bool = True
    max_results: int = 5
    timeout_ms: int = 300


@dataclass(frozen=True, slots=True)
class HybridSettings:
    """Tokens of four characters; half-life in days; `mmr_lambda` from 0 (variety) to 1 (relevance)."""

    chunk_tokens: int = 400
    chunk_overlap: int = 80
    vector_weight: float = 0.7
    text_weight: float = 0.3
    min_score: float = 0.35
    max_results: int = 6
    half_life_days: float | None = None
    mmr_lambda: float | None = None


@dataclass(frozen=True, slots=True)
class LocalEmbedderSettings:
    folder: Path


@dataclass(frozen=True, slots=True)
class RemoteEmbedderSettings:
    """`base_url` includes `/v1`; the key may be empty."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`hybrid` None: the ranking `daybook`. `embedding` None: by words only."""

    max_chars: int = 4_000
    max_results: int = 150
    hybrid: HybridSettings | None = None
    extra_paths: tuple[Path, ...] = ()
    """Absolute, the owner's only."""
    transcripts: bool = True
    embedding: LocalEmbedderSettings | RemoteEmbedderSettings | None = None
    folder: Path | None = None
    """The folder of this computer's index, if several share the home. None: beside the sessions."""


@dataclass(frozen=True, slots=True)
class MemorySettings:
    daily_log_days: int = 2
    max_index_lines: int = 200
    max_index_bytes: int = 25_000
    max_file_chars: int = 20_000
    max_daily_chars: int = 8_000
    group_daily_logs: GroupLogs = GroupLogs.OWN
    search: SearchSettings = SearchSettings()
    recall: RecallSettings = RecallSettings()


@dataclass(frozen=True, slots=True)
class AgentSettings:
    name: str = "main"
    model: ModelSettings = field(default_factory=ModelSettings)
    session: SessionSettings = field(default_factory=SessionSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    files_tools: bool = True
