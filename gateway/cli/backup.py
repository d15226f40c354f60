"""`daybook backup` and `daybook restore`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from agent.formats.sqlite import StorageUnavailable
from gateway.backup.archive import BackupError, CopyDatabase, Manifest, copy_of, is_encrypted, restore, write
from gateway.cli.context import CliContext
from gateway.cli.invocation import typed
from gateway.config import ConfigError, load
from gateway.home import Home, HomeError

_PASSPHRASE = "DAYBOOK_BACKUP_PASSPHRASE"
_LOG = re.compile(r"/memory/(\d{4}-\d\d-\d\d)\.md$")
_SHOWN = 5


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--encrypt", is_flag=True, help=f"With a passphrase: asked for, or in ${_PASSPHRASE}.")
@click.pass_obj
def backup_command(context: CliContext, file: Path, encrypt: bool) -> None:
    """Write everything to one file, while Daybook runs."""
    passphrase = _passphrase(is_new=True) if encrypt else None
    try:
        manifest = write(context.home, file.expanduser(), passphrase, _copy(context))
    except (BackupError, StorageUnavailable) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Wrote {file}: {_summary(manifest)}. It was read back and is complete.")
    for name in manifest.skipped[:_SHOWN]:
        click.echo(f"Left out: {name} (a link, or it cannot be read)", err=True)
    if len(manifest.skipped) > _SHOWN:
        click.echo(f"Left out: {len(manifest.skipped) - _SHOWN} more", err=True)
    if not encrypt:
        click.echo("It holds your keys and your conversations: keep it private, or use --encrypt.")


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--home", "folder", type=click.Path(path_type=Path), help="Where to; default: the home in use.")
@click.option("--force", is_flag=True, help="Set aside a home that is there.")
@click.pass_obj
def restore_command(context: CliContext, file: Path, folder: Path | None, force: bool) -> None:
    """Put everything back from a backup.

    Every file is checked first.
    """
    home = Home(folder.expanduser().absolute()) if folder is not None else context.home
    try:
        passphrase = _passphrase(is_new=False) if is_encrypted(file) else None
        manifest, aside = restore(file, home, passphrase, force=force)
    except (BackupError, HomeError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Restored to {home.path}: {_summary(manifest)}.")
    click.echo(f"Made on {manifest.made_at[:16].replace('T', ' ')} UTC by Daybook {manifest.daybook}.")
    if aside is not None:
        click.echo(f"What was there is in {aside}.")
    if home.database.exists() and _names_postgres(home):
        click.echo("Its messages are in SQLite. If they were in PostgreSQL: move them to an empty database by")
        click.echo(f"`{typed(home, 'migrate')} postgresql://…` and give that in config.yaml, or remove `database_url`.")
    click.echo("Start it with `daybook gateway`, and let no other run with the same bot.")


def _copy(context: CliContext) -> CopyDatabase | None:
    return copy_of(context.config().postgres_url if context.home.claim.exists() else None)


def _names_postgres(home: Home) -> bool:
    try:
        return load(home, os.environ).config.postgres_url is not None
    except ConfigError:
        return False


def _summary(manifest: Manifest) -> str:
    paths = [one.path for one in manifest.files]
    days = sorted(found[1] for one in paths if (found := _LOG.search(f"/{one}")))
    conversations = sum(one.startswith("state/sessions/") and one.endswith(".jsonl") for one in paths)
    logs = f", daily logs from {days[0]} to {days[-1]}" if days else ""
    size = f"{len(paths)} files, {manifest.size / 1e6:.1f} MB"
    return f"{size}, {conversations} conversation{'' if conversations == 1 else 's'}{logs}"


def _passphrase(*, is_new: bool) -> str:
    if given := os.environ.get(_PASSPHRASE):
        return given
    if sys.stdin.isatty():
        return str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=is_new, err=True))
    if given := sys.stdin.readline().rstrip("\r\n"):
        return given
    raise click.UsageError(f"Give the passphrase in ${_PASSPHRASE}, or in the first line of the input.")
