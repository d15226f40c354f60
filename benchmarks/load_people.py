"""The people of a load test: they write at random moments, each only when answered, and note when that was."""

from __future__ import annotations

import asyncio
import io
import random
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

from PIL import Image

from benchmarks.people import NewCalls, Seen, answers, seen
from tests.fakes.telegram import FakeTelegram

PHOTOS = 0.05
"""Share of the messages that are photos with a caption."""
PHOTO_SIZE = (1280, 960)
_FIRST_CHAT = 20_000
_PHOTOS_MADE = 64
"""Made beforehand: what is sent twice is kept once."""
_LOOK_S = 0.005


def photo(chance: random.Random) -> bytes:
    """A JPEG of about 200 kB, as clients send photos."""
    out = io.BytesIO()
    small = Image.frombytes("RGB", (160, 120), chance.randbytes(160 * 120 * 3))
    small.resize(PHOTO_SIZE, Image.Resampling.BICUBIC).save(out, "JPEG", quality=60)
    return out.getvalue()


class Crowd:
    """`written`: the numbers of each chat; `took`: seconds from writing until the whole answer is there, by number."""

    def __init__(self, telegram: FakeTelegram, chats: int, chance: random.Random) -> None:
        self.written: dict[int, list[int]] = {_FIRST_CHAT + number: [] for number in range(chats)}
        self.took: dict[int, float] = {}
        self._telegram = telegram
        self._chance = chance
        self._photos = [photo(chance) for _ in range(_PHOTOS_MADE)]
        self._count = 0
        self._open: dict[int, tuple[int, float]] = {}
        """Chat and moment of what is not answered, by number."""
        self._free = list(self.written)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        watch = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch

    async def _watch(self) -> None:
        log = NewCalls(self._telegram)
        while True:
            for call in log:
                if call.status == 200 and call.method in ("sendMessage", "editMessageText"):
                    for number in answers(call.params.text("text")) & self._open.keys():
                        chat, at = self._open.pop(number)
                        self.took[number] = call.at - at
                        self._free.append(chat)
            await asyncio.sleep(_LOOK_S)

    async def arrive(self, rate: float, seconds: float) -> list[int]:
        """Somebody who waits for nothing writes, `rate` times a second on average. Returns the numbers."""
        loop = asyncio.get_running_loop()
        next_at = begun = loop.time()
        numbers: list[int] = []
        while (next_at := next_at + self._chance.expovariate(rate)) < begun + seconds:
            await asyncio.sleep(max(0.0, next_at - loop.time()))
            if self._free:
                at = self._chance.randrange(len(self._free))
                self._free[at], self._free[-1] = self._free[-1], self._free[at]
                numbers.append(self._write(self._free.pop(), with_photo=self._chance.random() < PHOTOS))
        return numbers

    async def each_writes(self, chats: Iterable[int], at_once: int) -> None:
        """One after the other, with no more than `at_once` that wait for an answer."""
        for chat in chats:
            while len(self._open) >= at_once or chat not in self._free:  # noqa: ASYNC110  `_watch` looks as often
                await asyncio.sleep(_LOOK_S)
            self._free.remove(chat)
            self._write(chat, with_photo=False)

    @property
    def waiting(self) -> int:
        """People who wait for an answer."""
        return len(self._open)

    async def answered(self, seconds: float) -> bool:
        """Waits until all is answered. False if it is not within so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._open:  # noqa: ASYNC110  as above
                    await asyncio.sleep(_LOOK_S)
        return not self._open

    def seen(self) -> Seen:
        return seen(self.written, {chat: [one.text for one in self._telegram.messages(chat)] for chat in self.written})

    def _write(self, chat: int, *, with_photo: bool) -> int:
        self._count += 1
        text = f"Message n{self._count}: what do you make of the boat, and of the garden?"
        name = f"Person {chat}"
        if with_photo:
            content = self._chance.choice(self._photos)
            id = self._telegram.add_file(content, "photo.jpg")
            width, height = PHOTO_SIZE
            size = {"file_id": id, "file_unique_id": id[-8:], "width": width, "height": height}
            self._telegram.say(None, chat=chat, name=name, caption=text, photo=[size | {"file_size": len(content)}])
        else:
            self._telegram.say(text, chat=chat, name=name)
        self.written[chat].append(self._count)
        self._open[self._count] = (chat, asyncio.get_running_loop().time())
        return self._count
