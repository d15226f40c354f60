"""`python -m tests.recorded.write [surface|home]`: record anew, on purpose. The difference says what people will see.

home        a home as this version leaves it. It stands for what older versions wrote, so it is written again only when
            a new kind of data is to be in it
surface     what must not change by itself
"""

from __future__ import annotations

import argparse
import asyncio

from tests.recorded import home, surface
from tests.recorded.story import leave_unfinished, open_story, tell


async def write(what: str) -> None:
    async with open_story() as story:
        await tell(story)
        await leave_unfinished(story)
        if what == "surface":
            surface.write(await surface.collect(story))
        await story.gateway.kill()
        if what == "home":
            home.record(story.gateway)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Record anew what must not change by itself.")
    parser.add_argument("what", nargs="?", choices=["surface", "home"], default="surface")
    asyncio.run(write(parser.parse_args().what))
