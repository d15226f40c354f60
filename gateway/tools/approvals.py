"""Effects that wait for the owner's yes: asked in the owner's private chat, carried out once.

A question is bound to one effect: the session, the tool, its arguments, and the present state of what it would change.
Its row and its message are one commit. A yes runs the call under a name made from the question, by which the outbox
knows a repeat; the question is closed in the commit of the reply, so that a crash in between repeats the call with the
same outcome. A bare "yes" does not count: it may answer something that the model said since.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from agent.clock import utc_stamp
from agent.formats.exact import block_of, exactly
from agent.formats.parsing import load_json
from agent.formats.plain_text import repair_surrogates
from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from agent.languages.table import ApprovalStrings
from agent.memory import files
from agent.memory.paths import FileError
from agent.model.base import Json
from agent.skills import SkillOrigin
from agent.tools.base import GONE, Effect, EffectKind, EffectRequest, Tool, ToolError
from channels.message import Address, OutboundFile
from gateway.kernel import Kernel
from gateway.messages.confirmations import Confirmations
from gateway.messages.inbox import asking_session
from gateway.policy.access import Role
from gateway.policy.sessions import SessionRoute
from gateway.scheduling.targets import NoTarget
from gateway.store import chat_rows, outbox_rows, question_rows
from gateway.store.connection import Connection
from gateway.store.inbox_rows import InboxRow
from gateway.store.question_rows import AllowedWords, StoredQuestion
from gateway.store.scope_work import SHORT_WAIT
from gateway.tools.pending_effect import (
    KIND,
    PENDING,
    ListedApproval,
    PendingEffect,
    answer_buttons,
    cause_text,
    chat_text,
    digest_of,
    effect_text,
    known_result,
    on_one_line,
    outcome_text,
    question_text,
    read,
    result_text,
)

log = logging.getLogger(__name__)

_ANSWER_WITHIN = timedelta(hours=24)
_KEPT = timedelta(days=30)
_MOST_OPEN = 10
"""Open questions of one session, so that nobody can flood the owner."""
_SHOWN_HEAD, _SHOWN_TAIL = 1_500, 500
_WHOLE = "whole.txt"
_WAITS = (
    "Waiting for the owner's yes: they are asked in their private chat, because text of others may be the reason for "
    "this. Nothing is done yet. Do not call it again, go on without it, and say that it waits."
)
_NOBODY = "Not done: this needs the owner's yes, and no chat of theirs is known."
_TOO_MANY = f"Not done: {_MOST_OPEN} questions of this conversation wait for the owner's answer already."
_DISK = "Not done: it needs the owner's yes, and the question could not be written down. Tell the person."
_SAID_YES = "Your owner said yes: {what}. What came of it: {result}"
_SAID_NO = "Your owner said no: {what}. It was not done; do not try it another way."
_STARTED = "started"
_FILES = (EffectKind.WRITE, EffectKind.WRITE_COMMON, EffectKind.WRITE_SKILL)


class _Changed(Exception):
    """The effect is no longer the effect that the yes was asked for."""


@dataclass(slots=True)
class Approvals:
    """Asks the owner and acts on the answers. `tools`: the tools offered to a turn."""

    kernel: Kernel
    questions: Confirmations
    tools: Callable[[InboxRow], tuple[Tool, ...]]

    def of_row(self, row: InboxRow, turn: str) -> _TurnConsent:
        """The consent of the turn that answers a message."""
        return _TurnConsent(self, replace(row, turn=turn), str(self.kernel.sessions.of_row(row).session))

    # asking ----------------------------------------------------------------------------------------------------

    async def ask(self, wanted: EffectRequest, row: InboxRow, session: str) -> str:
        """Asks the owner; returns the result for the model. Raises `ToolError`."""
        digest, effect = digest_of(session, wanted), wanted.effect
        waiting = [pending for pending in map(read, self.questions.open_of(KIND)) if pending.session == session]
        if any(pending.digest == digest for pending in waiting):
            return _WAITS
        if len(waiting) >= _MOST_OPEN:
            raise ToolError(_TOO_MANY)
        pending = PendingEffect(
            wanted.call,
            wanted.tool,
            json.dumps(wanted.arguments),
            replace(effect, text=repair_surrogates(effect.text), private=repair_surrogates(effect.private)),
            wanted.causes,
            session,
            replace(row, message=replace(row.message, text="", attachments=(), quote=None, answer_with="")),
            digest,
            wanted.consent,
        )
        try:
            address, person = await self.kernel.reports.private_chat(row, self.kernel.sessions.of_row(row))
            await self._ask_owner(pending, address, person)
        except NoTarget as error:
            raise ToolError(_NOBODY) from error
        except StorageUnavailable as error:
            raise ToolError(_DISK) from error
        return _WAITS

    async def ask_about_skills(self, row: InboxRow, session: str) -> None:
        """Asks the owner once about each skill that waits for their yes, by asking for its text as it is."""
        route = self.kernel.sessions.of_row(row)
        if route.role is not Role.OWNER or not route.is_private or row.message.due is not None:
            return
        agent = self.kernel.agents[route.session.agent]
        for skill in await asyncio.to_thread(agent.skills.every, route.scope):
            if not skill.waits or skill.origin is not SkillOrigin.WORKSPACE:
                continue
            sha, consents = skill.sha, agent.consents
            try:
                page = await asyncio.to_thread(files.read_text, route.scope.folder / skill.path, route.scope.folder)
                if page is None or page.sha != sha or await asyncio.to_thread(consents.was_asked_about_skill, sha):
                    continue
                effect = Effect(EffectKind.WRITE_SKILL, skill.path, page.text, always=True, before=sha, after=sha)
                given: Json = {"path": skill.path, "content": page.text}
                await self.ask(EffectRequest("write_file", f"skill:{sha}", given, effect, ()), row, session)
                await asyncio.to_thread(consents.asked_about_skill, sha)
            except (FileError, StorageUnavailable, ToolError) as error:
                log.warning("the owner is not asked about the skill %s: %s", skill.name, error)

    def fate(self, call: str) -> str:
        return _WAITS if any(read(question).call == call for question in self.questions.open_of(KIND)) else ""

    async def outcomes(self, session: str) -> Mapping[str, str]:
        return await self.kernel.database.run(question_rows.outcomes_of, session)

    async def acknowledge(self, ids: Sequence[str]) -> None:
        await self.kernel.database.run(question_rows.drop_outcomes, ids)

    async def _ask_owner(self, pending: PendingEffect, address: Address, person: str) -> None:
        subject = PENDING.dump_json(pending).decode()
        question = replace(self.questions.new(KIND, address, person, subject, _ANSWER_WITHIN), is_fresh=False)
        strings = await self.strings(address)
        shown = self._without_secrets(pending)
        block, files = await self._shown(shown.effect.text, strings, address)
        text = question_text(shown, block, strings, address)
        key = f"{KIND}:{question.id}:{{}}"
        drafts = self.kernel.outbox.drafts(
            key, address, text, buttons=answer_buttons(question, pending, strings), files=files
        )
        now = utc_stamp(self.kernel.clock.now())
        async with self.kernel.outbox.sending(drafts) as begin:

            def show(connection: Connection) -> None:
                outbox_rows.add(connection, drafts, now)
                begin(connection)

            await self.questions.put(question, show)

    def _without_secrets(self, pending: PendingEffect) -> PendingEffect:
        """The effect without known secrets: a question goes to a platform."""
        effect, strike = pending.effect, self.kernel.secrets
        shown = replace(effect, target=strike(effect.target), text=strike(effect.text), private=strike(effect.private))
        return replace(pending, effect=shown)

    async def _shown(
        self, text: str, strings: ApprovalStrings, address: Address
    ) -> tuple[str, tuple[OutboundFile, ...]]:
        """The text exactly, or both ends of a long text and a file: the owner must see all that they approve."""
        shown = exactly(text)
        left_out = len(shown) - _SHOWN_HEAD - _SHOWN_TAIL
        files: tuple[OutboundFile, ...] = ()
        if left_out > 0 and (files := await self._whole(shown, address)):
            note = strings.left_out.format(number=f"{left_out:,}")
            shown = f"{shown[:_SHOWN_HEAD]}\n{note}\n{shown[-_SHOWN_TAIL:]}"
        return block_of(shown) if shown else "", files

    async def _whole(self, text: str, address: Address) -> tuple[OutboundFile, ...]:
        """The text as a file, if the chat takes files."""
        channel = self.kernel.channels.get(address.channel)
        if channel is None or len(text.encode("utf-8", "replace")) > channel.capabilities(address).largest_file:
            return ()
        try:
            return (await asyncio.to_thread(self.kernel.outgoing.keep_text, _WHOLE, text),)
        except FileError as problem:
            log.warning("a long question goes as several messages: %s", problem)
            return ()

    # answering -------------------------------------------------------------------------------------------------

    def find(self, id: str, route: SessionRoute) -> StoredQuestion | None:
        """An open question, for its owner in any private chat of theirs."""
        if route.role is not Role.OWNER or not route.is_private:
            return None
        return next((question for question in self.questions.open_of(KIND) if question.id == id.upper()), None)

    async def listed(self, address: Address | None = None) -> list[ListedApproval]:
        """The open questions, in the language of a chat, or of the chats where they were asked."""
        found = []
        for question in self.questions.open_of(KIND):
            pending = self._without_secrets(read(question))
            strings = await self.strings(address or question.address)
            found.append(
                ListedApproval(
                    question,
                    effect_text(pending, strings),
                    exactly(pending.effect.text),
                    on_one_line(pending.effect.private),
                    cause_text(pending, strings),
                    chat_text(pending.row.message),
                    shlex.join(pending.effect.words),
                )
            )
        return found

    async def answer_from_elsewhere(self, id: str, *, is_yes: bool, is_lasting: bool = False) -> str:
        """Acts on the owner's answer outside the chats, and shows the outcome where it was asked. Raises `KeyError` for
        a closed question, `StorageUnavailable`, `ScopeBusy`."""
        question = {question.id: question for question in self.questions.open_of(KIND)}[id]
        with self.questions.answering(question):
            text = await self.answer(question, is_yes, question.address, is_lasting=is_lasting)
            drafts = self.kernel.outbox.drafts(
                f"{KIND}:{id}:answered:{{}}", question.address, text, edits=await self._shown_as(id)
            )
            await self.kernel.outbox.write(drafts, lambda connection: question_rows.close(connection, id))
        return text

    async def _shown_as(self, id: str) -> str:
        """The platform id of the question's message, if it is a single message."""

        def look(connection: Connection) -> str:
            is_long = outbox_rows.is_known(connection, f"{KIND}:{id}:1")
            return "" if is_long else outbox_rows.platform_id(connection, f"{KIND}:{id}:0")

        return await self.kernel.database.run(look)

    async def answer(
        self, question: StoredQuestion, is_yes: bool, address: Address, *, is_lasting: bool = False
    ) -> str:
        """Returns the reply, the same if repeated after a crash. Raises `StorageUnavailable`, `ScopeBusy`."""
        pending = read(question)
        outcome, result = "refused", ""
        if is_yes:
            state = await self._lasting_state(pending) if is_lasting else ""
            async with self.kernel.scope_work.of(pending.session, SHORT_WAIT):
                outcome, result = await self._carried_out(question.id, pending)
            if state and outcome == _STARTED:
                await self._allow(pending.effect.words, state)
        if outcome == "done" and pending.effect.kind is EffectKind.WRITE_SKILL and pending.effect.after:
            agent = self.kernel.agents[self.kernel.sessions.of_row(pending.row).session.agent]
            await asyncio.to_thread(agent.consents.approve_skill, pending.effect.after)
        english = LANGUAGES[Language.ENGLISH].approvals
        pending = self._without_secrets(pending)
        what = effect_text(pending, english)
        note = (
            _SAID_YES.format(what=what, result=known_result(pending, result)) if is_yes else _SAID_NO.format(what=what)
        )
        shown = result_text(pending, result) if outcome == "done" else ""
        await self._note(question.id, pending, note)
        origin = pending.row.message.address
        if origin != address:
            text = outcome_text(await self.strings(origin), outcome, pending, result) + shown
            await self.kernel.outbox.write(self.kernel.outbox.drafts(f"{KIND}:{question.id}:told:{{}}", origin, text))
        return outcome_text(await self.strings(address), outcome, pending, result) + shown

    async def _carried_out(self, id: str, pending: PendingEffect) -> tuple[str, str]:
        try:
            result = await self._run(id, pending)
            return _STARTED if pending.effect.kind is EffectKind.RUN else "done", result
        except _Changed:
            return "changed", "nothing was done, for it has changed since it was asked for."
        except ToolError as error:
            return "failed", str(error)
        except Exception as bug:
            log.exception("an approved call of %s failed unexpectedly", pending.tool)
            return "failed", type(bug).__name__

    async def _run(self, id: str, pending: PendingEffect) -> str:
        route = self.kernel.sessions.of_row(pending.row)
        if str(route.session) != pending.session:
            raise _Changed
        agent, scope = self.kernel.agents[route.session.agent], route.scope
        tool = self._tool(pending)
        if tool is None or tool.effect is None:
            raise _Changed
        arguments: Json = load_json(pending.arguments)
        name = f"approved-{id}"
        if tool.begun is not None and (known := await tool.begun(name)):
            return known  # what it names may have changed by what it did
        if pending.effect.kind in _FILES:
            try:
                data = files.read_bytes(scope.folder / pending.effect.target, scope.folder)
            except FileError as error:
                raise ToolError(str(error)) from error
            now = GONE if data is None else files.sha_of(data)
            if pending.effect.after and now == pending.effect.after:
                return "It is done."
            if now != pending.effect.before:
                raise _Changed
        else:
            effect = await tool.effect(arguments)
            if effect is None or (effect.target, effect.before) != (pending.effect.target, pending.effect.before):
                raise _Changed
        result = await agent.run_approved(scope, tool, arguments, name)
        if pending.consent is not None:
            await agent.allow(pending.consent)
        return result

    def _tool(self, pending: PendingEffect) -> Tool | None:
        route = self.kernel.sessions.of_row(pending.row)
        own = self.kernel.agents[route.session.agent].tools(route.session, route.scope)
        return next((tool for tool in (*own, *self.tools(pending.row)) if tool.name == pending.tool), None)

    # lasting -----------------------------------------------------------------------------------------------------

    async def _lasting_state(self, pending: PendingEffect) -> str:
        """Names all that a lasting yes is bound to, as it is now; empty where none can be given."""
        tool = self._tool(pending) if pending.effect.words else None
        return await tool.lasting(pending.effect) if tool is not None and tool.lasting is not None else ""

    async def _allow(self, words: tuple[str, ...], state: str) -> None:
        id = hashlib.sha256(json.dumps([words, state]).encode()).hexdigest()[:8].upper()
        now = utc_stamp(self.kernel.clock.now())
        await self.kernel.database.run(question_rows.allow, AllowedWords(id, words, state), now)

    async def lasting(self) -> Sequence[AllowedWords]:
        return await self.kernel.database.run(question_rows.allowed_words)

    async def take_back(self, id: str) -> bool:
        """Takes a lasting yes back; False for an unknown id. Raises `StorageUnavailable`."""
        return await self.kernel.database.run(question_rows.take_back, id.upper())

    async def _note(self, id: str, pending: PendingEffect, text: str) -> None:
        """Notes the outcome for the session, or for the session that delegated its task; a job has a new session each
        time."""
        if pending.row.message.due is not None:
            return
        session = asking_session(replace(pending.row, session=pending.session))
        now = self.kernel.clock.now()
        await self.kernel.database.run(
            question_rows.add_outcome, id, session, text, utc_stamp(now), utc_stamp(now - _KEPT)
        )

    async def strings(self, address: Address) -> ApprovalStrings:
        return LANGUAGES[await self.kernel.database.run(chat_rows.language, address)].approvals


@dataclass(frozen=True, slots=True)
class _TurnConsent:
    """Implements `agent.tools.base.OwnerConsent` for one turn."""

    approvals: Approvals
    row: InboxRow
    session: str

    async def ask(self, wanted: EffectRequest) -> str:
        return await self.approvals.ask(wanted, self.row, self.session)

    async def fate(self, call: str) -> str:
        return self.approvals.fate(call)

    async def outcomes(self) -> Mapping[str, str]:
        outcomes, _ = await asyncio.gather(
            self.approvals.outcomes(self.session), self.approvals.ask_about_skills(self.row, self.session)
        )
        return outcomes

    async def acknowledge(self, ids: Sequence[str]) -> None:
        await self.approvals.acknowledge(ids)
