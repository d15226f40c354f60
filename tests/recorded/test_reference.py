"""The pages of the docs that list commands and settings say what there is."""

from __future__ import annotations

import pytest

from tests.recorded import reference


def test_no_page_of_the_docs_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert reference.stale() == [], "run `python -m tests.recorded.reference`"


def test_a_page_lists_what_a_command_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    listed = reference.pages()[reference.DOCS / "commands.md"]
    assert "| `/pair [CODE]` | approve someone by their code" in listed
    assert "| `daybook sessions show ID\\|TITLE` | Print a conversation as Markdown. |" in listed
    assert '| · `--cron TEXT` | Five fields: "0 8 * * 1-5". |' in listed
