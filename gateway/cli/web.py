"""`daybook web`: a link that logs in."""

from __future__ import annotations

import os
import sys

import click
import segno

from gateway.cli.browser import has_browser, open_link
from gateway.cli.context import CliContext, CommandFailed, print_json, run
from gateway.cli.invocation import typed
from gateway.web.host import page_link, read_token

_QR_INK = ("\x1b[97;40m", "\x1b[0m")
"""White on black, whatever the terminal's colours: many cameras don't read an inverted code."""


@click.command("web")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def web_command(context: CliContext, no_browser: bool, as_json: bool) -> None:
    """Open the web page, logged in.

    The link works once, for ten minutes, and so does the QR code for a phone. Mind who can see your screen.
    """
    config = context.quiet_config()
    web = config.channels.web
    if not web.enabled:
        raise CommandFailed("The web page is turned off. Set channels.web.enabled in config.yaml to turn it on.")
    context.home.create()
    try:
        token = read_token(web, context.home)
    except (OSError, ValueError) as error:
        raise CommandFailed(f"Can't read the token: {error}.") from error
    found = run(page_link(context.home))
    if as_json:
        return print_json({"address": found.address, "link": found.link, "phone": found.phone, "token": token})
    if not found.link:
        why = found.why or f"Daybook isn't running; `{typed(context.home, 'gateway')}` starts it"
        raise CommandFailed(f"The page can't be opened right now: {why}.")
    click.echo("Your page is ready. This link logs you in; it works once, for the next ten minutes:\n")
    click.echo(f"  {found.link}\n")
    _show_phone(found.phone)
    click.echo(f"Without a link, log in at {found.address} with this token: {token}")
    if sys.stdout.isatty() and not no_browser and has_browser(os.environ):
        try:
            open_link(context.home, found.link)
        except OSError as error:
            click.echo(f"The browser didn't open ({error.strerror or error}): open the link yourself.", err=True)
    return None


def _show_phone(link: str) -> None:
    if not link:
        click.echo("Only this computer can open it. To use your phone in a network that you trust, set")
        click.echo("channels.web.host: 0.0.0.0 in config.yaml and restart Daybook.\n")
        return
    click.echo("On your phone, in the same network, scan this code or open the link below it (it works once, too):\n")
    if sys.stdout.isatty() and (sys.stdout.encoding or "").lower().startswith("utf"):
        for line in qr_lines(link):
            click.echo(f"  {_QR_INK[0]}{line}{_QR_INK[1]}")
    click.echo(f"\n  {link}\n")


def qr_lines(link: str) -> list[str]:
    """A QR code in half blocks, light where it is printed."""
    rows = [[not bit for bit in row] for row in segno.make(link, error="l", micro=False).matrix_iter(border=2)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return ["".join(" ▄▀█"[2 * upper + lower] for upper, lower in zip(*pair, strict=True)) for pair in pairs]
