from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.journal.diary import Diary


@pytest.fixture
def diary(tmp_path: Path) -> Diary:
    return Diary(tmp_path)
