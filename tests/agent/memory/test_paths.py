"""No path a model can write leads out of the scope's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent.memory.files import entries, read_text, rewrite
from agent.memory.paths import FileError, OutOfReach, UnreadableFile, inside
from agent.memory.scope import Scope
from tests.agent.places import group, morning, owner, person
from tests.strength import examples

TODAY = morning().clock.today()
SECRET = "the secret of somebody else"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A workspace in which everybody has files of the same names, each with its owner's name in it."""
    workspace = tmp_path / "home" / "workspace"
    for folder in ("", "people/alice", "people/bob", "groups/telegram--100", "groups/telegram--200"):
        place = workspace / folder
        (place / "memory" / "notes").mkdir(parents=True)
        for name in ("MEMORY.md", "USER.md", "GROUP.md", "memory/2026-11-21.md", "memory/notes/x.md"):
            (place / name).write_text(f"<{folder or 'owner'}> {SECRET}")
    (tmp_path / "home" / "config.yaml").write_text(SECRET)
    return workspace


words = "people groups alice bob telegram--100 telegram--200 memory notes x.md MEMORY.md USER.md GROUP.md link"
steps = st.sampled_from([*words.split(), "..", ".", "", "/", "~", "\0", "\ud800", "C:", "\\..", "config.yaml"])
paths = st.one_of(st.lists(steps, max_size=9).map("/".join), st.text(max_size=60), st.lists(steps).map("".join))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=examples(250))
@given(path=paths)
@example("../../MEMORY.md")
@example("/etc/passwd")
@example("a" * 10_000)
@example("../alice/../bob/MEMORY.md")
def test_invariant_08_no_path_string_reads_the_bytes_of_another(house: Path, path: str) -> None:
    for scope, mark in ((person(house), "<people/alice>"), (group(house), "<groups/telegram--100>")):
        link = scope.folder / "link"
        if not link.is_symlink():
            link.symlink_to(house)
        try:
            file = read_text(inside(scope, path), scope.folder)
        except UnreadableFile as error:
            assert SECRET not in str(error)
            assert str(house) not in str(error)
            assert len(str(error)) < 300
        else:
            assert file is None or file.text.startswith(mark)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=examples(80))
@given(path=paths)
def test_invariant_08_no_path_string_writes_outside(house: Path, path: str) -> None:
    scope = person(house)
    if not (scope.folder / "link").is_symlink():
        (scope.folder / "link").symlink_to(house)

    def others() -> dict[Path, bytes]:
        every = (place for place in house.parent.rglob("*") if place.is_file() and not place.is_symlink())
        return {place: place.read_bytes() for place in every if not place.is_relative_to(scope.folder)}

    before = others()
    try:
        rewrite(inside(scope, path), scope.folder, TODAY, lambda _: b"written")
    except FileError:
        pass
    assert others() == before


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../../x", "/etc/passwd", "~/x", "\\x", "C:x", "a\0b", "a\nb", "\ud800", "x" * 10_000, "é" * 200],
)
def test_what_is_no_plain_relative_path_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(OutOfReach):
        inside(owner(tmp_path), path)


@pytest.mark.parametrize(
    "path", ["MEMORY.md", "./MEMORY.md", "memory//notes/x.md", "日記/メモ.md", "people/bob/USER.md"]
)
def test_plain_relative_paths_are_taken(tmp_path: Path, path: str) -> None:
    assert inside(owner(tmp_path), path) == tmp_path / path


def test_a_refusal_says_the_same_whether_or_not_there_is_something_behind_a_link(house: Path) -> None:
    scope = person(house)
    said = []
    for number, target in enumerate((house / "MEMORY.md", house / "missing.md")):
        (scope.folder / f"link{number}").symlink_to(target)
        with pytest.raises(OutOfReach) as refusal:
            read_text(inside(scope, f"link{number}"), scope.folder)
        said.append(str(refusal.value).replace(str(number), ""))
    assert said[0] == said[1]


def test_links_within_the_folder_are_followed_and_links_out_are_not(house: Path) -> None:
    scope = person(house)
    (scope.folder / "in").symlink_to("MEMORY.md")
    (scope.folder / "out").symlink_to("../bob/MEMORY.md")
    (scope.folder / "folder-out").symlink_to("..")
    read = read_text(scope.folder / "in", scope.folder)
    assert read is not None and read.text.startswith("<people/alice>")
    with pytest.raises(OutOfReach):
        read_text(scope.folder / "out", scope.folder)
    with pytest.raises(OutOfReach):
        read_text(scope.folder / "folder-out" / "bob" / "MEMORY.md", scope.folder)
    with pytest.raises(OutOfReach):
        entries(scope.folder / "folder-out", scope.folder)


def test_a_workspace_that_is_itself_a_link_works(house: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(house)
    scope: Scope = owner(tmp_path / "linked")
    read = read_text(inside(scope, "MEMORY.md"), scope.folder)
    assert read is not None and read.text.startswith("<owner>")


def test_a_link_swapped_in_after_the_check_is_not_followed(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is checked, then its folder becomes a link out, then it is opened."""
    scope = person(house)
    resolve = os.path.realpath

    def swap_after(path: Path) -> str:
        real = resolve(path)
        if path == scope.folder / "memory" / "2026-11-21.md":
            (scope.folder / "memory").rename(scope.folder / "moved")
            (scope.folder / "memory").symlink_to(house / "memory")
        return real

    monkeypatch.setattr(os.path, "realpath", swap_after)
    with pytest.raises(UnreadableFile):
        read_text(scope.folder / "memory" / "2026-11-21.md", scope.folder)


def test_a_loop_of_links_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UnreadableFile):
        read_text(tmp_path / "a", tmp_path)
