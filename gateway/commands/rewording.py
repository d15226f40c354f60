"""What becomes of the answer to "Shall I answer the new wording?"."""

from __future__ import annotations

from gateway.commands import Ask
from gateway.store.question_rows import Question


async def take(ask: Ask, question: Question, said: bool) -> str:
    if not said:
        return "Then my answer stands."
    for row in await ask.house.rewording.accepted(question, ask.row.session):
        ask.house.dispatch(row)
    return "Here is my answer to the new wording:"
