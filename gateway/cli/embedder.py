"""`daybook memory embedder`."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from functools import partial

import click

from agent.languages.sentences import Sentence, joined
from agent.languages.system_errors import system_says
from agent.model.base import Json
from agent.search.vectors.encoder import NoEmbedding
from agent.settings import LocalEmbedderSettings, RemoteEmbedderSettings
from gateway.embedder.build import OLD_MODEL, embedding_of, has_old_model, is_there, missing, unreadable
from gateway.embedder.check import check
from gateway.embedder.fetch import KEPT, LOADED, fetch
from gateway.embedder.offer import GAIN, by_hand, installed_but
from gateway.terminal.context import CliContext, CommandFailed, print_json
from gateway.terminal.rpc import ask, ask_beside, show_progress


@click.command()
@click.option("--fetch", "wants_one", is_flag=True, help=f"Download a small English model ({LOADED} MB).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def embedder(context: CliContext, wants_one: bool, as_json: bool) -> None:
    """Test search by meaning, and show what it costs."""
    if wants_one:
        fetch_into(context)
    config = context.config()
    wanted = config.agents[config.default_agent].memory.search.embedding
    settings = embedding_of(wanted, context.home)
    if settings is None and wanted == "auto" and is_there(context.home):
        raise CommandFailed(installed_but(missing()))
    try:
        found = check(settings) if settings is not None else None
    except NoEmbedding as problem:
        raise CommandFailed(Sentence("Search by meaning doesn't work: {why}.", why=problem)) from problem
    if as_json:
        print_json(asdict(found) if found is not None else None)
    elif found is None:
        if wants_one:
            raise CommandFailed(
                Sentence(
                    "The model is installed, but memory.search.embedding is {value}. Set it to auto.", value=wanted
                )
            )
        why = OLD_MODEL if has_old_model(context.home) else unreadable(context.home)
        click.echo(
            context.said(
                "Search by meaning is not set up{why}: memory is searched by words, days and names. {gain}.\n\n"
                "`daybook memory embedder --fetch` installs a small English model (a download of {loaded} MB, {kept} "
                "MB on disk), and the\nlibraries that run it if they are missing{missing}. It uses about 200 MB of "
                "memory while Daybook runs, and indexes about\n200 passages per second, once.\n\n{by_hand}\n\n"
                "You can also set `memory.search.embedding` to another such folder (`model_dir`), or to an "
                "OpenAI-compatible server\n(`base_url`, `model`, `api_key`).",
                why=_bracketed(why if wanted == "auto" else ""),
                gain=GAIN,
                loaded=LOADED,
                kept=KEPT,
                missing=_bracketed(missing()),
                by_hand=by_hand(context.home),
            )
        )
    else:
        click.echo(
            context.said(
                "{where}: works ({model}, {size} numbers per vector).",
                where=found.where,
                model=found.model,
                size=found.size,
            )
        )
        if found.engine:
            click.echo(
                context.said(
                    "It runs in {engine}, takes {size} MB on disk, and loads in {seconds} s.",
                    engine=found.engine,
                    size=found.megabytes,
                    seconds=found.load_s,
                )
            )
        click.echo(
            context.said(
                "It indexes {rate} passages per second; a question takes {seconds} s.",
                rate=found.texts_per_s,
                seconds=f"{found.question_ms / 1_000:.3f}",
            )
        )
    if wants_one:
        _embed_all(context, settings)


def _bracketed(text: str) -> str:
    return joined([" (", text, ")"], "") if text else ""


def fetch_into(context: CliContext) -> None:
    """Fetches the model. Raises `CommandFailed`, with what to do by hand."""
    context.home.create()
    click.echo(context.said("Downloading a model ({loaded} MB)…", loaded=LOADED), err=True)
    try:
        found = asyncio.run(fetch(context.home))
    except (NoEmbedding, OSError) as problem:
        why = system_says(problem) if isinstance(problem, OSError) else problem
        failed = Sentence("That didn't work: {why}.", why=why)
        raise CommandFailed(joined([failed, by_hand(context.home)])) from problem
    click.echo(context.said("The model is installed in {folder}.", folder=found.folder), err=True)
    if found.before is not None:
        click.echo(context.said("The previous one is kept in {folder}.", folder=found.before), err=True)


def _embed_all(context: CliContext, settings: LocalEmbedderSettings | RemoteEmbedderSettings | None) -> None:
    """Embeds existing memory, with a progress bar; a running gateway starts to use the model."""
    if settings is None:
        return
    if ask(context, "memory.embedder", answer="use").running:
        click.echo(context.said("The running gateway is using it now."), err=True)
    asked: dict[str, Json] = {"scope": "owner"}
    beside = partial(show_progress, asked) if sys.stderr.isatty() else None
    ask_beside(context, "memory.index", asked, beside)
