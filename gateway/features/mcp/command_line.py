"""`daybook mcp`: the configured servers of tools, their tools, and the owner's logins at them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import click

from agent.languages.sentences import Sentence, joined
from agent.model.base import Json
from agent.model.tokens import estimate_tool
from gateway.features.mcp.config import LocalMcpServer, RemoteMcpServer, WithMcp
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.operations import McpOperations, login_json, no_server
from gateway.features.mcp.schemas import RemoteTool
from gateway.features.mcp.servers import McpServers, ServerProbe, probe
from gateway.rpc.protocol import OperationError, Params
from gateway.terminal.browser import has_browser, open_link
from gateway.terminal.context import CliContext, CommandFailed, print_json, run
from gateway.terminal.operations import command_from, group_of
from gateway.terminal.rpc import Call, ask, ask_beside
from gateway.terminal.stdin import InputLines
from gateway.terminal.table import print_table

_SHOWN = 80
_AGENT = click.option("--agent", help="The agent's name; default: the main one.")


@click.command("list")
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
                "where": " ".join(config.command) if isinstance(config, LocalMcpServer) else config.url,
                "scopes": list(config.scopes),
                "ask": config.ask,
                "tools": None if tools is None else [tool.name for tool in tools if _is_wanted(config, tool.name)],
                **login_json(server),
            }
        )
    if as_json:
        return print_json([*found])
    lines = [
        (
            row["name"],
            len(listed) if isinstance(listed := row["tools"], list) else context.said("unknown"),
            ", ".join(config.scopes),
            row["ask"],
            context.said_of(_login_of(row)),
            row["where"],
        )
        for row, config in zip(found, _configured(context, agent).values(), strict=True)
    ]
    heads = context.heads(
        *(Sentence("name"), Sentence("tools"), Sentence("for"), Sentence("asks"), Sentence("login"), Sentence("where"))
    )
    return print_table(heads, lines, context.said("No servers yet. Put them under `tools.mcp` in config.yaml."))


@click.command()
@click.argument("name")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def test(context: CliContext, name: str, agent: str | None, as_json: bool) -> None:
    """Start or reach the server NAME, and list its tools. Exits with 1 if that fails."""
    configured = _configured(context, agent)
    if (config := configured.get(name)) is None:
        found, tools = ServerProbe("", "", (), no_server(name, configured)), []
    else:
        found = run(probe(name, config, KeptMcp(context.home.mcp)))
        tools = [tool for tool in found.tools if _is_wanted(config, tool.name)]
    tokens = sum(estimate_tool(tool.spec(name)) for tool in tools)
    if as_json:
        print_json(_document(name, found, tools, tokens))
    elif not found.failure:
        works = context.said(
            "{name} works (protocol {protocol}); about {tokens} tokens in a request.",
            name=found.server or name,
            protocol=found.protocol,
            tokens=f"{tokens:,}",
        )
        click.echo(f"{works}\n")
        reads, writes = context.said("reads"), context.said("writes")
        lines = [(tool.name, reads if tool.reads_only else writes, tool.description[:_SHOWN]) for tool in tools]
        heads = context.heads(Sentence("tool"), Sentence("does"), Sentence("description"))
        print_table(heads, lines, context.said("It has no tools."))
    else:
        for line in found.said:
            click.echo(f"{name}: {line}", err=True)
        cure = Sentence("`daybook mcp login {name}` prints a link for it.", name=name) if found.needs_login else ""
        is_whole = found.failure.endswith(".")
        failed = found.failure if is_whole else Sentence("That didn't work: {why}.", why=found.failure)
        raise CommandFailed(joined([failed, cure], " "))
    if found.failure:
        sys.exit(1)


def _login(context: CliContext, name: str, agent: str | None) -> None:
    params: Params = {"name": name, "agent": agent or ""}
    outcome = ask_beside(context, "mcp.login", params, partial(_guide, context, params)).fields
    if problem := outcome.get("problem"):
        raise CommandFailed(Sentence("You are logged in at {host}, but: {why}.", host=outcome.get("host"), why=problem))
    known = {"name": name, "host": outcome.get("host"), "count": outcome.get("tools")}
    click.echo(context.said("You are logged in at {host}. {name} has {count} tools.", **known))


def _logout(context: CliContext, name: str, agent: str | None) -> None:
    was_there = ask(context, "mcp.logout", name=name, agent=agent or "").fields.get("done")
    was_not = context.said("Daybook was not logged in at {name}.", name=name)
    click.echo(context.said("Daybook is logged out of {name}.", name=name) if was_there else was_not)


async def _guide(context: CliContext, params: Params, call: Call) -> None:
    """Shows the link, and takes the address that the browser ended on, until the login has ended."""
    link = await call("mcp.link", params)
    shown = link if isinstance(link, Mapping) else {}
    address = str(shown.get("link"))
    asked = context.said("Open this link and log in at {host}. It works once, within an hour:", host=shown.get("host"))
    click.echo(f"{asked}\n\n{address}\n")
    click.echo(context.said("If the browser ends on a page that it can't open, paste the address of that page here."))
    if sys.stdout.isatty() and has_browser(os.environ):
        with suppress(OSError):
            open_link(context.home, address)
    lines = InputLines(sys.stdin, prompt=sys.stdin.isatty())
    while (line := await lines.next()) is not None:
        if line.strip():
            try:
                await call("mcp.answer", {"address": line.strip()})
            except OperationError as error:
                click.echo(context.said_of(error), err=True)


def _document(name: str, found: ServerProbe, tools: Sequence[RemoteTool], tokens: int) -> dict[str, Json]:
    return {
        "name": name,
        "ok": not found.failure,
        "server": found.server,
        "protocol": found.protocol,
        "tokens": tokens,
        "tools": [
            {"name": tool.name, "reads_only": tool.reads_only, "description": tool.description} for tool in tools
        ],
        "failure": found.failure,
        "needs_login": found.needs_login,
        "said": list(found.said),
    }


def _configured(context: CliContext, agent: str | None) -> Mapping[str, LocalMcpServer | RemoteMcpServer]:
    config = context.quiet_config()
    wanted = agent or config.default_agent
    if wanted not in config.agents:
        raise CommandFailed(
            Sentence("There is no agent {name}. You have: {agents}.", name=wanted, agents=", ".join(config.agents))
        )
    return WithMcp.of(config.agents[wanted].tools).mcp


def _is_wanted(config: LocalMcpServer | RemoteMcpServer, tool: str) -> bool:
    return not config.tools or tool in config.tools


def _login_of(server: Mapping[str, Json]) -> str:
    if server["login"] == "needed":
        return Sentence("needed")
    return Sentence("at {host}", host=host) if (host := server["login_host"]) else ""


mcp_command = group_of(
    "mcp",
    "See and test the MCP servers whose tools Daybook uses.",
    [McpOperations],
    [
        list_servers,
        test,
        command_from(McpOperations.login, _login),
        command_from(McpOperations.logout, _logout),
    ],
)
