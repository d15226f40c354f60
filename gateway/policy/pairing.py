"""Approves and revokes people, and informs those concerned in the same commit."""

from __future__ import annotations

import asyncio
import secrets

from agent.clock import Clock, utc_stamp
from agent.languages.examples import ABILITIES
from agent.languages.sentences import Sentence, SentenceSeries
from gateway.i18n import example_buttons
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access, Role
from gateway.store import chat_rows, outbox_rows
from gateway.store.access_rows import Approved
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.outbox_rows import Draft

_LET_IN = Sentence("You're approved.")
_OWNS = Sentence("You're approved, and you are my owner now.")
_SHUT_OUT = Sentence("My owner removed your access, so I won't answer here any more.")


class Pairing:
    def __init__(self, database: Database, clock: Clock, access: Access, outbox: Outbox) -> None:
        self._database = database
        self._clock = clock
        self._access = access
        self._outbox = outbox
        self._one_at_a_time = asyncio.Lock()  # only one can be the first, who becomes the owner

    async def approve(self, code: str) -> Approved:
        """Raises `NoSuchCode`."""
        async with self._one_at_a_time:
            person = self._access.asker(code)
            first = _OWNS if person.role == Role.OWNER else _LET_IN
            notice = await self._notice(person, SentenceSeries("\n", (first, ABILITIES)), has_examples=True)
            await self._access.let_in(person, lambda connection: self._write(connection, notice))
        self._outbox.wake(notice)
        return person

    async def revoke(self, account: str) -> bool:
        """`account` is `channel:id` or, if unique, the id alone."""
        async with self._one_at_a_time:
            person = self._access.approved(account)
            if person is None:
                return False
            notice = await self._notice(person, _SHUT_OUT)
            await self._access.shut_out(person, lambda connection: self._write(connection, notice))
        self._outbox.wake(notice)
        return True

    async def _notice(self, person: Approved, text: Sentence, *, has_examples: bool = False) -> list[Draft]:
        """The message to the person, if a private chat of theirs is known."""
        chat = await self._database.run(chat_rows.private_chat, person.channel, person.user_id)
        if chat is None:
            return []
        language = await self._database.run(chat_rows.language, chat)
        return self._outbox.drafts(
            f"access:{secrets.token_hex(8)}:{{}}",
            chat,
            text.in_language(language),
            buttons=example_buttons(language) if has_examples else (),
        )

    def _write(self, connection: Connection, notice: list[Draft]) -> None:
        outbox_rows.add(connection, notice, utc_stamp(self._clock.now()))
