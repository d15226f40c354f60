"""Makes the `UserMessage` that the agent sees from a message and its attachments."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from agent.formats.parsing import load_json
from agent.fs import atomic_write
from agent.languages.codes import Language
from agent.languages.moments import moment_in
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence
from agent.media.pictures import Picture
from agent.media.store import Store
from agent.tools.foreign_text import foreign
from agent.values import AttachedDocument, ForwardedText, UserMessage
from channels.ids import PersonId
from channels.message import Attachment, ChatKind, InboundMessage, Quote
from gateway.i18n import one_line
from gateway.policy.display_names import DisplayNames, plain_name
from gateway.store.inbox_rows import InboxRow


class AttachmentKind(enum.StrEnum):
    PICTURE = "picture"
    DOCUMENT = "document"
    SPEECH = "speech"
    UNHEARD = "unheard"  # speech, and nobody to transcribe it
    FETCHED = "fetched"  # and not read yet
    CLOSED = "closed"  # it could not be had or read


@dataclass(frozen=True, slots=True)
class AttachmentResult:
    """`text` of a document or speech."""

    found: AttachmentKind
    file: str = ""
    """Empty if it could not be fetched."""
    shown: str = ""
    """A picture for the model."""
    text: str = ""
    remark: str = ""
    """Why there is no more, as the end of a sentence that begins with its name."""


def read_note(note: Path, store: Store) -> AttachmentResult | None:
    """An earlier attempt's note, if its files exist. Blocks."""
    try:
        known = AttachmentResult(**load_json(note.read_bytes()))
        known = replace(known, found=AttachmentKind(known.found))
        there = all(store.place(path).is_file() for path in (known.file, known.shown) if path)
    except (OSError, ValueError, TypeError):
        return None
    return known if there else None


def write_note(note: Path, opened: AttachmentResult) -> None:
    """Blocks. Raises `OSError`."""
    atomic_write(note, json.dumps(asdict(opened)))


_EMPTY = Sentence("That message was empty. Write me a few words and I'll answer.")
_JOB = (
    "(Your scheduled job `{id}` is due; nobody has just written. Do what it says. Only your last answer is sent to "
    "this chat, as it stands; NO_REPLY sends nothing.)"
)
_TASK = (
    "(You have given yourself this task, to work on it aside; nobody reads along or can be asked. Your last answer is "
    "its result and goes to the conversation that gave it, which knows nothing else of your work.)"
)
_RESULT = (
    "(A task that you have delegated is over; nobody has just written. Its result is above. Tell the person what came "
    "of it; NO_REPLY sends nothing.)"
)
_RESULT_NAME = "result of a task"
_TASK_SHOWN = 200
_UNHEARD = (
    "it was not transcribed, for no transcriber is set up here (media.transcribe in config.yaml: a server that speaks "
    "OpenAI's transcription API, or a local command). Say so; you have not heard it"
)
ADVICE = Sentence(
    "_(I can't listen to recordings yet, so I only saved this one. A transcriber in config.yaml changes that: "
    "`media: {transcribe: {base_url: …, model: …, api_key: …}}` for a server with OpenAI's transcription API, or "
    '`media: {transcribe: {command: [whisper, "{file}"]}}` for a program that prints the words. Then restart me.)_'
)
_MISSED_SHOWN = 20
_MISSED_CHARS = 200
_SOMEBODY_ELSES = ("forwarded ", "quoted ")
"""How a channel begins the kind of what its sender only passes on."""


def user_message_id(message: InboundMessage) -> str:
    """An id unique in a session of several channels."""
    return ":".join(part for part in (message.address.channel, message.address.account, message.id) if part)


def build_user_message(
    message: InboundMessage,
    names: DisplayNames,
    opened: Mapping[int, AttachmentResult] | None = None,
    overheard: Sequence[InboxRow] = (),
) -> UserMessage:
    """`opened`: the results of its attachments, by index."""
    came = [(attachment, (opened or {}).get(at)) for at, attachment in enumerate(message.attachments)]
    heard = list(_heard(message, came))
    return UserMessage(
        id=user_message_id(message),
        text="\n\n".join(filter(None, [_words(message), *(words for _, words in heard)])),
        sender=names.shown(message),
        channel=message.address.channel.capitalize(),
        at=message.sent_at,
        quoted=(_quoted(message.quote),) if message.quote else (),
        enclosed=tuple(_enclosed(came)),
        overheard=tuple((names.shown(row.message), row.message.sent_at, _overheard(row.message)) for row in overheard),
        heard=tuple(name for name, _ in heard),
        documents=tuple(_documents(message, came)) + _result(message),
        pictures=tuple(
            Picture(_named(attachment, "picture"), result.shown, result.file)
            for attachment, result in came
            if result and result.found is AttachmentKind.PICTURE
        ),
        by=str(PersonId(message.address.channel, message.sender.id)) if message.task is None else "",
        replaces=user_message_id(replace(message, id=message.replaces)) if message.replaces else "",
        foreign=tuple(foreign(name, message.text) for name in message.task.sources) if message.task else (),
    )


def _words(message: InboundMessage) -> str:
    if message.task is not None:
        return f"{_TASK}\n\n{message.text}" if message.is_task else _RESULT
    return f"{_JOB.format(id=message.due.id)}\n\n{message.text}" if message.due else message.text


def _result(message: InboundMessage) -> tuple[AttachedDocument, ...]:
    if message.task is None or message.is_task:
        return ()
    task = one_line(message.task.result_of, _TASK_SHOWN)
    return (AttachedDocument(_RESULT_NAME, message.text, remark=task, is_own=True),)


def late_mark(due: datetime, now: datetime, language: Language) -> str:
    """A remark after a text long after its time. `due`: in the reader's zone."""
    return f"_({LANGUAGES[language].reminders.late.format(due=moment_in(language, due, now))})_"


def missed_mark(missed: Sequence[tuple[datetime, str, str]], now: datetime, language: Language) -> str:
    """The message in place of reminders too late to ring: when each was due, in the reader's zone, its text, its id."""
    strings = LANGUAGES[language].reminders
    lines = [
        f"- {moment_in(language, due, now)}: {one_line(text, _MISSED_CHARS)} (`{id}`)"
        for due, text, id in missed[:_MISSED_SHOWN]
    ]
    more = [f"- {strings.more.format(number=len(missed) - _MISSED_SHOWN)}"] if len(missed) > _MISSED_SHOWN else []
    return "\n".join([strings.missed, "", *lines, *more])


def nothing_to_answer(messages: Sequence[InboundMessage]) -> str:
    """The answer if no message has content; else empty. A bare mention in a group asks about what was said before."""
    said_something = (
        message.text.strip() or message.quote or message.attachments or message.kind is ChatKind.GROUP
        for message in messages
    )
    return "" if any(said_something) else _EMPTY


def has_files(message: InboundMessage) -> bool:
    return any(attachment.handle for attachment in message.attachments)


def may_join(message: InboundMessage) -> bool:
    """True if a running turn can take the message up."""
    return not (message.album or has_files(message) or message.replaces or message.task)


def needs_advice(opened: Mapping[int, AttachmentResult]) -> bool:
    """True if the sender should hear how a transcriber is set up."""
    return any(result.found is AttachmentKind.UNHEARD for result in opened.values())


_Came = Sequence[tuple[Attachment, AttachmentResult | None]]


def _heard(message: InboundMessage, came: _Came) -> Iterator[tuple[str, str]]:
    for attachment, result in came:
        if result and result.found is AttachmentKind.SPEECH and not _is_somebody_elses(message, attachment):
            yield _named(attachment), result.text


def _documents(message: InboundMessage, came: _Came) -> Iterator[AttachedDocument]:
    for attachment, result in came:
        if result and result.found is AttachmentKind.DOCUMENT:
            yield AttachedDocument(_named(attachment, "document"), result.text, result.file, result.remark)
        elif result and result.found is AttachmentKind.SPEECH and _is_somebody_elses(message, attachment):
            yield AttachedDocument(f"{_named(attachment)}, as it was heard", result.text, result.file)


def _is_somebody_elses(message: InboundMessage, attachment: Attachment) -> bool:
    forwarded = message.quote is not None and message.quote.forwarded
    return forwarded or attachment.kind.startswith(_SOMEBODY_ELSES)


def _enclosed(came: _Came) -> Iterator[str]:
    for attachment, result in came:
        kept = f"; it is kept at {result.file}" if result and result.file else ""
        if attachment.words:
            yield f"{attachment.kind}: {attachment.words}"
        if result and result.found is AttachmentKind.UNHEARD:
            yield f"{_named(attachment)}: {_UNHEARD}{kept}"
        elif result and result.found is AttachmentKind.CLOSED:
            yield f"{_named(attachment)} could not be read: {result.remark}{kept}"
        elif result is None and not attachment.words:
            yield f"{_named(attachment)} came with this message; it was not opened"


def _quoted(quote: Quote) -> str | ForwardedText:
    if quote.forwarded:
        return ForwardedText(plain_name(quote.author), quote.text)
    return f"{plain_name(quote.author)}: {quote.text}" if quote.author else quote.text


def _overheard(message: InboundMessage) -> str:
    came = (
        f"[{_named(attachment)}]" + (f" {attachment.words}" if attachment.words else "")
        for attachment in message.attachments
    )
    quote = message.quote
    forwarded = (
        f"[forwarded from {plain_name(quote.author) or 'somebody'}] {quote.text}" if quote and quote.forwarded else ""
    )
    return " ".join(filter(None, [message.text, forwarded, *([] if forwarded else came)]))


def _named(attachment: Attachment, kind: str = "") -> str:
    """The attachment's name, without folders. `kind`: a better word for a file."""
    word = kind if kind and attachment.kind == "document" else attachment.kind
    return " ".join(filter(None, [word, re.split(r"[/\\]", attachment.name)[-1]]))
