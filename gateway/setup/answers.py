"""The answers of the set-up: which are in force, and writing those that changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agent.fs import atomic_write
from agent.workspace import create, template_folder
from gateway.config import Config, ConfigError, load
from gateway.config.edit import HEADER, choose_zone, set_values, with_value
from gateway.config.errors import ConfigPath
from gateway.config.loader import parse
from gateway.config.show import shown_value
from gateway.config.yaml_tree import Value
from gateway.home import Home

_NAME_LINE = re.compile(r"^- Name:[ \t]*(?P<name>[^\r\n]*?)[ \t]*\r?$", re.MULTILINE)
_TELEGRAM = "telegram:"
_KEYS: Mapping[str, ConfigPath] = {
    "timezone": ("timezone",),
    "model_provider": ("model", "provider"),
    "model_key": ("model", "api_key"),
    "model_url": ("model", "base_url"),
    "model_name": ("model", "name"),
    "telegram_token": ("channels", "telegram", "token"),
    "discord_token": ("channels", "discord", "token"),
}

_SUMMARY: ConfigPath = ("schedule", "daily_summary")


@dataclass(frozen=True, slots=True)
class SetupAnswers:
    """None: not answered, so nothing changes; an empty text: the default, or none."""

    name: str | None = None
    timezone: str | None = None
    model_key: str | None = None
    model_url: str | None = None
    model_name: str | None = None
    telegram_token: str | None = None
    discord_token: str | None = None
    model_provider: str | None = None
    owner_id: str | None = None
    """A numeric Telegram id."""
    summary: str | None = None
    """A time of day, or `off`."""


def present(home: Home, config: Config) -> SetupAnswers:
    """The answers that are in force; secrets as `***`. Blocks."""
    telegram = (owner.removeprefix(_TELEGRAM) for owner in config.owners if owner.startswith(_TELEGRAM))
    daily = config.schedule.daily_summary
    return SetupAnswers(
        name=_name(_user_file(home, config)),
        timezone=config.timezone,
        model_key="***" if config.model.api_key else "",
        model_url=config.model.base_url or "",
        model_name=config.model.name,
        telegram_token="***" if config.channels.telegram.token else "",
        discord_token="***" if config.channels.discord.token else "",
        owner_id=next(telegram, ""),
        summary=f"{daily.time:%H:%M}" if daily.enabled else "off",
    )


def write(home: Home, answers: SetupAnswers, environ: Mapping[str, str]) -> Config:
    """Writes what was answered and differs: the workspace, `config.yaml` and `.env`. Blocks. Raises `ConfigError`,
    `HomeError` and `OSError`; then the configuration is as it was."""
    home.create()
    before = load(home, environ).config
    values = _values(answers, before)
    config = set_values(home, values, environ, HEADER).config
    if answers.timezone:  # chosen, though it may be the machine's
        config = choose_zone(home, answers.timezone, environ)
    create(home.workspace(config.agents[config.default_agent].workspace), template_folder())
    file = _user_file(home, config)
    if answers.name and answers.name != _name(file) and file.exists():
        text = file.read_text(encoding="utf-8")
        line = f"- Name: {' '.join(answers.name.split())}"
        changed = _NAME_LINE.sub(lambda _: line, text, count=1)
        atomic_write(file, changed if changed != text else f"{text.rstrip()}\n{line}\n")
    if not home.env_file.exists():
        atomic_write(home.env_file, "# Read when Daybook starts; environment variables take precedence.\n")
    return config


def problem_with(field: str, text: str) -> str:
    """Why an answer would make an invalid configuration, or ""."""
    try:
        written = ""
        for path, value in _values(replace(SetupAnswers(), **{field: text}), Config()).items():
            written = with_value(written, path, value)
        parse(written, {})
    except ConfigError as error:
        return error.problems[0].text
    return ""


def _values(answers: SetupAnswers, before: Config) -> dict[ConfigPath, Value]:
    """The values to write for the answers that differ from the configuration."""
    given = {name: getattr(answers, name) for name in _KEYS}
    values: dict[ConfigPath, Value] = {_KEYS[name]: text or None for name, text in given.items() if text is not None}
    if not answers.timezone:
        values.pop(_KEYS["timezone"], None)
    if answers.owner_id is not None:
        first = next((account for account in before.owners if account.startswith(_TELEGRAM)), None)
        owner = [f"{_TELEGRAM}{answers.owner_id}"] if answers.owner_id else []
        values["owners",] = [
            *owner,
            *(account for account in before.owners if account != first and account not in owner),
        ]
    if answers.summary is not None:
        values[*_SUMMARY, "enabled"] = answers.summary != "off"
        if answers.summary not in ("", "off"):
            values[*_SUMMARY, "time"] = answers.summary
    if (answers.model_key or answers.model_url) and before.model.provider == "offline" and not answers.model_provider:
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
