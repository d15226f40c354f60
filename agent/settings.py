"""The settings of an agent, with SPEC's defaults."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path


class GroupLogs(enum.StrEnum):
    """The daily logs in a group's prompt: its own, the owner's too, or none (`memory.group_daily_logs`)."""

    OWN = "own"
    SHARED = "shared"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`context_window` in tokens; None asks the server. `effort` and `cache` as in `ModelRequest`."""

    name: str = "claude-sonnet-5-5"
    max_tokens: int = 8192
    context_window: int | None = None
    effort: str | None = None
    cache: str = "5m"


@dataclass(frozen=True, slots=True)
class FlushSettings:
    """`prompt` and `system_prompt` replace our own words to the model; the safety lines are added to any."""

    enabled: bool = True
    prompt: str | None = None
    system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """All sizes in tokens. `idle_reset_minutes` None: a session lasts until it is ended."""

    reserve_tokens: int = 20_000
    keep_recent_tokens: int = 20_000
    flush_soft_threshold_tokens: int = 4_000
    max_tool_rounds: int = 40
    flush: FlushSettings = FlushSettings()
    idle_reset_minutes: int | None = None


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """Recalled memories: how many at most, and how long a turn may wait for them."""

    enabled: bool = True
    max_results: int = 5
    timeout_ms: int = 300


@dataclass(frozen=True, slots=True)
class HybridSettings:
    """The ranking `hybrid`. Chunks in tokens of four characters; a half-life in days; `mmr_lambda` between 0 (all
    variety) and 1 (all relevance)."""

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
    """A model's folder, absolute."""

    folder: Path


@dataclass(frozen=True, slots=True)
class RemoteEmbedderSettings:
    """An OpenAI-compatible server; `base_url` up to and with `/v1`, the key may be empty."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`hybrid` None: the ranking `daybook`. `extra_paths`: absolute, the owner's. `transcripts`: a private scope's past
    sessions are searched too. `embedding` None: by words alone."""

    max_chars: int = 4_000
    max_results: int = 150
    hybrid: HybridSettings | None = None
    extra_paths: tuple[Path, ...] = ()
    transcripts: bool = True
    embedding: LocalEmbedderSettings | RemoteEmbedderSettings | None = None


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
