"""`skill_read`: a skill's text when it is needed."""

from __future__ import annotations

import difflib

from agent.skills import FOLDER, Skill, Skills
from agent.tools.arguments import SkillRead
from agent.tools.base import Tool, ToolError
from agent.tools.context import ToolContext


def skill_tools(context: ToolContext, skills: Skills) -> tuple[Tool, ...]:
    async def read(context: ToolContext, arguments: SkillRead) -> str:
        every = await context.blocking(skills.every, context.scope)
        return _read(arguments.name.strip(), every)

    return (context.tool("skill_read", "Read a skill's text.", SkillRead, read, reads_only=True),)


def _read(name: str, every: tuple[Skill, ...]) -> str:
    skill = next((skill for skill in every if skill.name == name), None)
    if skill is None:
        names = [skill.name for skill in every if not skill.problem]
        near = difflib.get_close_matches(name.casefold(), names, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names) or 'none'}"
        raise ToolError(f"there is no skill {name[:64]!r}; {hint}")
    if skill.problem:
        raise ToolError(f"the skill {skill.name} {skill.problem}")
    notes = []
    if skill.missing:
        notes.append(f"[It cannot be used now, missing: {', '.join(skill.missing)}. Say so instead of improvising.]")
    if skill.beside:
        beside = ", ".join(f"{FOLDER}/{skill.name}/{name}" for name in skill.beside)
        notes.append(f"[Beside it, for read_file: {beside}]")
    return "\n".join([skill.body.rstrip(), *notes])
