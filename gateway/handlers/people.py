"""Access: the operations behind `daybook pair`."""

from __future__ import annotations

from collections.abc import Mapping

from agent.model.base import Json
from gateway.commands.context import Services
from gateway.handlers.parameters import required
from gateway.policy.access import NoSuchCode, Role
from gateway.rpc.protocol import Operation, OperationError, Params


class PeopleOperations:
    def __init__(self, services: Services) -> None:
        self.services = services

    def table(self) -> Mapping[str, Operation]:
        return {"pair.list": self.list, "pair.approve": self.approve, "pair.revoke": self.revoke}

    async def list(self, _: Params) -> Json:
        access = self.services.access
        waiting: list[Json] = [
            {
                "code": one.code,
                "channel": one.channel,
                "user_id": one.user_id,
                "name": one.name,
                "expires": one.expires_at,
                "state": "waiting",
            }
            for one in access.requests()
        ]
        known: list[Json] = [
            {
                "code": "",
                "channel": one.channel,
                "user_id": one.user_id,
                "name": one.name,
                "expires": "",
                "state": one.role,
            }
            for one in access.approvals()
        ]
        return waiting + known

    async def approve(self, parameters: Params) -> Json:
        code = required(parameters, "code")
        try:
            person = await self.services.pairing.approve(code)
        except NoSuchCode as error:
            raise OperationError(
                f"no open request has the code {code}; codes are good for one hour (`daybook pair list` shows them)"
            ) from error
        account = f"{person.channel}:{person.user_id}"
        owner = person.role == Role.OWNER
        said = f"{person.name} ({account}) is approved"
        return {
            "id": account,
            "name": person.name,
            "role": person.role,
            "message": f"{said} and is the owner now: the first one approved becomes it." if owner else f"{said}.",
        }

    async def revoke(self, parameters: Params) -> Json:
        account = required(parameters, "id")
        if not await self.services.pairing.revoke(account):
            raise OperationError(f"{account} is not among the approved (`daybook pair list` shows them)")
        return {"id": account, "message": f"{account} may no longer talk to me."}
