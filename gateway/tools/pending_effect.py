"""The effect that a question to the owner is about, and how it reads. Pure."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass

from pydantic import TypeAdapter

from agent.formats.exact import fenced, on_a_line
from agent.formats.untrusted import label, marked_block
from agent.languages.table import ApprovalStrings
from agent.tools.base import ConversationConsent, Effect, EffectKind, EffectNote, EffectRequest
from agent.tools.foreign_text import ForeignText, visible
from channels.message import Address, ChatKind, InboundMessage
from gateway.messages.confirmations import buttons
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Buttons
from gateway.store.question_rows import StoredQuestion

KIND = "approval"


@dataclass(frozen=True, slots=True)
class PendingEffect:
    call: str
    tool: str
    arguments: str
    """JSON."""
    effect: Effect
    causes: tuple[ForeignText, ...]
    session: str
    row: InboxRow
    """The message that is answered, without its text."""
    digest: str
    consent: ConversationConsent | None = None


@dataclass(frozen=True, slots=True)
class ListedApproval:
    """An open question as lists show it. `content`, `private` and `because` may be empty."""

    question: StoredQuestion
    what: str
    content: str
    """What would be sent or written."""
    private: str
    because: str
    chat: str
    """The chat where it was asked for."""
    lasting: str = ""
    """The leading words that a lasting yes would count for, if it can be given."""

    @property
    def text(self) -> str:
        """The effect and the reason for asking, on one line."""
        return " · ".join(filter(None, (self.what, self.because)))


RESULTS = (EffectKind.USE_TOOL, EffectKind.USE_NEW_TOOL, EffectKind.USE_CHANGED_TOOL)
"""Effects whose results are text of others, which was the point of the call."""
_RESULT_CHARS = 300
_FOREIGN_CHARS = 8_000
_GOOD_FOR_MORE = (EffectNote.FOR_TOOL, EffectNote.FOR_CONVERSATION)
_SHOWN = 2_000
_TITLE = 60
"""Characters of a command line in a title; it stands whole below."""

PENDING = TypeAdapter(PendingEffect)


def read(question: StoredQuestion) -> PendingEffect:
    return PENDING.validate_json(question.subject)


def is_for_lasting_yes(question: StoredQuestion) -> bool:
    return question.kind == KIND and bool(read(question).effect.words)


def answer_buttons(question: StoredQuestion, pending: PendingEffect, strings: ApprovalStrings) -> Buttons:
    yes = strings.once if pending.effect.kind is EffectKind.RUN else strings.yes
    return buttons(question, yes, strings.no, strings.always if pending.effect.words else "")


def question_text(pending: PendingEffect, block: str, strings: ApprovalStrings, address: Address) -> str:
    """The question as it is asked at an address. `block`: what would be sent, written or run."""
    asked = [strings.question.format(what=effect_text(pending, strings))]
    if block:
        asked.append(block)
    if pending.effect.private:
        asked.append(strings.private.format(line=on_one_line(pending.effect.private)))
    lasting = [note for note in pending.effect.notes if note in _GOOD_FOR_MORE]
    asked += (getattr(strings, note) for note in pending.effect.notes if note not in lasting)
    if because := cause_text(pending, strings):
        asked.append(because)
    if pending.row.message.address != address:
        asked.append(strings.asked_in.format(chat=chat_text(pending.row.message)))
    if pending.effect.words:
        asked.append(strings.lasting.format(words=shlex.join(pending.effect.words)))
    return "\n\n".join([*asked, getattr(strings, lasting[0]) if lasting else strings.good_for])


def effect_text(pending: PendingEffect, strings: ApprovalStrings) -> str:
    effects = strings.effects
    by_kind = {
        EffectKind.SEND: effects.send,
        EffectKind.WRITE: effects.write,
        EffectKind.WRITE_COMMON: effects.write_common,
        EffectKind.WRITE_SKILL: effects.write_skill,
        EffectKind.ADD_JOB: effects.add_job,
        EffectKind.REMOVE_JOB: effects.remove_job,
        EffectKind.FETCH: effects.fetch,
        EffectKind.SEARCH: effects.search,
        EffectKind.DRAW: effects.draw,
        EffectKind.RUN: effects.run,
        EffectKind.USE_TOOL: effects.use_tool,
        EffectKind.USE_NEW_TOOL: effects.use_new_tool,
        EffectKind.USE_CHANGED_TOOL: effects.use_changed_tool,
    }
    longest = _TITLE if pending.effect.kind is EffectKind.RUN else _SHOWN
    return by_kind[pending.effect.kind].format(target=on_a_line(pending.effect.target, longest))


def cause_text(pending: PendingEffect, strings: ApprovalStrings) -> str:
    if not pending.causes:
        return ""
    first = next((cause for cause in pending.causes if cause.line), pending.causes[0])
    source, line = on_one_line(first.source), on_one_line(first.line)
    return strings.because_line.format(source=source, line=line) if line else strings.because.format(source=source)


def outcome_text(strings: ApprovalStrings, outcome: str, pending: PendingEffect, result: str) -> str:
    text: str = getattr(strings, outcome)
    return text.format(what=effect_text(pending, strings), why=on_one_line(result))


def result_text(pending: PendingEffect, result: str) -> str:
    """The answer of a tool of others, for people; empty where the outcome says all."""
    shown = result.strip("\n")[:_SHOWN] if pending.effect.kind in RESULTS else ""
    return f"\n\n{fenced(shown)}" if shown else ""


def chat_text(message: InboundMessage) -> str:
    name = message.group_name if message.kind is ChatKind.GROUP else message.sender.name
    return " ".join(filter(None, [on_one_line(name), f"({message.address})"]))


def on_one_line(text: str) -> str:
    shown = visible(label(text, 200)).translate(str.maketrans("*_`~#|", "      "))
    return " ".join(shown.split())


def known_result(pending: PendingEffect, result: str) -> str:
    """The result for the model: on the sentence's line, or below it as text of others."""
    if pending.effect.kind not in RESULTS:
        return visible(result, _RESULT_CHARS)
    return f"\n{marked_block('enclosed', result[:_FOREIGN_CHARS], name=pending.effect.target)}"


def digest_of(session: str, wanted: EffectRequest) -> str:
    """Names the effect that is asked about: of questions whose yes counts for a host in the conversation, one is
    enough."""
    effect, consent = wanted.effect, wanted.consent
    if consent is not None and EffectNote.FOR_CONVERSATION in effect.notes and not effect.always:
        whole = json.dumps([session, wanted.tool, consent.id, consent.allows])
    else:
        whole = json.dumps([session, wanted.tool, wanted.arguments, effect.target, effect.before], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()
