"""Servers of tools that speak the Model Context Protocol, and the owner's logins at them."""

from __future__ import annotations

from gateway.manifest import CommandLine, Feature

_HELP = "See and test the MCP servers whose tools Daybook uses."

FEATURE = Feature(
    {"mcp": CommandLine(_HELP, "gateway.features.mcp.command_line:mcp_command", after="skills")},
    "gateway.features.mcp.opening:opened",
    checks="gateway.features.mcp.checks:servers",
    secrets="gateway.features.mcp.logins:kept_secrets",
    exposure="gateway.features.mcp.checks:exposure",
    config=["gateway.features.mcp.config:WithMcp"],
)
