"""Several chats that need the owner's login at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.settings import GroupLogs
from agent.tools.base import ToolError
from channels.ids import PersonId
from channels.manifest import ChannelRules
from gateway.features.mcp.config import RemoteMcpServer
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.login_flow import McpLogins
from gateway.features.mcp.login_requests import LoginRequests
from gateway.features.mcp.servers import McpServers
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access
from gateway.policy.sessions import AgentHome, SessionPolicy
from gateway.scheduling.targets import OwnerReports
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from tests.fakes.mcp_http import FakeMcpHttp
from tests.fakes.oauth import FakeLoginServer
from tests.gateway.conftest import OWNER, Moment, Say


async def test_a_login_that_fails_is_told_to_each_chat_that_needs_it_and_the_next_need_begins_again(
    tmp_path: Path, database: Database, moment: Moment, say: Say
) -> None:
    owners = frozenset({PersonId("telegram", OWNER)})
    access = Access(
        database,
        moment.clock,
        {"telegram": ChannelRules()},
        owners,
        {"bob": frozenset({PersonId("telegram", "22222")})},
    )
    sessions = SessionPolicy(access, {"main": AgentHome(tmp_path, GroupLogs.OWN)}, "main")
    outbox = Outbox(database, moment.clock, {})
    of_owner = InboxRow(1, "main/owner", say("what is far away?", chat=OWNER))
    of_bob = InboxRow(2, "main/bob", say("what is far away?", chat="22222", sender="22222"))
    async with (
        FakeLoginServer() as login_server,
        FakeMcpHttp(login_server) as http,
        McpServers(KeptMcp(tmp_path / "mcp")) as servers,
    ):
        server = servers.server("far", RemoteMcpServer(url=http.url))
        reports = OwnerReports(database, access, outbox, ["telegram"])
        logins = McpLogins(servers, lambda: "")
        requests = LoginRequests(logins, database, moment.clock, outbox, reports, servers.run)
        login_server.registers = False

        async def told(row: InboxRow) -> str:
            try:
                return await requests.ask(server, row, sessions.of_row(row))
            except ToolError as error:
                return str(error)

        failed = await asyncio.gather(*map(told, (of_bob, of_owner, of_owner, of_bob)))
        assert len(set(failed)) == 1 and "which can't begin" in failed[0]
        login_server.registers = True
        assert "a link for it is in their private chat" in await told(of_owner)
