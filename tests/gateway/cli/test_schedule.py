"""`daybook schedule`, as a shell calls it, without a gateway."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.test_cli import home, shell

__all__ = ["home"]

KEYS = {"id", "kind", "when", "to", "enabled", "next_run", "last_run", "last_result"}
"""Those that SPEC 1 promises."""


def told(home: Path, *words: str) -> Any:
    ran = shell(home, "schedule", *words, "--json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def job(home: Path, id: str) -> dict[str, Any]:
    (found,) = (row for row in told(home, "list") if row["id"] == id)
    return dict(found)


@pytest.mark.timeout(1_800)
def test_a_job_from_its_beginning_to_its_end(home: Path) -> None:
    added = told(home, "add", "Drink", "--cron", "0 8 * * 1-5", "--id", "water", "--timezone", "Asia/Kathmandu")
    assert "Added water. Next: " in added["message"]
    row = job(home, "water")
    assert row.keys() >= KEYS
    assert (row["kind"], row["when"], row["to"], row["enabled"]) == ("message", {"cron": "0 8 * * 1-5"}, "owner", True)
    assert (row["last_run"], row["last_result"]) == (None, None)
    due = datetime.fromisoformat(row["next_run"])
    assert (f"{due:%H:%M}", row["next_run"][-6:], due.weekday() < 5) == ("08:00", "+05:45", True)
    assert {"journal", "daily-summary", "heartbeat"} <= {one["id"] for one in told(home, "list")}
    assert told(home, "pause", "water")["enabled"] is False
    assert job(home, "water")["next_run"] is None
    assert told(home, "resume", "water")["next_run"] == row["next_run"]
    assert "once Daybook runs" in told(home, "run", "water")["message"]
    (run,) = told(home, "history", "water")
    assert (run["id"], run["result"], run["attempts"], run["late"]) == ("water", "waiting", 0, False)
    assert job(home, "water")["last_result"] == "waiting"
    assert told(home, "history", "-n", "1") == [run]
    assert told(home, "remove", "water")["id"] == "water"
    assert "water" not in {one["id"] for one in told(home, "list")}


def test_the_journal_is_written_by_name_without_a_gateway(home: Path) -> None:
    assert shell(home, "chat", "-m", "We take the blue tiles").returncode == 0
    assert told(home, "run", "journal")["message"] == "journal has run: done."
    (log,) = (home / "workspace/memory").glob("2*.md")
    assert "blue tiles" in log.read_text("utf-8")
    assert told(home, "run", "journal")["message"] == "journal has run: silent."
    assert [run["result"] for run in told(home, "history", "journal")] == ["silent", "done"]
    assert "once Daybook runs" in told(home, "run", "daily-summary")["message"]


def test_the_name_of_a_chats_own_summary_is_refused(home: Path) -> None:
    ran = shell(home, "schedule", "add", "Milk", "--every", "2h", "--id", "daily-summary-telegram-1")
    assert ran.returncode == 2
    assert "`id` is 'daily-summary-telegram-1', which is a name of Daybook's own jobs; take another" in ran.stderr


def test_moments_as_people_read_them(home: Path) -> None:
    """In the user's zone, as in `/jobs`; ISO is for programs."""
    told(home, "add", "Drink", "--cron", "0 8 * * *", "--id", "water", "--timezone", "Asia/Kathmandu")
    told(home, "run", "water")
    listed = next(line for line in shell(home, "schedule", "list").stdout.splitlines() if line.startswith("water "))
    assert "every day at 08:00 (Asia/Kathmandu)" in listed and re.search(r" at 0[34]:15 ", listed)
    (run,) = (line for line in shell(home, "schedule", "history", "water").stdout.splitlines() if "water" in line)
    status = shell(home, "status").stdout
    jobs = [line for line in status.splitlines() if line.startswith("next job")]
    assert any(re.search(r" at 0[34]:15  water$", line) for line in jobs)
    assert not any(re.search(r"\dT\d", text) for text in (listed, run, *jobs))


def test_a_channel_that_is_off_is_said(home: Path) -> None:
    said = told(home, "add", "Tea", "--every", "2h", "--to", "telegram:5", "--id", "tea")["message"]
    assert said.endswith(" But telegram is switched off, so I can only send it once that is on again.")
    assert "tea reports to telegram:5, but telegram is off" in shell(home, "doctor").stdout
    assert "memory-test" not in {row["id"] for row in told(home, "list")}
    (home / "workspace/memory").mkdir(exist_ok=True)
    (home / "workspace/memory/tests.md").write_text("- Where is the bike? -> cellar\n", "utf-8")
    assert "memory-test" in {row["id"] for row in told(home, "list")}


def test_what_people_read(home: Path) -> None:
    assert shell(home, "schedule", "history").stdout.strip() == "No runs yet."
    ran = shell(home, "schedule", "add", "Call Ann", "--when", "in 20 minutes")
    assert re.match(r"Added call-ann\. Next: (today|tomorrow \(.*\)) at \d\d:\d\d\.", ran.stdout)
    listed = shell(home, "schedule", "list").stdout
    assert "call-ann" in listed and "Call Ann" in listed and "daily-summary" in listed
    assert "Paused call-ann." in shell(home, "schedule", "pause", "call-ann").stdout
    assert "paused" in shell(home, "schedule", "list").stdout


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("add", "Tea"), 2, "exactly one of --at, --every, --cron and --when"),
        (("add", "Tea", "--every", "2h", "--cron", "* * * * *"), 2, "exactly one of"),
        (("add", "Tea", "--every", "2h", "--kind", "song"), 2, "song"),
        (("add", "Tea", "--at", "2001-01-01T08:00"), 1, "is already past"),
        (("add", "Tea", "--at", "2027-02-29T08:00"), 2, "does not exist"),
        (("add", "Tea", "--every", "1s"), 2, "out of range"),
        (("add", "Tea", "--cron", "0 0 31 2 *"), 2, "0 0 31 2 *"),
        (("add", "Tea", "--when", "some day"), 1, "I don't understand"),
        (("add", "Tea", "--every", "2h", "--timezone", "Mars/Base"), 2, "IANA zone"),
        (("add", "Tea", "--every", "2h", "--to", "nowhere"), 2, "chat address"),
        (("add", "Tea", "--every", "2h", "--id", "Big Tea"), 2, "a-z, 0-9 and -"),
        (("add", " ", "--every", "2h"), 2, "is empty"),
        (("remove", "tea"), 1, "no job tea"),
        (("remove", "journal"), 1, "you can pause it, but not delete it"),
        (("pause", "tea"), 1, "no job tea"),
        (("resume", "tea"), 1, "no job tea"),
        (("run", "tea"), 1, "no job tea"),
        (("history", "nope"), 1, "There is no job nope."),
        (("history", "-n", "0"), 2, "0"),
        (("add", "Tea", "--every", "2h", "--to", "telegrm:5"), 2, "no channel 'telegrm'; did you mean 'telegram'?"),
        (("dance",), 2, "dance"),
    ],
)
def test_bad_input_is_told_on_stderr(home: Path, words: tuple[str, ...], code: int, why: str) -> None:
    ran = shell(home, "schedule", *words)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert why in ran.stderr and "Traceback" not in ran.stderr


def test_a_file_that_cannot_be_read_is_not_written_over(home: Path) -> None:
    told(home, "add", "Tea", "--every", "2h", "--id", "tea")
    file = home / "workspace/schedule.yaml"
    broken = file.read_text("utf-8") + "  - {id: water, when: [\n"
    file.write_text(broken, "utf-8")
    ran = shell(home, "schedule", "add", "Milk", "--every", "2h")
    assert ran.returncode == 1 and "mend it first" in ran.stderr
    assert file.read_text("utf-8") == broken
    assert job(home, "tea")["enabled"] is True
