"""Backups of a home: one archive, checked by reading it back, and what restores it."""

from __future__ import annotations

from agent.languages.sentences import Sentence
from gateway.manifest import CommandLine, Feature

_COMMANDS = "gateway.features.backup.command_line"

FEATURE = Feature(
    {
        "backup": CommandLine(
            "Write everything to one file, while Daybook runs.", f"{_COMMANDS}:backup_command", after="config"
        ),
        "restore": CommandLine("Put everything back from a backup.", f"{_COMMANDS}:restore_command", after="backup"),
    },
    "gateway.features.backup.nightly:opened",
    jobs={"backup": Sentence("I make a backup")},
    config=["gateway.features.backup.config:WithBackup"],
)
