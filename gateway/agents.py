"""From configuration to an agent: its workspace, its settings, and what knows which texts mean alike."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.agent import Agent
from agent.clock import Clock
from agent.model.base import Model
from agent.model.offline.model import NAME as OFFLINE
from agent.settings import (
    AgentSettings,
    FlushSettings,
    HybridSettings,
    MemorySettings,
    ModelSettings,
    RecallSettings,
    SearchSettings,
    SessionSettings,
)
from agent.workspace import create, template_folder
from gateway.config import AgentConfig, dotenv_names
from gateway.config.model import SearchConfig
from gateway.embedding import Embedders, embedding_of
from gateway.home import Home, HomeError


async def build_agent(
    name: str, config: AgentConfig, home: Home, model: Model, clock: Clock, embedders: Embedders
) -> Agent:
    """The agent of a configuration, its workspace made where there is none. Its owner closes it. Raises `HomeError`
    where the workspace cannot be used."""
    workspace = home.workspace(config.workspace)
    try:
        await asyncio.to_thread(create, workspace, template_folder())
    except OSError as error:
        what = f"the workspace {workspace} of agent {name} cannot be used: {error.strerror or error}"
        raise HomeError(f"{what}; make it a folder that you can write to, or set agents.{name}.workspace") from error
    configured = await asyncio.to_thread(dotenv_names, home)
    settings = _settings(name, config, home)
    meaning = embedders.meaning(settings.memory.search.embedding)
    return Agent(settings, workspace, home.sessions, model, clock, configured=configured, meaning=meaning)


def _settings(name: str, config: AgentConfig, home: Home) -> AgentSettings:
    model, session, memory = config.model, config.session, config.memory
    model_name = model.name if model.provider == "anthropic" else OFFLINE
    return AgentSettings(
        name=name,
        model=ModelSettings(model_name, model.max_tokens, model.context_window, model.effort, model.cache),
        session=SessionSettings(
            reserve_tokens=session.reserve_tokens,
            keep_recent_tokens=session.keep_recent_tokens,
            flush_soft_threshold_tokens=session.flush.soft_threshold_tokens,
            max_tool_rounds=session.max_tool_rounds,
            flush=FlushSettings(session.flush.enabled, session.flush.prompt, session.flush.system_prompt),
            idle_reset_minutes=session.idle_reset_minutes,
        ),
        memory=MemorySettings(
            daily_log_days=memory.daily_log_days,
            max_index_lines=memory.max_index_lines,
            max_index_bytes=memory.max_index_bytes,
            max_file_chars=memory.max_file_chars,
            max_daily_chars=memory.max_daily_chars,
            group_daily_logs=memory.group_daily_logs,
            search=_search(memory.search, home),
            recall=RecallSettings(
                memory.auto_recall.enabled, memory.auto_recall.max_results, memory.auto_recall.timeout_ms
            ),
        ),
        files_tools=config.tools.files,
    )


def _search(search: SearchConfig, home: Home) -> SearchSettings:
    hybrid = HybridSettings(**search.hybrid.model_dump()) if search.ranking == "hybrid" else None
    extra = tuple(home.path / Path(path).expanduser() for path in search.extra_paths)
    embedding = embedding_of(search.embedding, home)
    return SearchSettings(search.max_chars, search.max_results, hybrid, extra, search.transcripts, embedding)
