"""An embedder answers in time or not at all; a server's refusals and silences are told in a sentence."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from agent.search.vectors.encoder import REST, Embedder, NoEmbedding, Vector
from agent.search.vectors.remote import RemoteEncoder
from tests.fakes.embeddings import KEY, MODEL, Embeddings

FAR = 120.0
"""Seconds that no test waits for."""

BROKEN = "search by meaning failed (IndexError; the log has the details)"


class Held:
    """An encoder that answers when it may."""

    batch = 4

    def __init__(self) -> None:
        self.id = "held"
        self.may = threading.Event()
        self.fails = False
        self.breaks: Exception | None = None
        self.answers: Sequence[Vector] | None = None
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Vector]:
        self.asked += texts
        assert self.may.wait(2 * FAR)
        if self.answers is not None:
            return self.answers
        if self.fails:
            raise NoEmbedding("it is broken")
        if self.breaks is not None:
            raise self.breaks
        return [[1.0, 0.0] for _ in texts]

    def knows(self, text: str) -> bool:
        return "猫" not in text

    def close(self) -> None:
        self.may.set()


def soon() -> float:
    return time.monotonic() + 0.02


def later() -> float:
    return time.monotonic() + FAR


def why(ask: Callable[[], object]) -> str:
    with pytest.raises(NoEmbedding) as caught:
        ask()
    return str(caught.value)


def test_a_late_answer_is_there_for_the_next_time() -> None:
    held = Held()
    embedder = Embedder(lambda: held)
    assert "in time" in why(lambda: embedder.question("where", soon()))
    assert "in time" in why(lambda: embedder.question("where", soon()))
    held.may.set()
    assert embedder.question("where", later()) == [1.0, 0.0]
    assert embedder.question("where", soon()) == [1.0, 0.0]
    assert held.asked == ["where"]
    embedder.close()


def test_questions_do_not_pile_up() -> None:
    held = Held()
    embedder = Embedder(lambda: held)
    reasons = [why(lambda n=number: embedder.question(f"where {n}", soon())) for number in range(6)]
    assert "busy" in reasons[-1]
    embedder.close()


def test_what_failed_is_left_alone_for_a_while() -> None:
    held, now = Held(), [0.0]
    embedder = Embedder(lambda: held, lambda: now[0])
    held.fails = True
    held.may.set()
    assert why(lambda: embedder.question("where", later())) == "it is broken"
    assert why(lambda: embedder.question("when", later())) == "it is broken"
    assert why(lambda: embedder.passages(held, ["a"])) == "it is broken"
    assert held.asked == ["where"]
    held.fails, now[0] = False, REST + 1
    assert embedder.question("when", later()) == [1.0, 0.0]
    embedder.close()


def test_a_model_that_breaks_is_told_and_left_alone_for_a_while() -> None:
    held, now = Held(), [0.0]
    embedder = Embedder(lambda: held, lambda: now[0])
    held.may.set()
    held.breaks = IndexError("index 30522 is out of bounds")
    for number in range(6):
        assert why(lambda n=number: embedder.question(f"where {n}", later())) == BROKEN
        now[0] += REST + 1
    assert (
        why(lambda: embedder.passages(held, ["a"])) == "search by meaning failed (IndexError; the log has the details)"
    )
    held.breaks, now[0] = None, now[0] + REST + 1
    assert embedder.question("where 0", later()) == [1.0, 0.0]
    embedder.close()


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([[float("nan"), 1.0]], "something that is no number"),
        ([[float("inf"), 1.0]], "something that is no number"),
        ([], "too few"),
        ([[1.0, 0.0], [1.0]], "several sizes"),
    ],
)
def test_what_is_no_vector_is_refused_whoever_answers_it(answers: Sequence[Vector], says: str) -> None:
    held, now = Held(), [0.0]
    held.may.set()
    held.answers = answers
    embedder = Embedder(lambda: held, lambda: now[0])
    assert says in why(lambda: embedder.question("where", later()))
    now[0] = REST + 1
    assert says in why(lambda: embedder.passages(held, ["a"]))
    held.answers, now[0] = None, now[0] + REST + 1
    assert embedder.question("where", later()) == [1.0, 0.0]
    embedder.close()


class Folder:
    """What an encoder is made of: `stamp` differs once it was exchanged, and what is made is named by it."""

    def __init__(self) -> None:
        self.stamp = 1
        self.is_broken = False
        self.changes_while_read = False

    def make(self) -> Held:
        if self.is_broken:
            raise NoEmbedding("the model lacks tokenizer.json")
        held = Held()
        held.id = f"of {self.stamp}"
        held.may.set()
        if self.changes_while_read:
            self.changes_while_read = False
            self.stamp += 1
        return held


def test_a_model_that_was_exchanged_is_made_anew_and_its_questions_are_asked_again() -> None:
    folder, now = Folder(), [0.0]
    embedder = Embedder(folder.make, lambda: now[0], lambda: folder.stamp)
    first = embedder.encoder()
    assert embedder.question("where", later()) == [1.0, 0.0] and embedder.encoder() is first
    folder.stamp = 2
    assert embedder.model == "of 1", "nobody who only asks for its name waits for it"
    second = embedder.encoder()
    assert (second.id, embedder.model) == ("of 2", "of 2")
    embedder.question("where", later())
    assert isinstance(second, Held) and second.asked == ["where"]
    embedder.close()


def test_a_model_that_is_exchanged_by_a_broken_one_is_told_and_tried_again_later() -> None:
    folder, now = Folder(), [0.0]
    embedder = Embedder(folder.make, lambda: now[0], lambda: folder.stamp)
    embedder.encoder()
    folder.stamp, folder.is_broken = 2, True
    assert why(embedder.encoder) == "the model lacks tokenizer.json"
    folder.is_broken = False
    assert why(lambda: embedder.question("where", later())) == "the model lacks tokenizer.json"
    now[0] = REST + 1
    assert embedder.question("where", later()) == [1.0, 0.0]
    assert embedder.model == "of 2"
    embedder.close()


def test_a_model_that_changes_while_it_is_read_is_read_again() -> None:
    folder, now = Folder(), [0.0]
    embedder = Embedder(folder.make, lambda: now[0], lambda: folder.stamp)
    folder.changes_while_read = True
    assert why(embedder.encoder) == "the model is being exchanged"
    now[0] = REST + 1
    assert embedder.encoder().id == "of 2"
    embedder.close()


def test_an_unknown_language_is_not_embedded() -> None:
    held = Held()
    embedder = Embedder(lambda: held)
    assert embedder.question("猫", later()) is None
    assert held.asked == []
    embedder.close()


def test_an_encoder_that_cannot_be_made_is_tried_again_later() -> None:
    tries, now = [0], [0.0]

    def make() -> Held:
        tries[0] += 1
        if tries[0] == 1:
            raise NoEmbedding("the folder is empty")
        held = Held()
        held.may.set()
        return held

    embedder = Embedder(make, lambda: now[0])
    assert why(lambda: embedder.question("where", later())) == "the folder is empty"
    now[0] = REST + 1
    assert embedder.question("where", later()) == [1.0, 0.0]
    embedder.close()


async def asked(
    fake: Embeddings, texts: Sequence[str], key: str = KEY, model: str = MODEL, seconds: float = FAR
) -> object:
    server = RemoteEncoder(fake.base_url, model, key)
    try:
        return await asyncio.to_thread(server.encode, texts, seconds)
    except NoEmbedding as problem:
        return str(problem)
    finally:
        server.close()


async def test_a_server_gives_vectors_in_the_order_of_the_texts() -> None:
    async with Embeddings().serving() as fake:
        vectors = await asked(fake, ["one", "two", "three"])
        assert vectors == [pytest.approx(fake.vector(text)) for text in ("one", "two", "three")]


async def test_a_servers_refusal_is_told_without_the_key() -> None:
    async with Embeddings().serving() as fake:
        assert await asked(fake, ["one"], key="sk-wrong") == "the embedding server refused the key (401)"
        assert await asked(fake, ["one"], model="other") == "the embedding server refused it (404)"
        fake.status = 500
        assert await asked(fake, ["one"]) == "the embedding server refused it (500)"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[]",
        '{"data": []}',
        '{"data": [{"index": 0, "embedding": [0.0, 0.0]}]}',
        '{"data": [{"index": 0, "embedding": "x"}]}',
        '{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}',
        '{"data": [{"embedding": [1.0]}]}',
        "<html>",
    ],
)
async def test_an_answer_of_another_kind_is_refused(answer: str) -> None:
    async with Embeddings(answer=answer).serving() as fake:
        assert "not what such servers answer" in str(await asked(fake, ["one"]))


async def test_a_dead_or_slow_server_is_told() -> None:
    hold = asyncio.Event()
    async with Embeddings(silent=hold).serving() as fake:
        assert re.search(r"cannot be reached \(no answer in time\)", str(await asked(fake, ["one"], seconds=0.05)))
        hold.set()
    assert "cannot be reached (no connection)" in str(await asked(fake, ["one"]))


async def test_a_text_that_a_server_refuses_costs_only_its_own_vector() -> None:
    async with Embeddings(refused="stumble").serving() as fake:
        vectors = await asked(fake, ["one", "a stumble", "three"])
        assert vectors == [pytest.approx(fake.vector("one")), [0.0] * fake.size, pytest.approx(fake.vector("three"))]
        assert await asked(fake, ["stumble"]) == [[0.0] * fake.size]
        served = len(fake.requests)
        fake.status = 500
        assert await asked(fake, ["one", "two"]) == "the embedding server refused it (500)"
        fake.status = 429
        assert await asked(fake, ["one", "two"]) == "the embedding server refused it (429)"
        assert len(fake.requests) == served


def test_a_servers_models_have_names_of_their_own() -> None:
    assert RemoteEncoder("http://a/v1", "x").id == RemoteEncoder("http://a/v1", "x", "key").id
    assert len({RemoteEncoder(url, model).id for url in ("http://a/v1", "http://b/v1") for model in ("x", "y")}) == 4
