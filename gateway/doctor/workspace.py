"""What `doctor` looks for in a workspace's text: skills that cannot be used, an index too long for the prompt, and
private things in files that every chat reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from agent.context.prompt_files import common_places, read
from agent.memory.files import read_text
from agent.memory.limits import INDEX_NAMES, fullness
from agent.memory.paths import Unreadable
from agent.memory.scope import Audience, Scope
from agent.skills import Skills
from gateway.doctor.finding import Finding
from gateway.doctor.private import private_thing


def skills(folder: Path, configured: Collection[str] = ()) -> Iterator[Finding]:
    every = Skills(folder, configured=configured).every()
    for skill in every:
        if skill.problem:
            cure = "mend it, or move it out of skills/; `daybook skills check` looks again"
            yield Finding("skills", False, f"{folder / skill.path} {skill.problem}", cure)
        elif skill.missing:
            yield Finding("skills", True, f"{skill.name} cannot be used now, missing: {', '.join(skill.missing)}")
    if not any(skill.problem for skill in every):
        yield Finding("skills", True, f"{len(every)} skill{'s' if len(every) != 1 else ''} can be read")


def common(folder: Path) -> Iterator[Finding]:
    """What looks private in AGENTS.md, SOUL.md and IDENTITY.md: groups and other people are answered from them."""
    for place in common_places(Scope(Audience.OWNER, folder)):
        try:
            page = read(place)
        except Unreadable:
            continue  # reported with the other pages
        for number, line in enumerate(page.text.splitlines() if page is not None else (), start=1):
            if found := private_thing(line):
                cure = "move it to TOOLS.md, USER.md or MEMORY.md, which only your private chats read"
                what = f"{folder / place.name} line {number} holds {found}, and every chat reads that file, also groups"
                yield Finding("workspace", True, f"warning: {what}; {cure}", cure)


def index(folder: Path, most_lines: int, most_bytes: int) -> Iterator[Finding]:
    """Of the owner and of every other person in the workspace."""
    for home in (folder, *sorted((folder / "people").glob("*"))):
        try:
            read = next(filter(None, (read_text(home / name, folder) for name in INDEX_NAMES)), None)
        except Unreadable:
            continue  # told with the other pages
        if read is not None and (full := fullness(read, most_lines, most_bytes)):
            cure = "move details to notes, or ask the assistant to; the rest is found by search only"
            yield Finding("memory", True, f"{home / INDEX_NAMES[0]} has {full}; {cure}", cure)
