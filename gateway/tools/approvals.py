"""Effects that wait for the owner's yes (SPEC 6): asked in the owner's private chat, carried out once.

A question is bound to one effect: the session, the tool, its arguments, and the present state of what it would change.
Its row and its message are one commit. A yes runs the call under a name made from the question, by which the outbox
knows a repeat. The question is closed in the commit of the reply to the yes, so a crash in between repeats the call
with the same outcome.

A bare "yes" does not count: it may answer something that the model said since.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from pydantic import TypeAdapter

from agent.agent import Agent
from agent.clock import Clock, utc_stamp
from agent.formats.parsing import load_json
from agent.formats.untrusted import clean, label
from agent.languages.codes import Language
from agent.memory import files
from agent.memory.paths import FileError
from agent.memory.scope import Audience
from agent.tools.base import GONE, Arguments, Effect, EffectKind, EffectRequest, Tool, ToolError
from agent.tools.foreign_text import ForeignText, visible
from agent.values import SessionKey
from channels.message import Address, Channel, ChatKind, InboundMessage, OutboundFile
from gateway.messages.confirmations import Confirmations, buttons
from gateway.messages.outbound_files import OutboundFiles
from gateway.messages.outbox import Outbox
from gateway.policy.access import LOCAL_CHANNELS, Access, Role
from gateway.policy.sessions import SessionPolicy, SessionRoute
from gateway.scheduling.targets import NoTarget, OwnerReports
from gateway.store import chat_rows, outbox_rows, question_rows
from gateway.store.database import Database, StoreUnavailable
from gateway.store.inbox_rows import InboxRow
from gateway.store.question_rows import StoredQuestion
from gateway.tools.approval_strings import APPROVAL_STRINGS, ApprovalStrings

log = logging.getLogger(__name__)

KIND = "approval"
_ANSWER_WITHIN = timedelta(hours=24)
_KEPT = timedelta(days=30)
_MOST_OPEN = 10
"""Of one session: whoever writes what it reads cannot flood its owner."""
_SHOWN_HEAD, _SHOWN_TAIL = 1_500, 500
_WHOLE = "whole.txt"
_WAITS = (
    "Waiting for the owner's yes: they are asked in their private chat, because text of others may be the reason for "
    "this. Nothing is done yet. Do not call it again, go on without it, and say that it waits."
)
_NOBODY = "Not done: this needs the owner's yes, and no chat of theirs is known."
_TOO_MANY = f"Not done: {_MOST_OPEN} questions of this talk wait for the owner's answer already."
_DISK = "Not done: it needs the owner's yes, and the question could not be written down. Tell the person."
_SAID_YES = "Your owner said yes: {what}. What came of it: {result}"
_SAID_NO = "Your owner said no: {what}. It was not done; do not try it another way."
_IS_DONE = "It is done."
_RESULT_CHARS = 300
_FILES = (EffectKind.WRITE, EffectKind.WRITE_COMMON, EffectKind.WRITE_SKILL)


class _Changed(Exception):
    """The effect is no longer the one that the yes was asked for."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """What a question is about. `call`: the call that asked, `arguments` as JSON; `row`: what the session's turn
    answers, without its text; `digest` names the effect."""

    call: str
    tool: str
    arguments: str
    effect: Effect
    causes: tuple[ForeignText, ...]
    session: str
    row: InboxRow
    digest: str


_PENDING = TypeAdapter(_Pending)


@dataclass(frozen=True, slots=True)
class ListedApproval:
    """An open question as `/approvals` shows it."""

    question: StoredQuestion
    text: str


class Approvals:
    """`tools`: those that the gateway offers to a turn."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        access: Access,
        sessions: SessionPolicy,
        agents: Mapping[str, Agent],
        questions: Confirmations,
        outbox: Outbox,
        outgoing: OutboundFiles,
        channels: Mapping[str, Channel],
        reports: OwnerReports,
        tools: Callable[[InboxRow], tuple[Tool, ...]],
    ) -> None:
        self._database = database
        self._clock = clock
        self._access = access
        self._sessions = sessions
        self._agents = agents
        self._questions = questions
        self._outbox = outbox
        self._outgoing = outgoing
        self._channels = channels
        self._reports = reports
        self._tools = tools

    def of_row(self, row: InboxRow, turn: str) -> _Asker:
        """The consent of the turn that answers a message."""
        return _Asker(self, replace(row, turn=turn), str(self._sessions.of_row(row).session))

    # asking ----------------------------------------------------------------------------------------------------

    async def ask(self, wanted: EffectRequest, row: InboxRow, session: str) -> str:
        """Asks the owner, and returns what the model is told meanwhile. Raises `ToolError`."""
        digest = _digest(session, wanted.tool, wanted.arguments, wanted.effect)
        waiting = [one for one in map(_read, self._questions.open_of(KIND)) if one.session == session]
        if any(one.digest == digest for one in waiting):
            return _WAITS
        if len(waiting) >= _MOST_OPEN:
            raise ToolError(_TOO_MANY)
        pending = _Pending(
            wanted.call,
            wanted.tool,
            json.dumps(wanted.arguments),
            replace(wanted.effect, text=clean(wanted.effect.text), private=clean(wanted.effect.private)),
            wanted.causes,
            session,
            replace(row, message=_without_words(row.message)),
            digest,
        )
        try:
            address, person = await self._owners_chat(row)
            await self._put(pending, address, person)
        except NoTarget as error:
            raise ToolError(_NOBODY) from error
        except StoreUnavailable as error:
            raise ToolError(_DISK) from error
        return _WAITS

    def fate(self, call: str) -> str:
        return _WAITS if any(_read(one).call == call for one in self._questions.open_of(KIND)) else ""

    async def outcomes(self, session: str) -> Mapping[str, str]:
        return await self._database.run(question_rows.outcomes_of, session)

    async def told(self, ids: Sequence[str]) -> None:
        await self._database.run(question_rows.drop_outcomes, ids)

    async def _owners_chat(self, row: InboxRow) -> tuple[Address, str]:
        """The chat where the owner is asked, and their id there. Raises `NoTarget`."""
        conversation = self._sessions.of_row(row)
        if conversation.scope.audience is Audience.OWNER and row.message.kind is ChatKind.PRIVATE:
            return row.message.address, row.message.sender.id
        target = (await self._reports.targets()).owner()
        known = await self._database.run(chat_rows.known)
        never_seen = all(one.address != target.address for one in known)
        if never_seen and target.address.channel in LOCAL_CHANNELS and not self._access.has_owner:
            raise NoTarget("nobody is configured as the owner")
        return target.address, target.person

    async def _put(self, pending: _Pending, address: Address, person: str) -> None:
        subject = _PENDING.dump_json(pending).decode()
        question = replace(self._questions.new(KIND, address, person, subject, _ANSWER_WITHIN), is_fresh=False)
        words = await self._words(address)
        block, files = await self._shown(pending.effect.text, words, address)
        text = "\n\n".join(self._asked(pending, block, words, address))
        key = f"{KIND}:{question.id}:{{}}"
        drafts = self._outbox.drafts(key, address, text, buttons=buttons(question, words.yes, words.no), files=files)
        now = utc_stamp(self._clock.now())
        async with self._outbox.sending(drafts) as begin:

            def show(connection: sqlite3.Connection) -> None:
                outbox_rows.add(connection, drafts, now)
                begin(connection)

            await self._questions.put(question, show)

    async def _shown(self, text: str, words: ApprovalStrings, address: Address) -> tuple[str, tuple[OutboundFile, ...]]:
        """Somebody's text, line by line, with nothing of it read as markup; of a long one both ends and the whole as a
        file: the owner must see what they approve."""
        shown = "\n".join(visible(line) for line in text.replace("`", "'").splitlines()).strip("\n")
        left_out = len(shown) - _SHOWN_HEAD - _SHOWN_TAIL
        files: tuple[OutboundFile, ...] = ()
        if left_out > 0 and (files := await self._whole(text, address)):
            note = words.left_out.format(number=f"{left_out:,}")
            shown = f"{shown[:_SHOWN_HEAD]}\n{note}\n{shown[-_SHOWN_TAIL:]}"
        return f"```\n{shown}\n```" if shown else "", files

    async def _whole(self, text: str, address: Address) -> tuple[OutboundFile, ...]:
        """The whole text as a file; empty where the chat takes no such file."""
        channel = self._channels.get(address.channel)
        if channel is None or len(text.encode("utf-8", "replace")) > channel.largest_file(address):
            return ()
        try:
            return (await asyncio.to_thread(self._outgoing.keep_text, _WHOLE, text),)
        except FileError as problem:
            log.warning("a long question goes as several messages: %s", problem)
            return ()

    def _asked(self, pending: _Pending, block: str, words: ApprovalStrings, address: Address) -> list[str]:
        """The question: what, to whom, and because of which text; no foreign text can pass for ours."""
        asked = [words.question.format(what=_what(pending, words))]
        if block:
            asked.append(block)
        if pending.effect.private:
            asked.append(words.private.format(line=_sealed(pending.effect.private)))
        if because := _because(pending, words):
            asked.append(because)
        if pending.row.message.address != address:
            asked.append(words.asked_in.format(chat=_chat(pending.row.message)))
        return [*asked, words.good_for]

    # answering -------------------------------------------------------------------------------------------------

    def find(self, id: str, conversation: SessionRoute) -> StoredQuestion | None:
        """An open question by its id, for its owner in any of their private chats."""
        if conversation.role is not Role.OWNER or not conversation.is_private:
            return None
        return next((one for one in self._questions.open_of(KIND) if one.id == id.upper()), None)

    async def listed(self, address: Address) -> tuple[ApprovalStrings, list[ListedApproval]]:
        """The open questions, as they are shown in a chat."""
        words = await self._words(address)
        found = []
        for question in self._questions.open_of(KIND):
            pending = _read(question)
            parts = (_what(pending, words), visible(_sealed(pending.effect.text), 80), _because(pending, words))
            found.append(ListedApproval(question, " · ".join(filter(None, parts))))
        return words, found

    async def answer(self, question: StoredQuestion, said: bool, address: Address) -> str:
        """Acts on an answer that was given in a chat, and returns the reply. Repeated after a crash, it has the same
        outcome. Raises `StoreUnavailable`."""
        pending = _read(question)
        outcome, result = await self._carried_out(question.id, pending) if said else ("refused", "")
        english = APPROVAL_STRINGS[Language.ENGLISH]
        what = _what(pending, english)
        note = (
            _SAID_YES.format(what=what, result=visible(result, _RESULT_CHARS)) if said else _SAID_NO.format(what=what)
        )
        await self._note(question.id, pending, note)
        origin = pending.row.message.address
        if origin != address:
            text = _told(await self._words(origin), outcome, pending, result)
            await self._outbox.write(self._outbox.drafts(f"{KIND}:{question.id}:told:{{}}", origin, text))
        return _told(await self._words(address), outcome, pending, result)

    async def _carried_out(self, id: str, pending: _Pending) -> tuple[str, str]:
        """Runs the approved call; returns the name of the sentence for its outcome, and the tool's result."""
        try:
            return "done", await self._run(id, pending)
        except _Changed:
            return "changed", "nothing was done, for it has changed since it was asked for."
        except ToolError as error:
            return "failed", str(error)
        except Exception as bug:
            log.exception("an approved call of %s failed unexpectedly", pending.tool)
            return "failed", type(bug).__name__

    async def _run(self, id: str, pending: _Pending) -> str:
        conversation = self._sessions.of_row(pending.row)
        if str(conversation.session) != pending.session:
            raise _Changed
        agent, scope = self._agents[conversation.session.agent], conversation.scope
        own = agent.tools(conversation.session, scope)
        tool = next((one for one in (*own, *self._tools(pending.row)) if one.name == pending.tool), None)
        if tool is None or tool.effect is None:
            raise _Changed
        arguments: Arguments = load_json(pending.arguments)
        if pending.effect.kind in _FILES:
            try:
                data = files.read_bytes(scope.folder / pending.effect.target, scope.folder)
            except FileError as error:
                raise ToolError(str(error)) from error
            now = GONE if data is None else files.sha_of(data)
            if pending.effect.after and now == pending.effect.after:
                return _IS_DONE
            if now != pending.effect.before:
                raise _Changed
        else:
            effect = await tool.effect(arguments)
            if effect is None or (effect.target, effect.before) != (pending.effect.target, pending.effect.before):
                raise _Changed
        return await agent.run_approved(scope, tool, arguments, f"approved-{id}")

    async def _note(self, id: str, pending: _Pending, text: str) -> None:
        """Notes the outcome for the session, except of a job, whose session is a new one each time."""
        agent, _, path = pending.session.partition("/")
        if SessionKey(agent, path).is_job:
            return
        now = self._clock.now()
        oldest = utc_stamp(now - _KEPT)
        await self._database.run(question_rows.add_outcome, id, pending.session, text, utc_stamp(now), oldest)

    async def _words(self, address: Address) -> ApprovalStrings:
        return APPROVAL_STRINGS[await self._database.run(chat_rows.language, address)]


@dataclass(frozen=True, slots=True)
class _Asker:
    """Implements `agent.tools.base.OwnerConsent` for one turn."""

    approvals: Approvals
    row: InboxRow
    session: str

    async def ask(self, wanted: EffectRequest) -> str:
        return await self.approvals.ask(wanted, self.row, self.session)

    async def fate(self, call: str) -> str:
        return self.approvals.fate(call)

    async def outcomes(self) -> Mapping[str, str]:
        return await self.approvals.outcomes(self.session)

    async def told(self, ids: Sequence[str]) -> None:
        await self.approvals.told(ids)


def _read(question: StoredQuestion) -> _Pending:
    return _PENDING.validate_json(question.subject)


def _digest(session: str, tool: str, arguments: Arguments, effect: Effect) -> str:
    whole = json.dumps([session, tool, arguments, effect.target, effect.before], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _without_words(message: InboundMessage) -> InboundMessage:
    return replace(message, text="", attachments=(), quote=None, answer_with="")


def _what(pending: _Pending, words: ApprovalStrings) -> str:
    return words.effects[pending.effect.kind].format(target=_sealed(pending.effect.target))


def _because(pending: _Pending, words: ApprovalStrings) -> str:
    if not pending.causes:
        return ""
    first = next((one for one in pending.causes if one.line), pending.causes[0])
    source, line = _sealed(first.source), _sealed(first.line)
    return words.because_line.format(source=source, line=line) if line else words.because.format(source=source)


def _told(words: ApprovalStrings, outcome: str, pending: _Pending, result: str) -> str:
    text: str = getattr(words, outcome)
    return text.format(what=_what(pending, words), why=_sealed(result))


def _chat(message: InboundMessage) -> str:
    name = message.group_name if message.kind is ChatKind.GROUP else message.sender.name
    return " ".join(filter(None, [_sealed(name), f"({message.address})"]))


def _sealed(text: str) -> str:
    """The text on one line, with nothing that a platform would show as markup."""
    shown = visible(label(text, 200)).translate(str.maketrans("*_`~#|", "      "))
    return " ".join(shown.split())
