"""`daybook web`: the page's address, and the token that it asks for."""

from __future__ import annotations

import click

from gateway.cli.context import CliContext, CommandFailed, run
from gateway.cli.render import print_json
from gateway.doctor.channels import page_place
from gateway.web import host as web_token


@click.command("web")
@click.option("--json", "as_json", is_flag=True, help="One JSON document: {address, token}.")
@click.pass_obj
def web_command(place: CliContext, as_json: bool) -> None:
    """Where the page is, and the token to log in with. Mind who sees your screen."""
    config = place.quiet_config()
    web = config.channels.web
    if not web.enabled:
        raise CommandFailed("the page is off (channels.web.enabled in config.yaml)")
    place.home.create()
    try:
        token = web_token.read(web, place.home)
    except (OSError, ValueError) as error:
        raise CommandFailed(f"the token cannot be read: {error}") from error
    found = run(page_place(place.home))
    if as_json:
        return print_json({"address": found.address, "token": token})
    if not found.address:
        click.echo(f"The page cannot be opened now: {found.why}", err=True)
    click.echo(f"address  {found.address or '-'}")
    click.echo(f"token    {token}")
    return None
