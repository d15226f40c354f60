"""What people are told where a turn could not be carried out."""

from __future__ import annotations

from agent.languages.sentences import Sentence
from agent.languages.system_errors import cannot
from gateway.store.inbox_rows import InboxRow

BUG = Sentence(
    "Something went wrong inside Daybook while I was answering. Your message is saved. Please try again, or send /new "
    "to start over. The log has the details."
)


def failure(error: Exception) -> Sentence:
    if not isinstance(error, OSError):
        return BUG
    return Sentence(
        "{why}. Your message is saved. Please try again, or send /new to start over. The log has the details.",
        why=cannot(error),
    )


def skipped_for_owner(row: InboxRow) -> Sentence:
    chat, due = row.message.address, row.message.due
    if due is not None:
        return Sentence(
            "I crashed several times on job `{job}` in {chat}, so I skipped it. The log has the details.",
            job=due.id,
            chat=chat,
        )
    return Sentence(
        "I crashed several times on a message from {name} in {chat}, so I skipped it. The log has the details.",
        name=row.message.sender.name or "?",
        chat=chat,
    )
