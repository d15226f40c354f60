"""Writes the files of a plan. Blocks."""

from __future__ import annotations

from collections.abc import Iterable

from agent.clock import Clock
from agent.languages.sentences import Sentence
from agent.memory import files
from agent.memory.paths import FileError
from agent.memory.scope import Scope
from gateway.features.imports.values import Placing, PlannedFile
from gateway.features.imports.workspaces import is_template


class _WrittenMeanwhile(FileError):
    pass


def write_files(scope: Scope, clock: Clock, planned: Iterable[PlannedFile]) -> None:
    """Writes each durably, as one change of the recorder in force. Raises `FileError`, `OSError`."""
    today = clock.today()
    for file in planned:
        path = files.inside(scope, file.path)
        if file.placing is Placing.MERGED:
            files.rewrite(path, scope.folder, today, lambda before, file=file: _merged(before, file))  # type: ignore[misc]
        else:
            files.put_back(
                path,
                scope.folder,
                today,
                lambda before, file=file: _in_place_of(before, file),  # type: ignore[misc]
                redacts=True,  # past days' logs that nobody has written here yet
            )


def _merged(before: bytes | None, file: PlannedFile) -> bytes:
    present = (before or b"").rstrip()
    return present + b"\n\n" + file.data if present else file.data


def _in_place_of(before: bytes | None, file: PlannedFile) -> bytes:
    if before is None or (file.placing is Placing.REPLACED and is_template(file.path, before)):
        return file.data
    raise _WrittenMeanwhile(Sentence("{file} was written by somebody else meanwhile; import again", file=file.path))
