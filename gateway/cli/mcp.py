"""`daybook mcp`: the servers of tools that are configured, and what they have."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from agent.model.base import Json
from agent.model.tokens import estimate_tool
from gateway.cli.context import CliContext, CommandFailed, print_json, run
from gateway.cli.table import print_table
from gateway.config.capabilities import LocalMcpServer, RemoteMcpServer
from gateway.mcp.kept import KeptMcp
from gateway.mcp.probe import ServerProbe, probe
from gateway.mcp.schemas import RemoteTool
from gateway.mcp.servers import McpServers

_SHOWN = 80
_AGENT = click.option("--agent", help="The agent's name; default: the main one.")


@click.group("mcp")
def mcp_command() -> None:
    """See and test the MCP servers whose tools Daybook uses."""


@mcp_command.command("list")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def list_servers(context: CliContext, agent: str | None, as_json: bool) -> None:
    """List the servers, with the tools that they had when they last ran."""
    servers = McpServers(KeptMcp(context.home.mcp))
    found: list[dict[str, Json]] = []
    for name, config in _configured(context, agent).items():
        tools = servers.server(name, config).tools
        found.append(
            {
                "name": name,
                "where": _where(config),
                "scopes": list(config.scopes),
                "ask": config.ask,
                "tools": None if tools is None else [one.name for one in tools if _is_wanted(config, one.name)],
            }
        )
    if as_json:
        return print_json([*found])
    lines = [
        (one["name"], _count(one["tools"]), ", ".join(config.scopes), one["ask"], one["where"])
        for one, config in zip(found, _configured(context, agent).values(), strict=True)
    ]
    return print_table(
        ("name", "tools", "for", "asks", "where"), lines, "No servers yet. Put them under tools.mcp in config.yaml."
    )


@mcp_command.command()
@click.argument("name")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def test(context: CliContext, name: str, agent: str | None, as_json: bool) -> None:
    """Start or reach the server NAME, and list its tools. Exits with 1 if that fails."""
    configured = _configured(context, agent)
    if (config := configured.get(name)) is None:
        there = f"There is no server {name!r}. There are: {', '.join(configured) or 'none'}"
        found, tools = ServerProbe("", "", (), there), []
    else:
        found = run(probe(name, config, KeptMcp(context.home.mcp)))
        tools = [one for one in found.tools if _is_wanted(config, one.name)]
    tokens = sum(estimate_tool(one.spec(name)) for one in tools)
    if as_json:
        print_json(_document(name, found, tools, tokens))
    elif not found.failure:
        click.echo(f"{found.server or name} works (protocol {found.protocol}); about {tokens:,} tokens in a request.\n")
        lines = [(one.name, "reads" if one.reads_only else "writes", one.description[:_SHOWN]) for one in tools]
        print_table(("tool", "does", "description"), lines, "It has no tools.")
    else:
        for line in found.said:
            click.echo(f"{name}: {line}", err=True)
        raise CommandFailed(f"{found.failure}.")
    if found.failure:
        sys.exit(1)


def _document(name: str, found: ServerProbe, tools: Sequence[RemoteTool], tokens: int) -> dict[str, Json]:
    return {
        "name": name,
        "ok": not found.failure,
        "server": found.server,
        "protocol": found.protocol,
        "tokens": tokens,
        "tools": [{"name": one.name, "reads_only": one.reads_only, "description": one.description} for one in tools],
        "failure": found.failure,
        "said": list(found.said),
    }


def _configured(context: CliContext, agent: str | None) -> Mapping[str, LocalMcpServer | RemoteMcpServer]:
    config = context.quiet_config()
    wanted = agent or config.default_agent
    if wanted not in config.agents:
        raise CommandFailed(f"There is no agent {wanted!r}. There are: {', '.join(config.agents)}.")
    return config.agents[wanted].tools.mcp


def _is_wanted(config: LocalMcpServer | RemoteMcpServer, tool: str) -> bool:
    return not config.tools or tool in config.tools


def _where(config: LocalMcpServer | RemoteMcpServer) -> str:
    return " ".join(config.command) if isinstance(config, LocalMcpServer) else config.url


def _count(tools: Json) -> str:
    return str(len(tools)) if isinstance(tools, list) else "unknown"
