"""What of a heartbeat's answer is delivered."""

from __future__ import annotations

import pytest

from agent.heartbeat import said


@pytest.mark.parametrize(
    "answer",
    ["HEARTBEAT_OK", " heartbeat_ok\n", "**HEARTBEAT_OK**", "`HEARTBEAT_OK`.", "no_reply", "HEARTBEAT_OK!", ""],
)
def test_a_token_alone_says_nothing(answer: str) -> None:
    assert said(answer) == ""


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Water the plants.", "Water the plants."),
        ("Water the plants.\n\nHEARTBEAT_OK", "Water the plants."),
        ("Water the plants. **HEARTBEAT_OK**", "Water the plants."),
        ("HEARTBEAT_OK\n\nWater the plants.", "Water the plants."),
        ("**HEARTBEAT_OK** - water the plants.", "water the plants."),
        ("HEARTBEAT_OK (water the plants)", "(water the plants)"),
        ("The file says HEARTBEAT_OK where it should not.", "The file says HEARTBEAT_OK where it should not."),
        ("HEARTBEAT_OKAY is no token", "HEARTBEAT_OKAY is no token"),
    ],
)
def test_a_token_beside_real_text_is_left_out(answer: str, text: str) -> None:
    assert said(answer) == text
