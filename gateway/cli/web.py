"""`daybook web`: a link that logs in."""

from __future__ import annotations

import os
import sys

import click
import segno

from agent.languages.sentences import Sentence
from agent.languages.system_reasons import reason_of
from gateway.terminal.browser import has_browser, open_link
from gateway.terminal.context import CliContext, CommandFailed, print_json, run, typed
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
        raise CommandFailed(
            Sentence("The web page is turned off. Set `channels.web.enabled` in config.yaml to turn it on.")
        )
    context.home.create()
    try:
        token = read_token(web, context.home)
    except (OSError, ValueError) as error:
        why = reason_of(error) if isinstance(error, OSError) else error
        raise CommandFailed(Sentence("Can't read the token: {why}.", why=why)) from error
    found = run(page_link(context.home, context.language))
    if as_json:
        return print_json({"address": found.address, "link": found.link, "phone": found.phone, "token": token})
    if not found.link:
        gateway = typed(context.home, "gateway")
        why = found.why or Sentence("Daybook isn't running; `{gateway}` starts it", gateway=gateway)
        raise CommandFailed(Sentence("The page can't be opened right now: {why}.", why=why))
    ready = context.said("Your page is ready. This link logs you in; it works once, for the next ten minutes:")
    click.echo(f"{ready}\n\n  {found.link}\n")
    _show_phone(context, found.phone)
    click.echo(
        context.said("Without a link, log in at {address} with this token: {token}", address=found.address, token=token)
    )
    if sys.stdout.isatty() and not no_browser and has_browser(os.environ):
        try:
            open_link(context.home, found.link)
        except OSError as error:
            why = reason_of(error)
            click.echo(context.said("The browser didn't open ({why}): open the link yourself.", why=why), err=True)
    return None


def _show_phone(context: CliContext, link: str) -> None:
    if not link:
        alone = context.said(
            "Only this computer can open it. To use your phone in a network that you trust, set\n"
            "`channels.web.host: 0.0.0.0` in config.yaml and restart Daybook."
        )
        click.echo(f"{alone}\n")
        return
    scan = context.said(
        "On your phone, in the same network, scan this code or open the link below it (it works once, too):"
    )
    click.echo(f"{scan}\n")
    if sys.stdout.isatty() and (sys.stdout.encoding or "").lower().startswith("utf"):
        for line in qr_lines(link):
            click.echo(f"  {_QR_INK[0]}{line}{_QR_INK[1]}")
    click.echo(f"\n  {link}\n")


def qr_lines(link: str) -> list[str]:
    """A QR code in half blocks; the printed parts are light."""
    rows = [[not bit for bit in row] for row in segno.make(link, error="l", micro=False).matrix_iter(border=2)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return ["".join(" ▄▀█"[2 * upper + lower] for upper, lower in zip(*pair, strict=True)) for pair in pairs]
