"""`daybook memory embedder`: the embedder, whether it works, and what it costs."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from functools import partial

import click

from agent.model.base import Json
from agent.search.vectors.encoder import NoEmbedding
from agent.settings import LocalEmbedderSettings, RemoteEmbedderSettings
from gateway.cli.context import CliContext, CommandFailed
from gateway.cli.progress import show_progress
from gateway.cli.render import print_json
from gateway.cli.rpc import ask, ask_beside
from gateway.embedder.build import OLD_MODEL, embedding_of, has_old_model, is_there, missing, unreadable
from gateway.embedder.check import check
from gateway.embedder.fetch import KEPT, LOADED, fetch
from gateway.embedder.offer import GAIN, by_hand

_NONE = """No embedder: memory is searched by words, days and names{why}. {gain}.

`daybook memory embedder --fetch` puts a small English model into the home (it downloads {loaded} MB, of which {kept} MB
stay), and installs what runs it where that is missing{missing}. It takes about 200 MB of memory while the gateway runs,
and 5 ms a passage, once.
{by_hand}
Or set memory.search.embedding to another such folder ({{model_dir}}), or to a server of OpenAI's kind ({{base_url,
model, api_key}})."""


@click.command()
@click.option("--fetch", "wants_one", is_flag=True, help=f"Fetch a small English model ({LOADED} MB) into the home.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def embedder(place: CliContext, wants_one: bool, as_json: bool) -> None:
    """Try what finds memories by their meaning, and say what it costs."""
    if wants_one:
        fetch_into(place)
    config = place.config()
    wanted = config.agents[config.default_agent].memory.search.embedding
    settings = embedding_of(wanted, place.home)
    if settings is None and wanted == "auto" and is_there(place.home):
        raise CommandFailed(f"A model is there, but {missing()}.")
    try:
        found = check(settings) if settings is not None else None
    except NoEmbedding as problem:
        raise CommandFailed(f"The embedder does not work: {problem}.") from problem
    if as_json:
        print_json(asdict(found) if found is not None else None)
    elif found is None:
        if wants_one:
            raise CommandFailed(f"The model is there, but memory.search.embedding is {wanted}; set it to auto.")
        absent, why = missing(), OLD_MODEL if has_old_model(place.home) else unreadable(place.home)
        click.echo(
            _NONE.format(
                why=f"; {why}" if why and wanted == "auto" else "",
                gain=GAIN,
                loaded=LOADED,
                kept=KEPT,
                missing=f" ({absent})" if absent else "",
                by_hand=by_hand(place.home),
            )
        )
    else:
        click.echo(f"{found.where}: works ({found.model}, {found.size} numbers a vector).")
        if found.engine:
            click.echo(f"It runs in {found.engine}. {found.megabytes} MB on disk, {found.load_s} s to load.")
        click.echo(f"{found.texts_per_s} passages a second, {found.question_ms} ms a question.")
    if wants_one:
        _embed_all(place, settings)


def fetch_into(place: CliContext) -> None:
    """Fetches the model. Raises `CommandFailed`, with what to do by hand."""
    place.home.create()
    click.echo(f"Fetching a model ({LOADED} MB)…", err=True)
    try:
        found = asyncio.run(fetch(place.home))
    except (NoEmbedding, OSError) as problem:
        raise CommandFailed(f"{str(problem).rstrip('.')}.\n\n{by_hand(place.home)}") from problem
    click.echo(f"The model is in {found.folder}.", err=True)
    if found.before is not None:
        click.echo(f"The one that was there is kept in {found.before}.", err=True)


def _embed_all(place: CliContext, settings: LocalEmbedderSettings | RemoteEmbedderSettings | None) -> None:
    """Embeds what is remembered already, with a bar. A running gateway takes the model up and does the rest itself."""
    if settings is None:
        return
    if ask(place, "memory.embedder", answer="use").running:
        click.echo("The running gateway uses it from now on.", err=True)
    asked: dict[str, Json] = {"scope": "owner"}
    beside = partial(show_progress, asked) if sys.stderr.isatty() else None
    ask_beside(place, "memory.index", asked, beside)
