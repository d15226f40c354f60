"""The configuration: the keys of `config.yaml`, and reading it with errors that help."""

from gateway.config.capabilities import ToolsConfig
from gateway.config.errors import ConfigError, ConfigProblem
from gateway.config.loader import LoadedConfig, dotenv_names, load
from gateway.config.schema import (
    AgentConfig,
    ChannelsConfig,
    Config,
    MemoryConfig,
    ModelConfig,
    Route,
    SessionConfig,
    WebConfig,
)
from gateway.config.show import known_secrets, schema, secrets_of, shown

__all__ = [
    "AgentConfig",
    "ChannelsConfig",
    "Config",
    "ConfigError",
    "ConfigProblem",
    "LoadedConfig",
    "MemoryConfig",
    "ModelConfig",
    "Route",
    "SessionConfig",
    "ToolsConfig",
    "WebConfig",
    "dotenv_names",
    "known_secrets",
    "load",
    "schema",
    "secrets_of",
    "shown",
]
