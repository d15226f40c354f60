"""A reminder has rung: what its buttons and the typed commands do, who may, and that a restart changes nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.model.scripted import Call
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook
from tests.gateway.scheduling.test_requests import ask

TEN = timedelta(minutes=10)


def shown(daybook: Daybook, text: str, chat: str = OWNER) -> tuple[str, list[str]]:
    """The newest message with these words: its id, and the labels under it."""
    standing = daybook.chat.standing(chat)
    id = [id for id, message in standing.items() if text in message.text][-1]
    return id, [button.label for row in standing[id].buttons for button in row]


async def press(daybook: Daybook, text: str, label: str, chat: str = OWNER, sender: str = OWNER) -> str:
    """Press a button under the newest message with these words; what that message says then."""
    id, _ = shown(daybook, text, chat)
    before = daybook.chat.standing(chat)[id].text
    daybook.chat.press(id, label, sender=sender, sent_at=daybook.moment.now)
    await daybook.chat.wait_until(lambda: daybook.chat.standing(chat)[id].text != before)
    return daybook.chat.standing(chat)[id].text


def file(daybook: Daybook) -> str:
    return (daybook.workspace / "schedule.yaml").read_text("utf-8")


async def rings(daybook: Daybook, text: str, times: int, after: timedelta, chat: str = OWNER) -> None:
    daybook.moment.pass_(after)
    await daybook.chat.wait_until(lambda: sum(map(daybook.chat.heard(chat).count, (text, f"⏰ {text}"))) == times)


async def test_a_reminder_rings_with_buttons_all_of_which_fit(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "/remind in 10 minutes " + "drink a large pot of the very best green tea " * 3)
        text = ("drink a large pot of the very best green tea " * 3).strip()
        await rings(daybook, text, 1, TEN)
        id, labels = shown(daybook, text)
        assert labels == ["Done", "In 10 minutes", "In an hour", "Tomorrow"]
        buttons = [button for row in daybook.chat.standing(OWNER)[id].buttons for button in row]
        assert all(len(button.data.encode()) <= 64 for button in buttons)


@pytest.mark.parametrize(
    ("label", "next_time", "after"),
    [
        ("In 10 minutes", "today at 08:50", TEN),
        ("In an hour", "today at 09:40", timedelta(hours=1)),
        ("Tomorrow", "tomorrow at 08:40", timedelta(days=1)),
    ],
)
async def test_snoozed_it_rings_once_more_over_a_restart(
    daybook: Daybook, label: str, next_time: str, after: timedelta
) -> None:
    async with daybook.running() as gateway:
        await ask(daybook, "/remind in 10 minutes tea")
        await rings(daybook, "tea", 1, TEN)
    async with daybook.running() as gateway:
        said = await press(daybook, "tea", label)
        assert said.startswith("⏰ tea\n\n") and f"I'll remind you again {next_time}." in said
        assert shown(daybook, said)[1] == []
        await gateway.kill()
    async with daybook.running() as gateway:
        await rings(daybook, "tea", 1, after)  # the first now says what was chosen
        while "tea" in file(daybook):
            await gateway.ticks()
        daybook.moment.pass_(timedelta(days=2))
        await gateway.ticks()
        assert [text for text in daybook.chat.heard(OWNER) if text.startswith("⏰ tea")] == [said, "⏰ tea"]
    assert daybook.model.requests == []


async def test_done_says_so_and_rings_no_more(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        await ask(daybook, "/remind in 10 minutes tea")
        await rings(daybook, "tea", 1, TEN)
        assert await press(daybook, "tea", "Done") == "⏰ tea\n\n_✓ Done._"
        while "tea" in file(daybook):
            await gateway.ticks()


async def test_typed_commands_do_the_same(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        await ask(daybook, "/remind in 10 minutes tea")
        await rings(daybook, "tea", 1, TEN)
        while "tea" in file(daybook):
            await gateway.ticks()
        assert "I'll remind you again today at 08:45." in await ask(daybook, "/jobs snooze tea 5m")
        assert "I'll remind you again tomorrow at 09:00." in await ask(daybook, "/jobs snooze tea tomorrow 9:00")
        assert file(daybook).count("id: tea") == 1
        assert await ask(daybook, "/jobs done tea") == "⏰ tea\n\n_✓ Done._"
        assert "id: tea" not in file(daybook)
        assert "For how long?" in await ask(daybook, "/jobs snooze tea")
        assert "For how long?" in await ask(daybook, "/jobs snooze tea every day 9:00")
        assert "is already past" in await ask(daybook, "/jobs snooze tea today 8:00")
        assert await ask(daybook, "/jobs done coffee") == "There is no job coffee."
        assert "no longer exists" in await ask(daybook, "/jobs done #4711")
        assert "is not a reminder" in await ask(daybook, "/jobs snooze journal 10m")


async def test_what_comes_again_and_again_rings_once_more_beside_that(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        await ask(daybook, "/remind every day 8:40 pills")
        await rings(daybook, "pills", 1, TEN)
        await press(daybook, "pills", "In 10 minutes")
        assert "id: pills-again" in file(daybook) and "40 8 * * *" in file(daybook)
        await rings(daybook, "pills", 1, TEN)
        await press(daybook, "pills", "Done")
        while "pills-again" in file(daybook):
            await gateway.ticks()
        await rings(daybook, "pills", 1, timedelta(hours=23, minutes=50))


@pytest.mark.parametrize("chat", [OWNER, ALICE])
async def test_what_rings_once_more_takes_the_place_of_no_other_reminder(daybook: Daybook, chat: str) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    async with daybook.running() as gateway:
        await ask(daybook, "/remind tomorrow 9:00 tea again")
        await ask(daybook, "/remind every day 8:40 tea", chat=chat, sender=chat)
        assert "id: tea-again\n" in file(daybook) and "id: tea\n" in file(daybook)
        assert "✓ Done" in await ask(daybook, "/jobs done tea", chat=chat, sender=chat)
        assert "2026-11-22T09:00" in file(daybook)
        await rings(daybook, "tea", 1, TEN, chat)
        await press(daybook, "tea", "In 10 minutes", chat, chat)
        assert "2026-11-22T09:00" in file(daybook) and "id: tea-again-2" in file(daybook)
        assert "again today at 09:40." in await ask(daybook, "/jobs snooze tea 1h", chat=chat, sender=chat)
        assert file(daybook).count("id: tea-again-2") == 1 and "tea-again-3" not in file(daybook)
        assert "✓ Done" in await ask(daybook, "/jobs done tea", chat=chat, sender=chat)
        while "tea-again-2" in file(daybook):
            await gateway.ticks()
        assert "2026-11-22T09:00" in file(daybook)


async def test_an_old_button_is_not_about_a_new_reminder_of_that_name(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        await ask(daybook, "/remind in 10 minutes tea")
        await rings(daybook, "tea", 1, TEN)
        while "tea" in file(daybook):
            await gateway.ticks()
        await ask(daybook, "/remind tomorrow 7:00 tea")
        first = next(id for id, one in daybook.chat.standing(OWNER).items() if one.text == "⏰ tea")
        daybook.chat.press(first, "Done", sent_at=daybook.moment.now)
        await daybook.chat.wait_until(lambda: "⏰ tea\n\n_✓ Done._" in daybook.chat.heard(OWNER))
        assert "2026-11-22T07:00" in file(daybook)


async def test_only_who_may_manage_it_answers_it(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE], "groups": {GROUP: {"mention": "optional"}}}}
    async with daybook.running():
        await ask(daybook, "/remind in 10 minutes tea")
        await ask(daybook, "/remind in 10 minutes cake", chat=GROUP, sender=OWNER, group=True)
        daybook.moment.pass_(TEN)
        for chat, text in ((OWNER, "tea"), (GROUP, "cake")):
            await daybook.chat.wait_until(lambda chat=chat, text=text: f"⏰ {text}" in daybook.chat.heard(chat))
        for name in ("#1", "tea"):
            for verb in (f"/jobs snooze {name} 10m", f"/jobs done {name}"):
                said = await ask(daybook, verb, chat=ALICE, sender=ALICE)
                assert "tea" not in said.replace("no job tea", "") and said.startswith(("There is no", "That reminder"))
        assert "again today at 08:50" in await press(daybook, "cake", "In 10 minutes", GROUP, ALICE)
        assert f"telegram:{GROUP}" in file(daybook)


async def test_a_prompt_s_answer_has_no_buttons(daybook: Daybook) -> None:
    daybook.model.then(
        Call("schedule_add", {"kind": "prompt", "text": "Weather", "when": {"at": "2026-11-21T08:40"}}), "Yes.", "Rain."
    )
    async with daybook.running():
        await ask(daybook, "the weather please")
        await rings(daybook, "Rain.", 1, TEN)
        assert shown(daybook, "Rain.")[1] == []


async def test_a_long_reminder_stays_as_it_is(daybook: Daybook) -> None:
    text = "tea and " * 250 + "cake"
    async with daybook.running():
        await ask(daybook, f"/remind in 10 minutes {text}")
        await rings(daybook, text, 1, TEN)
        id, _ = shown(daybook, text)
        daybook.chat.press(id, "Done", sent_at=daybook.moment.now)
        await daybook.chat.wait_until(lambda: daybook.chat.heard(OWNER)[-1].endswith("_✓ Done._"))
        assert f"⏰ {text}" in daybook.chat.heard(OWNER)
