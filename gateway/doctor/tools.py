"""Checks of tools: MCP servers, each started or reached once, and the sandbox of programs."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent.languages.sentences import Sentence, joined
from gateway.config import Config
from gateway.config.capabilities import LocalMcpServer, RemoteMcpServer
from gateway.home import Home
from gateway.mcp.kept import KeptMcp
from gateway.mcp.probe import ServerProbe, probe
from gateway.programs.sandbox import find_sandbox, missed_sandbox
from gateway.setup.probe import Finding

_SERVERS = "mcp"
_PROGRAMS = "programs"
_SECONDS = 20.0
_NO_SANDBOX = (
    "warning: tools.exec is on, and there is no sandbox here, so that programs can read and change all that "
    "Daybook can; install bubblewrap, or turn tools.exec off"
)
_AS_ROOT = (
    "warning: tools.exec is on, and Daybook runs as root, whom no sandbox holds, so that programs can read and change "
    "everything on this computer; run it as another user, or turn tools.exec off"
)
_GET_ONE = "make bubblewrap work and restart Daybook, or delete {file} if programs may run without a sandbox"
_NOT_AS_ROOT = "run Daybook as the user of before, or delete {file} if programs may run without a sandbox"


def servers(config: Config, logins: Path) -> Iterator[Finding]:
    """Starts programs and asks addresses; blocks for some seconds at most. `logins`: the folder of the owner's logins,
    which may be renewed."""
    configured = {name: server for agent in config.agents.values() for name, server in agent.tools.mcp.items()}
    there = {}
    for name, server in configured.items():
        if isinstance(server, LocalMcpServer) and shutil.which(server.command[0]) is None:
            fix = Sentence("install it, or write its whole path into tools.mcp.{name}.command", name=name)
            what = Sentence("{name}: there is no program {program}", name=name, program=server.command[0])
            yield Finding(_SERVERS, False, what, fix)
        else:
            there[name] = server
    if there:
        for name, found in asyncio.run(_probed(there, logins)).items():
            if not found.failure:
                yield Finding(
                    _SERVERS, True, Sentence("{name} works; tools: {count}", name=name, count=len(found.tools))
                )
                continue
            if found.needs_login:
                fix = Sentence("run `daybook mcp login {name}` and open the link that it prints", name=name)
                yield Finding(_SERVERS, False, Sentence("{name} needs a login", name=name), fix)
                continue
            why = joined([found.failure, *found.said[-1:]], ": ")
            fix = Sentence("see tools.mcp.{name} in config.yaml; `daybook mcp test {name}` tries again", name=name)
            yield Finding(_SERVERS, False, Sentence("{name} does not work: {why}", name=name, why=why), fix)


async def _probed(configured: dict[str, LocalMcpServer | RemoteMcpServer], logins: Path) -> dict[str, ServerProbe]:
    with tempfile.TemporaryDirectory() as folder:  # the doctor changes no list
        kept = KeptMcp(Path(folder), logins)
        patient = [
            server.model_copy(update={"timeout_s": min(server.timeout_s, _SECONDS)}) for server in configured.values()
        ]
        found = await asyncio.gather(
            *(probe(name, server, kept) for name, server in zip(configured, patient, strict=True))
        )
    return dict(zip(configured, found, strict=True))


def programs(home: Home, config: Config) -> Iterator[Finding]:
    """Checks the sandbox; finds nothing where no agent runs programs."""
    if not any(agent.tools.exec for agent in config.agents.values()):
        return
    sandbox = find_sandbox(home, config)
    if sandbox.is_tight:
        yield Finding(_PROGRAMS, True, "programs run in a sandbox (bubblewrap)")
    elif missed_sandbox(home, sandbox):
        said = "programs are off: they had a sandbox here before, and have none now"
        way = _NOT_AS_ROOT if sandbox.is_root else _GET_ONE
        yield Finding(_PROGRAMS, False, said, Sentence(way, file=home.had_sandbox))
    else:
        yield Finding(_PROGRAMS, True, _AS_ROOT if sandbox.is_root else _NO_SANDBOX)
