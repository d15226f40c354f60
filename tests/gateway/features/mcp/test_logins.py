"""Logins at servers by OAuth: by a link that the owner opens, against a strict authorization server."""

from __future__ import annotations

import asyncio
import json
import logging
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp.client.auth import AuthorizationCodeResult

from gateway.features.mcp.config import RemoteMcpServer
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.login_flow import McpLogins
from gateway.features.mcp.logins import Challenge, secrets_in
from gateway.features.mcp.oauth import log_in
from gateway.features.mcp.servers import ManagedServer, McpServers
from gateway.features.mcp.values import McpFailure
from tests.fakes.mcp_http import FakeMcpHttp
from tests.fakes.oauth import FakeLoginServer, arrived, opened, query


@dataclass(slots=True)
class Life:
    """One life of the servers on a home that stays."""

    servers: McpServers
    logins: McpLogins
    page: str = ""

    def server(self, url: str, **headers: str) -> ManagedServer:
        return self.servers.server("far", RemoteMcpServer.model_validate({"url": url, "headers": headers}))


@dataclass(slots=True)
class World:
    folder: Path
    logins: FakeLoginServer
    http: FakeMcpHttp
    lives: list[Life] = field(default_factory=list)

    @property
    def kept(self) -> Path:
        return self.folder / "mcp"

    def life(self, lasts: float = 3_600.0, page: str = "") -> Life:
        servers = McpServers(KeptMcp(self.kept))
        life = Life(servers, McpLogins(servers, lambda: life.page, lasts), page)
        return life


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with FakeLoginServer() as logins, FakeMcpHttp(logins) as http:
        yield World(tmp_path, logins, http)


async def logged_in(world: World, life: Life) -> ManagedServer:
    server = life.server(world.http.url)
    link = await life.logins.link(server)
    await arrived(await opened(link.address))
    assert (await link.ended).tools == 4
    return server


async def test_a_server_that_wants_a_login_says_so_and_works_after_it(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url)
        with pytest.raises(McpFailure, match="far needs a login") as caught:
            await server.call("look", {})
        assert caught.value.needs_login and server.login is not None and server.login.is_needed
        link = await life.logins.link(server)
        assert link.host == "127.0.0.1" and link.address.startswith(f"{world.logins.base_url}/authorize?")
        status, page = await arrived(await opened(link.address))
        assert status == 200 and "You are logged in to far" in page
        assert (await server.call("look", {"text": "it"})).text == "Found it far away"
        assert not server.login.is_needed and world.logins.refused == []
        [client] = world.logins.clients.values()
        assert client.name == "Daybook" and client.kind == "native"


async def test_a_login_lasts_over_a_restart_and_is_kept_privately(world: World) -> None:
    life = world.life()
    async with life.servers:
        await logged_in(world, life)
    [file] = (world.kept / "logins").glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url)
        assert (await server.call("look", {"text": "it"})).text == "Found it far away"
        assert world.logins.calls == ["register", "authorize", "authorization_code"]
        assert "canary" not in repr(server.login.grant if server.login else "")


async def test_a_token_is_renewed_by_itself_before_its_end_also_after_a_restart(world: World) -> None:
    world.logins.seconds = 10  # counts as over at once
    life = world.life()
    async with life.servers:
        server = await logged_in(world, life)
        await asyncio.gather(*(server.call("look", {"text": "it"}) for _ in range(5)))
    life = world.life()
    async with life.servers:
        await life.server(world.http.url).call("look", {"text": "it"})
    assert "refresh_token" in world.logins.calls and world.logins.refused == []


async def test_a_token_that_ends_early_is_renewed_and_the_call_is_made(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = await logged_in(world, life)
        world.logins.end_tokens()
        results = await asyncio.gather(*(server.call("look", {"text": "it"}) for _ in range(5)))
        assert {one.text for one in results} == {"Found it far away"} and len(world.http.calls) == 5
        assert world.logins.calls.count("refresh_token") == 1, "the parallel calls share one renewal"


async def test_two_processes_do_not_use_a_refresh_token_twice(world: World) -> None:
    one, other = world.life(), world.life()
    async with one.servers, other.servers:
        first = await logged_in(world, one)
        second = other.server(world.http.url)
        await second.start()
        world.logins.end_tokens()
        await asyncio.gather(first.call("look", {"text": "it"}), second.call("look", {"text": "it"}))
        await first.call("look", {"text": "it"})
        assert world.logins.refused == [] and world.logins.calls.count("refresh_token") == 1


async def test_a_grant_that_was_taken_back_needs_a_new_login(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = await logged_in(world, life)
        world.logins.revoke()
        for _ in range(3):  # and does not count as a failure that is waited for
            with pytest.raises(McpFailure, match="far needs a login"):
                await server.call("look", {})
        assert world.logins.calls.count("refresh_token") == 1, "a refused token is not shown again"
        assert server.tools is not None and server.login is not None and server.login.grant is None
        await logged_in(world, life)
        assert (await server.call("look", {"text": "it"})).text == "Found it far away"
    assert world.http.calls == ["look"]


async def test_a_login_server_that_is_down_is_no_reason_for_a_new_login(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = await logged_in(world, life)
        world.logins.end_tokens()
        world.logins.fails = 503
        with pytest.raises(McpFailure, match=r"the login of far can't be renewed: 127.0.0.1 answers 503") as caught:
            await server.call("look", {})
        assert not caught.value.needs_login and server.login is not None and server.login.grant is not None
        world.logins.fails = 0
        assert (await server.call("look", {"text": "it"})).text == "Found it far away"


async def test_a_tool_that_wants_more_rights_needs_another_login_for_them(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = await logged_in(world, life)
        world.http.wants_scope = "write"
        with pytest.raises(McpFailure, match="far needs a login"):
            await server.call("look", {})
        assert server.login is not None and server.login.grant is not None, "it counts for other things still"
        link = await life.logins.link(server)
        assert query(link.address)["scope"] == "write"
        await arrived(await opened(link.address))
        assert (await server.call("look", {"text": "it"})).text == "Found it far away"


async def test_logged_out_nothing_is_left(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = await logged_in(world, life)
        assert await life.logins.log_out(server)
        assert list((world.kept / "logins").glob("*.json")) == [] and world.logins.grants[0].is_over
        with pytest.raises(McpFailure, match="far needs a login"):
            await server.call("look", {})
        assert not await life.logins.log_out(server)


async def test_logged_out_here_also_where_the_login_server_is_down(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    life = world.life()
    async with life.servers:
        server = await logged_in(world, life)
        world.logins.fails = 503
        assert await life.logins.log_out(server)
    assert "may still count the login of far as good: 127.0.0.1 answers 503" in caplog.text


# the answer ---------------------------------------------------------------------------------------------------------


async def test_an_answer_is_good_once_and_only_with_the_state_of_its_link(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url)
        link = await life.logins.link(server)
        assert await life.logins.link(server) == link, "who asks again gets the same"
        address = await opened(link.address)
        state = query(address)["state"]
        for wrong in (address.replace(state, "x" * len(state)), address.replace(state, ""), "http://x/?state=&code=1"):
            with pytest.raises(McpFailure, match=r"belongs to no open login|not the address"):
                await life.logins.answer(wrong)
        assert (await life.logins.answer(f"  {address}\n")).tools == 4
        with pytest.raises(McpFailure, match="belongs to no open login"):
            await life.logins.answer(address)
        assert world.logins.calls.count("authorization_code") == 1 and world.logins.refused == []


@pytest.mark.parametrize(
    "pasted",
    [
        "",
        "hello",
        "https://x/?code=1",
        "http://[/?state=1&code=2",
        "https://x/?state=a&state=b&code=1",
        "?" + "a=1&" * 99,
        "https://x/?state=1&code=" + "x" * 30_000,
    ],
)
async def test_what_is_no_answer_is_said(world: World, pasted: str) -> None:
    with pytest.raises(McpFailure, match="not the address of a login's answer"):
        await world.life().logins.answer(pasted)


async def test_a_no_ends_the_login(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url)
        link = await life.logins.link(server)
        world.logins.declines = True
        status, page = await arrived(await opened(link.address))
        assert status == 400 and "It was declined (access_denied)" in page
        with pytest.raises(McpFailure, match="declined"):
            await link.ended
        world.logins.declines = False
        await logged_in(world, life)


async def test_a_link_ends(world: World) -> None:
    life = world.life(lasts=0.5)
    async with life.servers:
        link = await life.logins.link(life.server(world.http.url))
        address = await opened(link.address)
        with pytest.raises(McpFailure, match="was not used in time"):
            await link.ended
        with pytest.raises(McpFailure, match="belongs to no open login"):
            await life.logins.answer(address)
        assert world.logins.grants == []


async def test_a_code_that_somebody_else_used_is_refused(world: World) -> None:
    life = world.life()
    async with life.servers:
        link = await life.logins.link(life.server(world.http.url))
        address = await opened(link.address)
        world.logins.use_code(query(address)["code"])
        with pytest.raises(McpFailure, match="refused to finish the login"):
            await life.logins.answer(address)


# who is asked ---------------------------------------------------------------------------------------------------------


async def test_the_browser_comes_back_to_the_page_where_it_is_reached(world: World) -> None:
    life = world.life(page="https://daybook.example.org")
    async with life.servers:
        link = await life.logins.link(life.server(world.http.url))
        assert (await opened(link.address)).startswith("https://daybook.example.org/login/mcp?")
        [client] = world.logins.clients.values()
        assert client.kind == "web"


@pytest.mark.parametrize("page", ["http://192.168.1.5:8765", ""])
async def test_else_it_comes_back_to_this_machine(world: World, page: str) -> None:
    life = world.life(page=page)
    async with life.servers:
        link = await life.logins.link(life.server(world.http.url))
        back = urlsplit(await opened(link.address))
        assert (back.hostname, back.path) == ("127.0.0.1", "/login/mcp")


async def test_a_server_without_registration_says_what_to_do(world: World) -> None:
    world.logins.registers = False
    life = world.life()
    async with life.servers:
        with pytest.raises(McpFailure, match="put a key of yours under headers"):
            await life.logins.link(life.server(world.http.url))


async def test_a_server_without_any_login_says_what_to_do(world: World) -> None:
    async with FakeMcpHttp() as plain:
        life = world.life()
        async with life.servers:
            with pytest.raises(McpFailure, match="put a key of yours under headers"):
                await life.logins.link(life.server(plain.url))


async def test_with_a_key_there_is_no_login(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url, authorization="Bearer wrong")
        with pytest.raises(McpFailure, match=r"wants to know who is there \(401\)") as caught:
            await server.start()
        assert not caught.value.needs_login
        with pytest.raises(McpFailure, match="takes no login"):
            await life.logins.link(server)
    assert world.logins.calls == []


async def test_who_is_logged_in_is_not_asked_again(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = await logged_in(world, life)
        with pytest.raises(McpFailure, match=r"logged in at 127.0.0.1 already"):
            await life.logins.link(server)


async def test_a_login_server_that_lies_about_its_issuer_is_not_used(world: World) -> None:
    world.logins.lies = True
    life = world.life()
    async with life.servers:
        with pytest.raises(McpFailure, match="another one than it should be"):
            await life.logins.link(life.server(world.http.url))
    assert world.logins.calls == []


async def test_an_answer_of_another_issuer_is_not_redeemed(world: World) -> None:
    world.logins.poses_as = "https://mallory.example"
    life = world.life()
    async with life.servers:
        link = await life.logins.link(life.server(world.http.url))
        with pytest.raises(McpFailure, match="another one than it should be"):
            await life.logins.answer(await opened(link.address))
    assert "authorization_code" not in world.logins.calls


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("http://login.example.org", "login.example.org has no https"),
        ("http://10.0.0.1:8080", "has no https"),
        ("https://user:word@login.example.org", "must not name"),
    ],
)
async def test_a_login_server_without_https_is_not_asked(world: World, named: str, says: str) -> None:
    world.http.login_server = named
    life = world.life()
    async with life.servers:
        with pytest.raises(McpFailure, match=says):
            await life.logins.link(life.server(world.http.url))


async def test_a_server_far_away_does_not_send_us_to_programs_of_this_machine(world: World) -> None:
    where = f"{world.http.base_url}/.well-known/oauth-protected-resource/mcp"
    challenge = Challenge(401, f'Bearer resource_metadata="{where}"')
    never: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
    with pytest.raises(McpFailure, match=r"mcp\.example\.org names a login server that it must not name"):
        await log_in("https://mcp.example.org/mcp", challenge, None, "http://127.0.0.1:1/x", lambda *_: None, never)


@pytest.mark.parametrize(
    ("status", "header"),
    [
        (401, 'Bearer resource_metadata="hello"'),
        (401, 'Bearer resource_metadata="http://["'),
        (401, 'Bearer resource_metadata="http://a\x01b/"'),
        (401, 'Bearer resource_metadata="file:///etc/passwd"'),
        (401, "ä"),
        (403, 'Bearer scope="insufficient_scope"'),
        (403, ""),
    ],
)
async def test_a_challenge_that_makes_no_sense_ends_in_a_sentence(world: World, status: int, header: str) -> None:
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url)
        assert server.login is not None
        await server.login.need(Challenge(status, header), keeps_grant=False)
        with pytest.raises(McpFailure):
            await life.logins.link(server)
        with pytest.raises(McpFailure, match="needs a login"):  # and nothing else has ended
            await server.start()


async def test_a_login_whose_details_make_no_sense_counts_until_its_token_ends(world: World) -> None:
    life = world.life()
    async with life.servers:
        await logged_in(world, life)
    [file] = (world.kept / "logins").glob("*.json")
    known = json.loads(file.read_text())
    file.write_text(json.dumps({**known, "grant": {**known["grant"], "details": "{}"}}))
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url)
        await server.call("look", {})
        world.logins.end_tokens()
        with pytest.raises(McpFailure, match="far needs a login"):
            await server.call("look", {})
        await logged_in(world, life)
        assert await life.logins.log_out(server)


async def test_what_is_torn_on_disk_counts_as_not_logged_in(world: World) -> None:
    life = world.life()
    async with life.servers:
        await logged_in(world, life)
    [file] = (world.kept / "logins").glob("*.json")
    file.write_text(file.read_text()[:40])
    life = world.life()
    async with life.servers:
        with pytest.raises(McpFailure, match="far needs a login"):
            await life.server(world.http.url).start()
        await logged_in(world, life)


async def test_what_is_secret_in_a_kept_login_is_known(world: World) -> None:
    life = world.life()
    async with life.servers:
        await logged_in(world, life)
    [file] = (world.kept / "logins").glob("*.json")
    text = file.read_text()
    tokens = {one for one in world.logins.secrets if one in text}
    assert len(tokens) == 2 and set(secrets_in(text)) == tokens, "neither addresses nor names"
    kept = json.loads(text)
    details = json.loads(kept["grant"]["details"])
    details["client"]["client_secret"] = 'a "short" one'
    kept["grant"]["details"] = json.dumps(details)
    assert set(secrets_in(json.dumps(kept))) == {*tokens, 'a "short" one'}
    kept["grant"]["details"] = text[:40]
    assert secrets_in(json.dumps(kept)) == [kept["grant"]["access"]]
    assert secrets_in(text[:40]) == secrets_in("{}") == []


async def test_a_disk_that_takes_nothing_is_said(world: World) -> None:
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url)
        link = await life.logins.link(server)
        world.kept.joinpath("logins").rename(world.folder / "away")
        world.kept.joinpath("logins").write_text("in the way")
        with pytest.raises(McpFailure, match="can't be kept"):
            await life.logins.answer(await opened(link.address))


async def test_no_secret_is_in_the_log_or_in_an_error(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    life = world.life()
    async with life.servers:
        server = life.server(world.http.url)
        link = await life.logins.link(server)
        address = await opened(link.address)
        world.logins.use_code(query(address)["code"])
        with pytest.raises(McpFailure) as caught:
            await life.logins.answer(address)
        await logged_in(world, life)
        world.logins.end_tokens()
        await server.call("look", {})
        world.logins.revoke()
        with pytest.raises(McpFailure):
            await server.call("look", {})
    written = caplog.text + str(caught.value) + repr(link) + json.dumps([*map(repr, life.servers.kept.used())])
    assert not [one for one in world.logins.secrets if one in written] and query(address)["state"] not in written
