"""Numbers for people and for programs: percentiles, a process's memory, a table."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]

MB = 1024 * 1024
Cell = str | float | int


def median(values: Sequence[float]) -> float:
    return round(statistics.median(values), 2)


def p95(values: Sequence[float]) -> float:
    """The value that 95 % do not exceed (nearest rank)."""
    ordered = sorted(values)
    return round(ordered[max(0, -(-len(ordered) * 95 // 100) - 1)], 2)


def resident(pid: int) -> float:
    """Memory of a process in MB now."""
    return round(float(psutil.Process(pid).memory_info().rss) / MB, 1)


def most_resident(pid: int) -> float:
    """The most memory in MB that a process ever had, where the system keeps that number (Linux); else what it has."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return resident(pid)
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return round(int(kilobytes) / 1024, 1)


def cpu_seconds(pid: int | None = None) -> float:
    """Processor time of a process so far, by default of this one."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Columns as wide as their widest cell; the first to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def markdown(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A table for the documentation."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def cpu_of_all(pid: int) -> float:
    """Processor time of a process so far, with its children, those that have ended and those of them too."""
    own = psutil.Process(pid)
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):  # its parent has its time now
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total
