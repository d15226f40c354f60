"""Which session a message belongs to, and for whose ears its answer is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from agent.memory.scope import Audience
from agent.settings import GroupLogs
from channels.ids import PersonId
from channels.manifest import ChannelRules, DmPolicy, GroupRule
from channels.message import Address, InboundMessage
from gateway.policy.access import Access, Admitted
from gateway.policy.sessions import AgentHome, SessionPolicy, SessionRoute
from gateway.store.database import Database
from tests.gateway.conftest import ALICE, GROUP, OWNER, Moment, Say


@pytest.fixture
def access(database: Database, moment: Moment) -> Access:
    rules = ChannelRules(DmPolicy.OPEN, groups={GROUP: GroupRule(), "500": GroupRule()})
    people = {"alice": frozenset({PersonId("telegram", ALICE), PersonId("discord", "5")})}
    return Access(
        database,
        moment.clock,
        {"telegram": rules, "discord": rules},
        frozenset({PersonId("telegram", OWNER), PersonId("discord", "1")}),
        people,
    )


class Policy:
    def __init__(self, access: Access, workspace: Path) -> None:
        self._access = access
        self._sessions = SessionPolicy(access, {"main": AgentHome(workspace, GroupLogs.SHARED)}, "main")

    def of(self, message: InboundMessage) -> SessionRoute:
        verdict = self._access.decide(message)
        return self._sessions.route(message, verdict if isinstance(verdict, Admitted) else None)

    def path(self, message: InboundMessage) -> str:
        return self.of(message).session.path


@pytest.fixture
def policy(access: Access, tmp_path: Path) -> Policy:
    return Policy(access, tmp_path)


def on(channel: str, message: InboundMessage) -> InboundMessage:
    return dataclasses.replace(message, address=dataclasses.replace(message.address, channel=channel))


async def test_all_private_chats_of_the_owner_are_one_talk(policy: Policy, say: Say) -> None:
    assert policy.path(say("hi", chat=OWNER, sender=OWNER)) == "owner"
    assert policy.path(on("discord", say("hi", chat="7", sender="1"))) == "owner"
    assert policy.path(on("terminal", say("hi", chat="main", sender="owner"))) == "owner"


async def test_a_named_talk_of_the_terminal_is_its_own(policy: Policy, say: Say) -> None:
    assert policy.path(on("terminal", say("hi", chat="work", sender="owner"))) == "owner/work"
    hostile = policy.path(on("terminal", say("hi", chat="../../etc", sender="owner")))
    assert hostile.startswith("owner/")
    assert ".." not in hostile
    assert hostile.count("/") == 1


async def test_a_person_has_one_talk_over_all_platforms(policy: Policy, say: Say) -> None:
    here = policy.of(say("hi", chat=ALICE, sender=ALICE))
    there = policy.of(on("discord", say("hi", chat="9", sender="5")))
    assert here.session == there.session
    assert here.session.path == "person/alice"
    assert here.scope == there.scope
    assert (here.scope.audience, here.scope.id) == (Audience.PERSON, "alice")


async def test_somebody_unnamed_is_known_by_channel_and_number(policy: Policy, say: Say) -> None:
    assert policy.of(say("hi", sender="77")).scope.name == "person:telegram-77"


async def test_a_group_has_one_talk_whoever_speaks(policy: Policy, say: Say) -> None:
    by_owner = policy.of(say("hi", chat=GROUP, sender=OWNER, group=True))
    by_alice = policy.of(say("hi", chat=GROUP, sender=ALICE, group=True))
    assert by_owner.session == by_alice.session
    assert by_owner.session.path == "group/telegram--100123"
    assert by_owner.scope == by_alice.scope
    assert (by_owner.scope.audience, by_owner.scope.group_logs) == (Audience.GROUP, GroupLogs.SHARED)


async def test_a_topic_has_its_own_talk_in_the_groups_folder(policy: Policy, say: Say) -> None:
    topic = policy.of(say("hi", chat=GROUP, group=True, thread="7"))
    other = policy.of(say("hi", chat=GROUP, group=True, thread="8"))
    assert topic.session.path == "group/telegram--100123/7"
    assert topic.session != other.session
    assert topic.scope == other.scope


async def test_a_thread_with_an_id_of_its_own_shares_its_parents_folder(policy: Policy, say: Say) -> None:
    message = say("hi", chat="777", group=True)
    thread = policy.of(dataclasses.replace(message, parent_chat="500"))
    assert thread.scope.id == "telegram-500"
    assert thread.session.path == "group/telegram-500/777"


async def test_a_topic_in_a_private_chat_stays_in_the_persons_talk(policy: Policy, say: Say) -> None:
    message = say("hi", chat=OWNER, sender=OWNER)
    in_topic = dataclasses.replace(message, address=Address("telegram", OWNER, "3"))
    assert policy.path(in_topic) == "owner"


async def test_a_group_that_moves_keeps_its_talk(policy: Policy, access: Access, say: Say) -> None:
    before = policy.of(say("hi", chat=GROUP, group=True))
    access.chat_moved("telegram", GROUP, "-100999")
    after = policy.of(say("hi", chat="-100999", group=True))
    assert after.session == before.session
    assert after.scope == before.scope


async def test_what_is_overheard_belongs_to_the_group(policy: Policy, say: Say) -> None:
    talk = policy.of(say("hi all", chat=GROUP, sender="77", group=True, calls_bot=False))
    assert talk.session.path == "group/telegram--100123"
    assert not talk.is_private


async def test_the_same_chat_number_on_two_platforms_is_two_groups(policy: Policy, say: Say) -> None:
    message = say("hi", chat=GROUP, group=True)
    assert policy.of(message).scope.folder != policy.of(on("discord", message)).scope.folder
