"""Stories: a person writes in Telegram, the assistant answers, and what was told is on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.story import ALICE, BOB, GROUP, story


async def test_first_hello(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Hello Alice, good to meet you!")
        told.say("Hello, who are you?")

        await told.hears("good to meet you")

        assert told.heard() == ["Hello Alice, good to meet you!"]
        newest = told.asked[-1].body["messages"][-1]["content"][-1]["text"]
        assert newest.startswith("[") and "Europe/Berlin · Telegram · Alice]\n" in newest
        assert newest.endswith("Hello, who are you?")


@pytest.mark.on_both
async def test_what_was_told_is_on_disk_and_known_after_a_restart(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        async with told.running():
            told.model.answer(tool=("memory_append", {"text": "Alice's cat is called Luna."}))
            told.model.answer("I'll remember Luna.")
            told.say("Please remember that my cat is called Luna.")
            await told.hears("I'll remember Luna.")

        assert "Luna" in told.log().read_text()
        assert told.log().read_text().startswith(f"# {told.log().stem}\n")

        async with told.running():
            told.model.answer("She is called Luna.")
            told.say("What is my cat called?")
            await told.hears("She is called Luna.")

        assert "Please remember that my cat is called Luna." in told.last_asked
        told.no_request_was_refused()


async def test_system_and_tools_are_the_same_bytes_over_turns_and_restarts(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        for number in range(2):
            async with told.running():
                for part in "ab":
                    told.model.answer(tool=("memory_append", {"text": f"noted {number}{part}"}))
                    told.model.answer(f"answer {number}{part}")
                    told.say(f"question {number}{part}")
                    await told.hears(f"answer {number}{part}")

        fixed = {str((request.body["system"], request.body["tools"])) for request in told.asked}
        assert len(fixed) == 1


async def test_today_and_yesterday_stand_before_the_owner_and_older_days_do_not(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.write("MEMORY.md", "# Memory\n\n- Alice is allergic to CANARY-PEANUTS\n")
        for days_ago, word in enumerate(("CANARY-TODAY", "CANARY-YESTERDAY", "CANARY-BEFORE")):
            log = told.log(days_ago)
            told.write(str(log.relative_to(told.workspace)), f"# {log.stem}\n\n- 09:00 {word}\n")
        async with told.running():
            told.model.answer("Good morning!")
            told.say("Good morning")
            await told.hears("Good morning!")

        for word in ("CANARY-PEANUTS", "CANARY-TODAY", "CANARY-YESTERDAY"):
            assert word in str(told.asked[-1].body["system"])
        assert "CANARY-BEFORE" not in told.last_asked


async def test_invariant_08_a_group_and_another_person_never_get_a_private_byte(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.write("MEMORY.md", "- CANARY-MEMORY\n")
        told.write("USER.md", "- CANARY-USER\n")
        told.write("memory/notes/secret.md", "---\nname: secret\ndescription: CANARY-NOTE\n---\nCANARY-NOTE\n")
        log = told.log()
        told.write(f"memory/{log.name}", f"# {log.stem}\n\n- 09:00 CANARY-LOG\n")
        async with told.running():
            told.model.answer("Noted.")
            told.say("Between us: CANARY-TALK")
            await told.hears("Noted.")
            private = len(told.asked)

            told.model.answer(
                tools=[
                    ("memory_search", {"query": "CANARY"}),
                    ("memory_get", {"path": "../../MEMORY.md"}),
                    ("read_file", {"path": "../../USER.md"}),
                    ("read_file", {"path": str(told.workspace / "MEMORY.md")}),
                ]
            )
            told.model.answer("I know nothing of that.")
            told.call("what do you know about Alice?", user=BOB, name="Bob")
            await told.hears("I know nothing of that.", GROUP)

            told.model.answer(tools=[("memory_search", {"query": "CANARY"}), ("list_files", {"path": ".."})])
            told.model.answer("Nothing, Bob.")
            told.say("What do you know about Alice?", chat=BOB, name="Bob")
            await told.hears("Nothing, Bob.", BOB)

        for request in told.asked[private:]:
            text = str(request.body)
            for word in ("CANARY-MEMORY", "CANARY-USER", "CANARY-NOTE", "CANARY-LOG", "CANARY-TALK"):
                assert word not in text
        told.no_request_was_refused()


async def test_a_stranger_is_let_in_by_a_code_and_not_before(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        told.say("Hi there!", chat=33333, name="Carol")
        answer = await told.hears("daybook pair approve", 33333)
        told.say("Hello??", chat=33333, name="Carol")
        told.model.answer("Still here, Alice.")
        told.say("Are you there?")
        await told.hears("Still here")
        assert len(told.heard(33333)) == 1
        assert [request.last_user_text.endswith("Are you there?") for request in told.asked] == [True]

        code = answer.text.split("approve ")[1][:8]
        told.say(f"/pair {code}")
        await told.hears("Carol")
        told.model.answer("Welcome, Carol!")
        told.say("And now?", chat=33333, name="Carol")
        await told.hears("Welcome, Carol!", 33333)

        waiting = await gateway.operations["pair.list"]({})
        assert [one["state"] for one in waiting] == ["person"]  # type: ignore[union-attr, index, call-overload]


async def test_only_the_token_of_silence_is_silent(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer(["NO", "_RE", "PLY"])
        told.say("thanks, no need to answer")
        told.model.answer("Now I answer.")
        await told.model.wait_for(lambda request: "no need" in request.last_user_text)
        told.say("and now?")
        await told.hears("Now I answer.")

        assert told.heard(ALICE) == ["Now I answer."]
        assert not any("NO" in draft.text and "Now" not in draft.text for draft in told.telegram.drafts)
