"""What people bring from other assistants and folders, as files of their memory."""

from __future__ import annotations

from gateway.manifest import CommandLine, Feature

_HELP = "Bring your memory and chats from other assistants, or Markdown."

FEATURE = Feature(
    {"import": CommandLine(_HELP, "gateway.features.imports.command_line:import_command", after="memory")},
    "gateway.features.imports.operations:opened",
)
