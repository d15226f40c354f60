"""Where a job reports to."""

from __future__ import annotations

import pytest

from channels.manifest import ChannelRules, ServerRule
from channels.message import Address, ChatKind
from gateway.policy.access import Access
from gateway.scheduling.targets import NoTarget, Targets
from gateway.store.chat_rows import KnownChat
from gateway.store.database import Database
from tests.gateway.conftest import Moment

ROOM = KnownChat(Address("discord", "500"), ChatKind.GROUP, "", "7", "Bob", server="900", title="general")


@pytest.mark.parametrize(("server", "is_listed"), [("900", True), ("901", False)])
async def test_a_room_is_reached_by_the_rule_of_its_server(
    database: Database, moment: Moment, server: str, is_listed: bool
) -> None:
    rules = ChannelRules(servers={server: ServerRule()})
    access = Access(database, moment.clock, {"discord": rules}, frozenset(), {})
    targets = Targets(access, {"discord"}, [ROOM])
    if is_listed:
        assert targets.find("discord:500").address == ROOM.address
    else:
        with pytest.raises(NoTarget):
            targets.find("discord:500")
