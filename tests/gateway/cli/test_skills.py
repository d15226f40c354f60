"""`daybook skills`, and what `doctor` says of skills, of an index too long, and of private things in common files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import daybook
from gateway.doctor.examine import examine
from gateway.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    home.config_file.write_text("model: {provider: offline}\nchannels: {web: {enabled: false}}\n")
    return home


def teach(home: Home, name: str, text: str) -> None:
    page = home.path / "workspace" / "skills" / name / "SKILL.md"
    page.parent.mkdir(parents=True)
    page.write_text(text)


def run(home: Home, *words: str) -> Result:
    return CliRunner().invoke(daybook, ["--home", str(home.path), "skills", *words])


def test_skills_are_listed_shown_and_checked(home: Home) -> None:
    teach(home, "report", "---\ndescription: Weekly report\n---\n\nGather first.\n")
    listed = run(home, "list")
    assert listed.exit_code == 0 and "memory" in listed.stdout and "built in" in listed.stdout
    rows = json.loads(run(home, "list", "--json").stdout)
    assert [(row["name"], row["origin"], row["problem"]) for row in rows] == [
        ("memory", "built in", ""),
        ("report", "workspace", ""),
    ]
    assert run(home, "show", "report").stdout == "Gather first.\n\n"
    assert json.loads(run(home, "show", "memory", "--json").stdout)["text"].startswith("# The daybook's files")
    assert (run(home, "check").exit_code, run(home, "check", "--json").stdout) == (0, "[]\n")


def test_what_is_broken_or_missing_is_named_and_ends_with_1(home: Home) -> None:
    teach(home, "bad", "---\ndescription: [\n---\nx\n")
    teach(home, "sound", "---\ndescription: d\nrequires: {bins: [daybook-no-such-program]}\n---\nx\n")
    checked = run(home, "check")
    assert checked.exit_code == 1
    assert "bad: its front matter is not valid YAML" in checked.stdout
    assert "sound: missing: the program daybook-no-such-program" in checked.stdout
    assert {row["name"] for row in json.loads(run(home, "check", "--json").stdout)} == {"bad", "sound"}
    assert run(home, "list").exit_code == 0
    unknown = run(home, "show", "none")
    assert unknown.exit_code == 1 and "There is no skill none" in unknown.output
    assert run(home, "show", "bad").exit_code == 1
    assert run(home, "show").exit_code == 2


def test_doctor_names_a_broken_skill_and_hints_at_a_long_index(home: Home) -> None:
    teach(home, "bad", "no head")
    teach(home, "sound", "---\ndescription: d\nrequires: {env: [DAYBOOK_NO_SUCH_KEY]}\n---\nx\n")
    (home.path / "workspace/MEMORY.md").write_text("- fact\n" * 300)
    findings = examine(home, {})
    (broken,) = [one for one in findings if one.check == "skills" and not one.ok]
    assert "skills/bad/SKILL.md has no front matter" in broken.message and broken.fix
    assert any("DAYBOOK_NO_SUCH_KEY" in one.message and one.ok for one in findings)
    (index,) = [one for one in findings if one.check == "memory"]
    assert index.ok and "300 lines" in index.message and "first 200 lines" in index.message


def test_doctor_has_nothing_to_say_where_all_is_well(home: Home) -> None:
    assert run(home, "list").exit_code == 0  # the workspace is there now
    findings = [one for one in examine(home, {}) if one.check in ("skills", "memory")]
    assert [(one.ok, one.message) for one in findings] == [(True, "1 skill can be read")]


def workspace_warnings(home: Home) -> list[str]:
    return [one.message for one in examine(home, {}) if one.check == "workspace" and one.message.startswith("warning")]


@pytest.mark.parametrize("name", ["AGENTS.md", "SOUL.md", "IDENTITY.md"])
@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("The key box by the door: code 4711", "a number of four or more digits"),
        ("Phone 0171 123 45 67", "a number of four or more digits"),
        ("Safe 4 7 1 1", "a number of four or more digits"),
        ("Account DE89370400440532013000", "what looks like a key"),
        ("- **PIN**: 12", "what looks like a key"),
        ("The Wi-Fi password: correct horse", "what looks like a key"),
        ("Use sk-ant-api03-abcdef for that", "what looks like a key"),
        ("Write to alice@example.org.", "an address"),
        ("See <https://cloud.example.org/x>", "an address"),
        ("They live at 12 Baker Street", "an address"),
        ("Zuhause: Hauptstraße 5a", "an address"),
        ("Habita en la calle Mayor 7", "an address"),
    ],
)
def test_doctor_warns_of_private_things_in_files_that_every_chat_reads(
    home: Home, name: str, line: str, what: str
) -> None:
    assert run(home, "list").exit_code == 0
    (home.path / "workspace" / name).write_text(f"# Title\n\n{line}\n")
    (warning,) = workspace_warnings(home)
    assert f"{name} line 3 contains {what}" in warning and "TOOLS.md" in warning
    assert line not in warning, "what doctor prints is shown to others"


def test_doctor_does_not_warn_of_the_template_or_of_what_is_nothing_private(home: Home) -> None:
    assert run(home, "list").exit_code == 0
    assert workspace_warnings(home) == []
    harmless = "Answer in 3 lines, 10-12 words each, before 08:30; since 2026-11-21. Turkey: a land."
    (home.path / "workspace/SOUL.md").write_text(f"# Title\n\n{harmless}\n- The street is long, the way 2 go.\n")
    (home.path / "workspace/TOOLS.md").write_text("The key box: code 4711, alice@example.org\n")
    assert workspace_warnings(home) == []


def test_what_a_skill_requires_may_stand_in_the_homes_env_file(home: Home) -> None:
    teach(home, "sound", "---\ndescription: d\nrequires: {env: [DAYBOOK_SKILL_KEY]}\n---\nx\n")
    (home.path / ".env").write_text("DAYBOOK_SKILL_KEY=\n")
    assert "missing: the environment variable DAYBOOK_SKILL_KEY" in run(home, "check").output
    (home.path / ".env").write_text("DAYBOOK_SKILL_KEY=CANARY-VALUE\n")
    checked = run(home, "check")
    assert (checked.exit_code, checked.output) == (0, "All skills are ready.\n")
    found = [one.message for one in examine(home, {}) if one.check == "skills"]
    assert found == ["2 skills can be read"]
    assert "CANARY-VALUE" not in run(home, "show", "sound", "--json").output
