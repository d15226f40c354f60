"""Does every message get its one answer, whatever moment the process is killed at?

    python benchmarks/chaos.py [--kills 50] [--seed N] [--keep FOLDER]

People keep writing numbered messages in private chats and two groups; the model repeats the numbers slowly, piece by
piece, now and then after a call of `memory_append`; the gateway process is killed (SIGKILL) at random moments, also
while it starts, and started again. At the end everything is left to settle, and what stands in the chats is counted.
The seed fixes what is chosen at random, not how the processes interleave.

Exit code 1 where SPEC 10.1 is broken: a message without an answer, one answered twice without the mark, replies out of
order in a chat, a tool that ran twice, or a message that is blamed for kills from outside.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import table
from benchmarks.people import THE_END, JsonObject, Seen, asked_now, given_up, in_tool, numbers, seen
from gateway.messages.suspects import SKIPPED
from tests.fakes.anthropic import Answer, FakeAnthropic, compose
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess

PRIVATE = (OWNER, *range(21_000, 21_011))
GROUPS = (-1001111111111, -1002222222222)
MEMBERS = (OWNER, 21_001, 21_002)

WRITES_EVERY_S = (0.3, 1.5)
LIVES_S = (0.1, 4.0)
DIES_STARTING = 0.3
"""Share of the starts whose life is counted from the start of the process, so that some end before they listen."""
USES_TOOL = 0.3
PIECES_S = (0.02, 0.05, 0.2)
"""Seconds between the eight pieces of an answer: some are done before a preview is worth it, some show one."""
ON_THE_WIRE_S = 0.03
"""A send takes so long to reach the platform, and its answer so long to come back: room for kills in the very act."""
SETTLE_S = 1_800.0
"""A bound that only a failure reaches: what many kills have made suspect is tried alone, one message after another."""

ENTRY = re.compile(r"\bk\d+\b")
APOLOGY = SKIPPED.partition(",")[0]
"""The answer to a message that is blamed for the deaths of the process."""


@dataclass(slots=True)
class Town:
    """The people, what they wrote in each chat, in order, and the model's side of it."""

    telegram: FakeTelegram
    model: FakeAnthropic
    chance: random.Random
    written: dict[int, list[int]] = field(default_factory=dict)
    tool_calls: int = 0
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def everything(self) -> set[int]:
        return {number for said in self.written.values() for number in said}

    def open(self) -> None:
        self.model.reply = self._reply
        self.telegram.delay("sendMessage", ON_THE_WIRE_S, times=None)
        self.telegram.delay("sendMessage", ON_THE_WIRE_S, times=None, after_effect=True)

    async def write(self, chat: int, enough: asyncio.Event) -> None:
        """People of one chat write until it is enough."""
        while not enough.is_set():
            try:
                async with asyncio.timeout(self.chance.uniform(*WRITES_EVERY_S)):
                    await enough.wait()
            except TimeoutError:
                self._say(chat)

    def _say(self, chat: int) -> None:
        number = next(self._numbers)
        self.written.setdefault(chat, []).append(number)
        user = chat if chat > 0 else self.chance.choice(MEMBERS)
        self.telegram.say(f"This is n{number}, please confirm.", chat=chat, user=user, name=f"Person {user}")

    def _reply(self, body: JsonObject) -> Answer:
        if not in_tool(body) and self.chance.random() < USES_TOOL:
            self.tool_calls += 1
            return compose(tool=("memory_append", {"text": f"entry k{self.tool_calls}"}))
        self.model.delta_delay = self.chance.choice(PIECES_S)
        named = " ".join(f"n{number}" for number in asked_now(body))
        return compose(f"{named} came through. I have read it and thought about it at some length. {THE_END}")


@dataclass(frozen=True, slots=True)
class Count:
    """What stands in the chats at the end."""

    sent: int
    seen: Seen
    apologies: int
    put_aside: int
    never: Sequence[int]

    @property
    def is_kept(self) -> bool:
        return not (self.seen.twice or self.never or self.seen.disorder or self.apologies)


def count(town: Town, in_error: Mapping[tuple[str, str], list[set[int]]]) -> Count:
    """`in_error` as `given_up` gives it."""
    chats = {chat: [one.text for one in town.telegram.messages(chat)] for chat in town.written}
    found = seen(town.written, chats)
    apologised = [
        turn for (_, chat), turns in in_error.items() if _has_apologised(chats[int(chat)], turns) for turn in turns
    ]
    aside = set(found.never).intersection(number for turn in apologised for number in turn)
    return Count(
        sent=len(town.everything),
        seen=found,
        apologies=sum(APOLOGY in text for texts in chats.values() for text in texts),
        put_aside=len(aside),
        never=[number for number in found.never if number not in aside],
    )


def _has_apologised(texts: Iterable[str], turns: Sequence[set[int]]) -> bool:
    """A chat has an apology for each turn that was given up in it."""
    return sum(APOLOGY in text for text in texts) >= len(turns)


def run_twice(workspace: Path) -> list[str]:
    """Entries of daily logs that stand there more than once: each call of the tool had a word of its own."""
    logs = [file.read_text(encoding="utf-8") for file in workspace.rglob("memory/*.md")]
    return [entry for entry, times in Counter(ENTRY.findall("\n".join(logs))).items() if times > 1]


async def kill_again_and_again(gateway: GatewayProcess, kills: int, chance: random.Random) -> None:
    """Raises `GatewayDied` where the process ends by itself."""
    for _ in range(kills):
        await gateway.while_alive(asyncio.sleep(chance.uniform(*LIVES_S)))
        await gateway.kill()
        await gateway.start(wait=chance.random() > DIES_STARTING)


async def settle(telegram: FakeTelegram, gateway: GatewayProcess) -> JsonObject:
    """Wait until the gateway says that nothing is open; returns its status. Raises `TimeoutError`."""
    async with asyncio.timeout(SETTLE_S):
        while True:
            await gateway.while_alive(telegram.wait_for(lambda: telegram.polling and not telegram.pending, SETTLE_S))
            ran = await gateway.cli("status", "--json")
            if ran.code:
                raise SystemExit(f"daybook status failed:\n{ran.err}")
            status: JsonObject = ran.json()
            if not (status["running"] or status["inbox"]["waiting"] or status["outbox"]["waiting"]):
                return status
            await asyncio.sleep(0.2)


async def storm(kills: int, seed: int, keep: Path | None) -> bool:
    """Run it all and print the count; true where every promise was kept. `keep`: where the home is left if one was
    not."""
    chance = random.Random(seed)
    groups = {str(chat): {"mention": "optional"} for chat in GROUPS}
    settings = {"channels": {"telegram": {"dm_policy": "open", "groups": groups}}}
    began = time.monotonic()
    async with (
        FakeTelegram() as telegram,
        FakeAnthropic() as model,
        GatewayProcess(telegram, model, settings) as gateway,
    ):
        town = Town(telegram, model, chance)
        town.open()
        enough = asyncio.Event()
        async with asyncio.TaskGroup() as people:
            for chat in (*PRIVATE, *GROUPS):
                people.create_task(town.write(chat, enough))
            await kill_again_and_again(gateway, kills, chance)
            enough.set()
        status = await settle(telegram, gateway)
        code = await gateway.terminate()
        counted = count(town, await asyncio.to_thread(given_up, gateway.home / "state" / "daybook.db"))
        tools_twice = await asyncio.to_thread(run_twice, gateway.workspace)
        if keep is not None and not counted.is_kept:
            await asyncio.to_thread(shutil.copytree, gateway.home, keep, symlinks=True)
        others = Counter(one.text for chat in town.written for one in telegram.messages(chat) if not numbers(one.text))
        cut = sum(request.outcome.done() and request.outcome.result() == "dropped" for request in model.requests)
    print(f"seed {seed}; {kills} kills in {time.monotonic() - began:.0f} s; {len(town.written)} chats\n")
    print(
        table(
            ["", ""],
            [
                ["messages sent", counted.sent],
                ["answered once", counted.seen.once],
                ["repeated with the mark", counted.seen.marked],
                ["apologies after several kills (must be 0)", counted.apologies],
                ["answered by nothing but an apology", counted.put_aside],
                ["twice without the mark (must be 0)", len(counted.seen.twice)],
                ["never (must be 0)", len(counted.never)],
                ["replies out of order (must be 0)", len(counted.seen.disorder)],
                ["tools that ran twice (must be 0)", len(tools_twice)],
                ["previews left half-written", counted.seen.half_written],
                ["streams cut by a kill", cut],
                ["calls of tools", town.tool_calls],
                ["sends of unknown outcome, as status counts them", status["outbox"]["repeated"]],
                ["exit code at the end (must be 0)", code],
            ],
        )
    )
    for what, which in (
        ("twice", counted.seen.twice),
        ("never", counted.never),
        ("out of order", counted.seen.disorder),
    ):
        if which:
            print(f"\n{what}: {', '.join(map(str, which))}")
    for text, times in others.most_common(10):
        print(f"\n{times} times, with no number in it: {text}")
    return counted.is_kept and not tools_twice and code == 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="how often the process is killed (50)")
    parser.add_argument("--seed", type=int, default=None, help="repeats the choices of an earlier run")
    parser.add_argument("--keep", type=Path, help="a new folder for the home, where a promise was broken")
    given = parser.parse_args()
    chosen = given.seed if given.seed is not None else random.SystemRandom().randrange(1_000_000)
    sys.exit(0 if asyncio.run(storm(given.kills, chosen, given.keep)) else 1)
