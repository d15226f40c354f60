"""`daybook memory embedder`: what finds memories by meaning, whether it works, and what it costs."""

from __future__ import annotations

from dataclasses import asdict

import click

from agent.memory.embedding.encoder import NoEmbedding
from gateway.cli.output import print_json
from gateway.cli.place import Failed, Place
from gateway.embedder_check import check, fetch
from gateway.embedding import NO_NUMPY, embedding_of, has_numpy

_NONE = """No embedder: memory is searched by words, days and names, which finds most.

`daybook memory embedder --fetch` puts a small English model into the home: 84 MB to load, 92 MB on disk, about 210 MB
of memory while the gateway runs, and 16 ms a passage (once) on one core. It needs numpy (`pip install numpy`, 73 MB);
with onnxruntime (`pip install onnxruntime`, 68 MB) it is twice as fast or more, and takes about 350 MB of memory.
For other languages, set memory.search.embedding to a server of OpenAI's kind ({base_url, model, api_key}) or to the
folder of another BERT model ({model_dir})."""


@click.command()
@click.option("--fetch", "wants_one", is_flag=True, help="Fetch a small English model (84 MB) into the home first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def embedder(place: Place, wants_one: bool, as_json: bool) -> None:
    """Try what finds memories by their meaning, and say what it costs."""
    config = place.config()
    try:
        if wants_one:
            place.home.create()
            click.echo(f"The model is in {fetch(place.home)}.", err=True)
            if not has_numpy():
                raise Failed(f"The model is there, but {NO_NUMPY}.")
        settings = embedding_of(config.agents[config.default_agent].memory.search.embedding, place.home)
        found = check(settings) if settings is not None else None
    except NoEmbedding as problem:
        raise Failed(f"The embedder does not work: {problem}.") from problem
    if as_json:
        return print_json(asdict(found) if found is not None else None)
    if found is None:
        return click.echo(_NONE)
    click.echo(f"{found.where}: works ({found.model}, {found.size} numbers a vector).")
    if found.engine:
        click.echo(f"It runs in {found.engine}. {found.megabytes} MB on disk, {found.load_s} s to load.")
    if found.engine == "numpy":
        click.echo("onnxruntime (`pip install onnxruntime`, 68 MB) would run it faster, with about 140 MB more memory.")
    return click.echo(f"{found.texts_per_s} passages a second, {found.question_ms} ms a question.")
