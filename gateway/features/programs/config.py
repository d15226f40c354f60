"""The keys `tools.exec` and `tools.exec_allow` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from gateway.config.capabilities import ToolsConfig
from gateway.config.values import LeadingWords

_TEXTS = {
    "tools.exec": "Whether it may run programs: for you alone, in private chats, each after your yes.",
    "tools.exec_allow": "First words of programs that need no yes, as `[[git, status], [ls]]`; a message with text of "
    "others needs one all the same.",
}


class WithPrograms(ToolsConfig):
    exec: bool = False
    exec_allow: tuple[LeadingWords, ...] = ()

    texts: ClassVar[Mapping[str, str]] = _TEXTS

    @property
    def runs_files(self) -> bool:
        return self.exec or super().runs_files
