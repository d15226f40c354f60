"""Tries the configured embedder and measures what it costs. Blocks."""

from __future__ import annotations

import time
from dataclasses import dataclass

from agent.languages.sentences import Sentence
from agent.search.vectors.encoder import Encoder, NoEmbedding
from agent.settings import LocalEmbedderSettings, RemoteEmbedderSettings
from gateway.embedder.build import encoder, local_encoder, needs

_SAMPLES = tuple(
    f"- {hour:02}:15 Anna: I met {name} at the station, and we talked about {thing} until the train came."
    for hour, (name, thing) in enumerate(
        (name, thing)
        for name in ("Marta", "Jonas", "Li Wei", "Sofia")
        for thing in ("the garden", "her new job", "a book on rivers", "the bill")
    )
)
_QUESTION = "What did Anna and Marta talk about?"
_QUESTIONS = 5
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class EmbedderCheck:
    model: str
    engine: str
    """Empty for a server, whose `megabytes` are 0."""
    where: str
    size: int
    """Numbers in a vector."""
    megabytes: float
    load_s: float
    texts_per_s: float
    """Texts of about 25 words."""
    question_ms: float


def check(settings: LocalEmbedderSettings | RemoteEmbedderSettings) -> EmbedderCheck:
    """Loads the embedder and measures. Raises `NoEmbedding`."""
    if absent := needs(settings):
        raise NoEmbedding(absent)
    began = time.perf_counter()
    model: Encoder
    if isinstance(settings, LocalEmbedderSettings):
        model = local = local_encoder(settings)
        engine, where, size = local.engine, str(settings.folder), local.megabytes
    else:
        model, engine, where, size = encoder(settings), "", settings.base_url, 0.0
    loaded = time.perf_counter() - began
    try:
        model.encode([_QUESTION], _SECONDS, is_question=True)  # the first is slower: connections are opened
        began = time.perf_counter()
        vectors = model.encode(_SAMPLES, _SECONDS)
        rate = len(_SAMPLES) / (time.perf_counter() - began)
        began = time.perf_counter()
        for number in range(_QUESTIONS):
            model.encode([f"{_QUESTION} {number}"], _SECONDS, is_question=True)
        question = (time.perf_counter() - began) / _QUESTIONS
    except NoEmbedding:
        raise
    except Exception as bug:  # whatever a library says of a model that is not as it should be
        raise NoEmbedding(Sentence("the model failed ({why})", why=type(bug).__name__)) from bug
    finally:
        model.close()
    return EmbedderCheck(
        model=model.id,
        engine=engine,
        where=where,
        size=len(vectors[0]),
        megabytes=round(size, 1),
        load_s=round(loaded, 2),
        texts_per_s=round(rate, 1),
        question_ms=round(question * 1_000, 1),
    )
