"""Stories: one person with two accounts, a group that talks while it is answered, files that are sent."""

from __future__ import annotations

from pathlib import Path

from tests.flows.story import ALICE, BOB, GROUP, story

ALICE_AT_WORK = 44444
CARLA = 33333


async def test_a_talk_begun_on_one_account_goes_on_on_the_other(tmp_path: Path) -> None:
    people = {"alice": [f"telegram:{ALICE}", f"telegram:{ALICE_AT_WORK}"]}
    async with story(tmp_path, people=people) as told, told.running():
        told.model.answer("Noted, Luna.")
        told.say("My cat is called Luna.")
        await told.hears("Noted")

        told.model.answer("She is called Luna.")
        told.say("What is my cat called?", chat=ALICE_AT_WORK, name="Alice")
        await told.hears("She is called Luna.", chat=ALICE_AT_WORK)

        assert "My cat is called Luna." in told.last_asked
        assert told.heard() == ["Noted, Luna."]
        told.no_request_was_refused()


async def test_the_owner_has_a_message_and_a_file_sent_to_the_group(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.say("Hello all", chat=GROUP, user=BOB, name="Bob")
        told.write("picnic.md", "- bread\n- figs\n")
        told.model.answer(
            tool=("send_message", {"text": "Our picnic list", "to": f"telegram:{GROUP}", "files": ["picnic.md"]})
        )
        told.model.answer("Sent.")
        told.say("Send the picnic list to the group.")
        await told.hears("Sent.")
        await told.hears("Our picnic list", chat=GROUP)
        await told.telegram.wait_for(lambda: len(told.telegram.messages(GROUP)) == 2)

        name, content = told.telegram.sent_file(told.telegram.messages(GROUP)[1])
        assert (name, content) == ("picnic.md", b"- bread\n- figs\n")
        told.no_request_was_refused()


async def test_an_export_comes_as_a_document(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Hello Bob.")
        told.say("Hello", chat=BOB, name="Bob")
        await told.hears("Hello Bob.", chat=BOB)
        told.say("/export", chat=BOB, name="Bob")
        await told.telegram.wait_for(lambda: len(told.telegram.messages(BOB)) == 3)

        _, content = told.telegram.sent_file(told.telegram.messages(BOB)[2])
        assert b"Hello Bob." in content
        assert "people/telegram-22222/exports/" in told.heard(BOB)[1]


async def test_what_a_group_says_between_two_calls_is_known_to_the_second(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Pizza?")
        told.say("I am hungry", chat=GROUP, user=CARLA, name="Carla")
        told.call("what do we eat?")
        await told.hears("Pizza?", chat=GROUP)
        told.model.answer("Curry, then.")
        told.say("Not again", chat=GROUP, user=CARLA, name="Carla")
        told.call("something else?")
        await told.hears("Curry", chat=GROUP)

        assert "Carla: I am hungry" in str(told.asked[0].body["messages"])
        newest = told.asked[1].body["messages"][-1]["content"][-1]["text"]
        assert "Carla: Not again" in newest and "hungry" not in newest


async def test_somebody_let_in_hears_of_it_and_somebody_shut_out_too(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        told.say("Hello?", chat=CARLA, name="Carla")
        offer = await told.hears("daybook pair approve", chat=CARLA)
        code = offer.text.partition("daybook pair approve ")[2].split()[0].strip("`")
        await gateway.operations["pair.approve"]({"code": code})
        await told.hears("You're approved", chat=CARLA)
        await gateway.operations["pair.revoke"]({"id": f"telegram:{CARLA}"})
        await told.hears("removed your access", chat=CARLA)


async def test_a_group_has_a_page_and_a_log_of_its_own(tmp_path: Path) -> None:
    folder = f"groups/telegram-{GROUP}"
    async with story(tmp_path) as told:
        told.write(f"{folder}/GROUP.md", "- CANARY-GROUP: we meet on Fridays\n")
        told.write("MEMORY.md", "- CANARY-OWNER: the safe is behind the clock\n")
        async with told.running():
            told.say(f"/remember@{told.telegram.username} CANARY-LOG figs", chat=GROUP, user=BOB, name="Bob")
            await told.hears("Noted in", GROUP)
            told.model.answer("On Friday.")
            told.call("when do we meet?", user=BOB, name="Bob")
            await told.hears("On Friday.", GROUP)
            assert "CANARY-GROUP" in told.last_asked and "CANARY-LOG" in told.last_asked
            assert "CANARY-OWNER" not in told.last_asked
            told.model.answer("Behind the clock.")
            told.say("where is the safe?", chat=BOB, name="Bob")
            await told.hears("Behind the clock.", BOB)
            assert "CANARY" not in told.last_asked
    assert "CANARY-LOG" in told.log(folder=f"{folder}/memory").read_text()


async def test_who_calls_too_often_is_told_once_and_the_others_are_answered(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        channel = {"token": told.telegram.token, "base_url": told.telegram.base_url}
        groups = {GROUP: {"mention": "required", "per_minute": 2}}
        told.configure(channels={"telegram": {**channel, "groups": groups}})
        async with told.running():
            told.model.reply = lambda body: "Yes?"
            for number in range(5):
                told.call(f"call {number}", user=BOB, name="Bob")
                await told.idle()
            told.call("and me?", user=CARLA, name="Carla")
            await told.idle()
        assert told.heard(GROUP).count("Yes?") == 3
        assert sum("more than I can answer" in text for text in told.heard(GROUP)) == 1
