"""Every key of `config.yaml` with its type and default.

A key that is null or left out has its default. Models are frozen; secrets hide themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time, timedelta
from typing import TYPE_CHECKING, Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Tag,
    create_model,
    model_validator,
)

from agent.languages.sentences import Sentence
from agent.settings import GroupLogs
from channels.manifest import ChannelSettings
from channels.registry import MANIFESTS
from channels.settings import AnyId, Secret, Section, Url, Validated
from gateway.config.capabilities import MediaConfig, ModelServer, ModelServers, ToolsConfig
from gateway.config.values import (
    AccountText,
    AgentName,
    DatabaseUrl,
    Interval,
    Origin,
    PersonName,
    Quiet,
    Targets,
    TimeOfDay,
    Zone,
    machine_zone,
)

Fraction = Annotated[float, Field(ge=0, le=1)]


class Price(Section):
    """USD per million tokens. A cache price defaults to a part of `input`: write 1.25, read 0.1 of it."""

    input: NonNegativeFloat
    output: NonNegativeFloat
    cache_write: NonNegativeFloat | None = None
    cache_read: NonNegativeFloat | None = None


Provider = Literal["anthropic", "openai", "offline"]
SERVED = ("anthropic", "openai")
"""Providers that a model's name may begin with, before a colon."""


def _provider(above: Validated) -> Provider:
    return "anthropic" if above.get("api_key") or above.get("base_url") else "offline"


class ModelConfig(Section):
    api_key: Secret | None = None
    base_url: Url | None = None
    provider: Provider = Field(default_factory=_provider)
    name: Annotated[str, Field(min_length=1)] = "claude-sonnet-5-5"
    max_tokens: PositiveInt = 8192
    context_window: PositiveInt | None = None
    fallbacks: tuple[str, ...] = ()
    servers: ModelServers = ModelServers()
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    cache: Literal["5m", "1h", "off"] = "5m"
    timeout_s: PositiveFloat = 120
    prices: dict[str, Price] = Field(default={})
    daily_budget_usd: PositiveFloat | None = None

    def server(self, provider: str = "") -> ModelServer:
        """The address and key of a provider, by default its own."""
        served = self.servers.openai if (provider or self.provider) == "openai" else self.servers.anthropic
        if provider not in ("", self.provider):
            return served
        return ModelServer(base_url=self.base_url or served.base_url, api_key=self.api_key or served.api_key)


class LimitsConfig(Section):
    """What each other person and group may cost a day in USD."""

    person_daily_usd: PositiveFloat | None = None
    group_daily_usd: PositiveFloat | None = None


class WebConfig(Section):
    enabled: bool = True
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    public_url: Origin | None = None
    token: Secret | None = None


class _Channels(Section):
    if TYPE_CHECKING:  # a field of the class below, in its place there
        web: WebConfig = WebConfig()

    @property
    def platforms(self) -> Mapping[str, ChannelSettings]:
        return {name: getattr(self, name) for name in MANIFESTS}


if TYPE_CHECKING:
    ChannelsConfig = _Channels
else:
    _sections = {name: manifest.settings for name, manifest in MANIFESTS.items()} | {"web": WebConfig}
    _fields = {name: (section, section()) for name, section in _sections.items()}
    ChannelsConfig = create_model("ChannelsConfig", __base__=_Channels, **_fields)


class FlushConfig(Section):
    enabled: bool = True
    soft_threshold_tokens: NonNegativeInt = 4000
    prompt: str | None = None
    system_prompt: str | None = None


class SessionConfig(Section):
    queue: Literal["steer", "collect", "interrupt"] = "steer"
    queue_cap: PositiveInt = 20
    reserve_tokens: PositiveInt = 20000
    keep_recent_tokens: NonNegativeInt = 20000
    flush: FlushConfig = FlushConfig()
    idle_reset_minutes: PositiveInt | None = None
    max_tool_rounds: PositiveInt = 40


class HybridConfig(Section):
    chunk_tokens: PositiveInt = 400
    chunk_overlap: NonNegativeInt = 80
    vector_weight: Fraction = 0.7
    text_weight: Fraction = 0.3
    min_score: Fraction = 0.35
    max_results: PositiveInt = 6
    half_life_days: PositiveFloat | None = None
    mmr_lambda: Fraction | None = None


class LocalEmbedding(Section):
    model_config = ConfigDict(protected_namespaces=())

    model_dir: str


class RemoteEmbedding(Section):
    base_url: Url
    model: str
    api_key: Secret | None = None


def _embedding_kind(value: object) -> str | None:
    if isinstance(value, str) and value in ("auto", "none"):
        return "word"
    if isinstance(value, LocalEmbedding) or (isinstance(value, dict) and "model_dir" in value):
        return "local"
    if isinstance(value, RemoteEmbedding) or (isinstance(value, dict) and "base_url" in value):
        return "remote"
    return None


Embedding = Annotated[
    Annotated[Literal["auto", "none"], Tag("word")]
    | Annotated[LocalEmbedding, Tag("local")]
    | Annotated[RemoteEmbedding, Tag("remote")],
    Discriminator(
        _embedding_kind,
        custom_error_type="embedding",
        custom_error_message=Sentence(
            "allowed: `auto`, `none`, or lines with `model_dir`, or with `base_url`, `model` and `api_key`"
        ),
    ),
]


class SearchConfig(Section):
    ranking: Literal["daybook", "hybrid"] = "daybook"
    max_chars: PositiveInt = 4000
    max_results: PositiveInt = 150
    hybrid: HybridConfig = HybridConfig()
    embedding: Embedding = "auto"
    extra_paths: tuple[str, ...] = ()
    transcripts: bool = True


class RecallConfig(Section):
    enabled: bool = True
    max_results: PositiveInt = 5
    timeout_ms: PositiveInt = 300


class MemoryConfig(Section):
    daily_log_days: NonNegativeInt = 2
    max_index_lines: PositiveInt = 200
    max_index_bytes: PositiveInt = 25000
    max_file_chars: PositiveInt = 20000
    max_daily_chars: PositiveInt = 8000
    group_daily_logs: GroupLogs = GroupLogs.OWN
    journal: bool = True
    search: SearchConfig = SearchConfig()
    auto_recall: RecallConfig = RecallConfig()


class SummaryConfig(Section):
    enabled: bool = True
    time: TimeOfDay = time(21)
    to: Targets = ("owner",)


class HeartbeatConfig(Section):
    """`daily_budget_usd` null: only `model.daily_budget_usd` limits it."""

    every: Interval = timedelta(minutes=30)
    to: Targets = ("owner",)
    daily_budget_usd: NonNegativeFloat | None = None


class ScheduleConfig(Section):
    """`heartbeat` null: off."""

    daily_summary: SummaryConfig = SummaryConfig()
    heartbeat: HeartbeatConfig | None = None
    quiet_hours: Quiet | None = None
    catch_up_hours: NonNegativeFloat = 12


class LogConfig(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"


class AgentConfig(Section):
    """One agent, complete: the common sections under its own keys. `workspace` is relative to the home."""

    workspace: Annotated[str, Field(min_length=1)]
    model: ModelConfig = ModelConfig()
    session: SessionConfig = SessionConfig()
    memory: MemoryConfig = MemoryConfig()
    tools: ToolsConfig = ToolsConfig()


class Route(Section):
    """What a message must come from to be answered by `agent`."""

    channel: str
    account: AnyId | None = None
    guild: AnyId | None = None
    chat: AnyId | None = None
    user: AnyId | None = None
    agent: str


SHARED_SECTIONS = ("model", "session", "memory", "tools")
"""Sections that may be repeated under an agent."""


class Config(Section):
    timezone: Zone = Field(default_factory=machine_zone)
    owners: tuple[AccountText, ...] = ()
    people: dict[PersonName, tuple[AccountText, ...]] = Field(default={})
    model: ModelConfig = ModelConfig()
    channels: ChannelsConfig = ChannelsConfig()
    agents: dict[AgentName, AgentConfig] = Field(default={"main": AgentConfig(workspace="workspace")})
    routes: tuple[Route, ...] = ()
    session: SessionConfig = SessionConfig()
    memory: MemoryConfig = MemoryConfig()
    tools: ToolsConfig = ToolsConfig()
    limits: LimitsConfig = LimitsConfig()
    media: MediaConfig = MediaConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    log: LogConfig = LogConfig()
    database_url: DatabaseUrl | None = None

    @model_validator(mode="before")
    @classmethod
    def agents_inherit(cls, value: object) -> object:
        """Merges the common sections into each agent's."""
        if not isinstance(value, dict):
            return value
        agents = value.get("agents") or {"main": None}
        if not isinstance(agents, dict):
            return value
        common = {name: value[name] for name in SHARED_SECTIONS if value.get(name) is not None}
        return value | {"agents": {name: _complete(str(name), agent, common) for name, agent in agents.items()}}

    def written_folders(self) -> tuple[str, ...]:
        """The folders that Daybook writes to beside its home, as the configuration names them."""
        return tuple(agent.workspace for agent in self.agents.values())

    @property
    def postgres_url(self) -> str | None:
        """The address of the database; None where the messages are in SQLite."""
        return self.database_url.get_secret_value() if self.database_url is not None else None

    @property
    def is_shared(self) -> bool:
        """True if several gateways may serve the home."""
        return self.database_url is not None

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def default_agent(self) -> str:
        """`main`, else the first one: answers where no route fits."""
        return "main" if "main" in self.agents else next(iter(self.agents))


def _complete(name: str, agent: object, common: Validated) -> object:
    agent = {} if agent is None else agent
    if not isinstance(agent, dict):
        return agent
    default = {"workspace": "workspace" if name == "main" else f"workspace-{name}"}
    own = {key: inner for key, inner in agent.items() if inner is not None}
    return default | _laid_over(_without_other_server(common, own), own)


def _without_other_server(common: Validated, own: Validated) -> Validated:
    """The sections that an agent inherits, without the key and address of another provider than its own."""
    model, its = common.get("model"), own.get("model")
    if not isinstance(model, dict) or not isinstance(its, dict) or not its.get("provider"):
        return common
    if its["provider"] == (model.get("provider") or _provider(model)):
        return common
    return common | {"model": {key: value for key, value in model.items() if key not in ("api_key", "base_url")}}


def _laid_over(below: Validated, above: Validated) -> Validated:
    """Merges mappings key by key; all else, lists too, is replaced. A null above leaves the value below."""
    joined = dict(below)
    for key, value in above.items():
        under = joined.get(key)
        if isinstance(value, dict) and isinstance(under, dict):
            joined[key] = _laid_over(under, value)
        elif value is not None or key not in joined:
            joined[key] = value
    return joined
