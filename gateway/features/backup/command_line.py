"""`daybook backup` and `daybook restore`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence, joined
from gateway.config import ConfigError, load
from gateway.features.backup.archive import CopyDatabase, Manifest, copy_of, is_encrypted, restore, write
from gateway.features.backup.errors import BackupError
from gateway.home import Home, HomeError
from gateway.terminal.context import CliContext, CommandFailed, typed

_PASSPHRASE = "DAYBOOK_BACKUP_PASSPHRASE"
_LOG = re.compile(r"/memory/(\d{4}-\d\d-\d\d)\.md$")
_SHOWN = 5


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--encrypt", is_flag=True, help=f"With a passphrase: asked for, or in ${_PASSPHRASE}.")
@click.pass_obj
def backup_command(context: CliContext, file: Path, encrypt: bool) -> None:
    """Write everything to one file, while Daybook runs."""
    passphrase = _passphrase(context, is_new=True) if encrypt else None
    try:
        manifest = write(context.home, file.expanduser(), passphrase, _copy(context))
    except (BackupError, StorageUnavailable) as error:
        raise CommandFailed(str(error)) from error
    content = _summary(manifest)
    click.echo(context.said("Wrote {file}: {content}. It was read back and is complete.", file=file, content=content))
    for name in manifest.skipped[:_SHOWN]:
        click.echo(context.said("Left out: {name} (a link, or it cannot be read)", name=name), err=True)
    if (more := len(manifest.skipped) - _SHOWN) > 0:
        click.echo(context.said("Left out: {count} more", count=more), err=True)
    if not encrypt:
        click.echo(context.said("It holds your keys and your conversations: keep it private, or use --encrypt."))


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
        passphrase = _passphrase(context, is_new=False) if is_encrypted(file) else None
        manifest, aside = restore(file, home, passphrase, force=force)
    except (BackupError, HomeError) as error:
        raise CommandFailed(str(error)) from error
    click.echo(context.said("Restored to {folder}: {content}.", folder=home.path, content=_summary(manifest)))
    made_at = manifest.made_at[:16].replace("T", " ")
    click.echo(context.said("Made on {moment} UTC by Daybook {version}.", moment=made_at, version=manifest.daybook))
    if aside is not None:
        click.echo(context.said("What was there is in {folder}.", folder=aside))
    if home.database.exists() and _names_postgres(home):
        click.echo(
            context.said(
                "Its messages are in SQLite. If they were in PostgreSQL: move them to an empty database by\n"
                "`{migrate} postgresql://…` and give that in config.yaml, or remove `database_url`.",
                migrate=typed(home, "migrate"),
            )
        )
    click.echo(context.said("Start it with `daybook gateway`, and let no other run with the same bot."))


def _copy(context: CliContext) -> CopyDatabase | None:
    return copy_of(context.config().postgres_url if context.home.claim.exists() else None)


def _names_postgres(home: Home) -> bool:
    try:
        return load(home, os.environ).config.postgres_url is not None
    except ConfigError:
        return False


def _summary(manifest: Manifest) -> str:
    paths = [file.path for file in manifest.files]
    days = sorted(found[1] for path in paths if (found := _LOG.search(f"/{path}")))
    conversations = sum(path.startswith("state/sessions/") and path.endswith(".jsonl") for path in paths)
    logs = Sentence("daily logs from {first} to {last}", first=days[0], last=days[-1]) if days else ""
    files = Sentence("{count} files", count=len(paths))
    several = Sentence("{count} conversations", count=conversations)
    counted = Sentence("1 conversation") if conversations == 1 else several
    size = Sentence("{size} MB", size=f"{manifest.size / 1e6:.1f}")
    return joined([files, size, counted, logs], ", ")


def _passphrase(context: CliContext, *, is_new: bool) -> str:
    if given := os.environ.get(_PASSPHRASE):
        return given
    if sys.stdin.isatty():
        return str(click.prompt(context.said("Passphrase"), hide_input=True, confirmation_prompt=is_new, err=True))
    if given := sys.stdin.readline().rstrip("\r\n"):
        return given
    raise click.UsageError(
        context.said("Give the passphrase in ${variable}, or in the first line of the input.", variable=_PASSPHRASE)
    )
