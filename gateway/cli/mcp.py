"""`daybook mcp`: the servers of tools that are configured, what they have, and the owner's logins at them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import click

from agent.model.base import Json
from agent.model.tokens import estimate_tool
from gateway.cli.browser import has_browser, open_link
from gateway.cli.context import CliContext, CommandFailed, print_json, run
from gateway.cli.rpc import Call, ask, ask_beside
from gateway.cli.stdin import InputLines
from gateway.cli.table import print_table
from gateway.config.capabilities import LocalMcpServer, RemoteMcpServer
from gateway.handlers.mcp import login_json
from gateway.mcp.kept import KeptMcp
from gateway.mcp.probe import ServerProbe, probe
from gateway.mcp.schemas import RemoteTool
from gateway.mcp.servers import McpServers
from gateway.rpc.protocol import OperationError, Params

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
        server = servers.server(name, config)
        tools = server.tools
        found.append(
            {
                "name": name,
                "where": _where(config),
                "scopes": list(config.scopes),
                "ask": config.ask,
                "tools": None if tools is None else [one.name for one in tools if _is_wanted(config, one.name)],
                **login_json(server),
            }
        )
    if as_json:
        return print_json([*found])
    lines = [
        (one["name"], _count(one["tools"]), ", ".join(config.scopes), one["ask"], _login(one), one["where"])
        for one, config in zip(found, _configured(context, agent).values(), strict=True)
    ]
    return print_table(
        ("name", "tools", "for", "asks", "login", "where"),
        lines,
        "No servers yet. Put them under tools.mcp in config.yaml.",
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
        cure = f" `daybook mcp login {name}` prints a link for it" if found.needs_login else ""
        raise CommandFailed(f"{found.failure}.{cure}{'.' if cure else ''}")
    if found.failure:
        sys.exit(1)


@mcp_command.command()
@click.argument("name")
@_AGENT
@click.pass_obj
def login(context: CliContext, name: str, agent: str | None) -> None:
    """Log in at the server NAME by a link that you open in a browser, on any computer."""
    params: Params = {"name": name, "agent": agent or ""}
    found = ask_beside(context, "mcp.login", params, partial(_guide, context, params)).value
    outcome = found if isinstance(found, Mapping) else {}
    if problem := outcome.get("problem"):
        raise CommandFailed(f"You are logged in at {outcome.get('host')}, but: {problem}.")
    click.echo(f"You are logged in at {outcome.get('host')}. {name} has {outcome.get('tools')} tools.")


@mcp_command.command()
@click.argument("name")
@_AGENT
@click.pass_obj
def logout(context: CliContext, name: str, agent: str | None) -> None:
    """Forget the login at the server NAME."""
    found = ask(context, "mcp.logout", name=name, agent=agent or "").value
    was_there = isinstance(found, Mapping) and found.get("done") is True
    click.echo(f"Daybook is logged out of {name}." if was_there else f"Daybook was not logged in at {name}.")


async def _guide(context: CliContext, params: Params, call: Call) -> None:
    """Shows the link, and takes the address that the browser ended on, until the login has ended."""
    link = await call("mcp.link", params)
    shown = link if isinstance(link, Mapping) else {}
    address = str(shown.get("link"))
    click.echo(f"Open this link and log in at {shown.get('host')}. It works once, within an hour:\n\n{address}\n")
    click.echo("If the browser ends on a page that it can't open, paste the address of that page here.")
    if sys.stdout.isatty() and has_browser(os.environ):
        with suppress(OSError):
            open_link(context.home, address)
    lines = InputLines(sys.stdin, prompt=sys.stdin.isatty())
    while (line := await lines.next()) is not None:
        if line.strip():
            try:
                await call("mcp.answer", {"address": line.strip()})
            except OperationError as error:
                click.echo(str(error), err=True)


def _document(name: str, found: ServerProbe, tools: Sequence[RemoteTool], tokens: int) -> dict[str, Json]:
    return {
        "name": name,
        "ok": not found.failure,
        "server": found.server,
        "protocol": found.protocol,
        "tokens": tokens,
        "tools": [{"name": one.name, "reads_only": one.reads_only, "description": one.description} for one in tools],
        "failure": found.failure,
        "needs_login": found.needs_login,
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


def _login(server: Mapping[str, Json]) -> str:
    if server["login"] == "needed":
        return "needed"
    return f"at {server['login_host']}" if server["login_host"] else ""


def _count(tools: Json) -> str:
    return str(len(tools)) if isinstance(tools, list) else "unknown"
