"""`/approvals`: what waits for the owner's yes; and what becomes of the answer."""

from __future__ import annotations

from channels.message import Button
from gateway.commands import Answer, Ask, Command, CommandError, For, reason
from gateway.store.database import StoreUnavailable
from gateway.store.question_rows import Question

_LISTED = 10


async def approvals(ask: Ask) -> Answer:
    words, listed = await ask.house.approvals.listed(ask.row.message.address)
    if not listed:
        return Answer(words.none_open)
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
    return Answer("\n".join([words.listed, "", *lines, *more]), rows)


async def take(ask: Ask, question: Question, said: bool) -> str:
    try:
        return await ask.house.approvals.answer(question, said, ask.row.message.address)
    except StoreUnavailable as problem:
        raise CommandError(f"That could not be written down: {reason(problem)}") from problem


COMMANDS = (Command("approvals", "", "what waits for your yes", approvals, For.OWNER_IN_PRIVATE),)
