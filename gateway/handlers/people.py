"""Access: the operations behind `daybook pair`, and the people, groups and approvals of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import StringConstraints

from agent.languages.sentences import Sentence
from agent.memory.scope import Audience, ScopeBusy
from agent.model.base import Json
from channels.ids import Address, PersonId, folder_name
from channels.message import ChatKind
from gateway.kernel import Kernel
from gateway.messages.confirmations import ALWAYS
from gateway.operations import Argument, Id, OperationGroup, ResultReader, ResultTable, Row, operation
from gateway.policy.access import KnownAccount, ListedGroup, NoSuchCode, Role
from gateway.policy.pairing import Pairing
from gateway.rpc.protocol import OperationError
from gateway.store import chat_rows
from gateway.store.chat_rows import KnownChat
from gateway.tools.approvals import Approvals

Code: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True, min_length=1), Argument()]
_STATES = (Sentence("waiting"), Sentence("owner"), Sentence("person"), Sentence("member"))


def _state(row: Row, _: ResultReader) -> object:
    return next((state for state in _STATES if state == row.get("state")), row.get("state"))


_PEOPLE = ResultTable(
    {
        Sentence("code"): "code",
        Sentence("account"): lambda row, _: f"{row.get('channel')}:{row.get('user_id')}",
        Sentence("name"): "name",
        Sentence("state"): _state,
    },
    Sentence("No requests yet, and nobody is approved."),
)


class PeopleOperations(OperationGroup):
    refusals = (ScopeBusy,)

    def __init__(self, kernel: Kernel, pairing: Pairing, approvals: Approvals) -> None:
        self.kernel = kernel
        self._pairing = pairing
        self._approvals = approvals

    @operation("pair.list", shown=_PEOPLE, on_page=True)
    async def list(self) -> Json:
        """List open requests with their codes, and who is approved."""
        access = self.kernel.access
        waiting: list[Json] = [
            {
                "code": request.code,
                "channel": request.channel,
                "user_id": request.user_id,
                "name": request.name,
                "expires": request.expires_at,
                "state": "waiting",
            }
            for request in access.requests()
        ]
        known: list[Json] = [
            {
                "code": "",
                "channel": account.channel,
                "user_id": account.user_id,
                "name": account.name,
                "expires": "",
                "state": account.role,
            }
            for account in access.approvals()
        ]
        return waiting + known

    @operation("pair.approve", shown="message", on_page=True)
    async def approve(self, code: Code) -> Json:
        """Approve the person who was given CODE."""
        try:
            person = await self._pairing.approve(code)
        except NoSuchCode as error:
            raise _no_such_code(code) from error
        account = str(PersonId(person.channel, person.user_id))
        owner = person.role == Role.OWNER
        return {
            "id": account,
            "name": person.name,
            "role": person.role,
            "message": _approved(person.name, account, is_owner=owner),
        }

    @operation("pair.decline", on_page=True)
    async def decline(self, code: Code) -> Json:
        try:
            asked = await self.kernel.access.decline(code)
        except NoSuchCode as error:
            raise _no_such_code(code) from error
        account = str(PersonId(asked.channel, asked.user_id))
        return {
            "id": account,
            "message": Sentence(
                "{name} ({account}) is not let in, and is told nothing.", name=asked.name, account=account
            ),
        }

    @operation("pair.revoke", shown="message", on_page=True)
    async def revoke(self, id: Id) -> Json:
        """Stop answering ID, such as telegram:11111."""
        if not await self._pairing.revoke(id):
            why = Sentence("{account} is not approved. `daybook pair list` shows who is.", account=id)
            raise OperationError(why)
        return {"id": id, "message": Sentence("{account} can no longer talk to Daybook.", account=id)}

    @operation("people.list")
    async def people(self) -> Json:
        """`{people: [{id, name, role, accounts: [{id, approved}], spent_usd, limit_usd}], groups: [{id, title, server,
        mention, per_minute, allow, spent_usd, limit_usd}]}`, the owner first; sums are today's."""
        kernel = self.kernel
        chats = await kernel.database.run(chat_rows.known)
        names = {PersonId(chat.address.channel, chat.user_id): chat.user_name for chat in reversed(chats)}
        titles = {_group_of(chat): chat.title for chat in reversed(chats) if chat.kind is ChatKind.GROUP}
        found: dict[str, list[KnownAccount]] = {}
        for account in kernel.access.known_accounts():
            found.setdefault("" if account.role is Role.OWNER else account.person, []).append(account)
        return {
            "people": [
                self._person_json(accounts, names)
                for _, accounts in sorted(found.items(), key=lambda entry: entry[0] != "")
            ],
            "groups": [self._group_json(group, titles) for group in kernel.access.group_list()],
        }

    def _person_json(self, accounts: Sequence[KnownAccount], names: Mapping[PersonId, str]) -> Json:
        first, kernel = accounts[0], self.kernel
        is_owner = first.role is Role.OWNER
        spender = (Audience.OWNER, "") if is_owner else (Audience.PERSON, first.person)
        of_account = {account.account: account.name or names.get(account.account, "") for account in accounts}
        own_name = "" if first.person == first.account.folder else first.person
        return {
            "id": first.person,
            "name": own_name or next(filter(None, of_account.values()), ""),
            "role": first.role or "",
            "accounts": [
                {"id": str(account.account), "name": of_account[account.account], "approved": account.is_approved}
                for account in accounts
            ],
            "spent_usd": round(kernel.ledger.spent_today_by(spender), 6),
            "limit_usd": None if is_owner else kernel.config.limits.person_daily_usd,
        }

    def _group_json(self, group: ListedGroup, titles: Mapping[tuple[str, str], str]) -> Json:
        channel, id, rule, kernel = group.channel, group.id, group.rule, self.kernel
        current = kernel.access.current_chat_id(channel, id)
        spent = kernel.ledger.spent_today_by(
            (Audience.GROUP, folder_name(channel, kernel.access.first_chat_id(channel, id)))
        )
        return {
            "id": str(Address(channel, id)),
            "title": titles.get((channel, current), ""),
            "server": group.is_server,
            "mention": "required" if rule.mention_required else "optional",
            "per_minute": rule.per_minute,
            "allow": sorted(rule.allow),
            "spent_usd": round(spent, 6),
            "limit_usd": kernel.config.limits.group_daily_usd,
        }

    @operation("approvals.list")
    async def approvals(self) -> Json:
        """The questions that wait for the owner's yes, oldest first: a list of `{id, what, content, private, because,
        chat, until, lasting}`. `lasting`: the words that a lasting yes would count for, if it can be given."""
        return [
            {
                "id": approval.question.id,
                "what": approval.what,
                "content": approval.content,
                "private": approval.private,
                "because": approval.because,
                "chat": approval.chat,
                "until": approval.question.until,
                "lasting": approval.lasting,
            }
            for approval in await self._approvals.listed()
        ]

    @operation("approvals.answer", on_page=True)
    async def answer(self, id: Code, answer: Literal["yes", "always", "no"]) -> Json:
        """`{id, message}`, which says what was done."""
        approvals = self._approvals
        if answer == ALWAYS and not any(
            approval.question.id == id and approval.lasting for approval in await approvals.listed()
        ):
            raise OperationError(Sentence("That can't be allowed for always; answer yes or no."))
        try:
            message = await approvals.answer_from_elsewhere(id, is_yes=answer != "no", is_lasting=answer == ALWAYS)
        except KeyError as error:
            raise OperationError(Sentence("That question is closed: it was answered, or has expired.")) from error
        return {"id": id, "message": message}


def _approved(name: str, account: str, *, is_owner: bool) -> Sentence:
    if is_owner:
        return Sentence(
            "{name} ({account}) is approved and, as the first one, is the owner now.", name=name, account=account
        )
    return Sentence("{name} ({account}) is approved.", name=name, account=account)


def _group_of(chat: KnownChat) -> tuple[str, str]:
    return chat.address.channel, chat.parent_chat or chat.address.chat_id


def _no_such_code(code: str) -> OperationError:
    return OperationError(
        Sentence(
            "No open request has the code {code}. Codes are valid for one hour; `daybook pair list` shows them.",
            code=code,
        )
    )
