"""A person asks for a picture: it comes into the chat, it is a file of the workspace, and it is made once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.home import Home
from tests import files
from tests.fakes.anthropic import FakeAnthropic, Received
from tests.fakes.bell import Bell
from tests.fakes.openai_media import IMAGE_MODEL, KEY, URL_MODEL, OpenAiMedia
from tests.fakes.parking import Parking
from tests.fakes.telegram import FakeTelegram, Message
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.server import Server, living
from tests.flows.story import ALICE, BOB, GROUP, Story, story
from tests.flows.test_web import WEB, at_the_page

BOAT = ("make_image", {"prompt": "a red boat"})


@pytest.fixture
async def images() -> AsyncIterator[OpenAiMedia]:
    async with OpenAiMedia().serving() as serving:
        yield serving


def media(images: OpenAiMedia, model: str = IMAGE_MODEL) -> dict[str, Any]:
    return {"images": {"base_url": images.base_url, "model": model, "api_key": KEY}}


def result(request: Received) -> str:
    """What the model read of its call."""
    (block,) = (one for one in request.body["messages"][-1]["content"] if one["type"] == "tool_result")
    return json.dumps(block["content"])


def photos(telegram: FakeTelegram, chat: int = ALICE) -> list[Message]:
    return [message for message in telegram.messages(chat) if "photo" in message.extra]


async def asks_for_a_boat(told: Story, chat: int = ALICE, answer: str = "Here it is.") -> None:
    told.model.answer("", tool=BOAT)
    told.model.answer(answer)
    if chat == GROUP:
        told.call("draw a boat", user=BOB, name="Bob")
    else:
        told.say("Draw me a boat", chat=chat)
    await told.hears(answer, chat)


async def test_a_picture_comes_into_the_chat_and_is_kept_in_its_folder(tmp_path: Path, images: OpenAiMedia) -> None:
    images.cost = 0.04
    async with story(tmp_path, media=media(images)) as told, told.running():
        await asks_for_a_boat(told)
        (photo,) = photos(told.telegram)
        assert told.telegram.sent_file(photo)[1] == files.picture()
        (kept,) = (told.workspace / "pictures").iterdir()
        assert kept.read_bytes() == files.picture() and kept.stat().st_mode & 0o777 == 0o600
        assert f"kept as pictures/{kept.name}" in result(told.asked[-1])
        await asks_for_a_boat(told, GROUP, "For all of you.")
        (photo,) = photos(told.telegram, GROUP)
        (group,) = (told.workspace / "groups").glob("*/pictures/*")
        assert group.read_bytes() == files.picture()
        assert len(list((told.workspace / "pictures").iterdir())) == 1
        told.say("/usage")
        assert "pictures $0.0800 (2 calls)" in (await told.hears("By purpose")).text
        told.no_request_was_refused()
    assert images.drawn == ["a red boat"] * 2


async def test_a_picture_on_discord_and_on_the_page(
    home: Home, server: Server, telegram: FakeTelegram, model: FakeAnthropic, images: OpenAiMedia
) -> None:
    async with living(home, server, model, top={"media": media(images, URL_MODEL)}):
        model.answer("", tool=BOAT)
        model.answer("Here it is.")
        await server.say("Draw me a boat")
        await server.hears("Here it is.")
        attached = [one for message in server.discord.messages(server.dm) for one in message.attachments]
        assert [one.content for one in attached] == [files.picture()]
    async with (
        GatewayProcess(telegram, model, {**WEB, "media": media(images)}) as gateway,
        at_the_page(gateway) as one,
        one.opened() as tab,
    ):
        model.answer("", tool=BOAT)
        model.answer("On the page.")
        await tab.say("Draw me a boat")
        await tab.hears("On the page.")
        shown = next(it["files"][0] for it in tab.messages if it["files"])
        assert shown["image"] and not shown["audio"]


async def test_without_a_server_there_is_no_such_tool(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("I can't draw.")
        told.say("Draw me a boat")
        await told.hears("I can't draw.")
        assert "make_image" not in [tool["name"] for tool in told.asked[-1].body["tools"]]


async def test_what_goes_wrong_is_told_in_words_and_nothing_is_kept(tmp_path: Path, images: OpenAiMedia) -> None:
    async with story(tmp_path, media=media(images)) as told, told.running():
        images.status = 500
        await asks_for_a_boat(told, answer="It failed.")
        assert "no picture was made: the server refused it (500)" in result(told.asked[-1])
        images.status = 200
        for at, (content, why) in enumerate(
            (
                (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no picture but a SVG drawing"),
                (b"<html><script>steal()</script>", "no picture but a web page"),
                (files.huge_png(), "pixels, more than I can open"),
                (files.picture(400, 400, "JPEG")[:-200], "damaged"),
            )
        ):
            images.picture = content
            await asks_for_a_boat(told, answer=f"It failed, {at}.")
            assert why in result(told.asked[-1])
        images.picture = files.picture()
        (told.workspace / "pictures").write_text("in the way")
        await asks_for_a_boat(told, answer="Not kept.")
        assert "not kept" in result(told.asked[-1])
        assert not photos(told.telegram)


async def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, images: OpenAiMedia) -> None:
    async with story(tmp_path, media=media(images)) as told, told.running():
        (tmp_path / "elsewhere").mkdir()
        (told.workspace / "pictures").symlink_to(tmp_path / "elsewhere")
        await asks_for_a_boat(told)
        assert "leads out of this conversation's folder" in result(told.asked[-1])
        assert not list((tmp_path / "elsewhere").iterdir())


async def test_killed_while_it_is_made_or_after_it_was_sent_no_picture_comes_twice(
    telegram: FakeTelegram, model: FakeAnthropic, images: OpenAiMedia
) -> None:
    async with GatewayProcess(telegram, model, {"media": media(images)}) as gateway:
        images.hold = Parking(Bell())
        model.answer("", tool=BOAT)
        telegram.say("Draw me a boat", chat=OWNER)
        await gateway.while_alive(images.hold.wait())
        await gateway.kill()
        images.hold.release()
        model.answer("", tool=BOAT)
        calling, stream = model.hold(), model.hold()
        model.answer("Here it is.")
        await gateway.start()
        await model.held(calling)
        calling.release()
        await gateway.while_alive(telegram.wait_for(lambda: photos(telegram, OWNER)))
        assert "before the picture was made" in json.dumps(model.bodies[1])
        await model.held(stream)
        await gateway.until_status(lambda status: not status["outbox"]["waiting"])  # its receipt is on disk
        await gateway.kill()
        stream.release()
        model.answer("There it is.")
        await gateway.start()
        await gateway.while_alive(
            telegram.wait_for(lambda: [one for one in telegram.messages(OWNER) if "it is" in one.text])
        )
        assert len(photos(telegram, OWNER)) == 1
