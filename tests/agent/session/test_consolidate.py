"""What a talk leaves behind."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from agent.model.base import AccessDenied
from agent.model.scripted import Answer, Call, Reply
from tests.agent.long_talk import OWNER, LongTalk, told
from tests.agent.places import group


def save(history: str, *edits: tuple[str, str]) -> Reply:
    update = [{"old_text": old, "new_text": new} for old, new in edits]
    return Answer(calls=(Call("save_memory", {"history_entry": history, "memory_update": update}),))


async def ended(talk: LongTalk, words: str = "My boat is called Luna") -> None:
    async with talk.behind_it():
        await talk.say(words)
        await talk.agent.new_session(OWNER, talk.scope)


async def test_an_ended_talk_leaves_a_paragraph_and_edits(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, consolidation=save("They spoke\nof a boat.", ("tea", "coffee"), ("", "- boat: Luna")))
    (talk.workspace / "MEMORY.md").write_text("- likes tea\n- lives in Kiel\n- works as a nurse\n- has two sons\n")
    await ended(talk)
    assert re.fullmatch(
        r"# History\n\n\[2026-11-21 08:30\] They spoke of a boat\. \(talk \S+ e\d+\)\n", talk.read("memory/HISTORY.md")
    )
    assert talk.read("MEMORY.md").splitlines() == [
        "- likes coffee", "- lives in Kiel", "- works as a nurse", "- has two sons", "- boat: Luna",
    ]  # fmt: skip
    assert {change.by for change in talk.agent.history.changes()} >= {"consolidation"}
    (asked,) = talk.asked_for("consolidation")
    assert "My boat is called Luna" in told(asked) and "likes tea" in told(asked)


async def test_a_change_that_drops_too_much_is_kept_as_a_proposal(tmp_path: Path) -> None:
    before = "- likes tea\n- lives in Kiel\n- works as a nurse\n"
    talk = LongTalk(tmp_path, consolidation=save("Gone.", (before.strip(), "- nothing")))
    (talk.workspace / "MEMORY.md").write_text(before)
    await ended(talk)
    assert talk.read("MEMORY.md") == before
    (proposal,) = (talk.workspace / "memory/proposals").iterdir()
    assert "- nothing" in proposal.read_text() and "Proposed for MEMORY.md" in proposal.read_text()


async def test_a_group_changes_its_own_file_and_no_other(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, scope=group, consolidation=save("A plan.", ("", "- meets on Fridays")))
    (talk.workspace / "MEMORY.md").write_text("- CANARY\n")
    await ended(talk, "We meet on Fridays")
    assert talk.read("MEMORY.md") == "- CANARY\n"
    assert "Fridays" in talk.read("groups/telegram--100/GROUP.md")
    assert "A plan." in talk.read("groups/telegram--100/memory/HISTORY.md")
    assert "CANARY" not in "".join(told(request) + "".join(request.system) for request in talk.model.silent)


async def test_an_answer_in_plain_words_is_the_paragraph(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, consolidation="They spoke of a boat.")
    await ended(talk)
    assert "They spoke of a boat." in talk.read("memory/HISTORY.md")


async def test_without_a_model_an_extract_is_the_paragraph(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, consolidation=AccessDenied("The key is wrong."))
    await ended(talk)
    assert "My boat is called Luna" in talk.read("memory/HISTORY.md")


async def test_garbage_changes_nothing_and_passes_over_what_does_not_fit(tmp_path: Path) -> None:
    arguments = {"history_entry": 7, "memory_update": [1, {"old_text": "not there", "new_text": "x"}, {"a": 1}]}
    talk = LongTalk(tmp_path, consolidation=Call("save_memory", arguments))
    (talk.workspace / "MEMORY.md").write_text("- likes tea\n")
    await ended(talk)
    assert talk.read("MEMORY.md") == "- likes tea\n" and "Luna" in talk.read("memory/HISTORY.md")


async def test_each_compaction_leaves_a_paragraph_of_what_it_dropped(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, consolidation=lambda request: save(f"{told(request).count('more word')} messages"))
    numbers = itertools.count()
    async with talk.behind_it():
        while len(talk.entries("compaction")) < 2:
            await talk.say(f"more word {next(numbers)}", size=600)
    paragraphs = [line for line in talk.read("memory/HISTORY.md").splitlines() if line.startswith("[")]
    assert len(paragraphs) == 2 and all("messages" in line for line in paragraphs)
    first, second = (told(request) for request in talk.asked_for("consolidation"))
    assert "more word 0" in first and "more word 0" not in second
