"""Which files only the owner may have changed, and what of their memory must not be told to others unasked."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.memory.private_lines import private_line
from agent.memory.scope import Audience, Scope
from agent.tools.guard import Guarded, guarded
from tests.agent.conversation import Talk

KINDS = {
    "AGENTS.md": Guarded.COMMON,
    "CLAUDE.md": Guarded.COMMON,
    "SOUL.md": Guarded.COMMON,
    "IDENTITY.md": Guarded.COMMON,
    "TOOLS.md": Guarded.RULES,
    "HEARTBEAT.md": Guarded.RULES,
    "schedule.yaml": Guarded.RULES,
    "skills/x/SKILL.md": Guarded.SKILL,
    "skills/x": Guarded.SKILL,
    "groups/g/GROUP.md": Guarded.OTHERS,
    "people/alice/memory/2026-11-21.md": Guarded.OTHERS,
    "groups": Guarded.OTHERS,
    "MEMORY.md": Guarded.FREE,
    "USER.md": Guarded.FREE,
    "memory/2026-11-21.md": Guarded.FREE,
    "memory/notes/agents.md": Guarded.FREE,
    "plans/AGENTS.md": Guarded.FREE,
    "plans/groups/x.md": Guarded.FREE,
}


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Scope:
    return Scope(Audience.OWNER, tmp_path_factory.mktemp("workspace"))


def variants(name: str) -> st.SearchStrategy[str]:
    """The same file, as some file system or some model would write it."""
    letters = [st.sampled_from(sorted({one, one.upper(), one.lower(), _wide(one)})) for one in name if one != "/"]

    def join(chosen: tuple[str, ...], form: Literal["NFC", "NFD"], dots: str) -> str:
        rest = iter(chosen)
        spelled = "".join("/" if one == "/" else next(rest) for one in name)
        return unicodedata.normalize(form, dots + spelled)

    forms: st.SearchStrategy[Literal["NFC", "NFD"]] = st.sampled_from(["NFC", "NFD"])
    return st.builds(join, st.tuples(*letters), forms, st.sampled_from(["", "./", "././"]))


def _wide(one: str) -> str:
    return chr(ord(one) + 0xFEE0) if "!" <= one <= "~" and one not in "./" else one


@pytest.mark.parametrize("name", KINDS)
def test_every_file_has_its_kind(owner: Scope, name: str) -> None:
    assert guarded(owner, owner.folder / name) is KINDS[name]


@given(st.data())
def test_no_spelling_of_a_name_is_freer_than_the_name(owner: Scope, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for name, kind in KINDS.items() if kind is not Guarded.FREE]))
    spelled = data.draw(variants(name))
    assert guarded(owner, owner.folder / Path(spelled)) is KINDS[name]


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind is not Guarded.FREE])
def test_a_link_is_judged_by_where_it_leads(tmp_path: Path, name: str) -> None:
    scope = Scope(Audience.OWNER, tmp_path / "workspace")
    target = scope.folder / name
    target.parent.mkdir(parents=True)
    target.touch()
    (scope.folder / "notes.md").symlink_to(os.path.relpath(target, scope.folder))
    assert guarded(scope, scope.folder / "notes.md") is KINDS[name]
    (scope.folder / "elsewhere").symlink_to(".")
    assert guarded(scope, scope.folder / "elsewhere" / name) is KINDS[name]


@pytest.mark.parametrize("name", ["skills/x/SKILL.md", "rhymes.md"])
async def test_a_skill_for_every_chat_is_asked_about_by_whatever_name_it_is_written(tmp_path: Path, name: str) -> None:
    talk = Talk(Scope(Audience.OWNER, tmp_path))
    (tmp_path / "skills" / "x").mkdir(parents=True)
    (tmp_path / "rhymes.md").symlink_to("skills/x/SKILL.md")
    look = talk.tools["write_file"].effect
    assert look is not None
    effect = await look({"path": name, "content": "---\nname: x\ndescription: Rhymes.\nalways: true\n---\nRhyme.\n"})
    assert effect is not None and effect.always


def test_a_link_in_the_place_of_a_rule_is_still_a_rule(tmp_path: Path) -> None:
    scope = Scope(Audience.OWNER, tmp_path)
    (tmp_path / "free.md").touch()
    (tmp_path / "AGENTS.md").symlink_to("free.md")
    assert guarded(scope, tmp_path / "AGENTS.md") is Guarded.COMMON


@pytest.mark.parametrize("audience", [Audience.PERSON, Audience.GROUP])
def test_in_the_folder_of_others_only_skills_are_guarded(tmp_path: Path, audience: Audience) -> None:
    scope = Scope(audience, tmp_path, "alice")
    assert guarded(scope, scope.folder / "AGENTS.md") is Guarded.FREE
    assert guarded(scope, scope.folder / "groups" / "x.md") is Guarded.FREE
    assert guarded(scope, scope.folder / "skills" / "x" / "SKILL.md") is Guarded.SKILL


# the owner's lines ---------------------------------------------------------------------------------------------------

LINE = "The key box behind the shed opens with 4711"


@pytest.fixture
def memory(tmp_path: Path) -> Scope:
    scope = Scope(Audience.OWNER, tmp_path)
    (tmp_path / "memory" / "notes").mkdir(parents=True)
    return scope


@pytest.mark.parametrize(
    ("file", "written"),
    [
        ("MEMORY.md", f"- {LINE}\n"),
        ("USER.md", f"Lives here. {LINE}.\n"),
        ("TOOLS.md", LINE),
        ("memory/2026-11-21.md", f"# 2026-11-21\n\n- 08:30 {LINE} (from: report.pdf)\n"),
        ("memory/notes/key.md", f"---\nname: key\n---\n\n{LINE}\n"),
        ("memory/HISTORY.md", f"[2026-11-21 08:30] {LINE}. And more was said. (s1)\n"),
        ("MEMORY.md", f"- [key](memory/notes/key.md) - {LINE}\n"),
    ],
)
@pytest.mark.parametrize(
    "told",
    [LINE, f"Hello! {LINE.upper()}, bye", " ".join(LINE), LINE.replace(" ", ""), f"**{LINE}**".replace(" ", " _")],
)
def test_a_line_is_known_however_it_is_written(memory: Scope, file: str, written: str, told: str) -> None:
    (memory.folder / file).write_text(written)
    assert "4711" in private_line(memory, told)


def test_what_says_little_is_nobodys_secret(memory: Scope) -> None:
    (memory.folder / "MEMORY.md").write_text("- Anna likes tea\n- Yes\n")
    assert private_line(memory, "Anna likes tea, and so on and so forth") == ""
    assert private_line(memory, "") == ""


def test_others_have_no_lines_of_the_owner(memory: Scope) -> None:
    (memory.folder / "MEMORY.md").write_text(LINE)
    assert private_line(Scope(Audience.GROUP, memory.workspace, "g"), LINE) == ""
