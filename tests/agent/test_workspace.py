"""A workspace is made from the template once, and is its owner's from then on."""

from __future__ import annotations

from pathlib import Path

import yaml

from agent import workspace

PROMPT = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "USER.md", "MEMORY.md")


def test_a_new_workspace_has_the_templates_files(tmp_path: Path) -> None:
    root = tmp_path / "home" / "workspace"
    written = workspace.create(root)
    assert {path.name for path in written} == {*PROMPT, "HEARTBEAT.md", "schedule.yaml"}
    assert root.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in root.iterdir()} == {path.name for path in written}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in written)


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("mine")
    (tmp_path / "SOUL.md").symlink_to("nowhere")
    (tmp_path / "USER.md").mkdir()
    written = workspace.create(tmp_path)
    assert not {"MEMORY.md", "SOUL.md", "USER.md"} & {path.name for path in written}
    assert (tmp_path / "MEMORY.md").read_text() == "mine"
    assert (tmp_path / "SOUL.md").is_symlink()
    assert workspace.create(tmp_path) == ()


def test_a_file_under_its_other_name_is_not_hidden_by_ours(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("rules")
    (tmp_path / "memory.md").write_text("facts")
    assert not {"AGENTS.md", "MEMORY.md"} & {path.name for path in workspace.create(tmp_path)}


def test_the_template_is_short_enough_for_every_request() -> None:
    folder = workspace.template_folder()
    assert sum(len((folder / name).read_text(encoding="utf-8")) for name in PROMPT) <= 6_500


def test_the_templates_schedule_has_no_jobs() -> None:
    text = (workspace.template_folder() / "schedule.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == {"jobs": []}


def test_the_template_says_in_each_first_line_who_reads_it() -> None:
    folder = workspace.template_folder()
    first = {name: (folder / name).read_text(encoding="utf-8").splitlines()[0] for name in PROMPT}
    for name in ("AGENTS.md", "SOUL.md", "IDENTITY.md"):
        assert "read in every chat, also by groups and other people" in first[name]
    assert "read in your private chats only" in first["TOOLS.md"]
