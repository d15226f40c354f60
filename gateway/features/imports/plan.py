"""What an import will write, by its kind. Blocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from agent.clock import Clock
from agent.languages.sentences import Sentence, joined
from agent.memory.paths import FileError
from agent.memory.scope import Scope
from agent.model.base import Json
from gateway.features.imports import chatgpt, claude
from gateway.features.imports.conversations import place_chats, place_note
from gateway.features.imports.exports import Export, open_export, read_elements
from gateway.features.imports.markdown import plan_markdown
from gateway.features.imports.placing import Placer
from gateway.features.imports.trees import it_looks_like, open_tree
from gateway.features.imports.values import LABELS, Findings, ImportKind, ImportPlan, ImportRefused
from gateway.features.imports.workspaces import plan_workspace


def build_plan(kind: ImportKind, path: Path, scope: Scope, clock: Clock) -> ImportPlan:
    """Reads everything and writes nothing. Raises `ImportRefused`."""
    findings = Findings()
    label = kind.value if kind is not ImportKind.TEXT else "imported"
    placer = Placer(scope, findings, label)
    try:
        match kind:
            case ImportKind.OPENCLAW | ImportKind.NANOBOT:
                with open_tree(path, kind) as tree:
                    plan_workspace(tree, path, kind, scope, clock, findings, placer)
            case ImportKind.TEXT:
                with open_tree(path, kind) as tree:
                    plan_markdown(tree, path, clock, findings, placer)
            case ImportKind.CLAUDE | ImportKind.CHATGPT:
                with open_export(path, kind) as export:
                    _plan_export(export, path, kind, scope, clock, findings, placer)
    except FileError as problem:
        raise ImportRefused(Sentence("Your memory cannot be read: {why}.", why=problem)) from problem
    if not placer.files and not findings.already:
        why = [Sentence("{what} {why}.", what=item.what, why=item.why) for item in findings.skipped[:3]]
        raise ImportRefused(joined([Sentence("{name} holds nothing to import.", name=path.name), *why], " "))
    return ImportPlan(kind, path.name or str(path), placer.files, findings)


def _plan_export(
    export: Export, path: Path, kind: ImportKind, scope: Scope, clock: Clock, findings: Findings, placer: Placer
) -> None:
    own = claude if kind is ImportKind.CLAUDE else chatgpt
    found = _of_kind(read_elements(export, "conversations"), kind, path)
    place_chats(own.chats(found, findings), kind, scope, clock, findings, placer)
    if kind is ImportKind.CLAUDE:
        for note in chain(
            claude.memories(read_elements(export, "memories"), findings),
            claude.projects(read_elements(export, "projects"), findings),
        ):
            place_note(note, kind, clock, findings, placer)


def _of_kind(found: Iterator[Json], kind: ImportKind, path: Path) -> Iterator[Json]:
    """The same. Raises `ImportRefused` if the first is a conversation of the other kind."""
    first = list(islice(found, 1))
    other = ImportKind.CHATGPT if kind is ImportKind.CLAUDE else ImportKind.CLAUDE
    is_others = chatgpt.is_chat if kind is ImportKind.CLAUDE else claude.is_chat
    if any(map(is_others, first)):
        refused = Sentence("{name} is no export of {kind}.", name=path.name, kind=LABELS[kind])
        raise ImportRefused(joined([refused, it_looks_like(other, path)], " "))
    return chain(first, found)
