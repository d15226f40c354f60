"""A page's queue: in order, without old previews, and never without end."""

from __future__ import annotations

import asyncio

from channels.web.clients import PageConnection


async def shown(connection: PageConnection, number: int) -> list[str]:
    sent: list[str] = []
    done = asyncio.Event()

    async def send(frame: str) -> None:
        sent.append(frame)
        if len(sent) == number:
            done.set()

    task = asyncio.create_task(connection.pump(send))
    async with asyncio.timeout(120):
        await done.wait()
    task.cancel()
    return sent


async def test_in_order_and_of_a_preview_the_newest() -> None:
    one = PageConnection("main")
    for frame, draft in (("a", ""), ("d1", "t"), ("d2", "t"), ("b", ""), ("d3", "t"), ("e1", "u")):
        one.show(frame, draft)
    assert await shown(one, 5) == ["a", "d2", "b", "d3", "e1"]


async def test_a_page_that_takes_nothing_is_cut_off() -> None:
    for frame, number in (("x", 600), ("x" * 1_000_000, 17)):
        one = PageConnection("main")
        cut = asyncio.create_task(one.cut_off())
        for _ in range(number):
            one.show(frame)
        async with asyncio.timeout(120):
            await cut


async def test_previews_alone_never_cut_anybody_off() -> None:
    one = PageConnection("main")
    cut = asyncio.create_task(one.cut_off())
    for number in range(5_000):
        one.show(f"{number}" * 10_000, "turn")
    await asyncio.sleep(0)
    assert not cut.done()
    cut.cancel()
