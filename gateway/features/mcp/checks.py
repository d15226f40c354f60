"""Checks of MCP servers: each is started or reached once."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent.languages.sentences import Sentence, joined
from channels.checks import Finding
from gateway.config import Config
from gateway.features.mcp.config import LocalMcpServer, RemoteMcpServer, WithMcp
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.servers import ServerProbe, probe
from gateway.home import Home

_CHECK = "mcp"
_SECONDS = 20.0


def servers(home: Home, config: Config) -> Iterator[Finding]:
    """Starts programs and asks addresses; blocks for some seconds at most. Logins may be renewed."""
    configured = {
        name: server for agent in config.agents.values() for name, server in WithMcp.of(agent.tools).mcp.items()
    }
    there = {}
    for name, server in configured.items():
        if isinstance(server, LocalMcpServer) and shutil.which(server.command[0]) is None:
            fix = Sentence("install it, or write its whole path into tools.mcp.{name}.command", name=name)
            what = Sentence("{name}: there is no program {program}", name=name, program=server.command[0])
            yield Finding(_CHECK, False, what, fix)
        else:
            there[name] = server
    if there:
        for name, found in asyncio.run(_probed(there, home.mcp_logins)).items():
            if not found.failure:
                yield Finding(_CHECK, True, Sentence("{name} works; tools: {count}", name=name, count=len(found.tools)))
                continue
            if found.needs_login:
                fix = Sentence("run `daybook mcp login {name}` and open the link that it prints", name=name)
                yield Finding(_CHECK, False, Sentence("{name} needs a login", name=name), fix)
                continue
            why = joined([found.failure, *found.said[-1:]], ": ")
            fix = Sentence("see tools.mcp.{name} in config.yaml; `daybook mcp test {name}` tries again", name=name)
            yield Finding(_CHECK, False, Sentence("{name} does not work: {why}", name=name, why=why), fix)


def exposure(home: Home, config: Config) -> Iterator[Finding]:
    """What servers may do without a question, and for whom."""
    every = {name: server for agent in config.agents.values() for name, server in WithMcp.of(agent.tools).mcp.items()}
    for name, server in every.items():
        if server.ask == "none":
            yield Finding(
                _CHECK,
                False,
                Sentence("tools of {name} act without asking you", name=name),
                Sentence("set `{key}` to `writes`, or leave it out", key=f"tools.mcp.{name}.ask"),
            )
        elif server.scopes != ("owner",):
            said = Sentence("tools of {name} are for others, too: {scopes}", name=name, scopes=", ".join(server.scopes))
            yield Finding(_CHECK, True, said)
    if not every:
        yield Finding(_CHECK, True, "no MCP server is used")


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
