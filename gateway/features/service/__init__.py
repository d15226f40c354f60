"""Has systemd or launchd start Daybook, at a login or with the machine, and again when it fails."""

from __future__ import annotations

from gateway.manifest import CommandLine, Feature

_HELP = "Run Daybook always, from the time you log in."

FEATURE = Feature(
    {"service": CommandLine(_HELP, "gateway.features.service.command_line:service_command", after="migrate")}
)
