"""Asks, once, whether to answer the new version of a message that was edited after it was read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pydantic import TypeAdapter

from agent.languages.sentences import said
from channels.message import InboundMessage
from gateway.messages.confirmations import Confirmations, buttons
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.messages.outbox import Outbox
from gateway.store import chat_rows, inbox_rows
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.store.question_rows import StoredQuestion

KIND = "reworded"
_ANSWER_WITHIN = timedelta(days=1)
_MESSAGE = TypeAdapter(InboundMessage)


class EditedMessages:
    def __init__(self, database: Database, inbox: Inbox, outbox: Outbox, questions: Confirmations) -> None:
        self._database = database
        self._inbox = inbox
        self._outbox = outbox
        self._questions = questions

    async def offer(self, edited: InboundMessage) -> None:
        """Asks the sender once, if a turn has read another version. Raises `StorageUnavailable`."""
        subject = _MESSAGE.dump_json(edited).decode()
        for question in self._questions.asked_about(edited, KIND):
            if _MESSAGE.validate_json(question.subject).platform_id == edited.platform_id:
                await self._questions.change(question, subject)
                return
        address = edited.address
        key = f"{KIND}:{address.channel}:{address.chat_id}:{edited.platform_id}"
        if not await self._database.run(inbox_rows.was_read_otherwise, edited, f"{key}:0"):
            return
        question = self._questions.new(KIND, address, edited.sender.id, subject, _ANSWER_WITHIN)
        await self._questions.put(question)
        language = await self._database.run(chat_rows.language, address)
        asked = said(language, "You edited this message. Answer the new version?")
        yes_or_no = buttons(question, said(language, "Answer"), said(language, "Don't answer"))
        drafts = self._outbox.drafts(f"{key}:{{}}", address, asked, reply_to=edited.platform_id, buttons=yes_or_no)
        await self._outbox.write(drafts)

    async def accepted(self, question: StoredQuestion, session: str) -> list[InboxRow]:
        """Admits the new version as a message of its own; empty on a repeat. Raises `StorageUnavailable`."""
        edited = _MESSAGE.validate_json(question.subject)
        return await self._inbox.admit([AdmittedMessage(as_new(edited), session)])


def as_new(edited: InboundMessage) -> InboundMessage:
    return replace(edited, id=f"again:{edited.id}", edit=False)
