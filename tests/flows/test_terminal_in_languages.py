"""From a code in the terminal to a reminder's buttons there, in each language: no English word is read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gateway.home import Home
from gateway.rpc.server import serve
from tests.flows.persons import Person, Seat, first_day
from tests.flows.story import ALICE
from tests.flows.test_daily import awake
from tests.flows.test_stories_in_languages import TYPED, everyone, without_model
from tests.gateway.terminal.test_prompt import Watched

pytestmark = pytest.mark.timeout(300)


def watched(home: Home, person: Person, *words: str) -> Watched:
    locale = f"{person.locale.replace('-', '_')}.UTF-8"
    return Watched(home.path, *words, columns=200, lines=50, LC_MESSAGES=locale, LANG="C.UTF-8")


class InTheTerminal(Seat):
    shown_when_put_off = 2  # what is printed stays

    def __init__(self, home: Home, person: Person) -> None:
        super().__init__()
        self.home = home
        self.person = person
        self.chat = watched(home, person, "chat")

    async def runs(self, *words: str) -> str:
        """What a command prints, its failure too."""
        command = watched(self.home, self.person, *words)
        await asyncio.to_thread(command.ends)
        self.seen[command.text] = None
        return command.text

    async def says(self, words: str) -> None:
        self.chat.type(f"{words}\r")

    async def press(self, label: str) -> None:
        """By the number that stands before it."""
        newest = self.chat.text.rpartition(f"] {label}")[0]
        await self.says(newest.rpartition("[")[2])

    async def until(self, part: str, times: int) -> list[str]:
        await asyncio.to_thread(self.chat.until_true, lambda: self.chat.text.count(part) >= times, part)
        return [self.chat.text]


@everyone
async def test_in_the_terminal(tmp_path: Path, person: Person) -> None:
    async with (
        without_model(tmp_path) as told,
        awake(told) as gateway,
        serve(told.home.socket, gateway.operations, gateway.terminal),
    ):
        seat = InTheTerminal(told.home, person)
        try:
            told.telegram.languages[ALICE] = person.locale
            await seat.runs("pair", "list")
            await first_day(told, person, seat)
            told.say("/start")
            await told.hears("daybook pair approve")
            (code,) = TYPED.findall(told.heard()[0])
            listed = await seat.runs("pair", "list")
            assert code in listed
            for given in ("ABCDEFGH", code):
                await seat.runs("pair", "approve", given)
            assert await asyncio.to_thread(seat.chat.leaves) == 0
        finally:
            seat.chat.process.kill()
            seat.chat.process.wait()
    assert seat.english(person, str(told.home.path), "Alice") == []
