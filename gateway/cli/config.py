"""`daybook config`: check it, show it, describe it."""

from __future__ import annotations

import click

from gateway.cli.context import CliContext
from gateway.config import schema, shown


@click.group("config")
def config_command() -> None:
    """Check and show the configuration."""


@config_command.command()
@click.pass_obj
def validate(place: CliContext) -> None:
    """Say everything that is wrong, with file, line and key; exit 2 for errors."""
    place.config()
    file = place.home.config_file
    click.echo(f"{file} is valid." if file.exists() else f"There is no {file}; the defaults are valid.")


@config_command.command()
@click.pass_obj
def show(place: CliContext) -> None:
    """Print the configuration in force as YAML, secrets as ***."""
    click.echo(shown(place.config()), nl=False)


@config_command.command("schema")
def print_schema() -> None:
    """Print the JSON Schema of config.yaml, for editors."""
    click.echo(schema())
