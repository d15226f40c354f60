"""The set-up and the configuration, for the page and the command line. No answer holds a secret."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Callable, Mapping
from datetime import datetime
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
from gateway.home import Home, HomeError
from gateway.policy.preferences import HomeZone
from gateway.rpc.protocol import Operation, OperationError, Params, required
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


class SetupOperations:
    """`embedder` is the operation `memory.embedder`, which offers and fetches search by meaning."""

    def __init__(
        self,
        home: Home,
        embedder: Operation,
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

    def table(self) -> Mapping[str, Operation]:
        return {
            "setup.status": self.status,
            "setup.check": self.check,
            "setup.apply": self.apply,
            "zone.offer": self.offer_zone,
            "config.show": self.show,
            "config.set": self.set_key,
        }

    async def status(self, _: Params) -> Json:
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
        offer = await self._embedder({})
        parts["search"] = {
            "ready": isinstance(offer, Mapping) and offer.get("state") == "",
            "offer": offer,
            "download_mb": LOADED,
        }
        return parts

    async def check(self, parameters: Params) -> Json:
        """`{part, …}`: `{ok, refused, text, …}`, with what the part's server says; an answer that is not given is the
        one in force."""
        part = _part(parameters)
        for name in PARTS[part]:
            if (text := _text(parameters, name)) and text != "***" and (problem := problem_with(name, text)):
                return _json(CheckResult(Outcome.MALFORMED, problem))
        config = await self._config()
        match part:
            case "model":
                return await asyncio.to_thread(self._model, parameters, config)
            case "telegram":
                telegram = config.channels.telegram
                token = _secret(parameters, "telegram_token", telegram.token)
                return _json(await asyncio.to_thread(check_telegram, token, telegram.base_url))
            case "discord":
                discord = config.channels.discord
                token = _secret(parameters, "discord_token", discord.token)
                return _json(await asyncio.to_thread(check_discord, token, discord.api_url))
            case "person":
                zone = _text(parameters, "timezone") or config.timezone
                text = f"It is {datetime.now(ZoneInfo(zone)):%H:%M} in {zone} now."
                return _json(CheckResult(Outcome.FINE, text))
            case _:
                offer = await self._embedder({})
                return {"ok": True, "refused": False, **(offer if isinstance(offer, dict) else {})}

    async def apply(self, parameters: Params) -> Json:
        """`{part, …}` writes the answers that are given (`search` takes `answer`: yes or no); `{text}`."""
        part = _part(parameters)
        if part == "search":
            return await self._embedder({"answer": required(parameters, "answer")})
        given = {name: _text(parameters, name) for name in PARTS[part]}
        if part == "model" and given["model_url"] is not None:
            given["model_provider"] = self._providers.get(given["model_url"])
        answers = SetupAnswers(**{name: text for name, text in given.items() if text != "***"})
        config = await self._written(lambda: write(self._home, answers, self._environ))
        if answers.timezone:
            await self._zone.follow(config)
        return {"text": _RESTART}

    async def offer_zone(self, parameters: Params) -> Json:
        """`{zone, language?}` of a browser: `{asks, there, there_time, here, here_time}`, names as people say them.
        Asks where nobody chose the zone of the clock and the two differ now or in half a year."""
        wanted, language = required(parameters, "zone"), _text(parameters, "language") or ""
        if not is_zone(wanted):
            raise OperationError(f"{wanted[:80]!r} is no time zone that I know.")
        now, said_in = self._clock.now(), Language(language) if language in ALL_LANGUAGES else Language.ENGLISH
        there = now.astimezone(ZoneInfo(wanted))
        return {
            "asks": not self._zone.is_chosen and not is_same_time(ZoneInfo(wanted), self._clock.zone, now),
            "there": zone_name(said_in, wanted),
            "there_time": f"{there:%H:%M}",
            "here": zone_name(said_in, self._clock.zone.key),
            "here_time": f"{now:%H:%M}",
        }

    async def show(self, _: Params) -> Json:
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

    async def set_key(self, parameters: Params) -> Json:
        """`{key, value}`: a text is read as it would be in YAML, null is the default; `{key, value, text}`. The zone
        is used at once, all else after a restart."""
        key = required(parameters, "key")
        if "value" not in parameters:
            raise OperationError("value is missing.")
        given = parameters["value"]
        value: Value = value_of(given) if isinstance(given, str) else _plain(given)

        def write_down() -> Config:
            path = path_of(key)  # raises for no key
            if path == _ZONE and isinstance(value, str):
                return choose_zone(self._home, value, self._environ)
            return set_values(self._home, {path: value}, self._environ).config

        config, path = await self._written(write_down), tuple(key.strip().split("."))
        if path == _ZONE:
            await self._zone.follow(config)
        return {"key": key, "value": shown_value(config, path), "text": "Saved." if path == _ZONE else _RESTART}

    def _model(self, parameters: Params, config: Config) -> Json:
        given = _text(parameters, "model_url")
        own = config.model.server()
        url = own.base_url if given is None else given or None
        provider = "openai" if config.model.provider == "openai" and url == own.base_url else "anthropic"
        # The key that is kept here is only shown to the server that it is for.
        kept = own.api_key if url == own.base_url else None
        name = _text(parameters, "model_name") or config.model.name
        checked = check_model(provider, _secret(parameters, "model_key", kept), url, name, asks=True)
        if checked.provider:
            self._providers[url or ""] = checked.provider
        return _json(checked)

    async def _config(self) -> Config:
        try:
            return (await asyncio.to_thread(load, self._home, self._environ)).config
        except ConfigError as error:
            raise OperationError(str(error)) from error

    async def _written(self, work: Callable[[], Config]) -> Config:
        try:
            return await asyncio.to_thread(work)
        except ConfigError as error:
            problems = (joined((problem.key, problem.text), ": ") for problem in error.problems)
            raise OperationError(joined(problems, "; ")) from error
        except HomeError as error:
            raise OperationError(str(error)) from error
        except OSError as error:
            raise OperationError(
                Sentence("The configuration can't be written: {why}.", why=error.strerror or str(error))
            ) from error


def _part(parameters: Params) -> str:
    part = required(parameters, "part")
    if part not in PARTS:
        raise OperationError(f"{part!r} is not one of {', '.join(PARTS)}.")
    return part


def _text(parameters: Params, name: str) -> str | None:
    value = parameters.get(name)
    return value.strip() if isinstance(value, str) else None


def _secret(parameters: Params, name: str, kept: object) -> str:
    """A secret as it is given; `***` and nothing given mean the kept secret."""
    given = _text(parameters, name)
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
