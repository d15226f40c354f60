"""Folders of Markdown, as Obsidian and Logseq keep them. Blocks."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime
from pathlib import Path, PurePosixPath

from agent.clock import Clock
from agent.formats.plain_text import slug
from agent.languages.sentences import Sentence, joined
from agent.memory import notes
from gateway.features.imports.conversations import FOLDER, marked, source_of
from gateway.features.imports.placing import Placer
from gateway.features.imports.reading import read_text, report_others
from gateway.features.imports.secrets import without_secrets
from gateway.features.imports.trees import FileTree, it_looks_like, looks_like
from gateway.features.imports.values import Findings, ImportKind, ImportRefused

_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d)", re.ASCII)
_FIELDS = ("date", "created", "day", "created_at", "date created")


def plan_markdown(tree: FileTree, path: Path, clock: Clock, findings: Findings, placer: Placer) -> None:
    """Plans the Markdown files of a folder. Raises `ImportRefused`."""
    others: Counter[str] = Counter()
    other = looks_like(tree)
    found = 0
    folder = slug(path.resolve().name if path.is_dir() else path.stem)
    for file in tree.files(findings):
        name = PurePosixPath(file.name)
        if not file.is_markdown:
            others[name.suffix.lower()] += 1
            continue
        found += 1
        text = read_text(file, findings)
        if text is None:
            continue
        text = without_secrets(text, file.name, findings.secrets)
        target = _target(name.with_suffix(".md"), text, folder)
        placer.place(target, marked(text, source_of(ImportKind.TEXT)).encode())
    report_others(others, findings)
    if not found:
        hint = it_looks_like(other, path) if other else ""
        raise ImportRefused(joined([Sentence("{path} holds no Markdown.", path=path), hint], " "))
    if other in (ImportKind.OPENCLAW, ImportKind.NANOBOT):
        more = Sentence("That puts more of it in its place.")
        findings.remarks.append(joined([it_looks_like(other, path), more], " "))


def _target(name: PurePosixPath, text: str, folder: str) -> str:
    """A day's file among what was imported of days, else a note; both under their own names, which links name."""
    in_name = day_in(name.stem)
    if in_name is not None:
        return f"{FOLDER}/{folder}/{name.parent / _with_day(name.name, in_name)}"
    day = _day_of_front_matter(text)
    if day is not None:
        return f"{FOLDER}/{folder}/{name.parent / f'{day.isoformat()} {name.name}'}"
    return f"{notes.FOLDER}/{folder}/{name}"


def _with_day(name: str, day: date) -> str:
    """The name, with its day as the search finds it."""
    return name if name.startswith(day.isoformat()) else f"{day.isoformat()} {name}"


def day_in(name: str) -> date | None:
    """The day in a name like `2025-03-04`, `2025_03_04` or `20250304 standup`."""
    match = _DAY.search(name)
    try:
        return date(int(match[1]), int(match[3]), int(match[4])) if match else None
    except ValueError:
        return None


def _day_of_front_matter(text: str) -> date | None:
    fields = notes.parse(text[:9_000]).fields or {}
    folded = {str(key).casefold(): value for key, value in fields.items()}
    for key in _FIELDS:
        value = folded.get(key)
        if isinstance(value, datetime):
            return value.date()
        if isinstance(value, date):
            return value
        if isinstance(value, str) and (found := day_in(value.strip()[:10])) is not None:
            return found
    return None
