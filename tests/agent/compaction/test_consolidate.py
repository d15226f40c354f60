"""What a talk leaves behind."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from agent.compaction.deferred import MOST_TRIES
from agent.model.base import AccessDenied, ModelRequest
from agent.model.scripted import Call, Reply, ScriptedAnswer
from tests.agent.long_conversation import OWNER, LongTalk, told
from tests.agent.places import group


def save(history: str, *edits: tuple[str, str]) -> Reply:
    update = [{"old_text": old, "new_text": new} for old, new in edits]
    return ScriptedAnswer(calls=(Call("save_memory", {"history_entry": history, "memory_update": update}),))


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


async def test_the_log_holds_no_words_of_the_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An edit that fits nowhere is refused with the nearest passage: for the model, not for the log."""
    talk = LongTalk(tmp_path, consolidation=save("They spoke.", ("my safe's code is 4712", "my safe's code is 9")))
    (talk.workspace / "MEMORY.md").write_text("- my safe's code is 4711\n")
    with caplog.at_level("DEBUG"):
        await ended(talk)
    assert "skipped an edit of MEMORY.md" in caplog.text
    assert "safe" not in caplog.text


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


async def test_an_extract_says_the_days_that_are_meant(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, consolidation=AccessDenied("The key is wrong."))
    await ended(talk, "The boat is launched tomorrow")
    assert "The boat is launched tomorrow (2026-11-22)" in talk.read("memory/HISTORY.md")


async def test_what_no_model_could_be_asked_is_made_up_for_once_it_answers(tmp_path: Path) -> None:
    down = AccessDenied("The key is wrong.")
    talk = LongTalk(tmp_path, consolidation=down)
    (talk.workspace / "MEMORY.md").write_text("- likes tea\n- lives in Kiel\n- works as a nurse\n- has two sons\n")
    async with talk.behind_it():
        await talk.say("My boat is called Luna")
        await talk.agent.new_session(OWNER, talk.scope)
    talk.started_anew()
    async with talk.behind_it():
        pass
    assert talk.read("memory/HISTORY.md").count("My boat is called Luna") == 1
    assert len(list(talk.sessions.rglob("*.owed"))) == 1

    talk.watch.later(days=1)
    talk.behind["consolidation"] = save("They spoke of a boat.", ("tea", "coffee"), ("", "- boat: Luna"))
    talk.started_anew()
    async with talk.behind_it():
        pass
    extract, paragraph = [line for line in talk.read("memory/HISTORY.md").splitlines() if line.startswith("[")]
    assert re.fullmatch(r"\[2026-11-21 08:30\] My boat is called Luna \(extract of (talk \S+ e\d+)\)", extract)
    (source,) = re.findall(r"extract of (talk \S+ e\d+)", extract)
    assert paragraph == (
        f"[2026-11-22 08:30] In place of the extract of 2026-11-21 08:30: They spoke of a boat. ({source})"
    )
    assert talk.read("MEMORY.md").splitlines()[0] == "- likes coffee" and "- boat: Luna" in talk.read("MEMORY.md")
    assert not list(talk.sessions.rglob("*.owed"))
    after = (talk.read("memory/HISTORY.md"), talk.read("MEMORY.md"))
    talk.started_anew()
    async with talk.behind_it():
        await talk.say("good morning")
    assert (talk.read("memory/HISTORY.md"), talk.read("MEMORY.md")) == after


async def test_a_turn_that_is_answered_is_the_next_chance(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, consolidation=AccessDenied("The key is wrong."))
    async with talk.behind_it():
        await talk.say("My boat is called Luna")
        await talk.agent.new_session(OWNER, talk.scope)
        await talk.agent.idle()
        talk.behind["consolidation"] = save("They spoke of a boat.")
        await talk.say("are you there again?")
    assert "In place of the extract of 2026-11-21 08:30: They spoke of a boat." in talk.read("memory/HISTORY.md")


async def test_the_tries_are_bounded_over_restarts(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, consolidation=AccessDenied("The key is wrong."))
    await ended(talk)
    for _ in range(MOST_TRIES + 2):
        talk.started_anew()
        async with talk.behind_it():
            pass
    assert len(talk.asked_for("consolidation")) == MOST_TRIES
    assert not list(talk.sessions.rglob("*.owed"))
    assert talk.read("memory/HISTORY.md").count("My boat is called Luna") == 1


async def test_where_history_cannot_be_written_its_paragraph_stays_owed(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, consolidation=save("They spoke of a boat."))
    history = talk.workspace / "memory/HISTORY.md"
    history.mkdir(parents=True)
    await ended(talk)
    history.rmdir()
    talk.started_anew()
    async with talk.behind_it():
        pass
    assert talk.read("memory/HISTORY.md").count("They spoke of a boat.") == 1


@pytest.mark.parametrize("what", ["HISTORY.md is a folder", "memory is a file", "HISTORY.md is read-only"])
async def test_what_cannot_be_written_is_never_given_up(tmp_path: Path, what: str) -> None:
    talk = LongTalk(tmp_path, consolidation=save("They spoke of a boat."))
    memory = talk.workspace / "memory"
    if what == "memory is a file":
        memory.write_text("a file")
    else:
        memory.mkdir()
        (memory / "HISTORY.md").mkdir() if "folder" in what else (memory / "HISTORY.md").write_text("")
        (memory / "HISTORY.md").chmod(0o500)
    told: list[str] = []

    async def tell(why: str) -> None:
        told.append(why)

    talk.agent.deferred.on_refused = tell
    async with talk.behind_it():
        await talk.say("My boat is called Luna")
        await talk.agent.new_session(OWNER, talk.scope)
        await talk.agent.idle()
        for _ in range(MOST_TRIES + 2):
            talk.agent.deferred.again()
            await talk.agent.idle()
        assert len(told) == 1 and "not written" in told[0], "once an outage"
        assert talk.asked_for("consolidation") == [], "nobody pays for what cannot be kept"
        if what == "memory is a file":
            memory.unlink()
        elif what == "HISTORY.md is a folder":
            (memory / "HISTORY.md").rmdir()
        else:
            (memory / "HISTORY.md").chmod(0o600)
        talk.agent.deferred.again()
        await talk.agent.idle()
    assert talk.read("memory/HISTORY.md").count("They spoke of a boat.") == 1
    assert not list(talk.sessions.rglob("*.owed"))


async def test_what_a_hand_writes_while_the_model_is_asked_is_kept(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    index = talk.workspace / "MEMORY.md"
    index.write_text("- tea at four\n- lives in Kiel\n- works as a nurse\n")
    by_hand = "- tea at five\n- lives in Kiel, by hand\n- works as a nurse\n- has two sons\n- by hand, and longer"

    def asked(request: ModelRequest) -> Reply:
        index.write_text(by_hand)
        return save("They spoke.", ("- tea at four", "- no tea"), ("as a nurse", "as a doctor"), ("", "- boat: Luna"))

    talk.behind["consolidation"] = asked
    await ended(talk)
    assert index.read_text() == by_hand.replace("a nurse", "a doctor") + "\n- boat: Luna\n"


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
