"""The home, configuration, errors and output of every command."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import sys
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString, TypeVar

import click

from agent.languages.codes import Language, of_environment
from agent.languages.sentences import said, translated
from agent.model.base import Json
from channels.terminal import TerminalMessageNotKept
from gateway import log_setup
from gateway.config import Config, ConfigError, ConfigProblem, load, secrets_of
from gateway.home import Home, HomeError, find_home
from gateway.rpc.protocol import OperationError

T = TypeVar("T")

_NAME = "daybook"


class _SaidInTerminal(click.ClickException):
    """Its text may be a `Sentence`."""

    def format_message(self) -> str:
        return str(translated(terminal_language(), self.message))


class CommandFailed(_SaidInTerminal):
    exit_code = 1


class Misconfigured(_SaidInTerminal):
    """The configuration cannot be used."""

    exit_code = 2


def terminal_language() -> Language:
    """The language of this terminal; English where it is none of ours."""
    return of_environment(os.environ) or Language.ENGLISH


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

    def said_of(self, text: object) -> str:
        """A text that may be translatable, in the language of this terminal."""
        return str(translated(self.language, text))

    def heads(self, *heads: str) -> list[str]:
        return [self.said_of(head) for head in heads]

    def config(self) -> Config:
        """The configuration; its warnings go to stderr. Raises `Misconfigured`."""
        try:
            loaded = load(self.home, os.environ)
        except ConfigError as error:
            self._warn(error.warnings)
            raise Misconfigured(str(error)) from error
        self._warn(loaded.warnings)
        return loaded.config

    def _warn(self, warnings: Iterable[ConfigProblem]) -> None:
        for warning in warnings:
            click.echo(self.said("Warning: {what}", what=str(warning)), err=True)

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
            raise CommandFailed(str(cause)) from error
        if cause is error:
            raise
        raise cause from error


def _only(error: BaseException) -> BaseException:
    """The cause of a group's failure if there is only one; any other error as it is."""
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        return _only(error.exceptions[0])
    return error


def print_json(value: Json) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def typed(home: Home, *words: str) -> str:
    """A command for this home as it is typed in this folder: `daybook web`, or `.venv/bin/daybook web`."""
    return shlex.join([*_program(), *_home_option(home), *words])


def _program() -> list[str]:
    script = Path(sys.argv[0]).absolute()
    if script.stem != _NAME:  # `python -m gateway`
        script = Path(sys.executable).with_name(_NAME)
    if not script.is_file():
        return [sys.executable, "-m", "gateway"]
    on_path = shutil.which(_NAME)
    if on_path and Path(on_path).samefile(script):
        return [_NAME]
    here = Path.cwd()
    return [str(script.relative_to(here) if script.is_relative_to(here) else script)]


def _home_option(home: Home) -> list[str]:
    try:
        is_usual = find_home(None, {}) == home  # $DAYBOOK_HOME may be set for this command alone
    except HomeError:  # the user has no folder
        is_usual = False
    return [] if is_usual else ["--home", str(home.path)]
