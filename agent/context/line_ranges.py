"""Lines of a file as runs of neighbours, counted from 1. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.session.entries import LineRanges


def of_numbers(numbers: Iterable[int]) -> LineRanges:
    """Runs of the given lines, in order."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] + 1 == number:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return tuple(runs)


def merged(*several: LineRanges) -> LineRanges:
    return of_numbers(number for ranges in several for first, last in ranges for number in range(first, last + 1))


def without_line(ranges: LineRanges, line: int) -> LineRanges:
    return of_numbers(number for first, last in ranges for number in range(first, last + 1) if number != line)


def holds(ranges: LineRanges, first: int, last: int) -> bool:
    """Whether all of these lines are in one run."""
    return any(begin <= first and last <= end for begin, end in ranges)


def changed_lines(old: str, new: str) -> tuple[int, int, int]:
    """How many lines two texts begin with in common; and how many of each stand before what they end with in common."""
    before, after = old.split("\n"), new.split("\n")
    most = min(len(before), len(after))
    same = next((at for at in range(most) if before[at] != after[at]), most)
    tail = next((at for at in range(most - same) if before[-1 - at] != after[-1 - at]), most - same)
    return same, len(before) - tail, len(after) - tail


def moved(ranges: LineRanges, old: str, new: str) -> LineRanges:
    """Where those lines of the old text that no edit touched stand in the new one."""
    same, end, new_end = changed_lines(old, new)
    shift = new_end - end

    def kept() -> Iterator[int]:
        for first, last in ranges:
            yield from range(first, min(last, same) + 1)
            yield from range(max(first, end + 1) + shift, last + shift + 1)

    return of_numbers(kept())
