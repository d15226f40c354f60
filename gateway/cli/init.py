"""`daybook init`: the set-up questions."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from agent.workspace import create, template_folder
from gateway.cli.context import CliContext, CommandFailed
from gateway.cli.embedder import fetch_into
from gateway.config import Config
from gateway.config.errors import ConfigError
from gateway.config.loader import parse
from gateway.config.values import machine_zone
from gateway.embedder.build import is_there
from gateway.embedder.offer import LATER, decline, offer_of
from gateway.home import HomeError, write_private

_NAME_LINE = re.compile(r"^- Name:[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SetupAnswers:
    """The answers; an empty text means the default. Secrets go to `.env`, the rest to `config.yaml`."""

    name: str
    timezone: str
    model_key: str
    model_url: str
    telegram_token: str
    owner_id: str
    summary: str


@click.command("init")
@click.option("--name", help="What to call you.")
@click.option("--timezone", help="Your IANA time zone, such as Europe/Berlin.")
@click.option("--model-key", help="Anthropic API key; empty: the offline assistant.")
@click.option("--model-url", help="Another server that speaks the Anthropic Messages API.")
@click.option("--telegram-token", help="The bot's token from @BotFather; empty: no Telegram.")
@click.option("--owner-id", help="Your numeric Telegram id; empty: the first person approved becomes the owner.")
@click.option("--summary", help='Time of the daily summary, such as 21:00; "off": none.')
@click.option("--embedder/--no-embedder", "wants_embedder", default=None, help="Fetch a model that finds by meaning.")
@click.option("--yes", is_flag=True, help="Ask nothing; defaults for what is not given.")
@click.pass_obj
def init_command(place: CliContext, /, yes: bool, wants_embedder: bool | None, **given: str | None) -> None:
    """Ask for what Daybook needs and write config.yaml, .env and the workspace. What exists stays as it is."""
    home = place.home
    with _failures_told(home.path):
        exists = home.config_file.exists()
    if exists:
        click.echo(f"{home.config_file} exists and is kept; edit it to change something.", err=True)
    wishes = SetupAnswers(**{name: value or "" for name, value in given.items()}) if exists else _wishes(given, yes=yes)
    with _failures_told(home.path):
        home.create()
        if not exists:
            _write_env(home.env_file, wishes)
            write_private(home.config_file, _config_text(wishes))
        config = place.config()
        workspace = home.workspace(config.agents[config.default_agent].workspace)
        made = create(workspace, template_folder())
        if wishes.name and workspace / "USER.md" in made:
            _introduce(workspace / "USER.md", wishes.name)
    _offer_embedder(place, config, wants_embedder, asks=not yes and not exists)
    click.echo(f"Daybook lives in {home.path}. Try `daybook chat`, or `daybook gateway` to let it listen.")
    if wishes.telegram_token and not wishes.owner_id and not exists:
        click.echo(
            "Then write to your bot: it answers with a code, and `daybook pair approve CODE` makes you its owner."
        )


def _offer_embedder(place: CliContext, config: Config, wants_one: bool | None, *, asks: bool) -> None:
    """Offers search by meaning in one question. A failed fetch is reported and fails nothing."""
    question = offer_of(place.home, config)
    if wants_one is None and asks and question:
        try:
            wants_one = click.confirm(question, default=False)
        except click.Abort:  # all else is set up, and who pipes answers in may know of no such question
            return
    if wants_one is False:
        with _failures_told(place.home.path):
            decline(place.home)
        click.echo(f"Memory is searched by words. {LATER}")
    if wants_one and not is_there(place.home):
        try:
            fetch_into(place)
        except CommandFailed as problem:
            click.echo(f"Memory is searched by words alone: {problem.message}", err=True)


def _wishes(given: dict[str, str | None], *, yes: bool) -> SetupAnswers:
    """Asks for what was not given. Each answer is checked by the configuration that it makes, and asked for again."""

    def ask(name: str, question: str, default: str = "", *, hide: bool = False) -> str:
        value = given[name]
        if value is not None:
            if problem := _problem(name, value.strip()):
                raise click.UsageError(f"--{name.replace('_', '-')}: {problem}")
            return value.strip()
        if yes:
            return default
        return str(
            click.prompt(
                question,
                default,
                show_default=bool(default),
                hide_input=hide and sys.stdin.isatty(),  # what is piped in is echoed by nobody
                value_proc=_checked(name),
            )
        )

    return SetupAnswers(
        name=ask("name", "What shall I call you?"),
        timezone=ask("timezone", "Your time zone", machine_zone()),
        model_key=ask("model_key", "Anthropic API key (empty: the offline assistant)", hide=True),
        model_url=ask("model_url", "Address of the model's server (empty: Anthropic's own)"),
        telegram_token=ask("telegram_token", "Telegram bot token from @BotFather (empty: no Telegram)", hide=True),
        owner_id=ask("owner_id", "Your numeric Telegram id (empty: pair later)"),
        summary=ask("summary", 'Daily summary at (or "off")', "21:00"),
    )


def _checked(name: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if problem := _problem(name, value.strip()):
            raise click.UsageError(problem)
        return value.strip()

    return check


def _problem(name: str, value: str) -> str:
    """Why this answer makes an invalid configuration; empty where it does not."""
    only = SetupAnswers(**{field: value if field == name else "" for field in SetupAnswers.__dataclass_fields__})
    try:
        parse(_config_text(only), {"ANTHROPIC_API_KEY": only.model_key, "TELEGRAM_BOT_TOKEN": only.telegram_token})
    except ConfigError as error:
        return error.problems[0].text
    return ""


def _config_text(wishes: SetupAnswers) -> str:
    """The values that differ from the defaults, each with a comment."""
    parts = ["# Daybook's configuration. Only what differs from the defaults needs to stand here;", ""]
    parts[1] = "# `daybook config show` prints all of it, `daybook config validate` checks it. Secrets are in .env.\n"
    if wishes.timezone:
        parts.append(f"timezone: {_quoted(wishes.timezone)}          # what today means\n")
    if wishes.owner_id:
        parts.append(f"owners: [{_quoted('telegram:' + wishes.owner_id)}]\n")
    if wishes.model_url:
        parts.append(f"model:\n  base_url: {_quoted(wishes.model_url)}\n")
    if wishes.summary == "off":
        parts.append("schedule:\n  daily_summary: {enabled: false}\n")
    elif wishes.summary and wishes.summary != "21:00":
        parts.append(f"schedule:\n  daily_summary: {{time: {_quoted(wishes.summary)}}}\n")
    return "\n".join(parts)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _write_env(file: Path, wishes: SetupAnswers) -> None:
    """Writes secrets, where there are any; an existing file gets what it lacks at its end."""
    secrets = {"ANTHROPIC_API_KEY": wishes.model_key, "TELEGRAM_BOT_TOKEN": wishes.telegram_token}
    lines = "".join(f"{name}={value}\n" for name, value in secrets.items() if value)
    if not file.exists():
        write_private(file, "# Read by Daybook at start; what is set in the environment wins.\n" + lines)
    elif lines:
        before = file.read_text(encoding="utf-8")
        with file.open("a", encoding="utf-8") as stream:
            stream.write(("" if not before or before.endswith("\n") else "\n") + lines)


def _introduce(file: Path, name: str) -> None:
    """Writes the name into a new USER.md."""
    text = file.read_text(encoding="utf-8")
    file.write_text(_NAME_LINE.sub(lambda _: f"- Name: {name}", text, count=1), encoding="utf-8")


@contextlib.contextmanager
def _failures_told(home: Path) -> Iterator[None]:
    try:
        yield
    except HomeError as error:
        raise CommandFailed(str(error)) from error
    except OSError as error:
        where = os.fspath(error.filename) if error.filename else str(home)
        raise CommandFailed(f"{where} cannot be written: {error.strerror or error}") from error
