"""The jobs of a workspace: what is taken out of the file together, and what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.scheduling.job_store import JobStore, NotChanged
from tests.gateway.conftest import Moment

WHEN = "when: {at: '2026-11-21T09:00'}"


def looked(folder: Path, moment: Moment, text: str) -> JobStore:
    (folder / "schedule.yaml").write_text(text, "utf-8")
    jobs = JobStore(folder, moment.clock, folder / "good.yaml")
    jobs.look()
    return jobs


def test_what_is_gone_meanwhile_keeps_nothing_from_going(tmp_path: Path, moment: Moment) -> None:
    rows = "".join(f"  - {{id: {id}, text: {id}, {WHEN}}}\n" for id in "abc")
    jobs = looked(tmp_path, moment, f"jobs:\n{rows}")
    jobs.remove_all(["a", "nothing", "c"])
    assert list(jobs.jobs) == ["b"]
    jobs.remove_all(["b"])
    assert (tmp_path / "schedule.yaml").read_text("utf-8") == "jobs: []\n"


def test_what_cannot_be_taken_out_keeps_nothing_else_from_going(tmp_path: Path, moment: Moment) -> None:
    """One without which the rest of the file would make no sense."""
    line = f"  - {{id: a, text: a, {WHEN}}}\n"
    jobs = looked(tmp_path, moment, f"jobs:\n{line}  - &b {{id: b, text: b, {WHEN}}}\n  - *b\n")
    with pytest.raises(NotChanged):
        jobs.remove_all(["a", "b"])
    assert "id: a" not in (tmp_path / "schedule.yaml").read_text("utf-8")


def test_after_a_start_with_a_broken_file_those_jobs_hold_that_held_before(tmp_path: Path, moment: Moment) -> None:
    """Also where the file had a mistake already: what was right in it had taken effect."""
    good = [f"{{id: {id}, text: 'say: \"{id}\"', {WHEN}}}" for id in "abc"]
    jobs = looked(tmp_path, moment, f"jobs: [{', '.join(good)}]\n")
    held = jobs.jobs
    (tmp_path / "schedule.yaml").write_text(f"jobs: [{{id: a, text: [x], {WHEN}}}, {good[2]}, {{id: d}}]\n", "utf-8")
    jobs.look()
    assert list(jobs.jobs) == ["c", "a"]
    again = looked(tmp_path, moment, "jobs: [[[")
    assert again.jobs == jobs.jobs == {id: held[id] for id in "ca"}
