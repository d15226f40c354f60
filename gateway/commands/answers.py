"""`/answer ID yes|no`: what a button under a question of ours says, and what a bare yes or no becomes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from channels.message import Origin
from gateway.approvals import KIND as APPROVAL
from gateway.commands import Answer, Ask, Command, CommandError
from gateway.questions import answer_of
from gateway.store.question_rows import Question

Take = Callable[[Ask, Question, bool], Awaitable[str]]
"""Acts on an answer; returns what is said to it. It may be called again for the same answer after a crash, and must
then do nothing twice."""

_GONE = "That question is no longer open: it is answered, too old, or was put to somebody else."


def command(takers: Mapping[str, Take]) -> Command:
    """`takers`: by the kind of question."""

    async def answer(ask: Ask) -> Answer:
        id, _, word = ask.words.partition(" ")
        said = answer_of(word)
        if said is None:
            raise CommandError("Please answer with yes or no.")
        question = ask.house.approvals.find(id, ask.conversation)
        if question is None and (found := ask.house.questions.find(id, ask.row.message)) is not None:
            question = found if found.kind != APPROVAL else None  # whoever is asked for a yes may be the owner no more
        if question is None:
            raise CommandError(_GONE)
        with ask.house.questions.answering(question):
            text = await takers[question.kind](ask, question, said)
        pressed = ask.row.message.platform_id if ask.row.message.origin is Origin.COMMAND else ""
        return Answer(text, replaces=pressed, settles=question)

    return Command("answer", "ID yes|no", "answer a question of mine", answer, is_listed=False)
