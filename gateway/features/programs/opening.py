"""Opens programs with a gateway: where no agent runs any, no sandbox is looked for."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from gateway.features.programs import rows
from gateway.features.programs.allowed import AllowedPrograms
from gateway.features.programs.background import ProgramRuns
from gateway.features.programs.config import WithPrograms
from gateway.features.programs.runner import ProgramRunner
from gateway.features.programs.sandbox import NO_SANDBOX, Sandbox, find_sandbox, missed_sandbox
from gateway.features.programs.workspace import Workspaces, Written, remove_left_names
from gateway.kernel import FeatureParts, Kernel, ToolSource

log = logging.getLogger(__name__)


async def opened(kernel: Kernel, _: AsyncExitStack) -> FeatureParts:
    home, config, database, agents = kernel.home, kernel.config, kernel.database, kernel.agents.values()
    tools = {name: WithPrograms.of(agent.tools) for name, agent in config.agents.items()}
    rules = {name: own.exec_allow for name, own in tools.items() if own.exec}
    sandbox = await asyncio.to_thread(find_sandbox, home, config) if rules else Sandbox()
    why_off = await asyncio.to_thread(missed_sandbox, home, sandbox) if rules else ""
    if rules and (why_off or not sandbox.is_tight):
        log.warning("%s", why_off or f"tools.exec is on. {NO_SANDBOX[sandbox.is_root]}")
    await asyncio.to_thread(shutil.rmtree, home.programs, ignore_errors=True)  # left by a killed process
    for agent in agents if not config.is_shared else ():
        await asyncio.to_thread(remove_left_names, agent.workspace)
    workspaces = Workspaces([Written(agent.workspace, agent.history, agent.consents) for agent in agents])
    runner = ProgramRunner(sandbox, workspaces, home.programs)
    runs = ProgramRuns(database, kernel.clock, kernel.outbox, kernel.sessions, runner, kernel.secrets)
    return FeatureParts(
        tools=[_tools(kernel, runs, rules, why_off)] if rules else [],
        sources=[runs],
        texts=rows.TEXTS,
        on_forgotten=[runs.forget],
        on_stop=[runs.stop],
        prunes=[rows.prune],
    )


def _tools(kernel: Kernel, runs: ProgramRuns, rules: Mapping[str, Sequence[Sequence[str]]], why_off: str) -> ToolSource:
    from gateway.features.programs.tools import ProgramTools  # noqa: PLC0415 (only where programs may run)

    return ProgramTools(runs, AllowedPrograms(kernel.database, runs.runner), kernel.sessions, rules, why_off)
