"""Every command's start: its home, its configuration, and errors shown in one way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TypeVar

import click

from channels.terminal import TerminalMessageNotKept
from gateway import log_setup
from gateway.config import Config, ConfigError, load, secrets_of
from gateway.home import Home, HomeError
from gateway.rpc.protocol import OperationError

T = TypeVar("T")


class CommandFailed(click.ClickException):
    """The command failed."""

    exit_code = 1


class Misconfigured(click.ClickException):
    """The configuration cannot be used."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class CliContext:
    """The home and the configuration of a command."""

    home: Home

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
        """The configuration of a command that answers on stdout: its log shows trouble only."""
        config = self.config()
        log_setup.set_up("warning", config.log.format, secrets_of(config))
        return config


def run(work: Coroutine[object, object, T]) -> T:
    """Runs a command's work; an error for people becomes its exit code and one line on stderr."""
    try:
        return asyncio.run(work)
    except BaseExceptionGroup as group:
        raise _told(_only(group)) from group
    except Exception as error:
        raise _told(error) from error


def _told(error: BaseException) -> BaseException:
    return (
        CommandFailed(str(error)) if isinstance(error, HomeError | OperationError | TerminalMessageNotKept) else error
    )


def _only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one cause of a group's failure, where there is only one."""
    inner = group.exceptions[0]
    if len(group.exceptions) > 1:
        return group
    return _only(inner) if isinstance(inner, BaseExceptionGroup) else inner
