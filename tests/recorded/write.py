"""`python -m tests.recorded.write`: record anew, on purpose, what must not change by itself. The difference says what
people will see. For a home of this version: `python -m tests.homes.write`."""

from __future__ import annotations

import asyncio

from tests.recorded import surface
from tests.recorded.story import leave_unfinished, open_story, tell


async def write() -> None:
    async with open_story() as story:
        await tell(story)
        await leave_unfinished(story)
        surface.write(await surface.collect(story))


if __name__ == "__main__":
    asyncio.run(write())
