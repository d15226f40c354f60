"""A configuration as people and programs may see it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

import yaml
from pydantic import BaseModel, SecretStr

from agent.formats.secrets import KnownSecrets
from agent.model.base import Json
from gateway.config import dotenv
from gateway.config.errors import ConfigPath
from gateway.config.schema import SHARED_SECTIONS, AgentConfig, Config
from gateway.config.whole import whole

_WIDE = 120


def shown(config: Config) -> str:
    """The effective configuration as YAML, secrets as `***`; agents show only what differs."""
    values = config.model_dump(mode="json")
    for agent in values["agents"].values():
        for section in SHARED_SECTIONS:
            if agent[section] == values[section]:
                del agent[section]
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=_WIDE)


def shown_value(config: Config, path: ConfigPath) -> Json:
    """The value at a path as people may see it; None if nothing is there."""
    value: Json = config.model_dump(mode="json")
    for part in path:
        value = value.get(str(part)) if isinstance(value, dict) else None
    return value


def schema() -> str:
    """The JSON Schema of `config.yaml`: what the loader fills in is not required."""
    document = whole().model_json_schema()
    document["$defs"][AgentConfig.__name__].pop("required")
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(dialect | document, indent=2, ensure_ascii=False)


def secrets_of(config: Config) -> frozenset[str]:
    return frozenset(_secrets(config))


def _secrets(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name))
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _secrets(inner)


def known_secrets(config: Config, env_file: str, others: Iterable[str] = ()) -> KnownSecrets:
    """The secrets that no output of programs, servers and pages may hold. `env_file`: the text of `.env`; a value in it
    that the configuration shows openly is no secret."""
    values, _ = dotenv.parse(env_file)
    plain = json.dumps(config.model_dump(mode="json"), ensure_ascii=False)
    secrets = {*secrets_of(config), *(value for value in values.values() if value not in plain)}
    plain_values = {value for agent in config.agents.values() for value in agent.tools.plain_values()}
    secrets = secrets - plain_values | set(others)
    passwords = {urlsplit(secret).password or "" for secret in secrets if secret.startswith(("postgres", "http"))}
    return KnownSecrets(secrets | {unquote(password) for password in passwords} | passwords)
