"""`/context` and `/why` in words."""

from __future__ import annotations

from collections.abc import Sequence

from agent.context.file_changes import merged
from agent.languages.sentences import Sentence
from agent.memory.age import age_in_words
from agent.report import ContextReport, FileShown, WhyReport
from agent.search.result_text import QuotedLines
from agent.search.results import Strength, strength_of
from agent.session.entries import RecalledPassage
from gateway.commands.context import CommandContext

_LISTED = 12


def context_text(context: CommandContext, report: ContextReport) -> str:
    budget, number = report.budget, context.number
    lines = [
        context.said(
            "Context: **{used}** of {window} tokens ({share}%), {entries} entries, model `{model}`.",
            used=number(report.projected),
            window=number(budget.window),
            share=number(100 * report.projected / budget.window),
            entries=number(report.messages),
            model=report.model,
        ),
        *([] if report.counted else [context.said("This is an estimate: the model's server has not counted it yet.")]),
        context.said(
            "At {save} tokens I save what matters to memory, at {shorten} I shorten the older part; {free} are kept "
            "free for the answer.",
            save=number(budget.flush_at),
            shorten=number(budget.compact_at),
            free=number(budget.answer),
        ),
        context.said(
            "So far: saved to memory {saved}, shortened {shortened}.",
            saved=times(report.flushes),
            shortened=times(report.compactions),
        ),
        "",
        context.said("The same in every request: {tokens} tokens", tokens=number(report.fixed)),
        *(f"- {context.shown(_PARTS.get(share.name, share.name))}: {number(share.tokens)}" for share in report.system),
        context.said(
            "- {count} tools: {tokens}",
            count=number(len(report.tools)),
            tokens=number(sum(share.tokens for share in report.tools)),
        ),
    ]
    if report.files:
        lines += ["", context.said("Files I can see:"), *(_file(context, file) for file in report.files)]
    return "\n".join(lines)


_PARTS = {"rules": Sentence("rules"), "skills": Sentence("skills")}
"""Parts of the prompt other than files."""


def why_text(context: CommandContext, report: WhyReport | None) -> str:
    if report is None:
        return context.said("There is no reply to explain yet.")
    at, model = context.moment(report.at), report.model or "offline"
    lines = [context.said("My last reply ({at}, `{model}`) was based on:", at=at, model=model), ""]
    lines += [_file(context, file) for file in report.files[:_LISTED]] or [context.said("- no memory files")]
    if len(report.files) > _LISTED:
        lines.append(context.said("- and {count} more files", count=len(report.files) - _LISTED))
    lines += [_recalled(context, passage) for passage in report.recalled[:_LISTED]]
    if len(report.recalled) > _LISTED:
        lines.append(
            context.said("- and {count} more passages, recalled earlier", count=len(report.recalled) - _LISTED)
        )
    read = _by_file(context, report.quoted)
    lines += read[:_LISTED]
    if len(read) > _LISTED:
        lines.append(context.said("- and {count} more files, read with tools", count=len(read) - _LISTED))
    if report.foreign:
        lines.append(context.said("- text that isn't yours: {sources}", sources=", ".join(report.foreign)))
    used = ", ".join(f"`{name}`" for name in dict.fromkeys(report.tools))
    lines.append(context.said("- tools: {tools}", tools=used) if used else context.said("- no tools"))
    return "\n".join(lines)


def times(count: int) -> Sentence:
    known = {0: Sentence("not yet"), 1: Sentence("once"), 2: Sentence("twice")}
    return known.get(count) or Sentence("{count} times", count=count)


def _recalled(context: CommandContext, passage: RecalledPassage) -> str:
    where = _where(passage.path, [passage.lines], is_part=passage.is_part)
    strength = Sentence(str(strength_of(passage.score) or Strength.WEAK))
    age = age_in_words(passage.day, context.kernel.clock.today())
    ranked = Sentence("{strength}, found by {parts}", strength=strength, parts=", ".join(passage.parts))
    how = ranked if passage.parts else strength
    return context.said("- {where} recalled from {age} ({how})", where=where, age=age, how=how)


def _file(context: CommandContext, file: FileShown) -> str:
    age = age_in_words(file.modified.date(), context.kernel.clock.today()) if file.modified else None
    parts = [
        f"- {context.shown(_where(file.path, file.lines))}",
        context.said("changed {age}", age=age) if age else "",
        context.said("only a part of its {count} lines", count=file.total_lines) if file.is_cut else "",
        context.said("it has changed since") if file.is_older else "",
    ]
    return ", ".join(filter(None, parts))


def _by_file(context: CommandContext, quoted: Sequence[QuotedLines]) -> list[str]:
    found: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for passage in quoted:
        found.setdefault((passage.path, passage.is_part), []).append(passage.lines)
    return [
        context.said("- {where} read with a tool", where=_where(path, merged(tuple(ranges)), is_part=is_part))
        for (path, is_part), ranges in found.items()
    ]


def _where(path: str, ranges: Sequence[tuple[int, int]], *, is_part: bool = False) -> str:
    """`path:1-20, 31`, with a remark where only a part was shown."""
    lines = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    where = f"`{path}:{lines}`"
    return Sentence("a part of {where}", where=where) if is_part else where
