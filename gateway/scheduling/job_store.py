"""The jobs of `schedule.yaml`: read when it changes, and edited for people. Blocks.

A file that cannot be read changes nothing: the last readable jobs remain, over a restart too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from agent.clock import Clock
from agent.fs import atomic_write
from agent.languages.sentences import Sentence, SentenceSeries
from agent.memory.files import FileError, read_text, rewrite
from gateway.scheduling import jobs_file
from gateway.scheduling.job import Job
from gateway.scheduling.jobs_file import InvalidJobsFile, JobProblem, NotEditable

FILE = "schedule.yaml"
_SHOWN = 20
_Signature = tuple[int, int, int] | None


class NotChanged(Exception):
    """One sentence that says what to do."""


class JobStore:
    """The jobs in effect (`jobs`). `trouble`: what is wrong with the file, once it was seen twice."""

    def __init__(self, workspace: Path, clock: Clock, good: Path) -> None:
        """`good`: where the jobs of the last readable file are kept."""
        self.path = workspace / FILE
        self.jobs: dict[str, Job] = {}
        self.trouble: str = ""
        self._workspace = workspace
        self._clock = clock
        self._good = good
        self._signature: _Signature = None
        self._suspected = ""
        self._is_first = True

    def look(self) -> bool:
        """Reads the file if it has changed; True where jobs or problems changed."""
        signature = self._signature_now()
        if signature == self._signature and not self._is_first and self._suspected == self.trouble:
            return False
        before = self.jobs, self.trouble
        if self._is_first:
            with contextlib.suppress(OSError, ValueError):
                self.jobs = {job.id: job for job in jobs_file.read(self._good.read_text("utf-8")).jobs}
        self._signature, self._is_first = signature, False
        self._read()
        return before != (self.jobs, self.trouble)

    def add(self, job: Job) -> None:
        """Adds a job. Raises `NotChanged`."""
        if job.id in self.jobs:
            raise NotChanged(Sentence("there is a job {id} already; give this one another id", id=job.id))
        self._edit(lambda text: jobs_file.with_job(text, job))

    def put(self, job: Job) -> None:
        """Adds a job or replaces the job of the same id. Raises `NotChanged`."""
        there = job.id in self.jobs
        self._edit(lambda text: jobs_file.with_job(jobs_file.without_job(text, job.id) if there else text, job))

    def replace(self, old: Job, new: Job) -> None:
        """Replaces a job by another of its id. Raises `KeyError`, `NotChanged`."""
        self._edit(lambda text: jobs_file.replaced(text, old, new))

    def remove(self, id: str) -> None:
        """Removes a job. Raises `KeyError`, `NotChanged`."""
        self._edit(lambda text: jobs_file.without_job(text, id))

    def remove_all(self, ids: Collection[str]) -> None:
        """Removes jobs; missing ones do not matter. Raises `NotChanged` where some remain."""
        try:
            self._edit(lambda text: jobs_file.without_jobs(text, frozenset(ids)))
        except (KeyError, NotChanged):
            if problems := [problem for id in ids if (problem := self._not_removed(id)) is not None]:
                raise problems[0] from None

    def _not_removed(self, id: str) -> NotChanged | None:
        try:
            self.remove(id)
        except KeyError:
            return None
        except NotChanged as problem:
            return problem
        return None

    def switch(self, id: str, *, enabled: bool) -> None:
        """Pauses or resumes a job. Raises `KeyError`, `NotChanged`."""
        self._edit(lambda text: jobs_file.switched(text, id, enabled=enabled))

    def _edit(self, edit: Callable[[str], str]) -> None:
        def change(present: bytes | None) -> bytes:
            return edit((present or b"").decode("utf-8")).encode()

        try:
            rewrite(self.path, self._workspace, self._clock.today(), change)
        except (InvalidJobsFile, UnicodeDecodeError) as error:
            raise NotChanged(
                Sentence("{file} cannot be read ({why}); mend it first", file=FILE, why=str(error))
            ) from error
        except NotEditable as error:
            raise NotChanged(Sentence("{file} was not changed: {why}", file=FILE, why=str(error))) from error
        except FileError as error:
            raise NotChanged(str(error)) from error
        self.look()

    def _read(self) -> None:
        try:
            read = read_text(self.path, self._workspace)
            found = jobs_file.read(read.text if read is not None else "")
        except (InvalidJobsFile, FileError) as error:
            return self._suspect(
                Sentence(
                    "`{file}` has a mistake, so I can't read it. Nothing in it has taken effect, and all jobs run as "
                    "before.\n\n- {why}",
                    file=FILE,
                    why=str(error),
                )
            )
        unread = {problem.id for problem in found.problems}
        kept = {id: job for id, job in self.jobs.items() if id in unread}
        self.jobs = {job.id: job for job in found.jobs} | kept
        with contextlib.suppress(OSError):
            atomic_write(self._good, jobs_file.as_text(self.jobs.values()))
        if found.problems:
            return self._suspect(_trouble_text(found.problems, kept))
        self._suspected = self.trouble = ""
        return None

    def _suspect(self, trouble: str) -> None:
        if self._suspected == trouble:
            self.trouble = trouble
        self._suspected = trouble

    def _signature_now(self) -> _Signature:
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _trouble_text(problems: Sequence[JobProblem], kept: Collection[str]) -> Sentence:
    lines = [_instead(problem, kept) for problem in problems[:_SHOWN]]
    if (more := len(problems) - _SHOWN) > 0:
        lines.append(Sentence("- and {count} more; `daybook doctor` lists them", count=more))
    if len(problems) == 1:
        head = Sentence("`{file}` has a mistake. Everything else in it has taken effect.", file=FILE)
    else:
        head = Sentence(
            "`{file}` has {count} mistakes. Everything else in it has taken effect.", file=FILE, count=len(problems)
        )
    return SentenceSeries("\n", [head, "", *lines])


def _instead(problem: JobProblem, kept: Collection[str]) -> Sentence:
    if problem.id in kept:
        return Sentence("- {why}. Until this is fixed, `{id}` runs as before.", why=problem.sentence, id=problem.id)
    return Sentence("- {why}. Until this is fixed, that job does not exist.", why=problem.sentence)
