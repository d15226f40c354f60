"""The set-up and the configuration, for the page and the command line. No answer holds a secret."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import cast
from zoneinfo import ZoneInfo

from pydantic import field_validator

from agent.clock import Clock
from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.sentences import Sentence, joined
from agent.languages.zones import is_same_time, zone_name
from agent.model.base import Json
from channels.checks import CheckResult, Outcome
from channels.registry import MANIFESTS
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
from gateway.setup.answers import OF_MODEL, OF_PERSON, Answers, present, problem_with, with_answers, write
from gateway.setup.model import check_model

PARTS: Mapping[str, tuple[str, ...]] = {
    "model": OF_MODEL,
    **{name: tuple(question.answer for question in manifest.questions) for name, manifest in MANIFESTS.items()},
    "person": OF_PERSON,
    "search": (),
}
"""The parts of the set-up, each with its answers."""
_ZONE = ("timezone",)
_RESTART = Sentence("Saved. Restart Daybook to use it.")


class _Answers(Parameters, extra="allow"):
    """Those to one part of the set-up, by name; what is not given, or is `***`, stays as it is."""

    part: str
    answer: OfferAnswer = ""
    """To the offer of `search`: yes or no."""

    @field_validator("part")
    @classmethod
    def is_known(cls, part: str) -> str:
        if part not in PARTS:
            raise ValueError(Sentence("{value!r} is not one of {choices}.", value=part, choices=", ".join(PARTS)))
        return part

    def given(self) -> dict[str, str]:
        """The answers of the part."""
        texts = ((name, (self.model_extra or {}).get(name)) for name in PARTS[self.part])
        return {name: text.strip() for name, text in texts if isinstance(text, str) and text.strip() != "***"}


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
            **{name: channel.enabled for name, channel in config.channels.platforms.items()},
            "person": bool(now["name"]),
        }
        parts: dict[str, Json] = {
            part: {"ready": ready[part], **{name: now[name] for name in PARTS[part]}, **_card(part)} for part in ready
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
        given = answers.given()
        probed = MANIFESTS[answers.part].secrets if answers.part in MANIFESTS else ()  # the platform says more of them
        for name, text in given.items():
            if text and name not in probed and (problem := problem_with(name, text)):
                return _json(CheckResult(Outcome.MALFORMED, problem))
        config = await self._config()
        match answers.part:
            case "model":
                return await asyncio.to_thread(self._model, given, config)
            case channel if channel in MANIFESTS:
                settings = with_answers(config.channels.platforms[channel], MANIFESTS[channel], given)
                return _json(await asyncio.to_thread(settings.probe))
            case "person":
                zone = given.get("timezone") or config.timezone
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
        if provider := self._providers.get(given.get("model_url", "***")):
            given["model_provider"] = provider
        config = await self._written(lambda: write(self._home, given, self._environ))
        if given.get("timezone"):
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

    def _model(self, given: Answers, config: Config) -> Json:
        own = config.model.server()
        url = given["model_url"] or None if "model_url" in given else own.base_url
        provider = "openai" if config.model.provider == "openai" and url == own.base_url else "anthropic"
        # The key that is kept here is only shown to the server that it is for.
        kept = own.api_key if url == own.base_url else None
        key = given.get("model_key", kept.get_secret_value() if kept is not None else "")
        checked = check_model(provider, key, url, given.get("model_name") or config.model.name, asks=True)
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


def _card(part: str) -> dict[str, Json]:
    """What the page shows of a channel to set it up."""
    if part not in MANIFESTS:
        return {}
    manifest = MANIFESTS[part]
    fields: list[Json] = [
        {
            "name": question.answer,
            "label": question.label,
            "hint": question.hint,
            "secret": question.answer in manifest.secrets,
        }
        for question in manifest.questions
        if question.label
    ]
    return {"card": {"title": manifest.title, "why": manifest.why, "connect": manifest.connect, "fields": fields}}


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
