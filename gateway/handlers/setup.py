"""The set-up and the configuration, for the page and the command line. No answer holds a secret."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Literal, cast
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from agent.clock import Clock
from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.sentences import Sentence, joined
from agent.languages.zones import is_same_time, zone_name
from agent.model.base import Json
from gateway.config import Config, ConfigError, load, shown
from gateway.config.edit import choose_zone, path_of, set_values, value_of
from gateway.config.reference import keys
from gateway.config.show import shown_value
from gateway.config.values import is_zone
from gateway.config.yaml_tree import Value
from gateway.embedder.fetch import LOADED
from gateway.embedder.offer import OfferAnswer
from gateway.home import Home, HomeError
from gateway.operations import OperationGroup, Parameters, Text, operation
from gateway.policy.preferences import HomeZone
from gateway.rpc.protocol import OperationError
from gateway.setup.answers import SetupAnswers, present, problem_with, write
from gateway.setup.discord import check_discord
from gateway.setup.model import check_model
from gateway.setup.probe import CheckResult, Outcome
from gateway.setup.telegram import check_telegram

PARTS: Mapping[str, tuple[str, ...]] = {
    "model": ("model_key", "model_url", "model_name"),
    "telegram": ("telegram_token", "owner_id"),
    "discord": ("discord_token",),
    "person": ("name", "timezone", "summary"),
    "search": (),
}
"""The parts of the set-up, each with its answers (`SetupAnswers`)."""
_ZONE = ("timezone",)
_RESTART = Sentence("Saved. Restart Daybook to use it.")


class _Answers(Parameters, str_strip_whitespace=True):
    """Those to one part of the set-up; what is not given stays as it is."""

    part: Literal["model", "telegram", "discord", "person", "search"]
    model_key: str | None = None
    model_url: str | None = None
    model_name: str | None = None
    telegram_token: str | None = None
    owner_id: str | None = None
    discord_token: str | None = None
    name: str | None = None
    timezone: str | None = None
    summary: str | None = None
    answer: OfferAnswer = ""
    """To the offer of `search`: yes or no."""

    def given(self) -> dict[str, str | None]:
        """The answers of the part."""
        return {name: getattr(self, name) for name in PARTS[self.part]}


class SetupOperations(OperationGroup):
    refusals = (ConfigError, HomeError)

    """`embedder` is the operation `memory.embedder`, which offers and fetches search by meaning."""

    def __init__(
        self,
        home: Home,
        embedder: Callable[[OfferAnswer], Awaitable[Json]],
        zone: HomeZone,
        clock: Clock,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._home = home
        self._embedder = embedder
        self._zone = zone
        self._clock = clock
        self._environ = environ
        self._providers: dict[str, str] = {}
        """By address: which API its server was found to speak."""

    @operation("setup.status")
    async def status(self) -> Json:
        """`{model: {ready, model_key, …}, telegram: …}`: the answers in force, secrets as `***`."""
        config = await self._config()
        now = await asyncio.to_thread(present, self._home, config)
        ready = {
            "model": config.model.provider != "offline",
            "telegram": config.channels.telegram.enabled,
            "discord": config.channels.discord.enabled,
            "person": bool(now.name),
        }
        parts: dict[str, Json] = {
            part: {"ready": ready[part], **{name: getattr(now, name) for name in PARTS[part]}} for part in ready
        }
        offer = await self._embedder("")
        parts["search"] = {
            "ready": isinstance(offer, Mapping) and offer.get("state") == "",
            "offer": offer,
            "download_mb": LOADED,
        }
        return parts

    @operation("setup.check", on_page=True)
    async def check(self, answers: _Answers) -> Json:
        """`{ok, refused, text, …}`, with what the part's server says; an answer that is not given is the
        one in force."""
        for name, text in answers.given().items():
            if text and text != "***" and (problem := problem_with(name, text)):
                return _json(CheckResult(Outcome.MALFORMED, problem))
        config = await self._config()
        match answers.part:
            case "model":
                return await asyncio.to_thread(self._model, answers, config)
            case "telegram":
                telegram = config.channels.telegram
                token = _secret(answers.telegram_token, telegram.token)
                return _json(await asyncio.to_thread(check_telegram, token, telegram.base_url))
            case "discord":
                discord = config.channels.discord
                token = _secret(answers.discord_token, discord.token)
                return _json(await asyncio.to_thread(check_discord, token, discord.api_url))
            case "person":
                zone = answers.timezone or config.timezone
                text = f"It is {datetime.now(ZoneInfo(zone)):%H:%M} in {zone} now."
                return _json(CheckResult(Outcome.FINE, text))
            case _:
                offer = await self._embedder("")
                return {"ok": True, "refused": False, **(offer if isinstance(offer, dict) else {})}

    @operation("setup.apply", on_page=True)
    async def apply(self, answers: _Answers) -> Json:
        """Writes the answers that are given; `{text}`."""
        if answers.part == "search":
            return await self._embedder(answers.answer)
        given = answers.given()
        if answers.part == "model" and answers.model_url is not None:
            given["model_provider"] = self._providers.get(answers.model_url)
        new = SetupAnswers(**{name: text for name, text in given.items() if text != "***"})
        config = await self._written(lambda: write(self._home, new, self._environ))
        if new.timezone:
            await self._zone.follow(config)
        return {"text": _RESTART}

    @operation("zone.offer", on_page=True)
    async def offer_zone(self, zone: Text, language: str = "") -> Json:
        """Takes zone and language of a browser: `{asks, there, there_time, here, here_time}`, names as people say them.
        Asks where nobody chose the zone of the clock and the two differ now or in half a year."""
        if not is_zone(zone):
            raise OperationError(f"{zone[:80]!r} is no time zone that I know.")
        now, said_in = self._clock.now(), Language(language) if language in ALL_LANGUAGES else Language.ENGLISH
        there = now.astimezone(ZoneInfo(zone))
        return {
            "asks": not self._zone.is_chosen and not is_same_time(ZoneInfo(zone), self._clock.zone, now),
            "there": zone_name(said_in, zone),
            "there_time": f"{there:%H:%M}",
            "here": zone_name(said_in, self._clock.zone.key),
            "here_time": f"{now:%H:%M}",
        }

    @operation("config.show")
    async def show(self) -> Json:
        """`{yaml, keys: [{key, value, default, allowed, text}]}`: what is in force; secrets as `***`."""
        config = await self._config()
        return {
            "yaml": shown(config),
            "keys": [
                {
                    "key": key.name,
                    "value": shown_value(config, tuple(key.name.split("."))),
                    "default": key.default,
                    "allowed": key.allowed,
                    "text": key.text,
                }
                for key in keys()
                if "*" not in key.name
            ],
        }

    @operation("config.set", on_page=True)
    async def set_key(self, key: Text, value: object) -> Json:
        """A text is read as it would be in YAML, null is the default; `{key, value, text}`. The zone
        is used at once, all else after a restart."""
        written: Value = value_of(value) if isinstance(value, str) else _plain(cast(Json, value))

        def write_down() -> Config:
            path = path_of(key)  # raises for no key
            if path == _ZONE and isinstance(written, str):
                return choose_zone(self._home, written, self._environ)
            return set_values(self._home, {path: written}, self._environ).config

        config, path = await self._written(write_down), tuple(key.strip().split("."))
        if path == _ZONE:
            await self._zone.follow(config)
        return {"key": key, "value": shown_value(config, path), "text": "Saved." if path == _ZONE else _RESTART}

    def _model(self, answers: _Answers, config: Config) -> Json:
        given = answers.model_url
        own = config.model.server()
        url = own.base_url if given is None else given or None
        provider = "openai" if config.model.provider == "openai" and url == own.base_url else "anthropic"
        # The key that is kept here is only shown to the server that it is for.
        kept = own.api_key if url == own.base_url else None
        name = answers.model_name or config.model.name
        checked = check_model(provider, _secret(answers.model_key, kept), url, name, asks=True)
        if checked.provider:
            self._providers[url or ""] = checked.provider
        return _json(checked)

    async def _config(self) -> Config:
        return (await asyncio.to_thread(load, self._home, self._environ)).config

    async def _written(self, work: Callable[[], Config]) -> Config:
        try:
            return await asyncio.to_thread(work)
        except ConfigError as error:
            problems = (joined((problem.key, problem.text), ": ") for problem in error.problems)
            raise OperationError(joined(problems, "; ")) from error
        except OSError as error:
            raise OperationError(
                Sentence("The configuration can't be written: {why}.", why=error.strerror or str(error))
            ) from error


def _secret(given: str | None, kept: object) -> str:
    """A secret as it is given; `***` and nothing given mean the kept secret."""
    if given is not None and given != "***":
        return given
    return kept.get_secret_value() if isinstance(kept, SecretStr) else ""


def _plain(value: Json) -> Value:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, str | int | float) or value is None:
        return value
    return [_plain(item) for item in value]


def _json(result: CheckResult) -> Json:
    """A result without its clock, and with its sentence."""
    shown: dict[str, Json] = {
        field.name: list(value) if isinstance(value := getattr(result, field.name), tuple) else value
        for field in dataclasses.fields(result)
        if field.name not in ("clock", "fix", "text")
    }
    return {**shown, "ok": result.ok, "refused": result.refused, "text": result.sentence}
