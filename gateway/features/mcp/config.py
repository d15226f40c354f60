"""The keys `tools.mcp` of the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, PositiveFloat, Tag, field_validator

from agent.languages.sentences import Sentence
from channels.settings import Section, Url
from gateway.config.capabilities import ToolsConfig
from gateway.config.values import Argv, HeaderName, HeaderText, McpName, SecretText, VariableName

_KEY = re.compile(r"(?![/~]|https?://[^@]*\Z)[!-~]+")
"""Values in the environment of a server that may be keys: no sentences, folders and addresses."""

_TEXTS = {
    "tools.mcp.*.command": "An MCP server as a program: its command, as `[uvx, mcp-server-time]` …",
    "tools.mcp.*.env.*": "… with this variable beside `PATH`, `HOME` and the like; it sees no other.",
    "tools.mcp.*.url": "Or an MCP server at an address (streamable HTTP); where it wants a login, you get a link …",
    "tools.mcp.*.headers.*": "… with this header, as `Authorization: Bearer ${NOTES_KEY}`: then there is no login.",
    "tools.mcp.*.tools": "Which of its tools, by its own names; empty: all.",
    "tools.mcp.*.scopes": "Who may use them: `owner`, other `people`, `groups`.",
    "tools.mcp.*.timeout_s": "Seconds for a call, longer where it tells of progress; a start may take 30 at least.",
    "tools.mcp.*.ask": "`writes`: you are asked before the first use of each tool, and before each call of one "
    "that does not say it only reads. `all`: before each call. `none`: only where text of others may be the reason.",
}

McpScope = Literal["owner", "people", "groups"]


class McpServerConfig(Section):
    """A server of tools (Model Context Protocol). `tools` empty: all that it has."""

    tools: tuple[str, ...] = ()
    scopes: tuple[McpScope, ...] = ("owner",)
    timeout_s: PositiveFloat = 60
    ask: Literal["all", "writes", "none"] = "writes"


class LocalMcpServer(McpServerConfig):
    """A program that speaks MCP on its stdin and stdout."""

    command: Argv
    env: dict[VariableName, SecretText] = Field(default={})

    @field_validator("command")
    @classmethod
    def is_a_command(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not value[0] or any("\0" in word for word in value):
            raise ValueError(Sentence("allowed: a command as a list of words: [uvx, mcp-server-time]"))
        return value


class RemoteMcpServer(McpServerConfig):
    """A server that speaks MCP over HTTP (streamable)."""

    url: Url
    headers: dict[HeaderName, HeaderText] = Field(default={})


def _mcp_kind(value: object) -> str | None:
    if isinstance(value, LocalMcpServer) or (isinstance(value, dict) and "command" in value):
        return "local"
    if isinstance(value, RemoteMcpServer) or (isinstance(value, dict) and "url" in value):
        return "remote"
    return None


McpServer = Annotated[
    Annotated[LocalMcpServer, Tag("local")] | Annotated[RemoteMcpServer, Tag("remote")],
    Discriminator(
        _mcp_kind,
        custom_error_type="mcp",
        custom_error_message=Sentence("allowed: lines with `command` (a program), or with `url` (a server)"),
    ),
]


class WithMcp(ToolsConfig):
    mcp: dict[McpName, McpServer] = Field(default={})

    texts: ClassVar[Mapping[str, str]] = _TEXTS

    def plain_values(self) -> Iterator[str]:
        yield from super().plain_values()
        for server in self.mcp.values():
            for setting in server.env.values() if isinstance(server, LocalMcpServer) else ():
                value = setting.get_secret_value()
                if not _KEY.fullmatch(value):
                    yield value
