"""The whole configuration: the kernel's keys, and those that features add to a section by a class that extends it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pkgutil import resolve_name
from types import GenericAlias
from typing import Any, TypeVar

from pydantic import Field, create_model

from channels.settings import Section
from gateway.config.capabilities import MediaConfig, ToolsConfig
from gateway.config.schema import AgentConfig, Config
from gateway.config.values import AgentName
from gateway.manifest import features

S = TypeVar("S", bound=Section)


@cache
def added() -> Sequence[type[Section]]:
    """The classes by which features extend sections."""
    return [resolve_name(name) for feature in features() for name in feature.config]


@cache
def whole() -> type[Config]:
    """`Config` with the keys of all features."""
    tools, media = _with_added(ToolsConfig), _with_added(MediaConfig)
    agent = _with_added(AgentConfig, tools=(tools, tools()))
    agents = (GenericAlias(dict, (AgentName, agent)), Field(default={"main": agent(workspace="workspace")}))
    return _with_added(Config, tools=(tools, tools()), media=(media, media()), agents=agents)


def _with_added(section: type[S], **fields: Any) -> type[S]:
    bases = [kind for kind in reversed(added()) if issubclass(kind, section)]
    docs = [kind.__doc__.rstrip(".") for kind in (section, *reversed(bases)) if kind.__doc__]
    doc = "; ".join(docs) + "." if docs else None
    return create_model(section.__name__, __base__=(*bases, section), __doc__=doc, **fields)
