"""Skills: `skills/<name>/SKILL.md` in a workspace, and built-in skills. Blocks.

People and groups see a skill only if it is built in, says `shared: true`, or lies in their own folder (invariant 8).
`always: true` puts it into the prompt. Both count only after the owner's consent to the very text, whoever wrote it.
"""

from __future__ import annotations

import enum
import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import files as package_files
from pathlib import Path

from agent.languages.sentences import Sentence
from agent.memory import files, notes
from agent.memory.files import EntryKind, FolderEntry
from agent.memory.paths import UnreadableFile
from agent.memory.scope import Audience, Scope

FOLDER = "skills"
FILE = "SKILL.md"
_NAME = re.compile(r"\w[\w.-]{0,63}")
_SETTLED_S = 2.0
"""A file changed more recently than this is read again, since its time stamp may not show a further change."""


class SkillOrigin(enum.StrEnum):
    WORKSPACE = "workspace"
    GROUP = "group"
    PERSON = "person"
    BUILT_IN = "built in"


@dataclass(frozen=True, slots=True)
class Skill:
    name: str
    """Its folder's name."""
    origin: SkillOrigin
    path: str = ""
    """The path of its text; empty if built in."""
    description: str = ""
    body: str = ""
    always: bool = False
    shared: bool = False
    waits: bool = False
    """It says `always` or `shared`, and the owner has not consented to its text."""
    sha: str = ""
    bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """Required programs and environment variables."""
    beside: tuple[str, ...] = ()
    """Other names in its folder, folders with a / at the end."""
    missing: tuple[str, ...] = ()
    """Unmet requirements, for people to read."""
    problem: str = ""
    """Why it cannot be used, the end of a sentence: "has no description"."""
    remarks: tuple[str, ...] = ()
    """Harmless oddities."""


_ORIGINS = {
    Audience.OWNER: SkillOrigin.WORKSPACE,
    Audience.GROUP: SkillOrigin.GROUP,
    Audience.PERSON: SkillOrigin.PERSON,
}
_Stamp = tuple[int, datetime]


class Skills:
    """Parses skills again only after a change. `approved`: hashes of texts that the owner consented to. `configured`:
    variables set in the home's `.env`."""

    def __init__(
        self,
        workspace: Path,
        environ: Mapping[str, str] = os.environ,
        configured: Collection[str] = (),
        approved: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self._workspace = workspace
        self._approved = approved
        self._environ = environ
        self._configured = frozenset(configured)
        self._parsed: dict[Path, tuple[_Stamp, Skill]] = {}
        self._built_in: tuple[Skill, ...] | None = None

    def every(self, scope: Scope | None = None) -> tuple[Skill, ...]:
        """All skills that a scope sees (default: the owner), and its own broken skills. Its own skill hides the
        workspace's of that name, and both hide a built-in skill."""
        scope = scope or Scope(Audience.OWNER, self._workspace)
        found = list(self._own_skills(scope))
        sources: list[Iterable[Skill]] = [self._built_in_skills()]
        if scope.audience is not Audience.OWNER:
            owners = self._own_skills(Scope(Audience.OWNER, self._workspace))
            sources.insert(0, (replace(skill, beside=()) for skill in owners if skill.shared and not skill.problem))
        for source in sources:
            taken = {skill.name for skill in found if not skill.problem}
            found += [skill for skill in source if skill.name not in taken]
        found = [replace(skill, missing=tuple(self._unmet_requirements(skill))) for skill in found]
        return tuple(sorted(found, key=lambda skill: (skill.name, bool(skill.problem))))

    def usable(self, scope: Scope) -> tuple[Skill, ...]:
        """Skills without a problem; their requirements may be missing."""
        return tuple(skill for skill in self.every(scope) if not skill.problem)

    def _own_skills(self, scope: Scope) -> Iterator[Skill]:
        try:
            folders = files.entries(scope.folder / FOLDER, scope.folder)
        except UnreadableFile:
            return
        for folder in folders:
            if folder.name.startswith(".") or folder.kind in (EntryKind.FILE, EntryKind.OTHER):
                continue
            yield self._read_folder(scope, folder)

    def _read_folder(self, scope: Scope, folder: FolderEntry) -> Skill:
        name = files.clean(folder.name)  # any bytes may name a folder
        broken = Skill(name, _ORIGINS[scope.audience], f"{FOLDER}/{name}/{FILE}")
        if folder.kind is EntryKind.LINK:
            return replace(broken, problem=Sentence("is a link, which is not followed; put the folder itself there"))
        if not _NAME.fullmatch(folder.name):
            unusable = Sentence("has a name that cannot be used; take letters, digits, - and _")
            return replace(broken, problem=unusable)
        try:
            inside = files.entries(scope.folder / FOLDER / folder.name, scope.folder)
        except UnreadableFile as error:
            return replace(broken, problem=Sentence("cannot be read: {why}", why=error.reason))
        page = next((entry for entry in inside if entry.name == FILE), None)
        if page is None:
            return replace(broken, problem=Sentence("has no {file}", file=FILE))
        others = (entry for entry in inside if entry is not page and not entry.name.startswith("."))
        beside = tuple(f"{entry.name}/" if entry.kind is EntryKind.FOLDER else entry.name for entry in others)
        skill = replace(self._read_skill(broken, scope.folder / FOLDER / folder.name / FILE, page), beside=beside)
        if not (skill.always or skill.shared) or skill.sha in self._approved():
            return skill
        return replace(skill, always=False, shared=False, waits=True)

    def _read_skill(self, skill: Skill, path: Path, page: FolderEntry) -> Skill:
        stamp = (page.size, page.changed)
        known = self._parsed.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            read = files.read_text(path, path.parent)
        except UnreadableFile as error:
            return replace(skill, problem=Sentence("cannot be read: {why}", why=error.reason))
        parsed = parse(skill, read.text) if read is not None else parse(skill, "")
        parsed = replace(parsed, sha=read.sha if read is not None else "")
        if abs(time.time() - page.changed.timestamp()) > _SETTLED_S:
            self._parsed[path] = (stamp, parsed)
        return parsed

    def _built_in_skills(self) -> tuple[Skill, ...]:
        if self._built_in is None:
            source = package_files("agent") / "builtin_skills"
            pages = [(folder.name, folder / FILE) for folder in source.iterdir() if (folder / FILE).is_file()]
            self._built_in = tuple(
                parse(Skill(name, SkillOrigin.BUILT_IN), page.read_text(encoding="utf-8")) for name, page in pages
            )
        return self._built_in

    def _unmet_requirements(self, skill: Skill) -> Iterator[str]:
        for name in skill.bins:
            if shutil.which(name, path=self._environ.get("PATH")) is None:
                yield Sentence("the program {name}", name=name)
        for name in skill.env:
            if not self._environ.get(name) and name not in self._configured:
                yield Sentence("the environment variable {name}", name=name)


def parse(skill: Skill, text: str) -> Skill:
    """The skill from its text, which becomes a `problem` if it cannot be used."""
    page = notes.parse(text)
    if page.fields is None:
        return replace(skill, problem=page.problem or Sentence("has no front matter with name and description"))
    description = page.line("description")
    if not description:
        return replace(skill, problem=Sentence("has no description"))
    if not page.body.strip():
        return replace(skill, problem=Sentence("has no text below its front matter"))
    remarks: list[str] = []
    name = page.line("name")
    if name and name != skill.name:
        other = repr(name[:64])
        remarks.append(
            Sentence("calls itself {name}; it is known by its folder, {folder}", name=other, folder=skill.name)
        )
    requires = page.fields.get("requires") or {}
    if not isinstance(requires, dict):
        remarks.append(Sentence("has `requires` that is not {bins: […], env: […]}"))
        requires = {}
    return replace(
        skill,
        description=description,
        body=page.body.strip() + "\n",
        always=_flag(page.fields, "always", remarks),
        shared=_flag(page.fields, "shared", remarks),
        bins=_names(requires, "bins", remarks),
        env=_names(requires, "env", remarks),
        remarks=tuple(remarks),
    )


def _flag(fields: Mapping[str, object], key: str, remarks: list[str]) -> bool:
    value = fields.get(key)
    if value is not None and not isinstance(value, bool):
        remarks.append(Sentence("has `{key}` that is neither true nor false", key=key))
    return value is True


def _names(requires: Mapping[object, object], key: str, remarks: list[str]) -> tuple[str, ...]:
    value = requires.get(key)
    names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    kept = tuple(name.strip() for name in names if isinstance(name, str) and name.strip() and "\0" not in name)
    if value is not None and len(kept) != len(names or "?"):
        remarks.append(Sentence("has `requires.{key}` that is not a list of names", key=key))
    return kept
