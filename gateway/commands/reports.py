"""What `/context` and `/why` say, in words."""

from __future__ import annotations

from agent.clock import Clock
from agent.memory.age import age_in_words
from agent.report import ContextReport, FileShown, WhyReport
from agent.session.entries import Recalled

_LISTED = 12


def context_text(report: ContextReport, clock: Clock) -> str:
    budget = report.budget
    tools = sum(share.tokens for share in report.tools)
    lines = [
        f"Context: **{report.projected:,}** of {budget.window:,} tokens ({report.projected / budget.window:.0%}), "
        f"{report.messages} entries, model `{report.model}`.",
        f"Flush at {budget.flush_at:,}, compaction at {budget.compact_at:,}; {budget.answer:,} kept for the answer.",
        f"Flushes so far: {report.flushes}, compactions: {report.compactions}.",
        "",
        f"Fixed part: {report.fixed:,} tokens",
        *(f"- {share.name}: {share.tokens:,}" for share in report.system),
        f"- {len(report.tools)} tools: {tools:,}",
    ]
    if report.files:
        lines += ["", "Files before me:", *(_file(one, clock) for one in report.files)]
    return "\n".join(lines)


def why_text(report: WhyReport | None, clock: Clock) -> str:
    if report is None:
        return "There is no reply yet that could be explained."
    lines = [f"My last reply ({report.at:%Y-%m-%d %H:%M}, `{report.model or 'offline'}`) had this before it:", ""]
    lines += [_file(one, clock) for one in report.files[:_LISTED]] or ["- no file of memory"]
    if len(report.files) > _LISTED:
        lines.append(f"- and {len(report.files) - _LISTED} more files")
    lines += [_recalled(one, clock) for one in report.recalled[:_LISTED]]
    if len(report.recalled) > _LISTED:
        lines.append(f"- and {len(report.recalled) - _LISTED} passages recalled earlier")
    if report.foreign:
        lines.append(f"- text that is not yours: {', '.join(report.foreign)}")
    used = ", ".join(f"`{name}`" for name in dict.fromkeys(report.tools))
    lines.append(f"- tools used: {used}" if used else "- no tool was used")
    return "\n".join(lines)


def _recalled(passage: Recalled, clock: Clock) -> str:
    first, last = passage.lines
    lines = f"{first}" if first == last else f"{first}-{last}"
    age = age_in_words(passage.day, clock.today())
    parts = ", ".join(f"{name} {value:.2f}" for name, value in passage.parts.items())
    ranked = f" (found by {parts})" if parts else ""
    return f"- `{passage.path}:{lines}` recalled from {age}, score {passage.score:.2f}{ranked}"


def _file(file: FileShown, clock: Clock) -> str:
    first, last = file.lines
    where = f":{first}-{last}" if last else ""
    age = f", changed {age_in_words(file.modified.date(), clock.today())}" if file.modified else ""
    cut = f" (cut: {file.total_lines} lines in all)" if file.is_cut else ""
    return f"- `{file.path}{where}`{age}{cut}"
