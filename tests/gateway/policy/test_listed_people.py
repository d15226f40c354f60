"""People, groups, pairing and approvals, as the page asks for them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from agent.model.scripted import Call
from gateway.rpc.protocol import OperationError
from tests.gateway.conftest import ALICE, GROUP, OWNER, STRANGER, Daybook, Running
from tests.gateway.tools.approving import FOREIGN, TO_GROUP, Owner


async def ask(gateway: Running, operation: str, **parameters: Any) -> Any:
    return await gateway.ask(operation, **parameters)


def settings(daybook: Daybook) -> None:
    daybook.settings |= {
        "people": {"anna": [f"telegram:{OWNER}", "discord:77"], "bob": ["telegram:33333"]},
        "channels": {"telegram": {"allow": [ALICE], "groups": {GROUP: {"mention": "optional", "per_minute": 7}}}},
        "limits": {"person_daily_usd": 0.5},
    }


async def test_people_and_groups_with_their_roles_and_limits(daybook: Daybook) -> None:
    settings(daybook)
    async with daybook.running() as gateway:
        daybook.chat.say("/whoami", chat=ALICE, sender=ALICE)
        await daybook.chat.wait_heard(1, chat=ALICE)
        found = await ask(gateway, "people.list")
    people = {person["id"]: person for person in found["people"]}
    assert found["people"][0]["id"] == "anna" and set(people) == {"anna", "bob", f"telegram-{ALICE}"}
    assert (people["anna"]["role"], people["anna"]["limit_usd"]) == ("owner", None)
    assert [account["id"] for account in people["anna"]["accounts"]] == [f"telegram:{OWNER}", "discord:77"]
    assert (people["bob"]["role"], people["bob"]["name"], people["bob"]["limit_usd"]) == ("person", "bob", 0.5)
    assert people[f"telegram-{ALICE}"]["accounts"][0]["approved"] is False
    (group,) = found["groups"]
    assert (group["id"], group["mention"], group["per_minute"]) == (f"telegram:{GROUP}", "optional", 7)


async def test_a_request_that_is_declined_is_gone_and_does_not_come_back_within_its_hour(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        daybook.chat.say("hello", chat=STRANGER, sender=STRANGER)
        await daybook.chat.wait_heard(1, chat=STRANGER)
        (code,) = await gateway.codes()
        assert STRANGER in (await ask(gateway, "pair.decline", code=code.lower()))["message"]
        assert await gateway.codes() == []
        for operation in ("pair.decline", "pair.approve"):
            with pytest.raises(OperationError, match="No open request"):
                await ask(gateway, operation, code=code)
        daybook.chat.say("hello?", chat=STRANGER, sender=STRANGER)
        daybook.chat.say("/whoami", chat=OWNER)
        await daybook.chat.wait_heard(1, chat=OWNER)
        assert await gateway.codes() == [] and len(daybook.chat.heard(STRANGER)) == 1
        daybook.moment.pass_(timedelta(hours=2))
        daybook.chat.say("and now?", chat=STRANGER, sender=STRANGER)
        await daybook.chat.wait_heard(2, chat=STRANGER)
        (other,) = await gateway.codes()
        await gateway.approve(other)
        found = (await ask(gateway, "people.list"))["people"]
    (person,) = (known for known in found if known["id"] == f"telegram-{STRANGER}")
    assert (person["role"], person["accounts"][0]["approved"]) == ("person", True)


@pytest.mark.parametrize(("answer", "outcome"), [("yes", 1), ("no", 0)])
async def test_what_waits_for_a_yes_is_answered_once(daybook: Daybook, answer: str, outcome: int) -> None:
    daybook.group()
    async with daybook.running() as gateway:
        owner = Owner(daybook)
        await owner.asks(Call("send_message", dict(TO_GROUP)), quote=FOREIGN)
        question = owner.question
        (approval,) = await ask(gateway, "approvals.list")
        assert (
            approval["content"] == "Dinner is ready" and GROUP in approval["what"] and "Mallory" in approval["because"]
        )
        with pytest.raises(OperationError, match="yes, always or no"):
            await ask(gateway, "approvals.answer", id=approval["id"], answer="perhaps")
        told = await ask(gateway, "approvals.answer", id=approval["id"], answer=answer)
        await daybook.chat.wait_until(lambda: daybook.chat.standing(OWNER)[question].text == told["message"])
        assert daybook.chat.heard(GROUP).count("Dinner is ready") == outcome
        assert await ask(gateway, "approvals.list") == []
        with pytest.raises(OperationError, match="closed"):
            await ask(gateway, "approvals.answer", id=approval["id"], answer=answer)
        assert await owner.commands("/approvals") == "Nothing is waiting for your yes."


async def test_a_question_is_still_open_after_a_crash(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running() as gateway:
        owner = Owner(daybook)
        await owner.asks(Call("send_message", dict(TO_GROUP)), quote=FOREIGN)
        await gateway.kill()
    async with daybook.running() as gateway:
        (approval,) = await ask(gateway, "approvals.list")
        await ask(gateway, "approvals.answer", id=approval["id"], answer="yes")
        await daybook.chat.wait_until(lambda: "Dinner is ready" in daybook.chat.heard(GROUP))
