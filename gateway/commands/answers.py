"""`/answer ID yes|no` (what a button or a bare yes or no becomes), `/approvals`, and the answers to an edited
message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from channels.message import Button, Origin
from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError, CommandReply, reason
from gateway.messages.confirmations import answer_of
from gateway.store.database import StoreUnavailable
from gateway.store.question_rows import StoredQuestion
from gateway.tools.approvals import KIND as APPROVAL

Take = Callable[[CommandContext, StoredQuestion, bool], Awaitable[str]]
"""Acts on an answer; returns what is said to it. It may be called again for the same answer after a crash, and must
then do nothing twice."""

_GONE = "That question is no longer open: it is answered, too old, or was put to somebody else."


def command(takers: Mapping[str, Take]) -> Command:
    """The command `/answer`; `takers` by the kind of question."""

    async def answer(ask: CommandContext) -> CommandReply:
        id, _, word = ask.words.partition(" ")
        said = answer_of(word)
        if said is None:
            raise CommandError("Please answer with yes or no.")
        question = ask.services.approvals.find(id, ask.conversation)
        if question is None and (found := ask.services.questions.find(id, ask.row.message)) is not None:
            question = found if found.kind != APPROVAL else None  # whoever is asked for a yes may be the owner no more
        if question is None:
            raise CommandError(_GONE)
        with ask.services.questions.answering(question):
            text = await takers[question.kind](ask, question, said)
        pressed = ask.row.message.platform_id if ask.row.message.origin is Origin.COMMAND else ""
        return CommandReply(text, replaces=pressed, settles=question)

    return Command("answer", "ID yes|no", "answer a question of mine", answer, is_listed=False)


_LISTED = 10


async def approvals(ask: CommandContext) -> CommandReply:
    words, listed = await ask.services.approvals.listed(ask.row.message.address)
    if not listed:
        return CommandReply(words.none_open)
    shown = listed[:_LISTED]
    lines = [f"{number}. {one.text}" for number, one in enumerate(shown, 1)]
    rows = tuple(
        (
            Button(f"{number}. {words.yes}", f"/answer {one.question.id} yes"),
            Button(f"{number}. {words.no}", f"/answer {one.question.id} no"),
        )
        for number, one in enumerate(shown, 1)
    )
    more = [f"… {len(listed) - _LISTED}"] if len(listed) > _LISTED else []
    return CommandReply("\n".join([words.listed, "", *lines, *more]), rows)


async def take_approval(ask: CommandContext, question: StoredQuestion, said: bool) -> str:
    try:
        return await ask.services.approvals.answer(question, said, ask.row.message.address)
    except StoreUnavailable as problem:
        raise CommandError(f"That could not be written down: {reason(problem)}") from problem


COMMANDS = (Command("approvals", "", "what waits for your yes", approvals, CommandAudience.OWNER_IN_PRIVATE),)


async def take_rewording(ask: CommandContext, question: StoredQuestion, said: bool) -> str:
    if not said:
        return "Then my answer stands."
    for row in await ask.services.rewording.accepted(question, ask.row.session):
        ask.services.dispatch(row)
    return "Here is my answer to the new wording:"
