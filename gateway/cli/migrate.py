"""`daybook migrate`: moves a home's messages between SQLite and PostgreSQL."""

from __future__ import annotations

import click

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from gateway.home import HomeError
from gateway.rpc.protocol import OperationError
from gateway.store.connection import postgres_module
from gateway.terminal.context import CliContext, CommandFailed

_SQLITE = "sqlite"


@click.command("migrate")
@click.argument("target", metavar="URL|sqlite")
@click.pass_obj
def migrate_command(context: CliContext, target: str) -> None:
    """Move the messages to PostgreSQL, for several gateways, or back.

    Give it postgresql://USER:PASSWORD@HOST/DATABASE, or sqlite. Stop the gateways first.
    Memory, transcripts and files stay where they are.
    """
    url = context.config().postgres_url
    try:
        moving = postgres_module("moving")
        if target == _SQLITE:
            if url is None:
                raise OperationError(Sentence("Keep `database_url` in config.yaml until the messages are moved back."))
            count = moving.to_sqlite(context.home, url)
            click.echo(
                context.said("Moved back, {count} rows. Now remove `database_url` from config.yaml.", count=count)
            )
            return
        count = moving.to_postgres(context.home, target)
    except (StorageUnavailable, HomeError, OperationError) as error:
        raise CommandFailed(str(error)) from error
    click.echo(
        context.said(
            "Moved, {count} rows, all compared. Now set `database_url` in config.yaml to the same URL.", count=count
        )
    )
    click.echo(
        context.said(
            "What was there is kept in {folder}; delete it when you are content.", folder=moving.aside(context.home)
        )
    )
