"""Each rule of the search can be left out of a measurement, and is back afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.settings import SearchSettings
from benchmarks.retrieval import measured, summary
from benchmarks.rules import RULES, left_out


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    place = tmp_path / "one"
    (place / "workspace" / "memory").mkdir(parents=True)
    turns = "- Anna: I adopted a puppy.\n- Ben: Where did it sleep?\n- Anna: In the kitchen, 在厨房里睡觉.\n"
    (place / "workspace" / "memory" / "2026-05-08.md").write_text(f"# 2026-05-08\n\n{turns}")
    slots = [[["memory/2026-05-08.md", 5]]]
    question = {"id": "1", "q": "Where does Anna's dog sleep?", "now": "2026-06-01", "cat": "plain", "evidence": slots}
    (place / "queries.json").write_text(json.dumps([question]))
    return tmp_path


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_can_be_left_out(rule: str, asked: Path) -> None:
    whole = summary(measured(asked, SearchSettings()))
    with left_out(rule):
        assert summary(measured(asked, SearchSettings()))["questions"] == 1
    again = summary(measured(asked, SearchSettings()))
    assert [again[name] for name in ("E@1000", "MRR")] == [whole[name] for name in ("E@1000", "MRR")]


def test_one_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError), left_out("astrology"):
        pass
