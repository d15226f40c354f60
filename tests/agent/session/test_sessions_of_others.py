"""Talks with others that earlier versions began: what of the owner's stood in them is sent no more (invariant 8)."""

from __future__ import annotations

import asyncio

import pytest

from agent.memory.scope import Audience, Scope
from agent.session.archive import Archive
from agent.session.entries import Header, MessageEntry, Meta, RedactionEntry, SeenFile
from agent.session.transcript import Transcript
from agent.values import SessionKey
from tests.agent.home import OWNER, Home, end

RULES = '<daybook-rules name="AGENTS.md">\nBe kind.\n</daybook-rules>'
TOOLS = '<daybook-rules name="TOOLS.md">\nThe key box: CANARY 4711\n</daybook-rules>'
CHANGED = """[2026-11-20 Fri 08:30 Europe/Berlin · Telegram · Bob]
<daybook-rules name="TOOLS.md">
Added to the file since you last saw it:
The cellar: CANARY 4712
</daybook-rules>
<daybook-rules name="skills">
Skills. Before you do what one is about, read it with skill_read.
- taxes: CANARY how to file (for your owner only, in private)
</daybook-rules>
<daybook-rules name="skill rules">
CANARY always
</daybook-rules>
<daybook-document name="TOOLS.md">
of Bob himself
</daybook-document>
What is in it?"""
GROUP = SessionKey("main", "group/telegram--100")
PERSON = SessionKey("main", "person/bob")


def begun_before(home: Home, key: SessionKey) -> Transcript:
    """As it was written when TOOLS.md and all skills stood in every prompt."""
    archive = Archive(home.sessions, key.agent)
    whole = ((1, 1),)
    files = {"AGENTS.md": SeenFile("x", 9, 1, whole, whole), "TOOLS.md": SeenFile("y", 24, 1, whole, whole)}
    header = Header("20261120-073000-000-abcd", key.path, key.agent, "2026-11-20T07:30:00Z", (RULES, TOOLS), files)
    transcript = Transcript.create(archive.path(key, header.id), header)
    archive.make_current(key, header.id)
    return transcript


@pytest.mark.parametrize(
    ("key", "audience", "id"), [(GROUP, Audience.GROUP, "telegram--100"), (PERSON, Audience.PERSON, "bob")]
)
async def test_invariant_08_an_older_talk_with_others_is_rid_of_the_owner_s(
    home: Home, key: SessionKey, audience: Audience, id: str
) -> None:
    transcript = begun_before(home, key)
    asked = MessageEntry("e000001", "2026-11-20T07:30:00Z", "user", ({"type": "text", "text": CHANGED},), Meta("t1"))
    answer = MessageEntry("e000002", "2026-11-20T07:30:05Z", "assistant", ({"type": "text", "text": "Much."},))
    await transcript.append(asked, answer)
    (home.workspace / "AGENTS.md").write_text("Be kind.")
    (home.workspace / "TOOLS.md").write_text("CANARY now")
    scope = Scope(audience, home.workspace, id)
    for _ in range(2):  # a second process finds it done
        agent, model = home.agent("Hello.", otherwise="NO_REPLY")
        await end(agent, home.request("hi", session=key, scope=scope))
        (request,) = model.requests
        assert "CANARY" not in str(request)
        assert "Be kind." in str(request.system)
        assert "of Bob himself" in str(request) and "What is in it?" in str(request)
    assert "CANARY" not in await agent.export(key)
    assert sum(isinstance(one, RedactionEntry) for one in Transcript.read(transcript.path).entries) == 1
    task = asyncio.create_task(agent.run())
    await agent.new_session(key, scope)
    await agent.idle()
    task.cancel()
    assert "CANARY" not in f"{model.requests}{model.silent}"


async def test_the_owner_s_own_older_talk_stays_as_it_is(home: Home) -> None:
    transcript = begun_before(home, OWNER)
    agent, model = home.agent("Hello.")
    await end(agent, home.request("hi"))
    assert "CANARY 4711" in str(model.requests[0].system)
    assert not any(isinstance(one, RedactionEntry) for one in Transcript.read(transcript.path).entries)
