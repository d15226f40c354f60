"""The web in a conversation: what it says is others' text, and no address carries out what was read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from ipaddress import IPv4Address

import pytest

from agent.formats.addresses import AddressRules
from agent.model.scripted import Call
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook
from tests.gateway.features.web_tools.pages import Web, is_public, page, web
from tests.gateway.tools.approving import FOREIGN, TO_GROUP, Owner, sent

TEA = page("<html><title>Tea</title><p>Green tea. <a href='/water'>Water</a></p></html>")


def fetch(url: str, **more: int) -> Call:
    return Call("web_fetch", {"url": url, **more})


@pytest.fixture
def owner(daybook: Daybook) -> Owner:
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {}}, "allow": [ALICE]}}
    return Owner(daybook)


def opened(daybook: Daybook, one: Web) -> None:
    daybook.web_rules = one.rules


def at(one: Web, path: str = "/") -> str:
    return f"http://127.0.0.1:{one.port}{path}"


async def test_a_page_that_the_person_names_is_read_as_text_of_others(owner: Owner, daybook: Daybook) -> None:
    async with web({"/tea": TEA}) as one:
        opened(daybook, one)
        async with daybook.running():
            result = await owner.asks(fetch(at(one, "/tea")), text=f"What does {at(one, '/tea')} say?")
            assert result.startswith('<daybook-document name="127.0.0.1">')
            assert "Green tea. Water [1]" in result and f"[1] {at(one, '/water')}" in result
            await owner.asks(Call("send_message", TO_GROUP))
            assert not sent(daybook) and "127.0.0.1" in daybook.chat.standing(OWNER)[owner.question].text
    assert len(one.paths) == 1


async def test_a_page_is_opened_once_a_turn_and_shown_in_parts(owner: Owner, daybook: Daybook) -> None:
    async with web({"/long": page("word " * 5_000, "text/plain")}) as one:
        opened(daybook, one)
        async with daybook.running():
            url = at(one, "/long")
            result = await owner.asks(fetch(url), fetch(url, max_chars=100, **{"from": 24_990}), text=url)
    assert len(one.paths) == 1
    assert "characters" not in result and "word" in result
    (first,) = [
        str(block["content"])
        for block in daybook.model.requests[1].messages[-1].content
        if block["type"] == "tool_result"
    ]
    assert first.endswith("[characters 1 to 12,000 of 24,999; the next: from=12001]")


async def test_what_was_read_is_not_carried_out_by_an_address(owner: Owner, daybook: Daybook) -> None:
    async with web({"/tea": TEA, "/?q=4711": TEA, "/water": TEA}) as one:
        opened(daybook, one)
        async with daybook.running():
            leak = at(one, "/?q=4711")
            result = await owner.asks(fetch(leak), quote=FOREIGN)
            assert result.startswith("Waiting for the owner's yes") and one.paths == []
            assert leak in daybook.chat.standing(OWNER)[owner.question].text
            assert (await owner.presses("No")).startswith("Not done")
            assert (await owner.asks(fetch(leak), quote=FOREIGN)).startswith("Waiting"), "a no names no address"
            await owner.presses("Yes")
            assert "Green tea" in await owner.asks(fetch(leak), quote=FOREIGN)
            assert len(one.paths) == 1


@pytest.mark.parametrize("path", ["/tea?q=4711", "/tea/4711", "/tea4711", "/tea#x?4711", "/tea%2F4711"])
async def test_what_only_begins_as_a_named_address_asks(owner: Owner, daybook: Daybook, path: str) -> None:
    async with web({"/tea": TEA}) as one:
        opened(daybook, one)
        async with daybook.running():
            result = await owner.asks(fetch(at(one, path)), quote=FOREIGN, text=f"See {at(one, '/tea')}.")
    is_same = path == "/tea#x?4711"
    assert ("Green tea" in result) == is_same and result.startswith("Waiting") != is_same


async def test_links_of_a_page_may_be_followed(owner: Owner, daybook: Daybook) -> None:
    async with web({"/tea": TEA, "/water": page("<p>Soft water</p>")}) as one:
        opened(daybook, one)
        async with daybook.running():
            result = await owner.asks(fetch(at(one, "/tea")), fetch(at(one, "/water")), text=at(one, "/tea"))
    assert "Soft water" in result


async def test_an_address_in_a_file_or_in_a_failed_call_names_nothing(owner: Owner, daybook: Daybook) -> None:
    async with web({"/?q=4711": TEA}) as one:
        opened(daybook, one)
        leak = at(one, "/?q=4711")
        async with daybook.running():
            result = await owner.asks(
                Call("write_file", {"path": "x.md", "content": leak}),
                Call("read_file", {"path": "x.md"}),
                Call("web_fetch", {"url": "http://10.0.0.1/", "max_chars": leak}),
                Call("web_fetch", {"url": "http://10.0.0.1/", leak: 1}),
                fetch(leak),
                quote=FOREIGN,
            )
    assert result.startswith("Waiting") and one.paths == []


async def test_no_private_address_is_opened(owner: Owner, daybook: Daybook) -> None:
    async with web({"/": TEA}) as one:
        daybook.web_rules = AddressRules(frozenset({one.port}))
        async with daybook.running():
            result = await owner.asks(fetch(at(one)), text=f"Read {at(one)}")
    assert result == "The page was not read: it is in a private network." and one.paths == []
    assert is_public(IPv4Address("127.0.0.1"))


@pytest.mark.parametrize("tools", [{"web": False}, {}])
async def test_what_is_off_is_not_offered(owner: Owner, daybook: Daybook, tools: dict[str, bool]) -> None:
    daybook.settings["tools"] = tools
    async with daybook.running():
        await owner.asks()
    names = {tool.name for tool in daybook.model.requests[-1].tools}
    assert "web_search" not in names and ("web_fetch" in names) == (not tools)


async def test_a_search_names_pages(owner: Owner, daybook: Daybook) -> None:
    async with web({}) as one:
        opened(daybook, one)
        found = f'{{"results": [{{"title": "Tea", "url": "{at(one, "/tea")}", "content": "Green"}}]}}'
        pages = {"/search?q=tea&format=json": page(found, "application/json"), "/tea": TEA}
        async with web(pages) as engine:
            daybook.settings["tools"] = {"web_search": {"kind": "searxng", "base_url": at(engine, "")}}
            daybook.web_rules = replace(engine.rules, ports=frozenset({one.port, engine.port}))
            pages["/search?q=tea&format=json"] = page(
                found.replace(str(one.port), str(engine.port)), "application/json"
            )
            async with daybook.running():
                result = await owner.asks(Call("web_search", {"query": "tea"}))
                assert f"1. Tea\n{at(engine, '/tea')}\nGreen" in result
                assert "Green tea" in await owner.asks(fetch(at(engine, "/tea")))
                await owner.asks(Call("send_message", TO_GROUP))
                assert "web" in daybook.chat.standing(OWNER)[owner.question].text and not sent(daybook)


async def test_a_job_reads_the_web(owner: Owner, daybook: Daybook) -> None:
    async with web({"/news": page("<p>Tea is cheaper</p>")}) as one:
        opened(daybook, one)
        async with daybook.running() as running:
            add = {"kind": "prompt", "text": f"Tell me {at(one, '/news')}", "when": {"every": "1h"}}
            await owner.asks(Call("schedule_add", add))
            daybook.model.then(fetch(at(one, "/news")), "Tea is cheaper today.")
            daybook.moment.pass_(timedelta(hours=1, minutes=1))
            await running.ticks()
            await daybook.chat.wait_until(lambda: "Tea is cheaper today." in daybook.chat.heard(OWNER))
    assert len(one.paths) == 1
