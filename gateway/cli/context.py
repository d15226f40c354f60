"""The home, configuration, errors and output of every command."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import IO, LiteralString, TypeVar
from zoneinfo import ZoneInfo

import click

from agent.languages.codes import Language, of_environment
from agent.languages.sentences import said, translated
from agent.model.base import Json
from channels.terminal import TerminalMessageNotKept
from gateway import log_setup
from gateway.config import Config, ConfigError, load, secrets_of
from gateway.home import Home, HomeError
from gateway.rpc.protocol import OperationError
from gateway.spoken_time import spoken, spoken_day

T = TypeVar("T")


def terminal_language() -> Language:
    """The language of this terminal; English where it is none of ours."""
    return of_environment(os.environ) or Language.ENGLISH


class _Failure(click.ClickException):
    """Shown in the terminal's language."""

    def show(self, file: IO[str] | None = None) -> None:
        told = said(terminal_language(), "Error: {why}", why=self.format_message())
        click.echo(told, file=file, err=file is None)


class CommandFailed(_Failure):
    """The command failed."""

    exit_code = 1


class Misconfigured(_Failure):
    """The configuration cannot be used."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class CliContext:
    """The home and the configuration of a command."""

    home: Home

    @property
    def language(self) -> Language:
        return terminal_language()

    def said(self, english: LiteralString, /, **values: object) -> str:
        """The sentence in the language of this terminal."""
        return said(self.language, english, **values)

    def config(self) -> Config:
        """The configuration; its warnings go to stderr. Raises `Misconfigured`."""
        try:
            loaded = load(self.home, os.environ)
        except ConfigError as error:
            for warning in error.warnings:
                click.echo(f"Warning: {warning}", err=True)
            raise Misconfigured(str(error)) from error
        for warning in loaded.warnings:
            click.echo(f"Warning: {warning}", err=True)
        return loaded.config

    def quiet_config(self) -> Config:
        """The configuration, for a command that answers on stdout: only warnings are logged."""
        config = self.config()
        log_setup.set_up("warning", config.log.format, secrets_of(config))
        return config


def run(work: Coroutine[object, object, T]) -> T:
    """Runs a command's work; an expected error becomes one line on stderr and the exit code."""
    try:
        return asyncio.run(work)
    except (Exception, BaseExceptionGroup) as error:
        cause = _only(error)
        if isinstance(cause, HomeError | OperationError | TerminalMessageNotKept):
            raise CommandFailed(str(translated(terminal_language(), cause))) from error
        if cause is error:
            raise
        raise cause from error


def _only(error: BaseException) -> BaseException:
    """The one cause of a group's failure; any other error as it is."""
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        return _only(error.exceptions[0])
    return error


def print_json(value: Json) -> None:
    """Prints the one document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def show_time(stamp: object, zone: ZoneInfo) -> str:
    """A moment of ISO 8601, or a day, as people say it; empty for none."""
    if not isinstance(stamp, str) or not stamp:
        return ""
    now = datetime.now(UTC)
    if len(stamp) == len("2026-11-22"):
        return spoken_day(date.fromisoformat(stamp), now.astimezone(zone).date())
    return spoken(datetime.fromisoformat(stamp), now, zone)
