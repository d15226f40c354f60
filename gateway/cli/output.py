"""What `--json` prints."""

from __future__ import annotations

import json

import click

from agent.model.base import Json


def print_json(value: Json) -> None:
    """The one document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
