"""What `doctor` finds in a schedule."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from channels.checks import Finding
from gateway.config.loader import parse
from gateway.doctor.schedule import check_schedule
from gateway.home import Home
from gateway.store import run_rows
from gateway.store.database import Database
from gateway.store.run_rows import Run, RunStatus

NOW = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)
WATER = "{id: water, text: Drink, when: {cron: '0 9 * * *'}, timezone: Asia/Tokyo}"

CONFIG = parse("timezone: Europe/Berlin", {}).config


def findings(home: Home, text: str | None) -> list[Finding]:
    workspace = home.workspace("workspace")
    workspace.mkdir(parents=True, exist_ok=True)
    if text is not None:
        (workspace / "schedule.yaml").write_text(text, "utf-8")
    return list(check_schedule(home, workspace, CONFIG, NOW, {"terminal", "telegram"}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.create()
    return made


@pytest.mark.parametrize("text", [None, "", "# nothing yet\n", "jobs: []\n"])
def test_no_jobs_are_no_problem(home: Home, text: str | None) -> None:
    assert [(one.ok, one.message) for one in findings(home, text)] == [(True, "you have no jobs")]


def test_the_next_runs_in_the_zone_of_the_user(home: Home) -> None:
    tea = "{id: tea, text: Tea, when: {at: '2026-11-21T10:00'}}"
    off = "{id: off, text: Off, when: {every: 1h}, enabled: false}"
    past = "{id: past, text: Past, when: {at: '2001-01-01T10:00'}}"
    found = findings(home, f"jobs:\n  - {WATER}\n  - {tea}\n  - {off}\n  - {past}\n")
    assert found == [
        Finding("schedule", True, "you have 4 jobs, 1 of them off"),
        Finding("schedule", True, "tea: next today at 10:00"),
        Finding("schedule", True, "water: next tomorrow (Sun 22 Nov) at 01:00"),
    ]


def test_a_file_that_is_no_yaml(home: Home) -> None:
    (found,) = findings(home, "jobs: [\n")
    assert not found.ok and found.message.startswith("can't read schedule.yaml: ")
    assert "schedule.yaml; until then all jobs run as before" in found.fix


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ("{id: x, text: Tea, when: {every: 1h}, timezone: Mars/Base}", "IANA zone"),
        ("{id: x, text: '', when: {every: 1h}}", "`text` is empty"),
        ("{id: x, text: Tea, when: {cron: '0 0 31 2 *'}}", "0 0 31 2 *"),
        ("{id: x, text: Tea, when: {every: 1h}, to: nowhere}", "`to`"),
        ("{id: journal, text: Tea, when: {every: 1h}}", "Daybook's own"),
    ],
)
def test_a_job_that_cannot_be_is_named_with_its_line_and_the_rest_holds(home: Home, job: str, why: str) -> None:
    problem, rest, water = findings(home, f"jobs:\n  - {WATER}\n  - {job}\n")
    assert not problem.ok and why in problem.message and "line 3" in problem.message and problem.fix
    assert rest.ok and rest.message == "you have 1 job" and water.message.startswith("water: next ")


async def test_a_run_that_failed_is_told_with_what_to_do(home: Home) -> None:
    database = await Database.open(home.database)
    states = (
        ("water", RunStatus.FAILED, "The bot was blocked."),
        ("tea", RunStatus.WAITING, "Down."),
        ("ok", RunStatus.DONE, ""),
    )
    for id, state, error in states:
        due = "2026-11-21T00:00:00.000Z"
        run = Run(id, due, "message", "Drink", None, False, False, state, due, error=error)
        await database.run(run_rows.claim, run, due)
    await database.aclose()
    failed, waiting, *rest = findings(home, f"jobs:\n  - {WATER}\n")
    assert not failed.ok and "water, due today at 01:00, failed: The bot was" in failed.message
    assert failed.fix == "`daybook schedule run water` tries again"
    assert not waiting.ok and "Down." in waiting.message
    assert rest and all(one.ok for one in rest)


def test_a_database_that_cannot_be_read_is_for_other_checks(home: Home) -> None:
    home.database.parent.mkdir(parents=True, exist_ok=True)
    home.database.write_bytes(b"no database" * 100)
    found = findings(home, f"jobs:\n  - {WATER}\n")
    assert found and all(one.ok for one in found)
