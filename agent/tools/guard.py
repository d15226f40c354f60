"""Files that only the owner may change, by their path and its target, in any case and Unicode form."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.memory import files
from agent.memory.paths import FileError, folded_name, folded_parts, name_below
from agent.memory.private_lines import private_line
from agent.memory.replace import replace_once
from agent.memory.scope import FOLDERS_OF_OTHERS, Audience, Scope
from agent.skills import FILE as SKILL_FILE
from agent.skills import FOLDER as SKILLS
from agent.skills import Skill, SkillOrigin, parse
from agent.tools.arguments import EditFile, WriteFile
from agent.tools.base import GONE, Effect, EffectKind, ToolResult
from agent.tools.context import ToolContext, Work

_COMMON_NAMES = ("AGENTS.md", "CLAUDE.md", "SOUL.md", "IDENTITY.md")
_RULES_NAMES = ("TOOLS.md", "HEARTBEAT.md", "schedule.yaml")
GUARDED_FILES = (*_COMMON_NAMES, *_RULES_NAMES)
"""Files at the top of the owner's workspace."""
GUARDED_FOLDERS = (SKILLS, *sorted(FOLDERS_OF_OTHERS))
_COMMON, _RULES = (frozenset(map(folded_name, names)) for names in (_COMMON_NAMES, _RULES_NAMES))


class Guarded(enum.IntEnum):
    """Kinds of files; of several the greatest counts."""

    FREE = 0
    RULES = 1
    SKILL = 2  # in a skill's folder
    OTHERS = 3  # of another scope
    COMMON = 4  # read in every chat


def guarded(scope: Scope, path: Path) -> Guarded:
    """The kind of a file, which need not exist. Blocks."""
    return max(_guarded(scope.audience, names) for names in folded_parts(path, scope.folder))


def _guarded(audience: Audience, names: Sequence[str]) -> Guarded:
    if not names:
        return Guarded.FREE
    if audience is Audience.OWNER:
        if names[0] in FOLDERS_OF_OTHERS:
            return Guarded.OTHERS
        if len(names) == 1 and names[0] in _COMMON:
            return Guarded.COMMON
        if len(names) == 1 and names[0] in _RULES:
            return Guarded.RULES
    return Guarded.SKILL if names[0] == SKILLS else Guarded.FREE


Change = Callable[[bytes | None], bytes | None]
"""The future content of a file, by its present content; None: no file."""


def written(context: ToolContext, path: Path, change: Change | None = None, new: str = "") -> Effect | None:
    """The effect of a change of a file, where `new` is the text to show; None for free files. Blocks. Raises
    `FileError`, `ToolError`."""
    kind = guarded(context.scope, path)
    if kind is Guarded.FREE:
        return None
    context.may_change(path)  # nobody is asked about a sealed file
    before = files.read_bytes(path, context.scope.folder)
    after = change(before) if change is not None else None
    is_skill = any(names[-1:] == [folded_name(SKILL_FILE)] for names in folded_parts(path, context.scope.folder))
    everywhere = False
    if is_skill and after is not None:
        skill = parse(Skill("skill", SkillOrigin.WORKSPACE), files.decoded(after))
        everywhere = skill.always or skill.shared
    for_others = kind is Guarded.OTHERS or path.suffix.lower() == ".yaml"  # jobs that report to others
    private = private_line(context.scope, new) if for_others else ""
    kinds = {Guarded.COMMON: EffectKind.WRITE_COMMON}
    return Effect(
        EffectKind.WRITE_SKILL if everywhere else kinds.get(kind, EffectKind.WRITE),
        name_below(path, context.scope.folder),
        new,
        always=everywhere or kind is Guarded.COMMON,
        private=private,
        before=_sha(before),
        after="" if change is None else _sha(after),
    )


async def of_write(context: ToolContext, arguments: WriteFile) -> Effect | None:
    path, content = context.path(arguments.path), files.clean(arguments.content)
    return await context.blocking(written, context, path, lambda _: content.encode(), content)


async def of_edit(context: ToolContext, arguments: EditFile) -> Effect | None:
    path, old, new = context.path(arguments.path), arguments.old_text, arguments.new_text

    def change(before: bytes | None) -> bytes:
        if before is None:
            raise FileError(f"there is no file {context.name(path)}")
        return replace_once(before, old, new, context.name(path))

    shown = "\n".join([*(f"- {line}" for line in _lines(old)), *(f"+ {line}" for line in _lines(new))])
    effect = await context.blocking(written, context, path, change, new)
    return effect and dataclasses.replace(effect, text=shown)


def _lines(text: str) -> list[str]:
    """Splits at newlines only: other line ends of Python are shown as they are."""
    return text.removesuffix("\n").split("\n") if text else []


async def approved(context: ToolContext, arguments: WriteFile, run: Work[WriteFile]) -> str | ToolResult:
    """Runs a write that the owner approved, whether or not the conversation has read the file."""
    path = context.path(arguments.path)
    present = await context.blocking(files.read_text, path, context.scope.folder)
    if present is not None:
        context.has_made(path, present)
    return await run(context, arguments)


def _sha(data: bytes | None) -> str:
    return GONE if data is None else files.sha_of(data)
