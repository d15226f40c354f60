"""Who may speak, decided by numeric id; and how somebody new is let in."""

from __future__ import annotations

import asyncio
import string
from dataclasses import replace
from datetime import timedelta

import pytest

from channels.ids import PersonId
from channels.manifest import ChannelRules, DmPolicy, GroupRule, ServerRule
from channels.message import Address, ChatKind, InboundMessage, Sender
from gateway.policy.access import (
    CODE_LENGTH,
    CODE_LIFETIME,
    OPEN_CODES_PER_CHANNEL,
    Access,
    Admitted,
    ContextOnly,
    Ignored,
    NoSuchCode,
    Role,
    Unknown,
)
from gateway.store import access_rows, inbox_rows
from gateway.store.access_rows import Approved, PairingRequest
from gateway.store.database import Database
from tests.gateway.conftest import ALICE, GROUP, OWNER, STRANGER, Moment, Say


class Door:
    """Access with rules that a test may set before it asks."""

    def __init__(self, database: Database, moment: Moment) -> None:
        self.database = database
        self.moment = moment
        self.rules = ChannelRules()
        self.owners = [f"telegram:{OWNER}"]
        self.people: dict[str, list[str]] = {}

    async def open(self) -> Access:
        access = Access(
            self.database,
            self.moment.clock,
            {"telegram": self.rules},
            frozenset(map(PersonId.parse, self.owners)),
            {name: frozenset(map(PersonId.parse, accounts)) for name, accounts in self.people.items()},
        )
        await access.load()
        return access


@pytest.fixture
def door(database: Database, moment: Moment) -> Door:
    return Door(database, moment)


async def ask(door: Door, access: Access, user: str = STRANGER, channel: str = "telegram") -> PairingRequest:
    request = access.new_request(channel, user, f"Person {user}")
    await door.database.run(access_rows.request, request)
    access.asked(request)
    return request


async def let_in(access: Access, code: str) -> Approved:
    person = access.asker(code)
    await access.let_in(person)
    return person


async def shut_out(access: Access, account: str) -> bool:
    person = access.approved(account)
    if person is not None:
        await access.shut_out(person)
    return person is not None


async def test_the_owner_is_known_by_number_and_not_by_name(door: Door, say: Say) -> None:
    access = await door.open()
    assert access.decide(say("Hi", sender=OWNER)) == Admitted(Role.OWNER, f"telegram-{OWNER}")
    impostor = access.decide(say("Hi", sender=STRANGER, name=f"Person {OWNER}"))
    assert impostor == Unknown(asks=True)


async def test_every_account_of_an_owner_is_the_owner(door: Door, say: Say) -> None:
    door.people = {"ann": [f"telegram:{OWNER}", "telegram:33333", "discord:44444"]}
    access = await door.open()
    assert access.decide(say("Hi", sender="33333")) == Admitted(Role.OWNER, "ann")
    assert access.is_owner("discord", "44444")
    assert not access.is_owner("discord", OWNER)


async def test_somebody_among_the_people_is_a_person_of_that_name(door: Door, say: Say) -> None:
    door.people = {"alice": [f"telegram:{ALICE}"]}
    access = await door.open()
    assert access.decide(say("Hi", sender=ALICE)) == Admitted(Role.PERSON, "alice")


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        (DmPolicy.PAIRING, Unknown(asks=True)),
        (DmPolicy.ALLOWLIST, Ignored("the sender is not on the allow-list")),
        (DmPolicy.OPEN, Admitted(Role.PERSON, f"telegram-{STRANGER}")),
        (DmPolicy.OFF, Ignored("private chats are off")),
    ],
)
async def test_a_stranger_in_private(door: Door, say: Say, policy: DmPolicy, verdict: object) -> None:
    door.rules = ChannelRules(policy)
    access = await door.open()
    assert access.decide(say("Hi", sender=STRANGER)) == verdict
    assert access.decide(say("Hi", sender=OWNER)) == Admitted(Role.OWNER, f"telegram-{OWNER}")


@pytest.mark.parametrize("policy", [DmPolicy.PAIRING, DmPolicy.ALLOWLIST])
async def test_who_is_on_the_allow_list_is_let_in(door: Door, say: Say, policy: DmPolicy) -> None:
    door.rules = ChannelRules(policy, allow=frozenset({ALICE}))
    access = await door.open()
    assert access.decide(say("Hi", sender=ALICE)) == Admitted(Role.PERSON, f"telegram-{ALICE}")


@pytest.mark.parametrize("group", [True, False])
async def test_bots_are_ignored_whoever_they_are(door: Door, say: Say, group: bool) -> None:
    door.rules = ChannelRules(DmPolicy.OPEN, groups={GROUP: GroupRule(mention_required=False)})
    access = await door.open()
    assert isinstance(access.decide(say("beep", chat=GROUP, sender=OWNER, is_bot=True, group=group)), Ignored)


async def test_an_unlisted_group_is_ignored_even_for_the_owner(door: Door, say: Say) -> None:
    access = await door.open()
    assert isinstance(access.decide(say("@bot", chat=GROUP, sender=OWNER, group=True)), Ignored)


async def test_a_group_hears_all_and_answers_when_called(door: Door, say: Say) -> None:
    door.rules = ChannelRules(groups={GROUP: GroupRule()})
    access = await door.open()
    called = say("@bot hi", chat=GROUP, sender=STRANGER, group=True)
    talk = say("hi all", chat=GROUP, sender=STRANGER, group=True, calls_bot=False)
    assert access.decide(called) == Admitted(Role.MEMBER, f"telegram-{STRANGER}")
    assert access.decide(talk) == ContextOnly()


async def test_with_optional_mention_every_message_calls(door: Door, say: Say) -> None:
    door.rules = ChannelRules(groups={GROUP: GroupRule(mention_required=False)})
    access = await door.open()
    assert isinstance(access.decide(say("hi", chat=GROUP, sender=STRANGER, group=True, calls_bot=False)), Admitted)


async def test_a_groups_list_says_who_may_call(door: Door, say: Say) -> None:
    door.rules = ChannelRules(groups={GROUP: GroupRule(allow=frozenset({ALICE}))})
    access = await door.open()
    assert isinstance(access.decide(say("@bot", chat=GROUP, sender=ALICE, group=True)), Admitted)
    assert access.decide(say("@bot", chat=GROUP, sender=STRANGER, group=True)) == ContextOnly()


async def test_a_server_is_listed_with_all_its_channels_or_some(door: Door, say: Say) -> None:
    called = say("@bot", chat="10", sender=STRANGER, group=True)
    in_server = replace(called, server="1")
    in_thread = replace(called, server="1", parent_chat="20")
    door.rules = ChannelRules(servers={"1": ServerRule()})
    access = await door.open()
    assert isinstance(access.decide(in_server), Admitted)
    assert isinstance(access.decide(called), Ignored)
    assert isinstance(access.decide(replace(called, server="2")), Ignored)

    door.rules = ChannelRules(servers={"1": ServerRule(GroupRule(allow=frozenset({ALICE})), frozenset({"20"}))})
    access = await door.open()
    assert isinstance(access.decide(in_server), Ignored)
    assert access.decide(in_thread) == ContextOnly()


async def test_the_rules_of_groups_say_nothing_of_private_chats(door: Door, say: Say) -> None:
    door.rules = ChannelRules(groups={GROUP: GroupRule(allow=frozenset({ALICE}))})
    access = await door.open()
    assert access.decide(say("hi", sender=ALICE)) == Unknown(asks=True)


async def test_a_thread_follows_its_parent(door: Door, database: Database) -> None:
    door.rules = ChannelRules(groups={"500": GroupRule()})
    access = await door.open()
    message = _in_thread("777", parent="500")
    assert isinstance(access.decide(message), Admitted)
    assert isinstance(access.decide(_in_thread("777", parent="501")), Ignored)


def _in_thread(chat: str, parent: str) -> InboundMessage:
    moment = Moment().now
    address = Address("telegram", chat)
    sender = Sender(STRANGER, "Somebody")
    return InboundMessage("m1", address, ChatKind.GROUP, sender, "hi", moment, parent_chat=parent)


async def test_a_group_keeps_its_rules_when_it_moves(door: Door, say: Say) -> None:
    door.rules = ChannelRules(groups={"-1": GroupRule()})
    access = await door.open()
    await door.database.run(inbox_rows.move_chat, "telegram", "-1", "-1001")
    access.chat_moved("telegram", "-1", "-1001")
    await door.database.run(inbox_rows.move_chat, "telegram", "-1001", "-1002")
    access.chat_moved("telegram", "-1001", "-1002")
    for known in (access, await door.open()):
        assert isinstance(known.decide(say("@bot", chat="-1002", group=True)), Admitted)
        assert known.first_chat_id("telegram", "-1002") == "-1"
        assert known.first_chat_id("discord", "-1002") == "-1002"


async def test_a_code_has_eight_letters_that_nobody_mixes_up(door: Door) -> None:
    access = await door.open()
    codes = {access.new_request("telegram", STRANGER, "X").code for _ in range(200)}
    assert len(codes) == 200
    for code in codes:
        assert len(code) == CODE_LENGTH == 8
        assert set(code) <= set(string.ascii_uppercase + string.digits) - set("0O1I")


async def test_one_open_request_per_stranger_and_three_per_channel(door: Door, say: Say) -> None:
    access = await door.open()
    await ask(door, access, "1")
    assert access.decide(say("again", sender="1")) == Unknown(asks=False)
    await ask(door, access, "2")
    assert access.decide(say("Hi", sender="3")) == Unknown(asks=True)
    await ask(door, access, "3")
    assert len(access.requests()) == OPEN_CODES_PER_CHANNEL == 3
    assert access.decide(say("Hi", sender="4")) == Unknown(asks=False)
    await ask(door, access, "9", channel="discord")
    assert len(access.requests()) == 4


async def test_a_code_is_good_for_an_hour(door: Door, moment: Moment, say: Say) -> None:
    access = await door.open()
    request = await ask(door, access)
    moment.pass_(CODE_LIFETIME - timedelta(seconds=1))
    assert [waiting.code for waiting in access.requests()] == [request.code]
    moment.pass_(timedelta(seconds=1))
    assert access.requests() == []
    with pytest.raises(NoSuchCode):
        await let_in(access, request.code)
    assert access.decide(say("Hi", sender=STRANGER)) == Unknown(asks=True)


async def test_an_open_code_outlives_a_restart_and_an_old_one_does_not(door: Door, moment: Moment) -> None:
    request = await ask(door, await door.open())
    assert (await door.open()).requests() == [request]
    moment.pass_(CODE_LIFETIME)
    assert (await door.open()).requests() == []


async def test_an_approved_person_is_let_in_also_after_a_restart(door: Door, say: Say) -> None:
    access = await door.open()
    request = await ask(door, access)
    person = await let_in(access, f" {request.code.lower()} ")
    assert person.role == Role.PERSON
    for known in (access, await door.open()):
        assert known.decide(say("Hi", sender=STRANGER)) == Admitted(Role.PERSON, f"telegram-{STRANGER}")
        assert known.requests() == []


async def test_who_is_let_in_or_shut_out_while_it_is_read_again_stays_so(door: Door) -> None:
    """Another gateway's change has it read again at any moment."""
    access = await door.open()
    request = await ask(door, access)
    await asyncio.gather(access.load(), let_in(access, request.code))
    assert access.approved(f"telegram:{STRANGER}") is not None and access.requests() == []
    await asyncio.gather(access.load(), shut_out(access, f"telegram:{STRANGER}"))
    assert access.approved(f"telegram:{STRANGER}") is None


async def test_a_code_is_good_once(door: Door) -> None:
    access = await door.open()
    request = await ask(door, access)
    await let_in(access, request.code)
    with pytest.raises(NoSuchCode):
        await let_in(access, request.code)


async def test_the_first_one_approved_becomes_the_owner_and_the_second_does_not(door: Door, say: Say) -> None:
    door.owners = []
    access = await door.open()
    first, second = await ask(door, access, "1"), await ask(door, access, "2")
    assert (await let_in(access, first.code)).role == Role.OWNER
    assert (await let_in(access, second.code)).role == Role.PERSON
    for known in (access, await door.open()):
        assert known.decide(say("Hi", sender="1")) == Admitted(Role.OWNER, "telegram-1")
        assert known.decide(say("Hi", sender="2")) == Admitted(Role.PERSON, "telegram-2")


async def test_an_owner_by_approval_owns_with_every_account(door: Door) -> None:
    door.owners = []
    door.people = {"ann": ["telegram:1", "discord:5"]}
    access = await door.open()
    await let_in(access, (await ask(door, access, "1")).code)
    assert access.is_owner("discord", "5")
    assert not access.is_owner("discord", "6")


@pytest.mark.parametrize("account", [STRANGER, f"telegram:{STRANGER}"])
async def test_who_is_revoked_is_a_stranger_again(door: Door, say: Say, account: str) -> None:
    access = await door.open()
    await let_in(access, (await ask(door, access)).code)
    assert await shut_out(access, account)
    assert not await shut_out(access, account)
    for known in (access, await door.open()):
        assert isinstance(known.decide(say("Hi", sender=STRANGER)), Unknown)


async def test_an_id_that_fits_two_people_revokes_neither(door: Door) -> None:
    access = await door.open()
    await let_in(access, (await ask(door, access, "5")).code)
    await let_in(access, (await ask(door, access, "5", channel="discord")).code)
    assert not await shut_out(access, "5")
    assert await shut_out(access, "discord:5")
    assert len(access.approvals()) == 1


async def test_whoever_sits_at_the_machine_is_the_owner(door: Door) -> None:
    access = await door.open()
    assert access.is_owner("terminal", "owner")
    assert access.is_owner("web", "owner")
