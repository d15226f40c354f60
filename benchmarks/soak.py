"""Does a town of chats on both platforms get its answers while something goes wrong every second, for as long as asked?

    python benchmarks/soak.py [--minutes 5] [--chats 200] [--seed N] [--json FILE]

People write numbered messages in private chats, groups and threads of Telegram and Discord, with attachments, edits,
commands and presses of buttons among them; the model repeats the numbers, now fast, now slowly, now at length. Every
second one thing goes wrong (`weather.py`). At the end the sky clears, everything settles, and what stands in the chats
is counted, as are the gateway's tasks and its memory. The seed fixes what is chosen at random, not how it interleaves.

Exit code 1 where a promise is broken: a message without its one answer (one that perhaps arrived may be repeated with a
mark, and on Discord never need be), replies out of order, memory that grows, a task that is left, an exit code.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sqlite3
import statistics
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Cell, resident, table
from benchmarks.people import THE_END, JsonObject, Seen, asked_now, given_up, is_marked, numbers, seen
from benchmarks.town import Chat, Town, chats
from benchmarks.watched_gateway import TOLD
from benchmarks.weather import Weather
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import FakeDiscord
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import ROOT, GatewayProcess

WRITES_EVERY_S = (5.0, 55.0)
"""Seconds between two things that people of one chat do: with 200 chats, seven a second."""
GREETING_S = 120.0
"""For the first message of every chat, which comes before anything goes wrong: of a private chat in which nothing was
ever said, Discord tells nobody who was away."""
PIECES_S = (0.0, 0.02, 0.1, 0.4)
"""Seconds between the pieces of an answer."""
LONG = 0.03
"""Share of answers that need several messages."""
TIMEOUT_S = 5
"""The longest silence of the model that is waited for."""
SETTLE_S = 240.0
SAMPLE_S = 2.0
WARM_UP = 0.4
"""Share of the time in which memory may grow: libraries load, pools and caches fill."""
MOST_GROWTH_MB = 12.0
MOST_GROWTH = 0.10
"""What the last quarter may have more than the first after the warm-up, by median: whichever is larger. Every talk
grows all the time, and what of it is in memory with it."""
KEPT_CALLS = 500
"""Of each fake's log: the fakes must not grow either."""
BROKEN_WORDS = (
    "Traceback (most recent call last)",
    "never retrieved",
    "never awaited",
    "was destroyed but",
    "Unclosed",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """The gateway at a moment: seconds since the start, MB, open files, threads."""

    at: float
    mb: float
    files: int
    threads: int


@dataclass(slots=True)
class Figures:
    """Everything that is told at the end."""

    seed: int
    minutes: float
    chats: int
    did: dict[str, int]
    came: dict[str, int]
    seen: Seen
    in_error: int
    never: list[int]
    marked_in_discord: list[str]
    thinking: int
    failed_sends: list[str]
    samples: list[Sample]
    grown_mb: float
    tasks_left: dict[str, int]
    broken_log: list[str]
    secrets_in_log: int
    exit_code: int
    broken: list[str] = field(default_factory=list)


class Model:
    """Repeats numbers, at its own pace."""

    def __init__(self, fake: FakeAnthropic, chance: random.Random) -> None:
        self._fake = fake
        self._chance = chance
        fake.reply = self._reply

    def _reply(self, body: JsonObject) -> str:
        self._fake.delta_delay = self._chance.choice(PIECES_S)
        named = " ".join(f"n{number}" for number in asked_now(body))
        long = self._chance.random() < LONG
        code = "\n".join(f"print({line}) # a line of code" for line in range(160))
        before = f"Here is what I found.\n\n```python\n{code}\n```\n\n" if long else "I have read it. "
        return f"{before}It is clear: {named} came through. {THE_END}"


async def live(town: Town, chat: Chat, chance: random.Random, enough: asyncio.Event) -> None:
    """People of one chat, until it is enough."""
    while not enough.is_set():
        try:
            async with asyncio.timeout(chance.uniform(*WRITES_EVERY_S)):
                await enough.wait()
        except TimeoutError:
            await town.act(chat)


async def storm(weather: Weather, enough: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        while not enough.is_set():
            group.create_task(weather.blow())
            await asyncio.sleep(1.0)


async def watch(pid: int, samples: list[Sample], fakes: tuple[FakeTelegram, FakeDiscord, FakeAnthropic]) -> None:
    """Until cancelled. Also keeps the fakes' logs short."""
    process, began = psutil.Process(pid), time.monotonic()
    while True:
        await asyncio.sleep(SAMPLE_S)
        at = round(time.monotonic() - began, 1)
        samples.append(Sample(at, resident(pid), process.num_fds(), process.num_threads()))
        telegram, discord, model = fakes
        with telegram.bell.lock:
            del telegram.calls[:-KEPT_CALLS]
        del discord.calls[:-KEPT_CALLS]
        del model.requests[:-KEPT_CALLS]


async def settled(gateway: GatewayProcess, telegram: FakeTelegram, discord: FakeDiscord) -> None:
    """Until nothing is open, twice in a row: what came last may not have been taken in. Raises `TimeoutError`."""
    quiet = 0
    async with asyncio.timeout(SETTLE_S):
        while quiet < 2:
            await asyncio.sleep(1.0)
            ran = await gateway.cli("status", "--json")
            status: JsonObject = ran.json() if ran.code == 0 else {}
            idle = bool(status) and not (
                status["running"] or status["inbox"]["waiting"] or status["outbox"]["waiting"] or telegram.pending
            )
            quiet = quiet + 1 if idle and telegram.polling and discord.connected else 0


async def tasks_of(gateway: GatewayProcess) -> Counter[str]:
    """The gateway's tasks now, by the names of their coroutines."""
    told_before = gateway.log.count(TOLD)
    psutil.Process(gateway.pid).send_signal(signal.SIGUSR1)
    async with asyncio.timeout(10):
        while gateway.log.count(TOLD) == told_before:  # noqa: ASYNC110 (another process writes it)
            await asyncio.sleep(0.1)
    await asyncio.sleep(0.1)
    line = next(one for one in reversed(gateway.log.splitlines()) if one.startswith(TOLD))
    return Counter(json.loads(line.removeprefix(TOLD)))


def growth(samples: list[Sample]) -> float:
    """MB by which the last quarter lies above the first after the warm-up; 0 for a run too short to tell."""
    warm = samples[int(len(samples) * WARM_UP) :]
    part = len(warm) // 4
    if part < 3:
        return 0.0
    first, last = ([one.mb for one in some] for some in (warm[:part], warm[-part:]))
    return round(statistics.median(last) - statistics.median(first), 1)


def failed_sends(database: Path) -> list[str]:
    """What the outbox gave up, each with the reason."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT channel, key, error FROM outbox WHERE state = 'failed'").fetchall()
    return [f"{channel} {key}: {error}" for channel, key, error in rows]


def broken_lines(log: str) -> list[str]:
    lines = log.splitlines()
    found = [number for number, line in enumerate(lines) if any(word in line for word in BROKEN_WORDS)]
    return ["\n".join(lines[max(0, number - 2) : number + 25]) for number in found]


async def soak(minutes: float, count: int, seed: int, keep_log: Path | None) -> Figures:
    chance = random.Random(seed)
    async with FakeTelegram() as telegram, FakeDiscord() as discord, FakeAnthropic() as model:
        town = Town(chats(telegram, discord, count, chance), chance)
        Model(model, chance)
        command = (sys.executable, str(ROOT / "benchmarks" / "watched_gateway.py"))
        async with GatewayProcess(telegram, model, _settings(town, discord), command=command) as gateway:
            try:
                return await _soaked(minutes, seed, gateway, town, Weather(telegram, discord, model, chance), discord)
            finally:
                if keep_log is not None:
                    await asyncio.to_thread(keep_log.write_text, gateway.log, "utf-8")


async def _soaked(
    minutes: float, seed: int, gateway: GatewayProcess, town: Town, weather: Weather, discord: FakeDiscord
) -> Figures:
    telegram, model, chance = gateway.telegram, gateway.model, town.chance
    assert isinstance(telegram, FakeTelegram)
    samples: list[Sample] = []
    await gateway.while_alive(discord.wait_for(lambda: discord.connected and discord.called("PUT", "/commands$"), 30))
    await _greeted(gateway, town, telegram, discord)
    tasks_before = await tasks_of(gateway)
    watching = asyncio.create_task(watch(gateway.pid, samples, (telegram, discord, model)))
    enough = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as group:
            for chat in town.chats:
                group.create_task(live(town, chat, chance, enough))
            group.create_task(storm(weather, enough))
            await gateway.while_alive(asyncio.sleep(minutes * 60))
            enough.set()
    finally:
        watching.cancel()
    stuck = ""
    try:
        await gateway.while_alive(settled(gateway, telegram, discord))
    except TimeoutError:
        stuck = f"something was still open after {SETTLE_S:g} s: {(await gateway.cli('status', '--json')).out[:1500]}"
    tasks_left = await tasks_of(gateway) - tasks_before
    thinking = sum(len(discord.thinking(chat)) for chat in discord.channels.values())
    code = await gateway.terminate()
    return _counted(minutes, seed, gateway, town, weather, samples, tasks_left, thinking, code, stuck)


async def _greeted(gateway: GatewayProcess, town: Town, telegram: FakeTelegram, discord: FakeDiscord) -> None:
    for chat in town.chats:
        await town.say(chat)
        await asyncio.sleep(0.02)
    async with asyncio.timeout(GREETING_S):
        while not town.answered_all():
            await gateway.while_alive(asyncio.sleep(0.5))
    await settled(gateway, telegram, discord)


def _settings(town: Town, discord: FakeDiscord) -> JsonObject:
    groups = {str(chat.name.partition(":")[2]): {"mention": "optional"} for chat in town.chats if not chat.is_private}
    telegram_groups = {key: rule for key, rule in groups.items() if key.startswith("-")}
    return {
        "model": {"timeout_s": TIMEOUT_S},
        "channels": {
            "telegram": {"dm_policy": "open", "groups": telegram_groups},
            "discord": {
                "token": discord.token,
                "api_url": discord.api_url,
                "dm_policy": "open",
                "guilds": {str(guild): {"mention": "optional"} for guild in discord.guilds},
            },
        },
    }


def _counted(
    minutes: float,
    seed: int,
    gateway: GatewayProcess,
    town: Town,
    weather: Weather,
    samples: list[Sample],
    tasks_left: Counter[str],
    thinking: int,
    code: int,
    stuck: str,
) -> Figures:
    database = gateway.home / "state" / "daybook.db"
    texts = {chat.name: chat.texts() for chat in town.chats}
    found = seen(town.written, texts)
    in_error = {number for turns in given_up(database).values() for turn in turns for number in turn}
    log = gateway.log
    figures = Figures(
        seed=seed,
        minutes=minutes,
        chats=len(town.chats),
        did=dict(town.did),
        came=dict(sorted(weather.came.items())),
        seen=found,
        in_error=len(in_error.intersection(found.never)),
        never=[number for number in found.never if number not in in_error],
        marked_in_discord=[
            f"{name}: {text}"
            for name, of in texts.items()
            if name.startswith("d")
            for text in of
            # Answers to commands and presses, as "Here's my answer to the new version:", have no nonce.
            if is_marked(text) and (numbers(text) or "Answer the new version" in text)
        ],
        thinking=thinking,
        failed_sends=failed_sends(database),
        samples=samples,
        grown_mb=growth(samples),
        tasks_left=dict(tasks_left),
        broken_log=broken_lines(log),
        secrets_in_log=sum(log.count(secret) for secret in (gateway.model.api_key, gateway.telegram.token)),
        exit_code=code,
    )
    figures.broken = [*([stuck] if stuck else []), *_broken(figures)]
    return figures


def _most_growth(figures: Figures) -> float:
    """MB."""
    return max(MOST_GROWTH_MB, MOST_GROWTH * statistics.median([one.mb for one in figures.samples] or [0.0]))


def verdict(figures: Figures) -> str:
    """The four promises of a soak, each with yes or no."""
    found = figures.seen
    answered = found.once + found.marked + figures.in_error
    promises = (
        ("all answered once", not (found.twice or figures.never), f"{answered} of {figures.did.get('messages', 0)}"),
        ("order kept", not found.disorder, f"{len(found.disorder)} out of order"),
        (
            "memory flat",
            figures.grown_mb <= _most_growth(figures),
            f"{figures.grown_mb:g} MB grown, {_most_growth(figures):.0f} allowed",
        ),
        ("no task left", not figures.tasks_left, f"{sum(figures.tasks_left.values())} left"),
    )
    return "\n".join(f"{what}: {'yes' if kept else 'NO'} ({how})" for what, kept, how in promises)


def _broken(figures: Figures) -> list[str]:
    """The promises that were not kept, each with what shows it."""
    most = _most_growth(figures)
    kept: list[tuple[str, object]] = [
        ("twice without the mark", figures.seen.twice),
        ("never answered", figures.never),
        ("out of order", figures.seen.disorder),
        ("marked on Discord, which knows repeats", figures.marked_in_discord),
        ("commands still thinking", figures.thinking),
        ("sends given up", figures.failed_sends),
        ("tasks left", figures.tasks_left),
        ("broken lines in the log", figures.broken_log),
        ("secrets in the log", figures.secrets_in_log),
        (f"MB grown, of {most:.0f} allowed", figures.grown_mb if figures.grown_mb > most else 0),
        ("exit code", figures.exit_code),
    ]
    return [f"{what}: {which}" for what, which in kept if which]


def shown(figures: Figures) -> str:
    sizes = [sample.mb for sample in figures.samples] or [0.0]
    did: list[list[Cell]] = [[f"people: {what}", times] for what, times in figures.did.items()]
    counted: list[list[Cell]] = [
        *did,
        ["things that went wrong", sum(figures.came.values())],
        ["answered once", figures.seen.once],
        ["repeated with the mark", figures.seen.marked],
        ["answered by an error text", figures.in_error],
        ["twice without the mark (must be 0)", len(figures.seen.twice)],
        ["never (must be 0)", len(figures.never)],
        ["replies out of order (must be 0)", len(figures.seen.disorder)],
        ["marked on Discord (must be 0)", len(figures.marked_in_discord)],
        ["commands still thinking (must be 0)", figures.thinking],
        ["sends given up (must be 0)", len(figures.failed_sends)],
        ["previews left half-written", figures.seen.half_written],
        ["memory at first, most, last, MB", f"{sizes[0]:.0f} / {max(sizes):.0f} / {sizes[-1]:.0f}"],
        ["grown after the warm-up, MB", figures.grown_mb],
        ["open files, most", max((one.files for one in figures.samples), default=0)],
        ["threads, most", max((one.threads for one in figures.samples), default=0)],
        ["tasks left (must be 0)", sum(figures.tasks_left.values())],
        ["broken lines in the log (must be 0)", len(figures.broken_log)],
        ["exit code at the end (must be 0)", figures.exit_code],
    ]
    return table(["", ""], counted)


def main(minutes: float, count: int, seed: int, file: Path | None, keep_log: Path | None) -> int:
    figures = asyncio.run(soak(minutes, count, seed, keep_log))
    print(f"seed {seed}; {figures.chats} chats for {minutes:g} minutes\n\n{shown(figures)}")
    for what in figures.broken:
        print(f"\n{what[:4000]}")
    print(f"\n{verdict(figures)}")
    if file is not None:
        file.write_text(json.dumps(asdict(figures), indent=2) + "\n", encoding="utf-8")
    return 1 if figures.broken else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long things go wrong (5)")
    parser.add_argument("--chats", type=int, default=200, help="half of them on either platform (200)")
    parser.add_argument("--seed", type=int, default=None, help="repeats the choices of an earlier run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where every figure is written")
    parser.add_argument("--log", type=Path, metavar="FILE", help="where the gateway's own log is kept")
    given = parser.parse_args()
    chosen = given.seed if given.seed is not None else random.SystemRandom().randrange(1_000_000)
    with suppress(KeyboardInterrupt):
        sys.exit(main(given.minutes, given.chats, chosen, given.json, given.log))
