"""The set-up by its operations, as the page calls them, against fakes of every server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.model.base import Json
from gateway.app import open_gateway
from gateway.config import load
from gateway.home import Home
from gateway.rpc.protocol import OperationError, RpcHandler
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import FakeDiscord
from tests.fakes.openai import FakeOpenAI
from tests.fakes.telegram import FakeTelegram

KEY = "sk-ant-fake-0123456789abcdef"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    home.config_file.write_text("# mine\nlog: {level: info}  # usual\n")
    return home


@asynccontextmanager
async def operations(home: Home) -> AsyncIterator[Mapping[str, RpcHandler]]:
    async with open_gateway(home, load(home, {}).config, channels=False) as gateway:
        yield gateway.operations


async def call(table: Mapping[str, RpcHandler], operation: str, /, **parameters: Json) -> Mapping[str, Json]:
    result = await table[operation](parameters)
    assert isinstance(result, Mapping)
    return result


async def test_a_model_is_listed_asked_and_kept_without_showing_its_key(home: Home) -> None:
    async with FakeAnthropic(KEY) as model, operations(home) as table:
        model.reply = lambda _: "Hello there."
        given: dict[str, Json] = {"part": "model", "model_key": KEY, "model_url": model.base_url}
        found = await call(table, "setup.check", **given)
        assert (found["ok"], found["answer"]) == (True, "Hello there.")
        assert found["models"] == list(model.models)
        missing = await call(table, "setup.check", **given, model_name="claude-typo")
        assert (missing["ok"], missing["refused"]) == (False, True)
        assert "has no model claude-typo: set model.name to one that it has: claude-sonnet-5-5" in str(missing["text"])

        await call(table, "setup.apply", **given, model_name="claude-opus-5-5")
        config = load(home, {}).config
        assert (config.model.base_url, config.model.name) == (model.base_url, "claude-opus-5-5")
        assert home.config_file.read_text().startswith("# mine\nlog: {level: info}  # usual\n")
        assert KEY in home.env_file.read_text() and KEY not in home.config_file.read_text()

        status = await call(table, "setup.status")
        assert status["model"] == {
            "ready": True,
            "model_key": "***",
            "model_url": model.base_url,
            "model_name": "claude-opus-5-5",
        }
        again = await call(table, "setup.check", part="model")
        assert again["ok"], "what is kept is checked, too"
        assert KEY not in json.dumps([found, status, again, await call(table, "config.show")])


async def test_the_kept_key_is_sent_to_no_other_server(home: Home) -> None:
    async with FakeAnthropic(KEY) as mine, FakeAnthropic(KEY) as other, operations(home) as table:
        await call(table, "setup.apply", part="model", model_key=KEY, model_url=mine.base_url)
        found = await call(table, "setup.check", part="model", model_url=other.base_url)
        assert not found["ok"] and "doesn't accept the key" in str(found["text"])


async def test_wrong_keys_and_servers_that_are_not_there_are_told_apart(home: Home) -> None:
    async with FakeAnthropic(KEY) as model, operations(home) as table:
        wrong = await call(table, "setup.check", part="model", model_key="other", model_url=model.base_url)
        assert (wrong["ok"], wrong["refused"]) == (False, True)
        away = await call(table, "setup.check", part="model", model_key=KEY, model_url="http://127.0.0.1:9")
        assert (away["ok"], away["refused"]) == (False, False)
        assert "Can't reach 127.0.0.1:9" in str(away["text"])
        odd = await call(table, "setup.check", part="model", model_url="localhost")
        assert "Found 'localhost'; allowed: an address that starts with http://" in str(odd["text"])


async def test_telegram_names_the_bot(home: Home) -> None:
    async with FakeTelegram() as telegram, operations(home) as table:
        await call(table, "config.set", key="channels.telegram.base_url", value=telegram.base_url)
        found = await call(table, "setup.check", part="telegram", telegram_token=telegram.token)
        assert found["ok"] and found["text"] == "Connected as @daybook_test_bot."
        assert found["username"] == "daybook_test_bot"
        await call(table, "setup.apply", part="telegram", telegram_token=telegram.token, owner_id="42")
        config = load(home, {}).config
        assert config.channels.telegram.enabled and config.owners == ("telegram:42",)
        status = await call(table, "setup.status")
        del status["telegram"]["card"]
        assert status["telegram"] == {"ready": True, "telegram_token": "***", "owner_id": "42"}
        wrong = await call(table, "setup.check", part="telegram", telegram_token="1:no")
        assert "doesn't look like a bot token" in str(wrong["text"])


async def test_discord_checks_the_intent_and_makes_the_invitation(home: Home) -> None:
    async with FakeDiscord() as discord, operations(home) as table:
        await call(table, "config.set", key="channels.discord.api_url", value=discord.api_url)
        found = await call(table, "setup.check", part="discord", discord_token=discord.token)
        assert found["ok"], found
        assert f"client_id={discord.bot.id}&scope=bot+applications.commands" in str(found["invite"])
        discord.privileged = frozenset()
        deaf = await call(table, "setup.check", part="discord", discord_token=discord.token)
        assert not deaf["ok"] and "turn on Message Content Intent" in str(deaf["text"]) and deaf["invite"]
        assert discord.token not in json.dumps([found, deaf])


async def test_who_one_is_goes_to_the_workspace_and_the_configuration(home: Home) -> None:
    async with operations(home) as table:
        zone = await call(table, "setup.check", part="person", timezone="CEST")
        assert not zone["ok"] and "did you mean 'Europe/Berlin'?" in str(zone["text"])
        assert "in Asia/Tokyo now" in str(
            (await call(table, "setup.check", part="person", timezone="Asia/Tokyo"))["text"]
        )
        await call(table, "setup.apply", part="person", name="Ann", timezone="Asia/Tokyo", summary="20:15")
        status = await call(table, "setup.status")
        assert status["person"] == {"ready": True, "name": "Ann", "timezone": "Asia/Tokyo", "summary": "20:15"}
        await call(table, "setup.apply", part="person", name="Anna", summary="off")
        user = (home.path / "workspace" / "USER.md").read_text()
        assert "- Name: Anna\n" in user and "- Name: Ann\n" not in user
        assert not load(home, {}).config.schedule.daily_summary.enabled
        search = await call(table, "setup.check", part="search")
        assert search["state"] == "offered" and "two in ten" in str(search["text"])


async def test_a_key_is_set_and_what_is_wrong_is_refused_in_a_sentence(home: Home) -> None:
    async with operations(home) as table:
        assert (await call(table, "config.set", key="log.level", value="debug"))["value"] == "debug"
        assert home.config_file.read_text() == "# mine\nlog: {level: debug}  # usual\n"
        with pytest.raises(OperationError, match=r"log\.level: found 'loud'; allowed: debug, info"):
            await call(table, "config.set", key="log.level", value="loud")
        with pytest.raises(OperationError, match=r"did you mean 'log\.level'"):
            await call(table, "config.set", key="log.lvel", value="info")
        with pytest.raises(OperationError, match="not one of model, telegram"):
            await call(table, "setup.check", part="moon")
        shown = await call(table, "config.show")
        keys = shown["keys"]
        assert isinstance(keys, list)
        assert next(one["value"] for one in keys if isinstance(one, dict) and one["key"] == "log.level") == "debug"


async def test_the_zone_of_a_browser_is_offered_until_somebody_chose_one(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    home.config_file.write_text("timezone: UTC          # decides when a day begins\n")  # of an earlier set-up
    async with operations(home) as table:
        offer = await call(table, "zone.offer", zone="Asia/Tokyo", language="de")
        assert (offer["asks"], offer["there"], offer["here"]) == (True, "Tokio", "UTC")
        assert not (await call(table, "zone.offer", zone="Atlantic/Reykjavik"))["asks"], "it is the same time there"
        with pytest.raises(OperationError, match="no time zone"):
            await call(table, "zone.offer", zone="Mars/Base")
        with pytest.raises(OperationError, match="timezone"):
            await call(table, "config.set", key="timezone", value="Mars/Base")
        assert (await call(table, "zone.offer", zone="Asia/Tokyo"))["asks"]
        assert (await call(table, "config.set", key="timezone", value="UTC"))["text"] == "Saved."
        assert not (await call(table, "zone.offer", zone="Asia/Tokyo"))["asks"]
    async with operations(home) as table:
        assert not (await call(table, "zone.offer", zone="Asia/Tokyo"))["asks"], "it is kept in the home"
        await call(table, "config.set", key="timezone", value="Asia/Tokyo")
        assert (await call(table, "schedule.week"))["timezone"] == "Asia/Tokyo", "without a restart"
    home.config_file.write_text("{}\n")
    async with operations(home) as table:
        await call(table, "setup.apply", part="person", name="Ann")
        assert (await call(table, "zone.offer", zone="Asia/Tokyo"))["asks"], "a set-up that didn't ask chose none"
        await call(table, "setup.apply", part="person", timezone="UTC")
        assert not (await call(table, "zone.offer", zone="Asia/Tokyo"))["asks"]


async def test_a_server_of_chat_completions_is_recognised_and_kept_as_that(home: Home) -> None:
    async with FakeOpenAI("sk-oai-0123456789abcdef") as model, FakeAnthropic(KEY) as other, operations(home) as table:
        model.reply = lambda _: "Hello there."
        given: dict[str, Json] = {"part": "model", "model_key": model.api_key, "model_url": model.base_url}
        missing = await call(table, "setup.check", **given)
        assert (missing["refused"], missing["models"]) == (True, ["llama3.3"])
        found = await call(table, "setup.check", **given, model_name="llama3.3")
        assert (found["ok"], found["answer"]) == (True, "Hello there.")
        await call(table, "setup.apply", **given, model_name="llama3.3")
        config = load(home, {}).config
        assert (config.model.provider, config.model.base_url) == ("openai", model.base_url)
        assert f"OPENAI_API_KEY={model.api_key}" in home.env_file.read_text()
        assert (await call(table, "setup.check", part="model"))["ok"], "what is kept is checked, too"

        back: dict[str, Json] = {"part": "model", "model_key": KEY, "model_url": other.base_url}
        await call(table, "setup.check", **back, model_name="claude-opus-5-5")
        await call(table, "setup.apply", **back, model_name="claude-opus-5-5")
        config = load(home, {}).config
        assert (config.model.provider, config.model.name) == ("anthropic", "claude-opus-5-5")
        assert config.model.api_key is not None and config.model.api_key.get_secret_value() == KEY
