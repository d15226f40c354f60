"""The answers of the set-up: which are in force, and writing those that changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from agent.fs import atomic_write
from agent.workspace import create, template_folder
from channels.ids import PersonId
from channels.manifest import ChannelManifest, ChannelSettings
from channels.registry import MANIFESTS
from gateway.config import Config, ConfigError, load
from gateway.config.edit import HEADER, choose_zone, set_values, with_value
from gateway.config.errors import ConfigPath
from gateway.config.loader import parse
from gateway.config.show import shown_value
from gateway.config.yaml_tree import Value
from gateway.home import Home

_NAME_LINE = re.compile(r"^- Name:[ \t]*(?P<name>[^\r\n]*?)[ \t]*\r?$", re.MULTILINE)
_KEYS: Mapping[str, ConfigPath] = {
    "timezone": ("timezone",),
    "model_provider": ("model", "provider"),
    "model_key": ("model", "api_key"),
    "model_url": ("model", "base_url"),
    "model_name": ("model", "name"),
    **{
        question.answer: ("channels", name, question.key)
        for name, manifest in MANIFESTS.items()
        for question in manifest.questions
        if question.key
    },
}
_OWNERS: Mapping[str, str] = {
    question.answer: name for name, manifest in MANIFESTS.items() for question in manifest.questions if not question.key
}
"""The answers that are the owner's id, each with its channel."""

_SUMMARY: ConfigPath = ("schedule", "daily_summary")


Answers = Mapping[str, str]
"""By name. What is not answered changes nothing; an empty text: the default, or none. `summary` is a time of day, or
`off`."""
OF_MODEL = ("model_key", "model_url", "model_name")
OF_PERSON = ("name", "timezone", "summary")


def present(home: Home, config: Config) -> Answers:
    """The answers that are in force; secrets as `***`. Blocks."""
    daily = config.schedule.daily_summary
    owners = list(map(PersonId.parse, config.owners))
    of_channels = {
        question.answer: _shown(getattr(config.channels.platforms[name], question.key))
        for name, manifest in MANIFESTS.items()
        for question in manifest.questions
        if question.key
    }
    ids = {
        answer: next((owner.id for owner in owners if owner.channel == channel), "")
        for answer, channel in _OWNERS.items()
    }
    return {
        **of_channels,
        **ids,
        "name": _name(_user_file(home, config)),
        "timezone": config.timezone,
        "model_key": _shown(config.model.api_key),
        "model_url": config.model.base_url or "",
        "model_name": config.model.name,
        "summary": f"{daily.time:%H:%M}" if daily.enabled else "off",
    }


def _shown(value: object) -> str:
    return "***" if isinstance(value, SecretStr) else str(value or "")


def with_answers(settings: ChannelSettings, manifest: ChannelManifest, answers: Answers) -> ChannelSettings:
    """The settings of a channel as they would be with answers that were not written yet."""
    given = {
        question.key: SecretStr(text) if question.key in manifest.variables else text
        for question in manifest.questions
        if question.key and (text := answers.get(question.answer, "***")) != "***"
    }
    return settings.model_copy(update=given)


def write(home: Home, answers: Answers, environ: Mapping[str, str]) -> Config:
    """Writes what was answered and differs: the workspace, `config.yaml` and `.env`. Blocks. Raises `ConfigError`,
    `HomeError` and `OSError`; then the configuration is as it was."""
    home.create()
    before = load(home, environ).config
    values = _values(answers, before)
    config = set_values(home, values, environ, HEADER).config
    if zone := answers.get("timezone"):  # chosen, though it may be the machine's
        config = choose_zone(home, zone, environ)
    create(home.workspace(config.agents[config.default_agent].workspace), template_folder())
    file = _user_file(home, config)
    name = answers.get("name")
    if name and name != _name(file) and file.exists():
        text = file.read_text(encoding="utf-8")
        line = f"- Name: {' '.join(name.split())}"
        changed = _NAME_LINE.sub(lambda _: line, text, count=1)
        atomic_write(file, changed if changed != text else f"{text.rstrip()}\n{line}\n")
    if not home.env_file.exists():
        atomic_write(home.env_file, "# Read when Daybook starts; environment variables take precedence.\n")
    return config


def problem_with(field: str, text: str) -> str:
    """Why an answer would make an invalid configuration, or ""."""
    try:
        written = ""
        for path, value in _values({field: text}, Config()).items():
            written = with_value(written, path, value)
        parse(written, {})
    except ConfigError as error:
        return error.problems[0].text
    return ""


def _values(answers: Answers, before: Config) -> dict[ConfigPath, Value]:
    """The values to write for the answers that differ from the configuration."""
    values: dict[ConfigPath, Value] = {path: answers[name] or None for name, path in _KEYS.items() if name in answers}
    if not answers.get("timezone"):
        values.pop(_KEYS["timezone"], None)
    owners = list(before.owners)
    for answer, channel in _OWNERS.items():
        if answer in answers:
            first = next((account for account in owners if PersonId.parse(account).channel == channel), None)
            owner = [str(PersonId(channel, answers[answer]))] if answers[answer] else []
            owners = [*owner, *(account for account in owners if account != first and account not in owner)]
            values["owners",] = list[Value](owners)
    if (summary := answers.get("summary")) is not None:
        values[*_SUMMARY, "enabled"] = summary != "off"
        if summary not in ("", "off"):
            values[*_SUMMARY, "time"] = summary
    has_model = answers.get("model_key") or answers.get("model_url")
    if has_model and before.model.provider == "offline" and not answers.get("model_provider"):
        values["model", "provider"] = None  # a key written beside `provider: offline` would not be used
    return {path: value for path, value in values.items() if shown_value(before, path) != value}


def _user_file(home: Home, config: Config) -> Path:
    return home.workspace(config.agents[config.default_agent].workspace) / "USER.md"


def _name(file: Path) -> str:
    try:
        match = _NAME_LINE.search(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):  # the doctor reports what is wrong with it
        return ""
    return match["name"] if match else ""
