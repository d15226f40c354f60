"""`/answer ID yes|no` (what a button or a bare yes or no becomes), `/approvals`, and the answers to an edited
message."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from agent.formats.exact import block_of
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.languages.table import ApprovalStrings
from agent.memory.scope import ScopeBusy
from channels.message import Button, Origin
from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError, CommandReply, reason
from gateway.i18n import answer_of, command_line
from gateway.messages.confirmations import ALWAYS
from gateway.store.question_rows import AllowedWords, StoredQuestion
from gateway.tools.pending_effect import KIND as APPROVAL
from gateway.tools.pending_effect import ListedApproval, is_for_lasting_yes

Take = Callable[[CommandContext, StoredQuestion, bool], Awaitable[str | CommandReply]]
"""Acts on an answer and returns the reply. It may be called again for the same answer after a crash, and must
then do nothing twice."""

_GONE = Sentence("That question is closed: it was answered, has expired, or was meant for someone else.")


def command(takers: Mapping[str, Take]) -> Command:
    """The command that answers questions; `takers` by the kind of question."""

    async def answer(context: CommandContext) -> CommandReply:
        id, _, word = context.argument.partition(" ")
        is_lasting = word.strip().lower() == ALWAYS
        said = True if is_lasting else answer_of(word)
        if said is None:
            raise CommandError(Sentence("Please answer yes or no."))
        question = context.services.approvals.find(id, context.route)
        if question is None and (found := context.services.questions.find(id, context.row.message)) is not None:
            question = found if found.kind != APPROVAL else None  # who was asked for a yes may be the owner no more
        if question is None:
            raise CommandError(_GONE)
        if is_lasting and not is_for_lasting_yes(question):
            raise CommandError(Sentence("Please answer yes or no."))
        with context.services.questions.answering(question):
            if is_lasting:
                taken: str | CommandReply = await take_approval(context, question, said, is_lasting=True)
            else:
                taken = await takers[question.kind](context, question, said)
        reply = taken if isinstance(taken, CommandReply) else CommandReply(taken)
        pressed = context.row.message.platform_id if context.row.message.origin is Origin.COMMAND else ""
        return replace(reply, replaces=pressed, settles=question)

    return Command("answer", "ID yes|no", "answer a question of mine", answer, is_listed=False)


_LISTED = 10
_SHOWN = 600
_TAKES_BACK = "ask "


async def approvals(context: CommandContext) -> CommandReply:
    questions, address = context.services.approvals, context.row.message.address
    words, listed = await questions.strings(address), await questions.listed(address)
    allowed = await questions.lasting()
    if context.argument.startswith(_TAKES_BACK):
        return await _ask_again(context, words, allowed)
    waiting = _waiting(words, listed)
    if not allowed:
        return waiting
    shown = [f"- `{shlex.join(entry.words)} …`" for entry in allowed]
    rows = [
        (Button(words.ask_again.format(words=command_line(entry.words, 30)), f"/approvals {_TAKES_BACK}{entry.id}"),)
        for entry in allowed[:_LISTED]
    ]
    return CommandReply("\n".join([waiting.text, "", words.allowed, "", *shown]), (*waiting.buttons, *rows))


async def _ask_again(context: CommandContext, words: ApprovalStrings, allowed: Sequence[AllowedWords]) -> CommandReply:
    id = context.argument.removeprefix(_TAKES_BACK).strip().upper()
    found = next((entry for entry in allowed if entry.id == id), None)
    if found is None or not await context.services.approvals.take_back(id):
        raise CommandError(Sentence("I ask about that already. `/approvals` shows what I don't ask about."))
    return CommandReply(words.asks_again.format(words=shlex.join(found.words)))


def _waiting(words: ApprovalStrings, listed: Sequence[ListedApproval]) -> CommandReply:
    if not listed:
        return CommandReply(words.none_open)
    shown = listed[:_LISTED]
    lines = [
        part for number, approval in enumerate(shown, 1) for part in (f"{number}. {approval.text}", *_block(approval))
    ]
    rows = tuple(
        (
            *(
                (Button(f"{number}. {words.yes}", f"/answer {approval.question.id} yes"),)
                if _is_whole(approval)
                else ()
            ),
            Button(f"{number}. {words.no}", f"/answer {approval.question.id} no"),
        )
        for number, approval in enumerate(shown, 1)
    )
    more = [f"… {len(listed) - _LISTED}"] if len(listed) > _LISTED else []
    return CommandReply("\n".join([words.listed, "", *lines, *more]), rows)


def _is_whole(approval: ListedApproval) -> bool:
    """False for a text that is only approved where all of it is seen: at the question itself."""
    return len(approval.content) <= _SHOWN


def _block(approval: ListedApproval) -> tuple[str, ...]:
    if not approval.content:
        return ()
    return (block_of(approval.content if _is_whole(approval) else f"{approval.content[:_SHOWN]}…"),)


async def take_approval(
    context: CommandContext, question: StoredQuestion, said: bool, *, is_lasting: bool = False
) -> str:
    address = context.row.message.address
    try:
        return await context.services.approvals.answer(question, said, address, is_lasting=is_lasting)
    except StorageUnavailable as problem:
        raise CommandError(Sentence("I couldn't save that: {why}", why=reason(problem))) from problem
    except ScopeBusy as problem:
        raise CommandError(str(problem)) from problem


COMMANDS = (Command("approvals", "", "what is waiting for your approval", approvals, CommandAudience.OWNER_IN_PRIVATE),)


async def take_rewording(context: CommandContext, question: StoredQuestion, said: bool) -> str | CommandReply:
    if not said:
        return context.said("OK, my answer stays as it is.")
    new = await context.services.edited_messages.accepted(question, context.row.session)
    return CommandReply(context.said("Here's my answer to the new version:"), then=new)
