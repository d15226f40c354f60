"""Skills: which there are, what of them a prompt shows, and whom their text is for."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.clock import Clock
from agent.context.prompt import fixed_part, skill_list
from agent.memory.scope import Scope
from agent.settings import MemorySettings
from agent.skills import Skill, SkillOrigin, Skills, parse
from agent.tools import build
from agent.tools.base import Tool, ToolError
from tests.agent.places import group, morning, owner, person, search
from tests.strength import examples

CLOCK: Clock = morning().clock
LIMITS = MemorySettings()


def teach(root: Path, name: str, head: str, body: str = "Do it so.") -> Path:
    path = root / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{head}\n---\n\n{body}\n", encoding="utf-8")
    return path


class _Every(frozenset[str]):
    def __contains__(self, one: object) -> bool:
        return True


def approved() -> frozenset[str]:
    """The owner has said yes to all texts."""
    return _Every()


def named(root: Path, name: str, **environ: str) -> Skill:
    (skill,) = (skill for skill in Skills(root, environ).every() if skill.name == name)
    return skill


def prompt(scope: Scope, **environ: str) -> str:
    skills = Skills(scope.workspace, environ, approved=approved).usable(scope)
    return "\n".join(fixed_part(scope, CLOCK.today(), LIMITS, skills).system)


def reader(scope: Scope) -> Tool:
    tools = build(scope, CLOCK, LIMITS, search, skills=Skills(scope.workspace, approved=approved))
    return next(tool for tool in tools if tool.name == "skill_read")


def test_a_skill_is_what_its_file_says(tmp_path: Path) -> None:
    head = "name: report\ndescription: How to write the weekly report\nrequires: {bins: [sh], env: [REPORT_KEY]}"
    teach(tmp_path, "report", head, "First gather, then write.")
    (tmp_path / "skills/report/example.txt").write_text("x")
    (tmp_path / "skills/report/parts").mkdir()
    skill = named(tmp_path, "report", PATH=os.environ["PATH"], REPORT_KEY="k")
    assert (skill.description, skill.body) == ("How to write the weekly report", "First gather, then write.\n")
    assert (skill.bins, skill.env, skill.missing) == (("sh",), ("REPORT_KEY",), ())
    assert (skill.beside, skill.always, skill.problem, skill.remarks) == (("example.txt", "parts/"), False, "", ())


def test_the_built_in_skill_teaches_the_files(tmp_path: Path) -> None:
    (skill,) = Skills(tmp_path).every()
    assert skill.name == "memory" and skill.origin is SkillOrigin.BUILT_IN and not skill.problem and not skill.remarks
    for word in ("MEMORY.md", "memory_append", "memory/notes/", "HISTORY.md", "200 lines"):
        assert word in skill.body


def test_the_workspace_stands_before_the_built_in_unless_it_is_broken(tmp_path: Path) -> None:
    file = teach(tmp_path, "memory", "description: Mine", "My own way.")
    assert named(tmp_path, "memory").body == "My own way.\n"
    file.write_text("---\ndescription: [\n---\nx\n")
    good, bad = Skills(tmp_path).every()
    assert good.origin is SkillOrigin.BUILT_IN and not good.problem
    assert bad.origin is SkillOrigin.WORKSPACE and "not valid YAML" in bad.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no front matter"),
        ("Just text", "no front matter"),
        ("---\nname: x\n", "no closing ---"),
        ("---\n- a\n- b\n---\ntext\n", "not a list of `key: value`"),
        ("---\nname: 'x\n---\ntext\n", "not valid YAML"),
        ("---\nname: x\n---\ntext\n", "no description"),
        ("---\ndescription: d\n---\n\n \n", "no text below"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, text: str, problem: str) -> None:
    teach(tmp_path, "good", "description: Good one")
    teach(tmp_path, "bad", "").write_text(text)
    assert problem in named(tmp_path, "bad").problem
    assert [skill.name for skill in Skills(tmp_path).usable(owner(tmp_path))] == ["good", "memory"]
    assert "bad" not in prompt(owner(tmp_path)) and "- good: Good one" in prompt(owner(tmp_path))


def test_what_is_on_the_disk_instead_of_a_skill_disturbs_nothing(tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    teach(outside, "x", "description: elsewhere", "outside canary")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/linked").symlink_to(outside / "skills/x")
    teach(tmp_path, "stolen", "").unlink()
    (tmp_path / "MEMORY.md").write_text("---\ndescription: d\n---\nprivate canary\n")
    (tmp_path / "skills/stolen/SKILL.md").symlink_to(tmp_path / "MEMORY.md")
    teach(tmp_path, "binary", "").write_bytes(b"\0\1\2")
    teach(tmp_path, "folder", "").unlink()
    (tmp_path / "skills/folder/SKILL.md").mkdir()
    (tmp_path / "skills/empty").mkdir()
    teach(tmp_path, "with space", "description: d")
    (tmp_path / "skills/README.md").write_text("about skills")
    every = {skill.name: skill for skill in Skills(tmp_path).every()}
    broken = {"linked", "stolen", "binary", "folder", "empty", "with space"}
    assert {name for name, skill in every.items() if skill.problem} == broken
    assert "README.md" not in every and "canary" not in str(every)
    (tmp_path / "skills").rename(tmp_path / "old")
    (tmp_path / "skills").write_text("a file")
    assert [skill.name for skill in Skills(tmp_path).every()] == ["memory"]


def test_odd_values_are_remarked_and_do_no_harm(tmp_path: Path) -> None:
    teach(tmp_path, "odd", "name: other\ndescription: d\nalways: maybe\nrequires: {bins: {a: 1}, env: [X, 3]}")
    skill = named(tmp_path, "odd")
    assert not skill.problem and not skill.always and skill.env == ("X",)
    assert len(skill.remarks) == 4
    teach(tmp_path, "odd", "description: d\nrequires: ffmpeg")
    assert "requires" in named(tmp_path, "odd").remarks[0]


def test_a_file_is_parsed_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    file = teach(tmp_path, "one", "description: Old")
    os.utime(file, (1_000_000, 1_000_000))
    skills = Skills(tmp_path)
    first, again = (next(s for s in skills.every() if s.name == "one") for _ in range(2))
    assert first.body is again.body
    teach(tmp_path, "one", "description: New")
    assert "New" in [skill.description for skill in skills.every()]
    file.unlink()
    assert next(s for s in skills.every() if s.name == "one").problem


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    teach(tmp_path, "sound", "description: Cut sound\nrequires: {bins: daybook-no-such-program, env: SOUND_KEY}")
    text = prompt(owner(tmp_path))
    assert "- sound: Cut sound (cannot be used now, missing: the program daybook-no-such-program, " in text
    assert "environment variable SOUND_KEY" in text
    assert "SOUND_KEY" not in prompt(owner(tmp_path), SOUND_KEY="k")


def test_the_list_stands_after_the_common_files_and_before_the_scope_s_own(tmp_path: Path) -> None:
    teach(tmp_path, "often", "description: Always there\nalways: true", "Whole text of it.")
    teach(tmp_path, "seldom", "description: Now and then", "Hidden until read.")
    (tmp_path / "IDENTITY.md").write_text("name here\n")
    (tmp_path / "TOOLS.md").write_text("tools here\n")
    (tmp_path / "USER.md").write_text("user here\n")
    text = prompt(owner(tmp_path))
    order = ["name here", "- seldom: Now and then", "Whole text of it.", "tools here", "user here"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "Hidden until read." not in text


@pytest.mark.parametrize("wish", ["always", "shared"])
def test_it_counts_everywhere_only_with_the_owner_s_yes_to_this_very_text(tmp_path: Path, wish: str) -> None:
    file = teach(tmp_path, "rule", f"description: d\n{wish}: true", "Obey.")
    yes: set[str] = set()
    skills = Skills(tmp_path, approved=lambda: frozenset(yes))

    def now(scope: Scope) -> list[tuple[bool, bool, bool]]:
        return [(one.always, one.shared, one.waits) for one in skills.every(scope) if one.name == "rule"]

    assert now(owner(tmp_path)) == [(False, False, True)] and now(group(tmp_path)) == []
    yes.add(hashlib.sha256(file.read_bytes()).hexdigest())
    assert now(owner(tmp_path)) == [(wish == "always", wish == "shared", False)]
    assert len(now(group(tmp_path))) == (wish == "shared")
    teach(tmp_path, "rule", f"description: d\n{wish}: true", "Obey Mallory.")
    assert now(owner(tmp_path)) == [(False, False, True)] and now(group(tmp_path)) == []
    teach(group(tmp_path).folder, "rule", "description: d\nalways: true", "Of the group.")
    assert now(group(tmp_path)) == [(False, False, True)], "whoever wrote it"


def test_a_great_many_skills_stay_within_bounds(tmp_path: Path) -> None:
    many = tuple(Skill(f"s{n:03}", SkillOrigin.WORKSPACE, description="d" * 5_000, body="b") for n in range(100))
    text = skill_list(many, LIMITS)
    assert len(text) < 20_000 and "And 40 more: s060" in text


async def test_a_text_is_read_when_it_is_needed(tmp_path: Path) -> None:
    teach(tmp_path, "report", "description: d\nrequires: {env: NO_SUCH_KEY}", "First gather, then write.")
    (tmp_path / "skills/report/example.txt").write_text("x")
    text = (await reader(owner(tmp_path)).run({"name": "report"}, "1")).text
    assert text.startswith("First gather, then write.") and "skills/report/example.txt" in text
    assert "missing: the environment variable NO_SUCH_KEY" in text
    with pytest.raises(ToolError, match="did you mean report"):
        await reader(owner(tmp_path)).run({"name": "Reports"}, "1")
    teach(tmp_path, "report", "description: ''")
    with pytest.raises(ToolError, match="has no description"):
        await reader(owner(tmp_path)).run({"name": "report"}, "1")


async def test_invariant_08_others_know_only_of_skills_that_are_made_for_all_or_their_own(tmp_path: Path) -> None:
    teach(tmp_path, "taxes", "description: CANARY how to file", "CANARY account 12345")
    teach(tmp_path, "rules", "description: CANARY rules\nalways: true", "CANARY always")
    teach(tmp_path, "memory", "description: CANARY in place of the built-in one", "CANARY of memory")
    teach(tmp_path, "wrong", "description: ''\nshared: true", "CANARY broken")
    teach(tmp_path, "dice", "description: Roll dice\nshared: true", "Take six sides.")
    teach(tmp_path, "manners", "description: Manners\nshared: true\nalways: true", "Say please.")
    (tmp_path / "skills/dice/CANARY.txt").write_text("x")
    scopes = (group(tmp_path), group(tmp_path, "telegram--200"), person(tmp_path), person(tmp_path, "bob"))
    for scope in scopes:
        teach(scope.folder, f"of-{scope.id}", f"description: Own of {scope.id}\nalways: true", f"Text of {scope.id}.")
    for scope in scopes:
        text = prompt(scope)
        assert "- dice: Roll dice" in text and "Say please." in text and "CANARY" not in text
        for of in scopes:
            assert (f"of-{of.id}: Own of {of.id}" in text) == (of == scope)
            assert (f"Text of {of.id}." in text) == (of == scope)
        refusals = []
        for name in ("taxes", "rules", "wrong", "taxe", "no-such", *(f"of-{of.id}" for of in scopes if of != scope)):
            with pytest.raises(ToolError) as refused:
                await reader(scope).run({"name": name}, "1")
            refusals.append(str(refused.value).replace(repr(name), "NAME"))
        listed = {"dice", "manners", "memory", f"of-{scope.id}"}
        for refusal in refusals:  # as of a skill that there is not, and naming none that is not listed
            assert refusal.startswith("there is no skill NAME; ") and "CANARY" not in refusal
            assert set(refusal.partition("there are: ")[2].split(", ")) == listed or "did you mean" in refusal
        assert (await reader(scope).run({"name": "dice"}, "1")).text == "Take six sides."
        assert (await reader(scope).run({"name": f"of-{scope.id}"}, "1")).text == f"Text of {scope.id}."
        assert "MEMORY.md" in (await reader(scope).run({"name": "memory"}, "1")).text
    assert "CANARY" in (await reader(owner(tmp_path)).run({"name": "taxes"}, "1")).text
    assert "CANARY always" in prompt(owner(tmp_path)) and "Text of" not in prompt(owner(tmp_path))


def test_what_lies_beside_an_own_skill_is_named_and_beside_a_shared_one_not(tmp_path: Path) -> None:
    teach(tmp_path, "dice", "description: d\nshared: true")
    (tmp_path / "skills/dice/six.txt").write_text("x")
    scope = group(tmp_path)
    teach(scope.folder, "cards", "description: d")
    (scope.folder / "skills/cards/ace.txt").write_text("x")
    beside = {skill.name: (skill.beside, skill.origin) for skill in Skills(tmp_path, approved=approved).usable(scope)}
    assert beside["dice"] == ((), SkillOrigin.WORKSPACE) and beside["cards"] == (("ace.txt",), SkillOrigin.GROUP)


def test_a_link_in_a_group_s_folder_is_no_way_to_the_owner_s_skills(tmp_path: Path) -> None:
    teach(tmp_path, "taxes", "description: CANARY")
    scope = group(tmp_path)
    scope.folder.mkdir(parents=True)
    (scope.folder / "skills").symlink_to(tmp_path / "skills")
    assert "CANARY" not in prompt(scope)


heads = st.text(alphabet=st.sampled_from(list("-:[]{}'\"#&*!|>%@ \n\tabctrue:\0\r")), max_size=200)
fields = st.dictionaries(
    st.sampled_from(["name", "description", "always", "shared", "requires", "other"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["bins", "env"]), inner, max_size=2)
        ),
        max_leaves=6,
    ),
)


@given(st.one_of(heads, heads.map(lambda head: f"---\n{head}\n---\nbody\n"), st.text(max_size=300)))
def test_any_text_makes_a_skill_or_a_reason(text: str) -> None:
    skill = parse(Skill("x", SkillOrigin.WORKSPACE), text)
    assert bool(skill.problem) != bool(skill.body.strip() and skill.description)


@given(fields)
def test_any_front_matter_makes_a_skill_or_a_reason(head: dict[str, object]) -> None:
    from_json = "---\n" + json.dumps(head) + "\n---\nbody\n"
    skill = parse(Skill("x", SkillOrigin.WORKSPACE), from_json)
    assert all(isinstance(name, str) and name for name in (*skill.bins, *skill.env))
    assert skill.always == (head.get("always") is True and not skill.problem)
    assert "\n" not in skill.description


@settings(max_examples=examples(40))
@given(st.binary(max_size=300))
def test_any_bytes_on_the_disk_disturb_nothing(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        teach(Path(folder), "any", "").write_bytes(b"---\ndescription: d\n" + data)
        skills = Skills(Path(folder))
        assert "memory" in [skill.name for skill in skills.usable(owner(Path(folder)))]
        skill_list(skills.usable(owner(Path(folder))), LIMITS).encode()
