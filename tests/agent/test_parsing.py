"""YAML and JSON of others: whatever stands in them, a value comes of it or a reason, and soon."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.formats import parsing
from agent.formats.parsing import MOST_DEEP_JSON, MOST_DEEP_YAML, compose_yaml, load_json, load_yaml
from agent.memory import notes

ROOT = Path(parsing.__file__).parents[2]
READERS = {"agent/formats/parsing.py", "channels/json_fields.py"}
"""The only modules that may call what reads YAML or JSON. `channels` knows nothing of `agent`."""
FORBIDDEN = {
    "yaml": {"load", "safe_load", "full_load", "unsafe_load", "load_all", "safe_load_all", "compose", "compose_all"},
    "json": {"load", "loads", "JSONDecoder"},
}
DEEP = 200_000


def test_nobody_else_reads_yaml_or_json() -> None:
    """A call that is not guarded ends the process on a file that somebody made for that."""
    found = []
    for package in ("agent", "channels", "gateway"):
        for file in sorted((ROOT / package).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    bad = node.attr in FORBIDDEN.get(node.value.id, ())
                elif isinstance(node, ast.ImportFrom) and node.module in FORBIDDEN:
                    bad = any(one.name in FORBIDDEN[node.module] for one in node.names)
                else:
                    bad = isinstance(node, ast.Attribute) and node.attr in ("get_single_node", "get_single_data")
                    bad = bad or (
                        isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("answer.json", "response.json"))
                    )
                if bad and name not in READERS:
                    found.append(f"{name}: {ast.unparse(node)}")
    assert found == []


@pytest.mark.parametrize("text", ["[" * DEEP, "{" * DEEP, "- " * DEEP, "[ " * DEEP + "] " * DEEP, "? " * DEEP])
@pytest.mark.parametrize("read", [compose_yaml, load_yaml])
def test_yaml_that_is_nested_too_deeply_is_refused_with_its_line(text: str, read: object) -> None:
    """In a process of its own: without the look at its depth, this text ends the process (SIGSEGV)."""
    name = getattr(read, "__name__", "")
    code = f"""
import sys, yaml
from agent.formats.parsing import {name}
try:
    {name}("a: 1\\nb:\\n  " + sys.stdin.read())
except yaml.MarkedYAMLError as error:
    print(error.problem_mark.line + 1, error.problem)
"""
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, f"3 it is nested more than {MOST_DEEP_YAML} deep\n"), done.stderr


def test_yaml_is_read_up_to_its_depth() -> None:
    deep = "[" * MOST_DEEP_YAML + "]" * MOST_DEEP_YAML
    assert load_yaml(deep) == yaml.safe_load(deep) and compose_yaml(deep) is not None
    with pytest.raises(yaml.MarkedYAMLError):
        load_yaml(f"[{deep}]")


def test_front_matter_cannot_grow_by_aliases_and_merges() -> None:
    """Thirty lines of merges of merges would be 9 ** 30 keys."""
    lines = ["a: &b0 {k1: 1, k2: 2}"]
    lines += [f"c{at}: &b{at} {{<<: [{', '.join([f'*b{at - 1}'] * 9)}]}}" for at in range(1, 31)]
    text = "---\n" + "\n".join(lines) + "\n---\nbody\n"
    page = notes.parse(text)
    assert page.fields is None and "not valid YAML (line 3)" in page.problem and page.body == text


@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP, "[" * DEEP + "]" * DEEP, "[[" * 60 + "]]" * 60])
def test_json_that_is_nested_too_deeply_is_a_value_error(text: str) -> None:
    for form in (text, text.encode()):
        with pytest.raises(ValueError):
            load_json(form)


def test_json_is_read_up_to_its_depth_and_numbers_that_it_cannot_write_are_none() -> None:
    deep = "[" * MOST_DEEP_JSON + "]" * MOST_DEEP_JSON
    assert load_json(deep) == json.loads(deep)
    wide = "[" + ",".join(["[{}]"] * 1_000) + "]"
    assert load_json(wide) == json.loads(wide)
    assert load_json('{"a": NaN, "b": [-Infinity, 1e999, 1.5]}') == {"a": None, "b": [None, None, 1.5]}


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


@given(values)
def test_what_is_no_bomb_is_read_as_ever(value: object) -> None:
    text = json.dumps(value)
    assert load_json(text) == load_json(text.encode()) == value


@given(st.text(alphabet=st.sampled_from(list('[]{},:"\\-0123456789.eENaInfinitytrue \n'))))
def test_any_text_is_a_value_that_can_be_written_or_a_value_error(text: str) -> None:
    try:
        value = load_json(text)
    except ValueError:
        return
    assert json.dumps(value, allow_nan=False)


@given(st.text(alphabet=st.sampled_from(list("[]{},:&*<>|!-?#'\" \nab0"))))
def test_any_yaml_is_a_value_or_an_error_of_yaml(text: str) -> None:
    try:
        value = load_yaml(text)
    except (yaml.YAMLError, ValueError):
        return
    assert value == yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
