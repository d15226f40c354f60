"""What passes between a connection and those who use it. Imports no SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ProgramLaunch:
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class RemoteLaunch:
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def may_log_in(self) -> bool:
        """False where a key is configured."""
        return all(name.lower() != "authorization" for name in self.headers)


Launch = ProgramLaunch | RemoteLaunch


@dataclass(frozen=True, slots=True)
class CallFile:
    content: bytes = field(repr=False)
    ending: str


@dataclass(frozen=True, slots=True)
class CallResult:
    text: str
    files: tuple[CallFile, ...] = ()
    failed: bool = False
