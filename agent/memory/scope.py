"""Scopes: who listens, and which memory they may see. Only this decides privacy (invariant 8): prompt, tools, search
and recall take all paths from here."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from agent.settings import GroupLogs

FOLDERS_OF_OTHERS = frozenset({"groups", "people"})
"""Folders of other scopes in an owner's workspace."""


class ScopeBusy(Exception):
    """Another process works for a scope. The text is a sentence for people."""


class Audience(enum.StrEnum):
    OWNER = "owner"
    PERSON = "person"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Scope:
    audience: Audience
    workspace: Path
    id: str = ""
    """Empty for the owner, `alice` or `telegram-11111` for a person, `telegram--100123` for a group and its threads."""
    group_logs: GroupLogs = GroupLogs.OWN

    def __post_init__(self) -> None:
        named = self.audience is not Audience.OWNER
        if named != bool(self.id) or "/" in self.id or "\\" in self.id or self.id in (".", ".."):
            raise ValueError(f"{self.id!r} cannot name a scope of {self.audience}")

    @property
    def folder(self) -> Path:
        """The only folder that tools, search and recall may access."""
        match self.audience:
            case Audience.OWNER:
                return self.workspace
            case Audience.PERSON:
                return self.workspace / "people" / self.id
            case Audience.GROUP:
                return self.workspace / "groups" / self.id

    @property
    def name(self) -> str:
        """`owner`, `person:alice`, `group:telegram--100123`."""
        return str(self.audience) if self.audience is Audience.OWNER else f"{self.audience}:{self.id}"

    @property
    def is_private(self) -> bool:
        return self.audience is not Audience.GROUP

    @property
    def prompt_files(self) -> tuple[str, ...]:
        """In order, relative to `folder`."""
        match self.audience:
            case Audience.OWNER:
                return ("TOOLS.md", "USER.md", "MEMORY.md")
            case Audience.PERSON:
                return ("USER.md", "MEMORY.md")
            case Audience.GROUP:
                return ("GROUP.md",)

    @property
    def log_folders(self) -> tuple[Path, ...]:
        own = self.folder / "memory"
        if self.audience is not Audience.GROUP:
            return (own,)
        match self.group_logs:
            case GroupLogs.OWN:
                return (own,)
            case GroupLogs.SHARED:
                return (own, self.workspace / "memory")
            case GroupLogs.NONE:
                return ()


def scope_named(name: str, workspace: Path) -> Scope:
    """Raises `ValueError`."""
    audience, _, id = name.partition(":")
    return Scope(Audience(audience), workspace, id)
