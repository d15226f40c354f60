"""The jobs of a workspace, as `schedule.yaml` has them now: read when it changes, and edited for people.

Blocks. A file that cannot be read changes nothing: the last readable jobs remain, over a restart too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from agent.clock import Clock
from agent.memory.files import FileError, read_text, rewrite
from gateway.scheduling import jobs_file
from gateway.scheduling.job import Job
from gateway.scheduling.jobs_file import InvalidJobsFile, JobProblem, JobsFileContent, NotEditable

FILE = "schedule.yaml"
_SHOWN = 20
_Signature = tuple[int, int, int] | None


class NotChanged(Exception):
    """The file could not be changed as asked. One sentence that says what to do."""


class JobStore:
    """`jobs`: those in effect. `trouble`: what is wrong with the file and what remains in effect, once it was seen
    twice (an editor may be writing); else empty."""

    def __init__(self, workspace: Path, clock: Clock, good: Path) -> None:
        """`good`: where the jobs of the last readable file are kept."""
        self.path = workspace / FILE
        self.jobs: dict[str, Job] = {}
        self.trouble = ""
        self._workspace = workspace
        self._clock = clock
        self._good = good
        self._signature: _Signature = None
        self._suspected = ""
        self._is_first = True

    def look(self) -> bool:
        """Reads the file if it has changed; returns whether jobs or problems changed."""
        signature = self._signature_now()
        if signature == self._signature and not self._is_first and self._suspected == self.trouble:
            return False
        before = self.jobs, self.trouble
        if self._is_first:
            self._take_up_good()
        self._signature, self._is_first = signature, False
        self._read()
        return before != (self.jobs, self.trouble)

    def add(self, job: Job) -> None:
        """Adds a job. Raises `NotChanged`."""
        if job.id in self.jobs:
            raise NotChanged(f"there is a job {job.id} already; give this one another id")
        self._edit(lambda text: jobs_file.with_job(text, job))

    def put(self, job: Job) -> None:
        """Adds a job, in place of one of the same id. Raises `NotChanged`."""
        there = job.id in self.jobs
        self._edit(lambda text: jobs_file.with_job(jobs_file.without_job(text, job.id) if there else text, job))

    def remove(self, id: str) -> None:
        """Removes a job. Raises `KeyError`, `NotChanged`."""
        self._edit(lambda text: jobs_file.without_job(text, id))

    def remove_all(self, ids: Collection[str]) -> None:
        """Removes those that can be removed, in one edit where possible; missing ones are skipped. Raises `NotChanged`
        where some remain."""
        try:
            self._edit(lambda text: jobs_file.without_jobs(text, frozenset(ids)))
        except (KeyError, NotChanged):
            if problems := [str(problem) for id in ids if (problem := self._not_removed(id)) is not None]:
                raise NotChanged("; ".join(dict.fromkeys(problems))) from None

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
            raise NotChanged(f"{FILE} cannot be read ({error}); mend it first") from error
        except NotEditable as error:
            raise NotChanged(f"{FILE} was not changed: {error}") from error
        except FileError as error:
            raise NotChanged(str(error)) from error
        self.look()

    def _read(self) -> None:
        try:
            found = jobs_file.read(self._text())
        except (InvalidJobsFile, FileError) as error:
            return self._suspect(
                f"`{FILE}` has a mistake and cannot be read: nothing in it has taken effect, and all jobs go on as "
                f"they were.\n\n- {error}"
            )
        kept = self._as_before(found)
        self.jobs = {job.id: job for job in found.jobs} | kept
        self._keep()
        if found.problems:
            return self._suspect(_told(found.problems, kept))
        self._suspected = self.trouble = ""
        return None

    def _as_before(self, found: JobsFileContent) -> dict[str, Job]:
        """The last readable versions of jobs that cannot be read now."""
        unread = {one.id for one in found.problems}
        return {id: job for id, job in self.jobs.items() if id in unread}

    def _suspect(self, trouble: str) -> None:
        if self._suspected == trouble:
            self.trouble = trouble
        self._suspected = trouble

    def _text(self) -> str:
        read = read_text(self.path, self._workspace)
        return read.text if read is not None else ""

    def _signature_now(self) -> _Signature:
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

    def _take_up_good(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.jobs = {job.id: job for job in jobs_file.read(self._good.read_text("utf-8")).jobs}

    def _keep(self) -> None:
        """Saves the jobs in effect for a start with an unreadable file. Where that fails, such a start has no jobs."""
        fresh = self._good.with_suffix(".new")
        with contextlib.suppress(OSError):
            fresh.write_text(jobs_file.as_text(self.jobs.values()), encoding="utf-8")
            fresh.chmod(0o600)
            fresh.replace(self._good)


def _told(problems: Sequence[JobProblem], kept: Collection[str]) -> str:
    how_many = "a mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
    lines = [f"- {one}. {_instead(one, kept)}" for one in problems[:_SHOWN]]
    more = [f"- and {len(problems) - _SHOWN} more; `daybook doctor` names them"] if len(problems) > _SHOWN else []
    return "\n".join([f"`{FILE}` has {how_many}. All the rest of it has taken effect.", "", *lines, *more])


def _instead(problem: JobProblem, kept: Collection[str]) -> str:
    """What remains in effect until the problem is fixed."""
    if problem.id in kept:
        return f"Until that is mended, `{problem.id}` goes on as it was."
    return "Until that is mended, there is no such job."
