"""A question with a button for each choice. The orders behind the choices are stored: buttons hold no more than 64
bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from agent.languages.sentences import Sentence
from channels.message import Button
from gateway.commands.context import CommandContext, CommandError, CommandReply
from gateway.store.question_rows import StoredQuestion

KIND = "choice"
_CHOSEN = re.compile(r"#(\w+) (\d+)")
_ANSWER_WITHIN = timedelta(days=1)


async def asked(context: CommandContext, text: str, choices: Sequence[tuple[str, str]]) -> CommandReply:
    """Asks which of `choices`: labels, each with the argument of `/order` that it stands for, on one line."""
    message, questions = context.row.message, context.services.questions
    subject = "\n".join(" ".join(argument.split()) for _, argument in choices)
    question = questions.new(KIND, message.address, message.sender.id, subject, _ANSWER_WITHIN, takes_word=False)
    await questions.put(question)
    return CommandReply(
        text, tuple((Button(label, f"/order #{question.id} {place}"),) for place, (label, _) in enumerate(choices))
    )


def chosen(context: CommandContext) -> tuple[StoredQuestion, str] | None:
    """The question and the argument of the choice that `#ID PLACE` names; None for any other argument. Raises
    `CommandError` where it is not open any more."""
    match = _CHOSEN.fullmatch(context.argument)
    if match is None:
        return None
    question = context.services.questions.find(match[1], context.row.message)
    arguments = question.subject.split("\n") if question is not None and question.kind == KIND else []
    if question is None or int(match[2]) >= len(arguments):
        raise CommandError(Sentence("That question is closed: it was answered, or has expired."))
    return question, arguments[int(match[2])]
