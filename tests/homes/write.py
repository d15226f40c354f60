"""`python -m tests.homes.write [COMMIT]`: record a home by what this version writes, or by what the code of COMMIT did.
It gets the number of its schema, and replaces what was recorded under that."""

from __future__ import annotations

import argparse
import asyncio

from tests.homes import recording, short_story
from tests.recorded import story as whole_story


async def write(commit: str | None) -> None:
    opened = short_story.open_older(commit) if commit else whole_story.open_story()
    told = short_story if commit else whole_story
    async with opened as story:
        await told.tell(story)
        await told.leave_unfinished(story)
        await story.gateway.kill()
        print(recording.record(story.gateway))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Record a home.")
    parser.add_argument("commit", nargs="?", help="whose code writes it; without it, this one")
    asyncio.run(write(parser.parse_args().commit))
