"""`/context` and `/why` in words."""

from __future__ import annotations

from collections.abc import Sequence

from agent.clock import Clock
from agent.context.file_changes import merged
from agent.memory.age import age_in_words
from agent.report import ContextReport, FileShown, WhyReport
from agent.search.result_text import QuotedLines
from agent.search.results import Strength, strength_of
from agent.session.entries import RecalledPassage
from gateway.spoken_time import spoken

_LISTED = 12


def context_text(report: ContextReport, clock: Clock) -> str:
    budget = report.budget
    tools = sum(share.tokens for share in report.tools)
    lines = [
        f"Context: **{report.projected:,}** of {budget.window:,} tokens ({report.projected / budget.window:.0%}), "
        f"{report.messages} entries, model `{report.model}`.",
        *([] if report.counted else ["This is an estimate: the model's server has not counted it yet."]),
        f"At {budget.flush_at:,} tokens I save what matters to memory, at {budget.compact_at:,} I shorten the older "
        f"part; {budget.answer:,} are kept free for the answer.",
        f"So far: saved to memory {times(report.flushes)}, shortened {times(report.compactions)}.",
        "",
        f"The same in every request: {report.fixed:,} tokens",
        *(f"- {share.name}: {share.tokens:,}" for share in report.system),
        f"- {len(report.tools)} tools: {tools:,}",
    ]
    if report.files:
        lines += ["", "Files I can see:", *(_file(one, clock) for one in report.files)]
    return "\n".join(lines)


def why_text(report: WhyReport | None, clock: Clock) -> str:
    if report is None:
        return "There is no reply to explain yet."
    at = spoken(report.at, clock.now(), clock.zone)
    lines = [f"My last reply ({at}, `{report.model or 'offline'}`) was based on:", ""]
    lines += [_file(one, clock) for one in report.files[:_LISTED]] or ["- no memory files"]
    if len(report.files) > _LISTED:
        lines.append(f"- and {len(report.files) - _LISTED} more files")
    lines += [_recalled(one, clock) for one in report.recalled[:_LISTED]]
    if len(report.recalled) > _LISTED:
        lines.append(f"- and {len(report.recalled) - _LISTED} more passages, recalled earlier")
    read = _by_file(report.quoted)
    lines += read[:_LISTED]
    if len(read) > _LISTED:
        lines.append(f"- and {len(read) - _LISTED} more files, read with tools")
    if report.foreign:
        lines.append(f"- text that isn't yours: {', '.join(report.foreign)}")
    used = ", ".join(f"`{name}`" for name in dict.fromkeys(report.tools))
    lines.append(f"- tools: {used}" if used else "- no tools")
    return "\n".join(lines)


def times(count: int) -> str:
    return {0: "not yet", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _recalled(passage: RecalledPassage, clock: Clock) -> str:
    where = _where(passage.path, [passage.lines], is_part=passage.is_part)
    age = age_in_words(passage.day, clock.today())
    ranked = f", found by {', '.join(passage.parts)}" if passage.parts else ""
    return f"- {where} recalled from {age} ({strength_of(passage.score) or Strength.WEAK}{ranked})"


def _file(file: FileShown, clock: Clock) -> str:
    age = f", changed {age_in_words(file.modified.date(), clock.today())}" if file.modified else ""
    cut = f" (only a part of its {file.total_lines} lines)" if file.is_cut else ""
    then = "; it has changed since" if file.is_older else ""
    return f"- {_where(file.path, file.lines)}{age}{cut}{then}"


def _by_file(quoted: Sequence[QuotedLines]) -> list[str]:
    found: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for one in quoted:
        found.setdefault((one.path, one.is_part), []).append(one.lines)
    return [
        f"- {_where(path, merged(tuple(ranges)), is_part=is_part)} read with a tool"
        for (path, is_part), ranges in found.items()
    ]


def _where(path: str, ranges: Sequence[tuple[int, int]], *, is_part: bool = False) -> str:
    """`path:1-20, 31`, with a remark where only a part was shown."""
    lines = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    return f"a part of `{path}:{lines}`" if is_part else f"`{path}:{lines}`"
