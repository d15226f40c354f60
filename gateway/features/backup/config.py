"""The keys `backup` of the configuration."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field, PositiveInt, field_validator

from agent.languages.sentences import Sentence
from channels.settings import Section
from gateway.config.schema import Config

_TEXTS = {
    "backup.to": "A folder outside of the home, for a backup of every night. Off without it.",
    "backup.keep": "How many of them are kept.",
}


class BackupConfig(Section):
    to: str = Field(min_length=1)
    keep: PositiveInt = 7

    @field_validator("to")
    @classmethod
    def is_outside(cls, value: str) -> str:
        if not os.path.isabs(os.path.expanduser(value)):  # noqa: PTH111, PTH117
            raise ValueError(Sentence("allowed: a folder outside of the home, from / or ~ on"))
        return value


class WithBackup(Config):
    backup: BackupConfig | None = None

    texts: ClassVar[Mapping[str, str]] = _TEXTS

    def written_folders(self) -> tuple[str, ...]:
        return (*super().written_folders(), *([self.backup.to] if self.backup is not None else []))
