"""Workspaces of OpenClaw and nanobot. Blocks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path, PurePosixPath

from agent.clock import Clock
from agent.languages.sentences import Sentence, joined
from agent.memory import files
from agent.memory.paths import FileError
from agent.memory.provenance import without_mark
from agent.memory.scope import Scope
from agent.skills import FILE as SKILL_FILE
from agent.skills import FOLDER as SKILLS
from agent.skills import Skill, SkillOrigin, parse
from agent.workspace import template_folder
from gateway.features.imports.conversations import FOLDER, marked, source_of
from gateway.features.imports.placing import Placer
from gateway.features.imports.reading import read_bytes, read_text, report_others
from gateway.features.imports.secrets import without_secrets
from gateway.features.imports.sessions import NANOBOTS, OPENCLAWS, place_sessions
from gateway.features.imports.trees import BroughtFile, FileTree, it_looks_like, looks_like
from gateway.features.imports.values import LABELS, Findings, ImportKind, ImportRefused, Placing, PlannedFile

_INDEXES = frozenset({"MEMORY.md", "memory.md", "memory/MEMORY.md"})
_ABOUT = frozenset({"USER.md", "TOOLS.md"})
"""In force if nobody has written Daybook's own."""
_EVERYWHERE = frozenset({"SOUL.md", "IDENTITY.md"})
"""Every chat reads them: kept beside Daybook's own until its owner takes them over."""
_RULES = frozenset({"AGENTS.md", "HEARTBEAT.md"})
"""They name tools and files of the other program: kept beside Daybook's own, to compare."""
_LEFT = frozenset({"BOOTSTRAP.md", "BOOT.md"})
_DAY = re.compile(r"memory/(\d{4}-\d{2}-\d{2})\.md", re.ASCII)
_WORKSPACE = "workspace"
_HEADING = re.compile(r"(#{1,6})[ \t]+(?=\S)")


def plan_workspace(
    tree: FileTree, path: Path, kind: ImportKind, scope: Scope, clock: Clock, findings: Findings, placer: Placer
) -> None:
    """Plans the files of a workspace and its conversations. Raises `ImportRefused`."""
    root = _root(tree, path, kind)
    skills: defaultdict[str, list[BroughtFile]] = defaultdict(list)
    others: Counter[str] = Counter()
    for file in root.files(findings) if root is tree or tree.has_folder(_WORKSPACE) else ():
        name = PurePosixPath(file.name)
        if name.parts[0] == SKILLS and len(name.parts) > 2:
            skills[name.parts[1]].append(file)
        elif file.is_markdown:
            _plan_markdown(file, kind, scope, clock, findings, placer)
        elif not (kind is ImportKind.NANOBOT and name.parts[0] == NANOBOTS):
            others[name.suffix.lower()] += 1
    for skill, brought in skills.items():
        _plan_skill(skill, brought, findings, placer)
    place_sessions(tree, root, kind, scope, clock, findings, placer)
    report_others(others, findings)
    _remark_on_the_rest(tree, path, findings)


def _root(tree: FileTree, path: Path, kind: ImportKind) -> FileTree:
    found = looks_like(tree)
    if found is None and kind is ImportKind.OPENCLAW and tree.has_folder(OPENCLAWS):
        return tree.below(_WORKSPACE)  # which is elsewhere: its conversations alone
    if found is None or found is ImportKind.TEXT:
        names = {"path": path, "kind": LABELS[kind]}
        refused = Sentence("{path} is no workspace of {kind}: it has no MEMORY.md, SOUL.md or AGENTS.md.", **names)
        raise ImportRefused(joined([refused, it_looks_like(found, path) if found is not None else ""], " "))
    has_own = tree.has_folder("memory") or any(map(tree.has_file, ("MEMORY.md", "AGENTS.md", "SOUL.md")))
    root = tree if has_own else tree.below(_WORKSPACE)
    is_others = found is not kind and root.has_file("MEMORY.md") is (kind is ImportKind.NANOBOT)
    if is_others:
        refused = Sentence("{path} is no workspace of {kind}.", path=path, kind=LABELS[kind])
        raise ImportRefused(joined([refused, it_looks_like(found, path)], " "))
    return root


def _remark_on_the_rest(tree: FileTree, path: Path, findings: Findings) -> None:
    is_in_home = path.is_dir()
    if tree.has_file("cron/jobs.json") or (is_in_home and (path.parent / "cron" / "jobs.json").is_file()):
        findings.remarks.append(
            Sentence("Reminders and jobs are not taken over: tell me them, or write schedule.yaml.")
        )
    if is_in_home and not tree.has_folder(OPENCLAWS) and (path.parent / OPENCLAWS).is_dir():
        findings.remarks.append(
            Sentence("Its conversations are beside it: import {folder} to bring them, too.", folder=path.parent)
        )


def _plan_markdown(
    file: BroughtFile, kind: ImportKind, scope: Scope, clock: Clock, findings: Findings, placer: Placer
) -> None:
    name = str(PurePosixPath(file.name).with_suffix(".md"))
    if name in _LEFT:
        findings.skip(name, Sentence("is about the other program's first start"))
        return
    text = read_text(file, findings)
    if text is None:
        return
    text = without_secrets(text, name, findings.secrets)
    if name in _INDEXES:
        _plan_merge(text, kind, scope, findings, placer)
    elif name in _ABOUT:
        _plan_about(name, text, scope, findings, placer)
    elif name in _EVERYWHERE:
        placer.place(name, text.encode(), free=True)
        findings.remarks.append(
            Sentence(
                "{name} would be read in every chat, other people's too, so it is not in force: take over into your own"
                " {name} what should hold here.",
                name=name,
            )
        )
    elif name in _RULES:
        placer.place(name, text.encode(), free=True)
        names = {"name": name, "program": LABELS[kind]}
        findings.remarks.append(
            Sentence("{name} was written for {program}: take over from it what should hold here.", **names)
        )
    elif match := _DAY.fullmatch(name):
        last = (clock.today() - timedelta(days=1)).isoformat()
        _plan_log(name, text, kind, match[1] >= last, findings, placer)
    else:
        target = name if name.startswith("memory/") else f"{FOLDER}/{kind}/{name}"
        placer.place(target, marked(text, source_of(kind)).encode())


def _plan_merge(text: str, kind: ImportKind, scope: Scope, findings: Findings, placer: Placer) -> None:
    path = next((name for name in ("MEMORY.md", "memory.md") if (scope.folder / name).exists()), "MEMORY.md")
    try:
        present = files.decoded(placer.read(path) or b"")
    except FileError as problem:
        findings.skip("MEMORY.md", Sentence("cannot be merged: {why}", why=problem))
        return
    lines = new_lines(text, present)
    if lines:
        placer.merge(path, f"## From {LABELS[kind]}", lines)
    else:
        findings.already += 1


def new_lines(text: str, present: str) -> str:
    """The lines that are not in `present`, below headings one level lower."""
    known = {without_mark(line).strip() for line in present.splitlines()}
    kept: list[str] = []
    headings: list[str] = []
    for line in text.splitlines():
        if match := _HEADING.match(line):
            level = len(match[1])
            headings = [heading for heading in headings if len(_level(heading)) < level] + ([line] if level > 1 else [])
            continue
        if line.strip() and line.strip() in known:
            continue
        if line.strip() and headings:
            kept += ["", *(f"#{heading}" if len(_level(heading)) < 6 else heading for heading in headings), ""]
            headings = []
        if line.strip() or (kept and kept[-1].strip()):
            kept.append(line.rstrip())
    body = "\n".join(kept).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", body) + "\n" if body else ""


def _level(heading: str) -> str:
    match = _HEADING.match(heading)
    return match[1] if match else ""


def _plan_about(name: str, text: str, scope: Scope, findings: Findings, placer: Placer) -> None:
    data = text.encode()
    try:
        present = placer.read(name)
    except FileError as problem:
        findings.skip(name, Sentence("cannot be saved: {why}", why=problem))
        return
    if present is not None and present != data and is_template(name, present):
        placer.add(PlannedFile(name, data, Placing.REPLACED))
    else:
        placer.place(name, data)


def is_template(name: str, data: bytes) -> bool:
    """True for a file of a workspace as Daybook makes it."""
    shipped = template_folder() / name
    return shipped.is_file() and shipped.read_bytes() == data


def _plan_log(name: str, text: str, kind: ImportKind, is_recent: bool, findings: Findings, placer: Placer) -> None:
    """A log that has grown since an earlier import brings its new lines only."""
    known: set[str] = set()
    target = ""
    try:
        for candidate in placer.candidates(name):
            present = placer.read(candidate)
            if present is not None:
                known |= {without_mark(line).strip() for line in files.decoded(present).splitlines()}
            elif not (is_recent and candidate == name):  # the logs in the prompt stay Daybook's own
                target = candidate
                break
    except FileError as problem:
        findings.skip(name, Sentence("cannot be saved: {why}", why=problem))
        return
    is_new = [not line.strip() or line.strip() not in known for line in text.splitlines()]
    lines = [line for line, new in zip(text.splitlines(), is_new, strict=True) if new]
    if not any(map(str.strip, lines)) or not target:
        findings.already += 1
        return
    title = "" if any(line.startswith("# ") for line in lines) else f"# {PurePosixPath(name).stem}\n\n"
    body = "\n".join(lines).strip("\n") + "\n"
    placer.add(PlannedFile(target, (title + marked(body, source_of(kind))).encode()))


def _plan_skill(skill: str, brought: Sequence[BroughtFile], findings: Findings, placer: Placer) -> None:
    """A skill's files go together: into its folder, or one beside it where other files are there."""
    if not any(PurePosixPath(file.name).name == SKILL_FILE and file.name.count("/") == 2 for file in brought):
        findings.skip(f"{SKILLS}/{skill}", Sentence("has no {file}", file=SKILL_FILE))
        return
    contents: dict[str, bytes] = {}
    for file in brought:
        data = read_bytes(file, findings)
        if data is None:
            return
        inner = file.name.split("/", 2)[2]
        if inner.lower() in map(str.lower, contents):
            why = Sentence("has two files named {name}, but for capitals", name=inner)
            findings.skip(f"{SKILLS}/{skill}", why)
            return
        try:
            contents[inner] = without_secrets(data.decode(), file.name, findings.secrets).encode()
        except UnicodeDecodeError:
            contents[inner] = data
    compare: Callable[[str], Mapping[str, bytes | None]] = partial(_present, names=list(contents), placer=placer)
    try:
        for candidate in placer.candidates(f"{SKILLS}/{skill}"):
            present = compare(candidate)
            if present == contents:
                findings.already += 1
                return
            if not any(data is not None for data in present.values()):
                for inner, data in contents.items():
                    placer.add(PlannedFile(f"{candidate}/{inner}", data))
                findings.remarks.append(
                    Sentence("{name} is a skill that I would follow: read it before you use it.", name=candidate)
                )
                page = parse(
                    Skill(skill, SkillOrigin.WORKSPACE), contents.get(SKILL_FILE, b"").decode("utf-8", "replace")
                )
                if page.always or page.shared:
                    findings.remarks.append(
                        Sentence(
                            "{name} asks to be read in every chat: that waits for your yes (daybook skills approve).",
                            name=candidate,
                        )
                    )
                return
    except FileError as problem:
        findings.skip(f"{SKILLS}/{skill}", Sentence("cannot be saved: {why}", why=problem))


def _present(folder: str, names: Sequence[str], placer: Placer) -> Mapping[str, bytes | None]:
    return {name: placer.read(f"{folder}/{name}") for name in names}
