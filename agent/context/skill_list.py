"""The skills in a prompt: name and description of each, the whole text of those that say `always`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from agent.context.prompt_files import Part, excerpt
from agent.formats import untrusted
from agent.session.entries import SeenFile
from agent.settings import MemorySettings
from agent.skills import Skill

KEY = "skills"
"""Under which a session keeps what it has seen of them."""
_LISTED = 60
_DESCRIPTION_CHARS = 240


def skill_list(skills: Sequence[Skill], settings: MemorySettings) -> str:
    """Marked text, "" where there are none. `skills`: the usable ones of the scope (`Skills.usable`)."""
    if not skills:
        return ""
    lines = ["Skills. Before you do what one is about, read it with skill_read."]
    lines += [_line(skill) for skill in skills[:_LISTED]]
    if len(skills) > _LISTED:
        lines.append(f"And {len(skills) - _LISTED} more: {', '.join(skill.name for skill in skills[_LISTED:])[:2_000]}")
    blocks = [untrusted.marked_block("rules", "\n".join(lines), name="skills")]
    for skill in skills:
        if skill.always:
            part = excerpt(untrusted.clean(skill.body), Part.BEGINNING, settings)
            note = "\n[It is longer; skill_read shows the rest]" if part.is_cut else ""
            blocks.append(untrusted.marked_block("rules", part.text.rstrip() + note, name=f"skill {skill.name}"))
    return "\n\n".join(blocks)


def skills_seen(listed: str) -> SeenFile:
    data = listed.encode("utf-8", "replace")
    return SeenFile(hashlib.sha256(data).hexdigest(), len(data))


def _line(skill: Skill) -> str:
    notes = ["whole below"] if skill.always else []
    if skill.missing:
        notes.append(f"cannot be used now, missing: {', '.join(skill.missing)}")
    note = f" ({'; '.join(notes)})" if notes else ""
    return f"- {skill.name}: {untrusted.label(skill.description, _DESCRIPTION_CHARS)}{note}"
