"""Finds free names for imported files, and what was imported before. Blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from agent.languages.sentences import Sentence
from agent.memory import files
from agent.memory.paths import FileError, folded_name
from agent.memory.scope import Scope
from gateway.features.imports.values import MOST_TEXT, Findings, ImportRefused, Placing, PlannedFile

_MOST_SUFFIXES = 1_000


class Placer:
    """Collects files to write; none has the name of one that exists."""

    def __init__(self, scope: Scope, findings: Findings, label: str) -> None:
        self._scope = scope
        self._findings = findings
        self._label = label
        self._planned: dict[str, PlannedFile] = {}
        self._present: dict[str, bytes] = {}
        """What was imported before, by names that file systems may tell apart by capitals only."""
        self._bytes = 0

    @property
    def files(self) -> tuple[PlannedFile, ...]:
        return tuple(self._planned.values())

    def add(self, file: PlannedFile) -> None:
        """Raises `ImportRefused` where an import brings too much."""
        self._bytes += len(file.data)
        if self._bytes > MOST_TEXT:
            raise too_much_text()
        self._planned[_key(file.path)] = file

    def merge(self, path: str, heading: str, lines: str) -> None:
        """Adds lines at the end of a file, once below the heading. Raises `ImportRefused`."""
        planned = self._planned.get(_key(path))
        if planned is not None and planned.placing is Placing.MERGED:
            self._bytes -= len(planned.data)
            self.add(replace(planned, data=planned.data + f"\n{lines}".encode()))
        else:
            self.add(PlannedFile(path, f"{heading}\n\n{lines}".encode(), Placing.MERGED))

    def place(self, path: str, data: bytes, *, free: bool = False) -> None:
        """Adds a new file under its name or one with a suffix, unless one of these has the same bytes. `free`: never
        under its own name."""
        spare = ""
        try:
            for candidate in self.candidates(path):
                known = self.read(candidate)
                if known == data:
                    self._present[_key(candidate)] = data
                    self._findings.already += 1
                    return
                if known is None and not (free and candidate == path):
                    spare = spare or candidate
                    break
        except FileError as problem:
            self._findings.skip(path, Sentence("cannot be saved: {why}", why=problem))
            return
        if spare:
            self.add(PlannedFile(spare, data))
        else:
            self._findings.skip(path, Sentence("cannot be saved: there are too many files of that name"))

    def candidates(self, path: str) -> Iterator[str]:
        """The name, then those with a suffix."""
        whole = PurePosixPath(path)
        yield path
        for number in range(1, _MOST_SUFFIXES):
            suffix = self._label if number == 1 else f"{self._label}-{number}"
            yield whole.with_name(f"{whole.stem}-{suffix}{whole.suffix}").as_posix()

    def read(self, path: str) -> bytes | None:
        """What is there, or will be. Raises `FileError`."""
        planned = self._planned.get(_key(path))
        if planned is not None and planned.placing is not Placing.MERGED:
            return planned.data
        if (known := self._present.get(_key(path))) is not None:
            return known
        present = files.read_bytes(files.inside(self._scope, path), self._scope.folder)
        return present if planned is None else (present or b"") + b"\n\n" + planned.data


def too_much_text() -> ImportRefused:
    return ImportRefused(
        Sentence(
            "There are more than {limit} MB of text, more than one import may bring. "
            "Nothing was imported; import it in parts.",
            limit=MOST_TEXT // 1_000_000,
        )
    )


def _key(path: str) -> str:
    return "/".join(map(folded_name, path.split("/")))
