"""What means alike is found, and nothing waits for it: vectors come behind, are kept by what was embedded, and a search
does without them where it must."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agent.memory.scope import Scope
from agent.search.vectors.encoder import Embedder, NoEmbedding, Vector
from agent.search.vectors.protocol import NoSemanticIndex
from agent.search.vectors.semantic import EmbeddingIndex
from agent.settings import HybridSettings, SearchSettings
from tests.agent.places import group, morning, owner, unhurried

CLOCK = morning().clock
LOG = "memory/2026-11-18.md"
CAR = "- Ben bought a new automobile.\n"
REST = "- It rained all day.\n- The cat slept.\n- Soup for dinner.\n"
_SIZE = 32
_ALIKE = ("automobile", "car", "vehicle")


class Alike:
    """An encoder that knows a few words to mean the same."""

    batch = 3

    def __init__(self, id: str = "alike") -> None:
        self.id = id
        self.encoded: list[str] = []
        self.fails = False

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Vector]:
        if self.fails:
            raise NoEmbedding("the embedding server cannot be reached (ConnectError)")
        self.encoded += texts
        return [_vector(text) for text in texts]

    def knows(self, text: str) -> bool:
        return True

    def close(self) -> None: ...


def _vector(text: str) -> Vector:
    found = [0.01] * _SIZE
    for word in re.findall(r"\w+", text.lower()):
        name = "car" if word in _ALIKE else word
        found[hashlib.sha256(name.encode()).digest()[0] % _SIZE] += 1.0
    length = sum(number * number for number in found) ** 0.5
    return [number / length for number in found]


class Desk:
    def __init__(self, home: Path, settings: SearchSettings | None = None) -> None:
        self.home = home
        self.workspace = home / "workspace"
        self.scope = owner(self.workspace)
        self.settings = settings
        self.use(Alike())

    def use(self, model: Alike) -> None:
        """From now on, in another process."""
        self.model = model
        meaning = EmbeddingIndex(Embedder(lambda: model))
        self.index = unhurried(self.home / "state", settings=self.settings, meaning=meaning)

    def write(self, path: str, text: str) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def embed(self) -> None:
        self.index.refresh(self.scope, CLOCK)
        while self.index.embed(60):
            pass

    def found(self, query: str, scope: Scope | None = None, below: str = "") -> list[str]:
        hits = self.index.search(scope or self.scope, CLOCK, [query], below=below).hits
        return [hit.text for hit in hits if hit.parts.get("meaning", 0) > 0.15]

    def gaps(self, query: str = "vehicle") -> tuple[str, ...]:
        return self.index.search(self.scope, CLOCK, [query]).gaps

    def kept(self) -> set[str]:
        """Models that have vectors on disk."""
        with sqlite3.connect(self.home / "state" / "memory.db") as db:
            return {name for (name,) in db.execute("SELECT DISTINCT model FROM vector")}

    def vectors(self) -> int:
        with sqlite3.connect(self.home / "state" / "memory.db") as db:
            return int(db.execute("SELECT count(*) FROM vector").fetchone()[0])


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    made.write(LOG, CAR + REST)
    yield made
    made.index.close()


def test_other_words_of_the_same_meaning_are_found(desk: Desk) -> None:
    assert desk.index.search(desk.scope, CLOCK, ["vehicle"]).hits == ()
    desk.embed()
    assert desk.found("vehicle")[0] == CAR.strip()
    assert desk.gaps() == ()


def test_until_enough_is_embedded_a_search_goes_by_words_and_says_so(desk: Desk) -> None:
    assert desk.gaps() == ("what says it in other words: 4 passages are not embedded yet.",)
    assert desk.index.search(desk.scope, CLOCK, ["automobile"]).hits[0].text == CAR.strip()


def test_a_new_bullet_is_as_near_as_any_until_it_is_embedded(desk: Desk) -> None:
    desk.embed()
    desk.write(LOG, CAR + REST + "- The vehicle is blue.\n")
    assert desk.index.search(desk.scope, CLOCK, ["vehicle"]).hits[0].text == "- The vehicle is blue."
    assert desk.gaps() == ()


def test_what_is_only_near_something_alike_is_context(desk: Desk) -> None:
    desk.embed()
    hits = {hit.text: hit for hit in desk.index.search(desk.scope, CLOCK, ["vehicle"]).hits}
    assert not hits[CAR.strip()].is_context and "meaning" in hits[CAR.strip()].parts
    others = [hit for text, hit in hits.items() if text != CAR.strip()]
    assert others and all(hit.is_context and "meaning" not in hit.parts for hit in others)


def test_the_next_search_after_embedding_finds_the_vectors_read(desk: Desk) -> None:
    desk.embed()
    assert desk.index.unembedded_count(desk.scope) == 0
    desk.write(LOG, CAR + REST + "- One more.\n")
    desk.index.refresh(desk.scope, CLOCK)
    assert desk.index.unembedded_count(desk.scope) == 2  # the bullet, and the window that holds it
    told: list[int] = []
    while desk.index.embed(60, told.append):
        pass
    assert sum(told) == 2


def test_nothing_is_embedded_twice(desk: Desk) -> None:
    desk.embed()
    before = list(desk.model.encoded)
    desk.write("memory/2026-11-19.md", CAR + REST)
    desk.write(LOG, CAR + REST + "- One more.\n")
    desk.embed()
    new = desk.model.encoded[len(before) :]
    assert [text for text in new if "\n" not in text] == ["- One more."]
    desk.index.close()
    desk.use(Alike())
    desk.embed()
    desk.index.rebuild(desk.scope, CLOCK)
    desk.embed()
    assert desk.model.encoded == []
    assert desk.found("vehicle")[0] == CAR.strip()


def test_vectors_of_what_is_gone_go_too(desk: Desk) -> None:
    desk.embed()
    before = desk.vectors()
    (desk.workspace / LOG).unlink()
    desk.write("memory/2026-11-19.md", "- Alone.\n")
    desk.index.purge(desk.scope, CLOCK)
    assert (before, desk.vectors()) == (5, 0)
    desk.embed()
    assert desk.vectors() == 1
    assert desk.found("vehicle") in ([], ["- Alone."])


def test_another_model_takes_over_without_a_gap_in_answers(desk: Desk) -> None:
    desk.embed()
    desk.index.close()
    desk.use(Alike("other"))
    assert desk.index.search(desk.scope, CLOCK, ["automobile"]).hits[0].text == CAR.strip()
    assert "not embedded yet" in desk.gaps()[0]
    assert desk.kept() == {"alike"}
    desk.embed()
    assert desk.kept() == {"other"}
    assert desk.found("vehicle")[0] == CAR.strip()


def test_a_model_that_is_exchanged_under_a_running_index_takes_over_as_well(desk: Desk) -> None:
    models = {1: Alike("one"), 2: Alike("two")}
    stamp = [1]
    meaning = EmbeddingIndex(Embedder(lambda: models[stamp[0]], stamp=lambda: stamp[0]))
    desk.index.close()
    desk.index = unhurried(desk.home / "state", meaning=meaning)
    desk.embed()
    assert desk.kept() == {"one"}
    stamp[0] = 2
    assert desk.index.search(desk.scope, CLOCK, ["automobile"]).hits[0].text == CAR.strip()
    assert "not embedded yet" in desk.gaps()[0]
    desk.embed()
    assert desk.kept() == {"two"} and desk.found("vehicle")[0] == CAR.strip()


def test_an_embedder_that_comes_later_embeds_what_is_there(desk: Desk) -> None:
    desk.index.close()
    desk.index = unhurried(desk.home / "state")
    desk.embed()
    assert not desk.index.embeds and desk.gaps() == () and desk.found("vehicle") == []
    desk.index.use(EmbeddingIndex(Embedder(lambda: desk.model)))
    desk.embed()
    assert desk.index.embeds and desk.found("vehicle")[0] == CAR.strip()


def test_what_was_indexed_before_there_was_an_embedder_is_counted(desk: Desk) -> None:
    for is_anew in (False, True):
        desk.index.close()
        desk.index = unhurried(desk.home / "state")
        desk.write(f"memory/2026-11-{10 + is_anew}.md", REST + f"- Number {is_anew}.\n")
        desk.index.refresh(desk.scope, CLOCK)
        meaning = EmbeddingIndex(Embedder(lambda: desk.model))
        if is_anew:
            desk.index.close()
            desk.index = unhurried(desk.home / "state", meaning=meaning)
        else:
            desk.index.use(meaning)
        assert desk.index.unembedded_count(desk.scope) >= 2
        desk.embed()
        assert desk.index.unembedded_count(desk.scope) == 0


def test_an_embedder_that_could_not_be_had_makes_room_for_one(desk: Desk) -> None:
    desk.index.close()
    desk.index = unhurried(desk.home / "state", meaning=NoSemanticIndex("numpy is not installed"))
    assert not desk.index.embeds and "numpy is not installed" in desk.gaps()[0]
    desk.index.use(EmbeddingIndex(Embedder(lambda: desk.model)))
    desk.embed()
    assert desk.index.embeds and desk.found("vehicle")[0] == CAR.strip()


def test_a_status_does_not_wait_for_a_model_that_loads(desk: Desk) -> None:
    may, begun = threading.Event(), threading.Event()

    def make() -> Alike:
        begun.set()
        may.wait()
        return desk.model

    desk.index.close()
    desk.index = unhurried(desk.home / "state", meaning=EmbeddingIndex(Embedder(make)))
    desk.index.refresh(desk.scope, CLOCK)
    assert "did not answer in time" in desk.index.embedder_problem(desk.scope, 0.01)
    assert begun.wait(60)
    assert desk.index.status(desk.scope).embedded == 0
    assert desk.index.unembedded_count(desk.scope, loads=False) == 0
    may.set()
    assert desk.index.unembedded_count(desk.scope) > 0


def test_a_dead_server_costs_no_answer(desk: Desk) -> None:
    desk.embed()
    desk.model.fails = True
    found = desk.index.search(desk.scope, CLOCK, ["automobile"])
    assert found.hits[0].text == CAR.strip()
    assert found.gaps == ("what says it in other words: the embedding server cannot be reached (ConnectError).",)
    desk.write(LOG, CAR + REST + "- More.\n")
    desk.index.refresh(desk.scope, CLOCK)
    with pytest.raises(NoEmbedding):
        desk.index.embed(60)


def test_an_audience_is_compared_with_its_own_alone(desk: Desk) -> None:
    room = group(desk.workspace)
    desk.write(str(room.folder.relative_to(desk.workspace) / LOG), "- The vehicle of the group is red.\n" + REST)
    desk.index.refresh(room, CLOCK)
    desk.embed()
    assert desk.found("car", room)[0] == "- The vehicle of the group is red."
    assert CAR.strip() not in [hit.text for hit in desk.index.search(room, CLOCK, ["car automobile"]).hits]


def test_a_search_below_a_folder_finds_nothing_beside_it(desk: Desk) -> None:
    desk.write("MEMORY.md", "- The vehicle stands in the garage.\n")
    desk.embed()
    assert desk.found("car", below="memory")[0] == CAR.strip()
    texts = [hit.text for hit in desk.index.search(desk.scope, CLOCK, ["car"], below="memory").hits]
    assert "- The vehicle stands in the garage." not in texts


def test_the_ranking_hybrid_weighs_cosine_and_words(tmp_path: Path) -> None:
    desk = Desk(tmp_path, SearchSettings(hybrid=HybridSettings(min_score=0.1)))
    desk.write(LOG, CAR)
    desk.write("memory/2026-11-19.md", REST)
    desk.embed()
    best = desk.index.search(desk.scope, CLOCK, ["vehicle"]).hits[0]
    assert best.text == CAR.strip()
    assert best.score == pytest.approx(sum(best.parts.values()), abs=1e-3)
    assert 0 < best.parts["meaning"] <= 0.7
    desk.index.close()


def test_a_rebuild_by_another_process_is_seen(desk: Desk) -> None:
    desk.embed()
    assert desk.found("vehicle")
    other = unhurried(desk.home / "state")
    desk.write("memory/2026-11-17.md", REST * 3)
    other.rebuild(desk.scope, CLOCK)
    other.close()
    desk.embed()
    assert desk.found("vehicle")[0] == CAR.strip()
