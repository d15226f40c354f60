"""A message from a channel, as the agent is to see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent.turn import Said
from channels.message import Attachment, ChatKind, InboundMessage
from gateway.store.inbox_rows import InboxRow

_EMPTY = "That message was empty. Write me a few words and I'll answer."
_UNREAD = "I can't open {what} yet, so I haven't seen what is in it. Please send me the text of it."
_JOB = (
    "(Your scheduled job `{id}` is due; nobody has just written. Do what it says. Only your last answer is sent to "
    "this chat, as it stands; NO_REPLY sends nothing.)"
)


def said_id(message: InboundMessage) -> str:
    """Unlike any other message's of a session, which may have several channels."""
    return ":".join(part for part in (message.address.channel, message.address.account, message.id) if part)


def said(message: InboundMessage, overheard: Sequence[InboxRow] = ()) -> Said:
    quote = message.quote
    return Said(
        id=said_id(message),
        text=f"{_JOB.format(id=message.due.id)}\n\n{message.text}" if message.due else message.text,
        sender=message.sender.name or message.sender.id,
        channel=message.address.channel.capitalize(),
        at=message.sent_at,
        quoted=(f"{quote.author}: {quote.text}" if quote.author else quote.text,) if quote else (),
        enclosed=tuple(f"{_named(one)} came with this message; it was not opened" for one in message.attachments),
        overheard=tuple((row.message.sender.name, row.message.sent_at, row.message.text) for row in overheard),
    )


def late_mark(due: datetime) -> str:
    """What stands behind a text that comes long after its time. `due`: in the zone in which it is to be read."""
    return f"_(Late: this was due {due:%Y-%m-%d %H:%M}.)_"


def nothing_to_answer(messages: Sequence[InboundMessage]) -> str:
    """What to tell the sender where there is no text for the model in any message; empty where there is. A
    bare mention in a group is a call to look at what was said before."""
    attachments: list[Attachment] = []
    for message in messages:
        bare_call = message.kind is ChatKind.GROUP and not message.attachments
        if message.text.strip() or message.quote or bare_call:
            return ""
        attachments += message.attachments
    if not attachments:
        return _EMPTY
    return _UNREAD.format(what=" and ".join(dict.fromkeys(_named(one) for one in attachments)))


def _named(attachment: Attachment) -> str:
    article = "an" if attachment.kind[:1] in "aeiou" else "a"
    return f"{article} {attachment.kind}" + (f" ({attachment.name})" if attachment.name else "")
