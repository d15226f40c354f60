"""The memory tools as a model uses them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.model.base import Json
from agent.settings import MemorySettings
from agent.tools import build
from agent.tools.base import Tool, ToolError
from tests.agent.conversation import Talk
from tests.agent.places import group, morning, owner, person, search
from tests.strength import examples

NAMES = (
    "memory_append memory_save memory_update memory_search memory_get memory_list memory_delete "
    "read_file write_file edit_file list_files"
)


def test_the_tools_are_always_the_same_and_short(tmp_path: Path) -> None:
    tools = build(owner(tmp_path), morning().clock, MemorySettings(), search)
    again = build(owner(tmp_path), morning().clock, MemorySettings(), search)
    assert [tool.name for tool in tools] == NAMES.split()
    assert [tool.spec for tool in tools] == [tool.spec for tool in again]
    written = json.dumps([[tool.name, tool.spec.description, tool.spec.schema] for tool in tools])
    assert len(written) <= 6_000
    assert [tool.name for tool in tools if tool.remembers] == [
        "memory_append",
        "memory_save",
        "memory_update",
        "write_file",
        "edit_file",
    ]
    assert {tool.name for tool in tools if tool.reads_only} == {
        "memory_search",
        "memory_get",
        "memory_list",
        "read_file",
        "list_files",
    }


def test_without_files_there_are_only_the_memory_tools(tmp_path: Path) -> None:
    tools = build(owner(tmp_path), morning().clock, MemorySettings(), search, files=False)
    assert [tool.name for tool in tools] == NAMES.split()[:7]


async def test_what_is_appended_is_on_disk_and_found_again(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path))
    assert await talk.call("memory_append", text="Tea with Anna on Friday", heading="Plans") == (
        "Added to memory/2026-11-21.md."
    )
    assert talk.written == ["memory/2026-11-21.md"]
    found = await Talk(owner(tmp_path)).call("memory_search", query="anna")
    assert "memory/2026-11-21.md (today)\n5 ." in found
    assert " 08:30 Tea with Anna on Friday (2026-11-27 / 2026-11-20)" in found
    assert "out of date" not in found


async def test_old_passages_come_with_their_age_and_a_warning(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path))
    await talk.call("memory_append", text="Anna lives in Oslo")
    talk.watch.later(days=3)
    found = await talk.call("memory_search", query=["anna", "oslo"])
    assert "(3 days)" in found and "may be out of date" in found
    assert "Nothing found" in await talk.call("memory_search", query="anna", since="2026-11-22")
    assert "YYYY-MM-DD" in await talk.refused("memory_search", query="anna", since="Friday")
    assert "after until" in await talk.refused("memory_search", query="anna", since="2026-11-22", until="2026-11-21")
    assert "'query' is empty" in await talk.refused("memory_search", query=" ")


async def test_a_search_fits_its_room(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path))
    for number in range(60):
        await talk.call("memory_append", text=f"tea {number} " + "and more " * 60)
    assert 3_300 < len(await talk.call("memory_search", query="tea")) <= 4_000
    assert len(await talk.call("memory_search", query="tea", max_chars=1_000_000)) <= 4_000
    assert 4_000 < len(await talk.call("memory_search", query=["tea", "and more"])) <= 6_000
    for most in (150, 200, 300, 700):
        assert len(await talk.call("memory_search", query="tea", max_chars=most)) <= most
    for most in (1, 10, 100):  # nobody asks for so little but by mistake
        assert len(await talk.call("memory_search", query="tea", max_chars=most)) <= 150


async def test_a_note_is_saved_listed_updated_and_deleted(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path))
    note: dict[str, Json] = {"name": "Car", "description": "about the car", "type": "user"}
    assert await talk.call("memory_save", **note, content="It is red.") == "Saved memory/notes/car.md."
    assert talk.written == ["memory/notes/car.md", "MEMORY.md"]
    assert await talk.call("memory_list") == "[user] memory/notes/car.md (today): about the car"
    assert await talk.call("memory_list", type="project") == "There are no notes of type project."
    assert await Talk(owner(tmp_path)).call("memory_save", **note, content="It is blue.") == (
        "Updated memory/notes/car.md. It said before:\nIt is red."
    )
    assert "It is blue." in await talk.call("memory_get", path="memory/notes/car.md")
    assert "It is blue." in await talk.call("memory_delete", path="memory/notes/car.md")
    assert (tmp_path / "MEMORY.md").read_text() == ""
    assert await talk.call("memory_list") == "There are no notes yet."
    assert "there is no note" in await talk.refused("memory_delete", path="memory/notes/car.md")


async def test_a_note_edited_by_hand_meanwhile_is_shown_before_it_is_replaced(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path))
    note: dict[str, Json] = {"name": "Car", "description": "d", "type": "user"}
    await talk.call("memory_save", **note, content="It is red.")
    path = tmp_path / "memory" / "notes" / "car.md"
    path.write_text(path.read_text() + "By hand: sold!\n")
    assert "By hand: sold!" in await talk.refused("memory_save", **note, content="It is blue.")
    assert "By hand: sold!" in path.read_text()
    assert "Updated" in await talk.call("memory_save", **note, content="It was red; sold.")


async def test_an_update_changes_one_passage(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path))
    (tmp_path / "MEMORY.md").write_text("# Memory\n\n- Lives in Oslo\n- Likes tea\n")
    assert await talk.call("memory_update", old_text="Oslo", new_text="Bergen") == "Changed MEMORY.md, line 3."
    assert "The nearest passage, at line 4" in await talk.refused(
        "memory_update", old_text="- likes teas", new_text="x"
    )
    assert "nothing to change" in await talk.refused("memory_update", old_text="tea", new_text="tea")
    assert "both empty" in await talk.refused("memory_update", old_text="", new_text="")
    assert await talk.call("memory_update", old_text="", new_text="- Has a cat") == "Added to MEMORY.md."
    assert await talk.call("memory_update", old_text="", new_text="- Name: Kim", file="USER.md") == "Added to USER.md."
    assert (tmp_path / "MEMORY.md").read_text() == "# Memory\n\n- Lives in Bergen\n- Likes tea\n- Has a cat\n"
    assert talk.written == ["MEMORY.md", "MEMORY.md", "USER.md"]
    assert "allowed: USER.md, MEMORY.md" in await talk.refused(
        "memory_update", old_text="", new_text="x", file="SOUL.md"
    )


async def test_what_is_added_after_text_begins_a_list_of_its_own(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path))
    (tmp_path / "MEMORY.md").write_text("# Memory\n\nFacts.")
    await talk.call("memory_update", old_text="", new_text="- Has a cat")
    await talk.call("memory_save", name="Car", description="the car", type="user", content="red")
    await talk.call("memory_update", old_text="", new_text="- Likes tea\n")
    assert (tmp_path / "MEMORY.md").read_text() == (
        "# Memory\n\nFacts.\n\n- Has a cat\n- [Car](memory/notes/car.md) - the car\n- Likes tea\n"
    )


async def test_a_group_updates_its_own_file_only(tmp_path: Path) -> None:
    talk = Talk(group(tmp_path))
    await talk.call("memory_update", old_text="", new_text="- We meet on Fridays")
    assert (group(tmp_path).folder / "GROUP.md").read_text() == "- We meet on Fridays\n"
    assert "allowed: GROUP.md" in await talk.refused("memory_update", old_text="", new_text="x", file="MEMORY.md")


async def test_an_overfull_index_is_told(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path), limits=MemorySettings(max_index_lines=5, max_index_bytes=100))
    assert "only its first" not in await talk.call("memory_update", old_text="", new_text="a\nb\nc\nd\ne")
    assert "only its first 5 lines or 100 bytes" in await talk.call("memory_update", old_text="", new_text="f")
    saved = await talk.call("memory_save", name="n", description="d", type="user", content="c")
    assert "MEMORY.md now has 13 lines" in saved


async def test_getting_a_missing_file_says_so_and_names_near_ones(tmp_path: Path) -> None:
    """It is no error: that there is no such log is an answer."""
    talk = Talk(owner(tmp_path))
    missing = "[Empty: there is no file memory/2020-01-01.md]"
    assert await talk.call("memory_get", path="memory/2020-01-01.md") == missing
    for name in ("memory/2020-01-02.md", "memory/notes/boiler.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    near = "[Empty: there is no file memory/2020-01-01.md; its folder has 2020-01-02.md]"
    assert await talk.call("memory_get", path="memory/2020-01-01.md") == near
    for wanted in ("boilers.md", "notes/boiler.md", "memory/boiler.md"):
        elsewhere = f"[Empty: there is no file {wanted}; there is memory/notes/boiler.md]"
        assert await talk.call("memory_get", path=wanted) == elsewhere
    (tmp_path / "empty.md").touch()
    assert await talk.call("memory_get", path="empty.md") == "[Empty: empty.md has no lines]"


async def test_a_part_of_a_file_is_a_part(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path))
    (tmp_path / "a.md").write_text("1\n2\n3\n4\n")
    assert await talk.call("memory_get", path="a.md") == "1\n2\n3\n4"
    assert await talk.call("memory_get", path="a.md", **{"from": 2, "lines": 2}) == "2\n3"
    assert await talk.call("memory_get", path="a.md", **{"from": 9}) == "[a.md has only 4 lines]"
    (tmp_path / "a.md").write_text("x" * 99 + "\n" + "y" * 30_000)
    assert "read on with from=2" in await talk.call("memory_get", path="a.md")
    assert "30000 characters" in await talk.call("memory_get", path="a.md", **{"from": 2})


anything = st.text(alphabet=st.characters(exclude_categories=[]), max_size=60)
places = st.sampled_from(
    ["MEMORY.md", "notes.md", "memory/2026-11-20.md", "../bob/MEMORY.md", "link/MEMORY.md", "link"]
)


def likely(schema: Json) -> st.SearchStrategy[Json]:
    assert isinstance(schema, Mapping)
    if schema["type"] == "integer":
        return st.integers(1, 9)
    choices = schema.get("enum")
    return st.sampled_from(list(choices)) if isinstance(choices, list) else anything | places


def call_of(tool: Tool) -> st.SearchStrategy[tuple[str, dict[str, Json]]]:
    """A call whose arguments have the right names and types."""
    properties, required = tool.spec.schema["properties"], tool.spec.schema["required"]
    assert isinstance(properties, Mapping) and isinstance(required, list)
    needed = {name: likely(properties[name]) for name in required}
    others = {name: likely(schema) for name, schema in properties.items() if name not in required}
    return st.tuples(st.just(tool.name), st.fixed_dictionaries(needed, optional=others))


calls_of_a_person = st.sampled_from(build(person(Path("x")), morning().clock, MemorySettings(), search)).flatmap(
    call_of
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=examples(80))
@given(calls=st.lists(calls_of_a_person, max_size=6))
async def test_invariant_08_no_calls_show_or_change_what_is_anothers(
    tmp_path: Path, calls: list[tuple[str, dict[str, Json]]]
) -> None:
    secret = "hands-off"
    others = [tmp_path / "MEMORY.md", tmp_path / "people" / "bob" / "MEMORY.md", tmp_path / "memory" / "2026-11-20.md"]
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(secret)
    talk = Talk(person(tmp_path))
    talk.scope.folder.mkdir(parents=True, exist_ok=True)
    if not (talk.scope.folder / "link").is_symlink():
        (talk.scope.folder / "link").symlink_to("../bob")
    for name, arguments in calls:
        try:
            result = await talk.call(name, **arguments)
        except ToolError as error:
            result = str(error)
        assert secret not in result and str(tmp_path) not in result
        result.encode()
    assert [path.read_text() for path in others] == [secret] * 3


async def test_whatever_tool_fills_the_index_says_that_it_is_full(tmp_path: Path) -> None:
    talk = Talk(owner(tmp_path), limits=MemorySettings(max_index_lines=3))
    assert "only its first 3 lines" in await talk.call("write_file", path="MEMORY.md", content="a\nb\nc\nd\n")
    assert "only its first 3 lines" in await talk.call("edit_file", path="MEMORY.md", old_text="d", new_text="e")
    assert "only its first" not in await talk.call("write_file", path="lists/MEMORY.md", content="a\nb\nc\nd\n")
