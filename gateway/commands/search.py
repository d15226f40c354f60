"""`/memory QUERY`: searches memory without a model, in this chat's own scope. Hits that share next to nothing with the
question are left out: people could not see why they were found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent.languages.sentences import Sentence
from agent.memory.age import age_in_words
from agent.memory.paths import FileError
from agent.search import memory_tests
from agent.search.memory_tests import ARROW, MemoryTestResult
from agent.search.results import Hit
from gateway.commands.context import Command, CommandContext, CommandError
from gateway.routines.memory_checks import tested

_MOST = 6
_LOOKED_AT = 40
_PASSAGE_CHARS = 400
_MOST_GAPS = 3
_MOST_TESTS = 20


async def memory(context: CommandContext) -> str:
    if not context.argument:
        raise CommandError(
            Sentence("What should I search for? `/memory QUERY`. (`/memory test` runs the memory tests.)")
        )
    word, _, rest = context.argument.partition(" ")
    if word.lower() == "test" and (not rest.strip() or ARROW in rest):
        return await _test(context, rest)
    clock = context.kernel.clock
    found = await asyncio.to_thread(
        context.agent.index.search, context.route.scope, clock, [context.argument], most=_LOOKED_AT
    )
    hits = [hit for hit in found.hits if hit.strength]
    gaps = _not_searched(context, found.gaps)
    if not hits:
        return "\n\n".join([context.said("Nothing found. Try other words, or fewer."), *gaps])
    passages = [_passage(context, hit) for hit in hits[:_MOST]]
    more = [context.said("There is more. Add words to narrow it down.")] if len(hits) > _MOST else []
    return "\n\n".join([*passages, *more, *gaps])


async def _test(context: CommandContext, rest: str) -> str:
    """Runs the memory tests of this chat's scope, after adding one if it is given."""
    scope, clock = context.route.scope, context.kernel.clock
    try:
        if rest.strip():
            question, _, words = rest.partition(ARROW)
            with context.agent.history.author(scope, str(context.route.session)).writes("/memory test"):
                await asyncio.to_thread(memory_tests.add, scope, clock, question, words)
        report = await tested(context.agent, scope, clock)
    except (FileError, ValueError) as error:
        raise CommandError(Sentence("I couldn't run the memory tests: {why}.", why=error.args[0])) from error
    if not report.results:
        return context.said(
            "There are no memory tests yet. `/memory test QUESTION {arrow} WORDS` adds one to `{file}`.",
            arrow=ARROW,
            file=memory_tests.FILE,
        )
    failed, count = report.failed, len(report.results)
    head = context.said("{passed} of {count} memory tests passed.", passed=count - len(failed), count=count)
    listed = [_shown(context, result) for result in (failed or report.results)[:_MOST_TESTS]]
    return "\n\n".join([head, "\n".join(listed), *_not_searched(context, report.gaps)])


def _shown(context: CommandContext, result: MemoryTestResult) -> str:
    question = result.test.question
    if result.passed:
        return context.said("- {question} – found in `{where}`", question=question, where=result.where)
    return context.said("- **{question}** – missing: {words}", question=question, words=", ".join(result.missing))


def _not_searched(context: CommandContext, gaps: Sequence[str]) -> list[str]:
    return [context.said("_Not searched: {gap}_", gap=gap) for gap in gaps[:_MOST_GAPS]]


def _passage(context: CommandContext, hit: Hit) -> str:
    age = context.shown(age_in_words(hit.date, context.kernel.clock.today()))
    text = hit.text if len(hit.text) <= _PASSAGE_CHARS else f"{hit.text[:_PASSAGE_CHARS].rstrip()} […]"
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    return f"`{hit.place}` ({age}, {context.shown(Sentence(str(hit.strength)))})\n{quoted}"


COMMANDS = (Command("memory", "QUERY", "search my memory", memory),)
