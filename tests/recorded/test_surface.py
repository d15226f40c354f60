"""What people, their scripts and the model see is as it was recorded, but for what was changed on purpose."""

from __future__ import annotations

import difflib

from tests.recorded import surface
from tests.recorded.story import leave_unfinished, open_story, tell

_ANEW = "if that is meant: `python -m tests.recorded.write`, and look at the difference"


async def test_the_surface_is_as_it_was_recorded() -> None:
    async with open_story() as story:
        await tell(story)
        await leave_unfinished(story)
        seen = await surface.collect(story)
    recorded = {file.name: file.read_text(encoding="utf-8") for file in surface.RECORDED.iterdir()}
    assert seen.keys() == recorded.keys()
    changes = [
        line
        for name, text in seen.items()
        for line in difflib.unified_diff(
            recorded[name].splitlines(), text.splitlines(), f"recorded {name}", f"seen {name}", lineterm="", n=1
        )
    ]
    assert not changes, "\n".join([_ANEW, *changes])
