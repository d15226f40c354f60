"""Would a queue library carry what several gateways share? Procrastinate, measured on what Daybook promises.

    pip install procrastinate; python benchmarks/queue_library.py [--times 5] [--json FILE]

A job stands for a turn: it takes three seconds and then sends, which is a line in a file. Two workers share the queue;
a job of one person has that person's lock. With the library's own intervals and with the shortest that leave a slow
worker alive (Daybook's ten seconds), it measures:

- the seconds from `kill -9` of the worker that has a job until the other begins it again;
- how often a job sends whose worker stands still for longer than that and goes on (once is right);
- the seconds until something written to a turn that runs is seen by anybody.

`benchmarks/cluster.py` measures the same of Daybook.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import procrastinate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import table
from tests.fakes.postgres import PostgresServer, running

TURN_S = 3.0
LOOKS_FOR_STALLED_EVERY_S = 1.0


@dataclass(frozen=True)
class Intervals:
    """Of a worker: how often it says that it lives, and how long it may be silent. In seconds."""

    heartbeat: float
    stalled: float


@dataclass(frozen=True)
class Figures:
    intervals: Intervals
    taken_over_s: list[float]
    sent_by_who_stood_still: list[int]
    second_seen_s: list[float]


def app_of(url: str, lines: Path) -> procrastinate.App:
    """Its one task writes down when it begins and when it sends."""
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))

    async def turn(name: str) -> None:
        write(lines, name, "begins")
        await asyncio.sleep(TURN_S)
        write(lines, name, "sends")

    app.task(turn, name="turn")
    return app


def write(lines: Path, name: str, what: str) -> None:
    with lines.open("a") as file:
        file.write(f"{time.time()} {os.getpid()} {name} {what}\n")


async def work(url: str, lines: Path, intervals: Intervals) -> None:
    """A worker, which also gives back what stalled workers had."""
    app = app_of(url, lines)

    async def give_back() -> None:
        while True:
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=intervals.stalled):
                await app.job_manager.retry_job(job)
            await asyncio.sleep(LOOKS_FOR_STALLED_EVERY_S)

    async with app.open_async(), asyncio.TaskGroup() as group:
        group.create_task(give_back())
        await app.run_worker_async(
            concurrency=8,
            install_signal_handlers=False,
            update_heartbeat_interval=intervals.heartbeat,
            stalled_worker_timeout=intervals.stalled,
        )


class Workers:
    """Two processes on a new database, and what their jobs wrote."""

    def __init__(self, url: str, folder: Path, intervals: Intervals) -> None:
        self._url = url
        self._lines = folder / "lines"
        self._lines.touch()
        self._intervals = intervals
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self.app = app_of(url, self._lines)
        for _ in range(2):
            self.start()

    def start(self) -> None:
        words = (self._url, self._lines, self._intervals.heartbeat, self._intervals.stalled)
        one = subprocess.Popen(
            [sys.executable, __file__, "--worker", *(str(word) for word in words)], stderr=subprocess.DEVNULL
        )
        self._running[one.pid] = one

    def kill(self, pid: int) -> None:
        one = self._running.pop(pid)
        one.kill()
        one.wait()

    def end(self) -> None:
        for pid in list(self._running):
            self.kill(pid)

    async def add(self, name: str) -> float:
        """Begins a turn of the person `name`; when."""
        await self.app.configure_task("turn", lock=name).defer_async(name=name)
        return time.time()

    def seen(self, name: str, what: str) -> list[tuple[float, int]]:
        """When, and by which process."""
        rows = [line.split() for line in self._lines.read_text().splitlines()]
        return [(float(at), int(pid)) for at, pid, *words in rows if words == [name, what]]

    async def until(self, name: str, what: str, times: int = 1) -> tuple[float, int]:
        async with asyncio.timeout(120):
            while len(self.seen(name, what)) < times:  # noqa: ASYNC110  other processes write it
                await asyncio.sleep(0.01)
        return self.seen(name, what)[times - 1]


async def measured(server: PostgresServer, intervals: Intervals, times: int) -> Figures:
    taken_over: list[float] = []
    sent: list[int] = []
    second: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        url = server.new_database()
        app = app_of(url, Path(folder) / "none")
        async with app.open_async():
            await app.schema_manager.apply_schema_async()
        workers = Workers(url, Path(folder), intervals)
        try:
            async with workers.app.open_async():
                await workers.add("warm")
                await workers.until("warm", "sends")
                for number in range(times):
                    await workers.add(name := f"second{number}")
                    await workers.until(name, "begins")
                    begun = await workers.add(name)
                    second.append((await workers.until(name, "begins", 2))[0] - begun)

                    await workers.add(name := f"killed{number}")
                    _, pid = await workers.until(name, "begins")
                    workers.kill(pid)
                    killed = time.time()
                    taken_over.append((await workers.until(name, "begins", 2))[0] - killed)
                    workers.start()

                    await workers.add(name := f"still{number}")
                    _, pid = await workers.until(name, "begins")
                    os.kill(pid, signal.SIGSTOP)
                    await workers.until(name, "begins", 2)
                    await workers.until(name, "sends")
                    os.kill(pid, signal.SIGCONT)
                    await asyncio.sleep(2 * TURN_S)
                    sent.append(len(workers.seen(name, "sends")))
        finally:
            workers.end()
    return Figures(intervals, taken_over, sent, second)


async def compare(times: int) -> list[Figures]:
    with running() as server:
        return [await measured(server, one, times) for one in (Intervals(10.0, 30.0), Intervals(1.0, 10.0))]


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        url, lines, heartbeat, stalled = sys.argv[2:]
        asyncio.run(work(url, Path(lines), Intervals(float(heartbeat), float(stalled))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = asyncio.run(compare(asked.times))
    rows = [
        (
            f"{one.intervals.heartbeat:.0f} s, {one.intervals.stalled:.0f} s",
            f"{statistics.median(one.taken_over_s):.1f}, {max(one.taken_over_s):.1f}",
            f"{sum(times > 1 for times in one.sent_by_who_stood_still)} of {len(one.sent_by_who_stood_still)}",
            f"{statistics.median(one.second_seen_s):.1f}",
        )
        for one in found
    ]
    print(table(("heartbeat, stalled after", "taken over, s: median, most", "sent twice", "second seen, s"), rows))
    if asked.json:
        asked.json.write_text(json.dumps([asdict(one) for one in found], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
