"""Several agents: which one answers, and that they know nothing of one another."""

from __future__ import annotations

import dataclasses

import pytest

from channels.message import Address, InboundMessage
from channels.scripted import ScriptedChannel
from gateway.config.schema import Route
from gateway.policy.sessions import Routes
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook, Say

ROUTES = (
    Route(channel="discord", agent="any-discord"),
    Route(channel="discord", guild="9", agent="server"),
    Route(channel="discord", guild="9", user="7", agent="person-in-server"),
    Route(channel="discord", chat="500", agent="room"),
    Route(channel="discord", chat="501", agent="thread"),
    Route(channel="telegram", account="bot2", agent="second-bot"),
    Route(channel="telegram", chat=GROUP, agent="first"),
    Route(channel="telegram", chat=GROUP, agent="never"),
    Route(channel="telegram", user=ALICE, agent="alice"),
)


def at(say: Say, channel: str, chat: str, sender: str = "1", *, account: str = "", **more: str) -> InboundMessage:
    message = say("hi", chat=chat, sender=sender)
    return dataclasses.replace(message, address=Address(channel, chat, account=account), **more)


@pytest.fixture
def routes() -> Routes:
    return Routes(ROUTES, "main", lambda _, chat: {"-1009": GROUP}.get(chat, chat))


def test_the_most_specific_route_wins_and_of_equals_the_first(routes: Routes, say: Say) -> None:
    assert routes.agent(at(say, "terminal", "main")) == "main"
    assert routes.agent(at(say, "telegram", "1")) == "main"
    assert routes.agent(at(say, "telegram", "1", account="bot2")) == "second-bot"
    assert routes.agent(at(say, "discord", "1")) == "any-discord"
    assert routes.agent(at(say, "discord", "1", server="9")) == "server"
    assert routes.agent(at(say, "discord", "1", "7", server="9")) == "person-in-server"
    assert routes.agent(at(say, "discord", "1", "7", server="8")) == "any-discord"
    assert routes.agent(at(say, "discord", "500", "7", server="9")) == "room"
    assert routes.agent(at(say, "telegram", GROUP)) == "first"
    assert routes.agent(at(say, "telegram", GROUP, ALICE)) == "first"
    assert routes.agent(at(say, "telegram", ALICE, ALICE)) == "alice"


def test_a_thread_follows_its_parent_unless_it_has_a_route_of_its_own(routes: Routes, say: Say) -> None:
    assert routes.agent(at(say, "discord", "777", parent_chat="500")) == "room"
    assert routes.agent(at(say, "discord", "501", parent_chat="500")) == "thread"


def test_a_group_that_has_moved_keeps_its_agent(routes: Routes, say: Say) -> None:
    assert routes.agent(at(say, "telegram", "-1009")) == "first"


async def test_two_agents_have_each_their_own_workspace_memory_and_talks(daybook: Daybook) -> None:
    discord = ScriptedChannel("discord")
    daybook.others = (discord,)
    daybook.settings |= {
        "people": {"ann": [f"telegram:{OWNER}", "discord:2"]},
        "agents": {"main": None, "work": {"workspace": "work", "model": {"provider": "offline"}}},
        "routes": [{"channel": "discord", "agent": "work"}],
    }
    daybook.model.then("At home.", "At work.")
    async with daybook.running() as gateway:
        daybook.chat.say("/remember the cat is called Zymo")
        await daybook.chat.wait_heard()
        discord.say("/remember the boss is called Zyjo", sender="2")
        await discord.wait_heard()
        daybook.chat.say("Who are you?")
        await daybook.chat.wait_heard(2)
        discord.say("Who are you?", sender="2")
        await discord.wait_heard(2)
        found = await gateway.ask("memory.search", query="called", agent="work")
        default = await gateway.ask("memory.search", query="called")
        log = await gateway.ask("memory.log", agent="work")
    home, work = daybook.model.requests
    assert (home.session, work.session) == ("main/owner", "work/owner")
    assert "Zymo" in str(home) and "Zyjo" not in str(home)
    assert "Zyjo" in str(work) and "Zymo" not in str(work)
    assert "Zymo" in (next((daybook.workspace / "memory").glob("2*.md"))).read_text()
    assert "Zyjo" in (next((daybook.home.workspace("work") / "memory").glob("2*.md"))).read_text()
    assert "Zyjo" in str(found) and "Zymo" not in str(found)
    assert "Zymo" in str(default) and "Zyjo" not in str(default)
    assert "Zyjo" in str(log) and "Zymo" not in str(log)


async def test_a_search_finds_as_many_passages_as_its_agent_is_configured_for(daybook: Daybook) -> None:
    few = {"workspace": "work", "memory": {"search": {"max_results": 1}}}
    daybook.settings["agents"] = {"main": None, "work": few}
    for folder in (daybook.workspace, daybook.home.workspace("work")):
        (folder / "memory").mkdir(parents=True)
        (folder / "memory" / "2026-11-20.md").write_text(
            "# 2026-11-20\n\n- 08:00 The cat is Zymo\n- 09:00 A cat: Zyjo\n"
        )
    async with daybook.running() as gateway:
        home, work = [await gateway.ask("memory.search", query="cat", agent=agent) for agent in ("main", "work")]
    assert isinstance(home, list) and isinstance(work, list)
    assert (len(home), len(work)) == (2, 1)
