"""Who may see and change which jobs: a group the jobs that report to it, another person the jobs of their own chats,
the owner all."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass

from channels.message import Address, ChatKind
from gateway.policy.access import Access
from gateway.policy.recipients import ChatDirectory
from gateway.scheduling.job import OWNER, Job, JobKind
from gateway.scheduling.targets import NoTarget, OwnerReports
from gateway.store.chat_rows import KnownChat
from gateway.store.run_rows import Run


@dataclass(frozen=True, slots=True)
class Requester:
    """Who asks. `is_owner` only in the owner's private chats, or on their machine."""

    chat: Address | None
    person: str = ""
    """Empty in a group."""
    is_owner: bool = False


OPERATOR = Requester(None, is_owner=True)
"""The command line of this home."""


class JobAccess:
    """Decides who may use a job. `own` is the result of `own_chats` for the same requester."""

    def __init__(self, access: Access, reports: OwnerReports) -> None:
        self._access = access
        self._reports = reports

    async def own_chats(self, requester: Requester) -> frozenset[str]:
        """The requester's chats, as `to` names them."""
        own = {str(requester.chat)} if requester.chat is not None else set()
        if requester.person and not requester.is_owner:
            for chat in (await self._reports.targets()).known:
                person = self._access.person(chat.address.channel, chat.user_id)
                if chat.kind is ChatKind.PRIVATE and person == requester.person:
                    own.add(str(chat.address))
        return frozenset(own)

    def may_use(self, requester: Requester, job: Job, own: Collection[str]) -> bool:
        return requester.is_owner or (job.kind is not JobKind.BUILT_IN and self.current(job.to) in own)

    def may_answer(self, requester: Requester, run: Run, own: Collection[str]) -> bool:
        return requester.is_owner or (run.address is not None and self.current(str(run.address)) in own)

    def current(self, to: str) -> str:
        """`to` with the present id of its chat."""
        if to == OWNER:
            return to
        address = Address.parse(to)
        chat_id = self._access.current_chat_id(address.channel, address.chat_id)
        return str(dataclasses.replace(address, chat_id=chat_id))

    def chat_of(self, to: str) -> str:
        """`current` without the topic."""
        current = self.current(to)
        return current if current == OWNER else str(dataclasses.replace(Address.parse(current), thread_id=None))

    async def reports_to(self, to: str, chat: Address | None) -> bool:
        """True where a job with this `to` would report to the chat now."""
        if chat is None:
            return False
        try:
            target = str((await self._reports.targets()).owner().address) if to == OWNER else self.current(to)
        except NoTarget:
            return False
        return target == self.current(str(chat))

    async def chat(self, to: str) -> KnownChat | None:
        """The chat of an address, if it can be reached."""
        try:
            address = Address.parse(to)
        except ValueError:
            return None
        return ChatDirectory(self._access, (await self._reports.targets()).known).at(address)
