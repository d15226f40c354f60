"""`daybook config`."""

from __future__ import annotations

import os

import click
import yaml

from agent.languages.sentences import Sentence, joined
from agent.languages.system_reasons import reason_of
from gateway.config import ConfigError, reference, schema, shown
from gateway.config.edit import choose_zone, path_of, set_values, value_of
from gateway.config.show import shown_value
from gateway.terminal.context import CliContext, CommandFailed, Misconfigured


@click.group("config")
def config_command() -> None:
    """Check, show and change the configuration."""


@config_command.command()
@click.pass_obj
def validate(context: CliContext) -> None:
    """List everything that is wrong, with file, line and key. Exits with 2 on errors."""
    context.config()
    file = context.home.config_file
    is_absent = context.said("There is no {file}, so the defaults are used.", file=file)
    click.echo(context.said("{file} is valid.", file=file) if file.exists() else is_absent)


@config_command.command()
@click.pass_obj
def show(context: CliContext) -> None:
    """Print the configuration in use as YAML, with secrets as ***."""
    click.echo(shown(context.config()), nl=False)


@config_command.command("get")
@click.argument("key")
@click.pass_obj
def get_key(context: CliContext, key: str) -> None:
    """Print the value of KEY that is in force, such as channels.web.port; secrets as ***."""
    config = context.config()
    try:
        value = shown_value(config, path_of(key))
    except ConfigError as error:
        raise click.UsageError(context.said_of(error.problems[0].text)) from error
    plain = isinstance(value, str)
    click.echo(
        value if plain else yaml.safe_dump(value, sort_keys=False, allow_unicode=True).removesuffix("...\n"), nl=plain
    )


@config_command.command("set")
@click.argument("key")
@click.argument("value")
@click.pass_obj
def set_key(context: CliContext, key: str, value: str) -> None:
    """Set KEY to VALUE in config.yaml, if that is valid; comments stay. "null" is the default again.

    Keys of the model, Telegram and Discord go to .env. A running Daybook reads them when it starts again.
    """
    try:
        path, new = path_of(key), value_of(value)
        context.home.create()
        if path == ("timezone",) and isinstance(new, str):
            choose_zone(context.home, new, os.environ)
        else:
            set_values(context.home, {path: new}, os.environ)
    except ConfigError as error:
        problems = joined(map(str, error.problems), "; ")
        raise Misconfigured(Sentence("Nothing was changed. {problems}", problems=problems)) from error
    except OSError as error:
        raise CommandFailed(Sentence("The configuration can't be written: {why}.", why=reason_of(error))) from error
    click.echo(context.said("{key} is set. Restart Daybook if it is running.", key=key))


@config_command.command("schema")
def print_schema() -> None:
    """Print the JSON Schema of config.yaml, for editors."""
    click.echo(schema())


@config_command.command("reference")
def print_reference() -> None:
    """Print what each key of config.yaml is for, as Markdown."""
    click.echo(reference.markdown(), nl=False)
