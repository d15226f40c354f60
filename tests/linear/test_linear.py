"""No text of others may take longer than its length says (issue 11, 1): all patterns of the product, and all functions
at its seams, are fed the shapes that break patterns."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from yaml import YAMLError

from agent.memory.paths import FileError
from agent.search import tokenizer
from tests import strength
from tests.linear import fed, feeding, functions, judge, patterns, shapes
from tests.linear.judge import Shape

pytestmark = pytest.mark.timeout(1_200)  # seconds of processor time are minutes on a busy machine
_ROOT = Path(__file__).parents[2]
_CPU_SECONDS = 600
"""Many times what it takes: it only ends what would never end."""


def _fed(kind: str, seconds: int = _CPU_SECONDS) -> list[str]:
    """What was found, in words; with what was in hand where the process was ended."""
    command = [sys.executable, "-m", "tests.linear.feeding", kind, str(seconds)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.endswith("}")]
    found = [one["found"] for one in told if "found" in one]
    if done.returncode:
        found.append(
            f"ended by {done.returncode} with {told[-1] if told else 'nothing'} in hand: {done.stderr[-2000:]}"
        )
    return found


@pytest.mark.parametrize("kind", ["patterns", "functions"] if strength.is_full else ["changed"])
def test_time_grows_with_the_text_and_no_faster(kind: str) -> None:
    is_as_before = kind == "changed" and fed.mark_of_sources() in fed.known()
    found = [] if is_as_before else _fed(kind)
    assert not found, "\n".join(found)


def test_what_was_not_fed_before_is_fed() -> None:
    found = patterns.Found("here", re.compile("(?:a|aa)*b and nothing else in the product"), frozenset({"match"}))
    assert fed.mark_of(found) not in fed.known()
    assert fed.mark_of(found) != fed.mark_of(dataclasses.replace(found, methods=frozenset({"finditer"})))
    assert fed.mark_of(found) == fed.mark_of(dataclasses.replace(found, where="elsewhere"))
    reached = fed._reached("agent.languages.dates")
    assert {"agent.languages.dates", "agent.languages.files", "agent.languages"} <= reached
    assert not any(name.startswith("gateway") for name in reached)


def test_what_cannot_be_interrupted_is_ended_and_named() -> None:
    (found,) = _fed("endless", seconds=1)
    assert "endless: '' + ' ' * n" in found


def test_no_pattern_of_a_function_depends_on_what_it_is_given_and_is_fed_nowhere() -> None:
    known = patterns.HELD | patterns.MADE.keys()
    assert sorted(known) == sorted(set(patterns.unknown())), "give it a line in patterns.MADE, or a name in its module"


def test_patterns_are_found_wherever_they_are() -> None:
    module = ModuleType("gateway.made_up")
    source = """
        import re
        from dataclasses import dataclass

        _BY_NAME = re.compile("a+")
        TABLE = {"x": [(1, re.compile("b+"))]}

        @dataclass
        class Value:
            shape: re.Pattern[str]
            KNOWN = re.compile("c+")

        VALUE = Value(re.compile("d+"))

        def closed():
            inner = re.compile("e+")
            return lambda text: inner.match(text)

        CLOSED = closed()

        def used(text):
            _BY_NAME.fullmatch(text)
            return re.sub("f+", "", text), re.split(rf"{'g'}+", text), re.match(text, "x")
    """
    exec(compile(textwrap.dedent(source), "made_up", "exec"), vars(module))
    found = patterns.everything(((module, textwrap.dedent(source)),))
    assert {one.pattern.pattern: one.methods for one in found}.keys() == {"a+", "b+", "c+", "d+", "e+", "f+", "g+"}
    assert next(one.methods for one in found if one.pattern.pattern == "a+") == {"fullmatch"}
    assert next(one.methods for one in found if one.pattern.pattern == "f+") == {"finditer"}
    assert patterns.unknown(((module, textwrap.dedent(source)),)) == ["gateway.made_up.used"]


@pytest.mark.full
def test_a_pattern_is_the_same_in_every_process() -> None:
    """Else what a message is understood as could change with a restart, and a pattern is fed again in every run."""
    script = (
        "from tests.linear.patterns import everything, modules\n"
        "print(sorted(repr(one.pattern.pattern) for one in everything(tuple((module, '') for module, _ in modules()))))"
    )

    environ = {**os.environ, "PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", script], cwd=_ROOT, env=environ, capture_output=True, check=True)
    sources = tuple((module, "") for module, _ in patterns.modules())
    assert done.stdout.decode() == f"{sorted(repr(one.pattern.pattern) for one in patterns.everything(sources))}\n"


def test_known_patterns_of_the_product_are_among_those_fed() -> None:
    where = {one.where.partition(" ")[0] for one in patterns.everything()}
    assert where >= {
        "agent.media.sniff._SVG",
        "agent.formats.untrusted._HEADER",
        "agent.languages.order_words._WORDS",
        "agent.languages.remember._PHRASES",
        "channels.split._FENCE",
    }


@pytest.mark.parametrize("name", functions.FUNCTIONS)
def test_every_function_of_the_table_is_still_there(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    if attribute != "split":  # one for each platform, under its format
        assert hasattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("name", functions.FUNCTIONS)
def test_every_function_of_the_table_takes_a_text_or_refuses_it(name: str) -> None:
    """One that is called in a wrong way would end at once, whatever it is fed."""
    with suppress(ValueError, FileError, YAMLError):
        functions.FUNCTIONS[name]("a few words (from: report.pdf)")


@pytest.mark.parametrize(
    ("pattern", "method"),
    strength.first(
        (r"(?:a|aa)*b", "match"),
        (rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body)\b", "match"),
        (r"不要(?:再|把.{0,20}?|你)*写", "finditer"),
        (r"\s+$", "search"),
        (r"^(\s*)\[", "finditer"),
        (r"\s*(.+?)\s*->\s*(.+?)\s*", "fullmatch"),
        (r"“[^”\n]*”", "finditer"),
        (r"\S+\.md\b", "search"),
    ),
)
def test_the_judge_finds_what_is_not_linear(pattern: str | bytes, method: str) -> None:
    compiled = re.compile(pattern, re.DOTALL | re.MULTILINE if isinstance(pattern, bytes) else re.MULTILINE)
    found = patterns.Found("here", compiled, frozenset({method}))
    assert next(feeding.of_pattern(found, lambda _: None), "")


@pytest.mark.parametrize(
    ("pattern", "method"),
    [(r"\s*x", "match"), (r"(?:ab|cd)+e", "match"), (r"(?<!\S)\S+\.md\b", "search"), (r"“[^“”\n]*”", "finditer")],
)
def test_the_judge_lets_pass_what_is_linear(pattern: str, method: str) -> None:
    found = patterns.Found("here", re.compile(pattern), frozenset({method}))
    assert not list(feeding.of_pattern(found, lambda _: None))


@pytest.mark.full
def test_the_judge_finds_a_loop_that_is_not_linear() -> None:
    def trimmed(text: str) -> None:
        while text.endswith(")") and sum(one == ")" for one in text) > text.count("("):
            text = text[:-1]

    assert judge.grows_faster(trimmed, Shape("", ")", ""), 100_000, 1.0)
    assert not judge.grows_faster(lambda text: text.rstrip(")"), Shape("", ")", ""), 100_000, 0.05)


def test_a_word_of_more_than_64_letters_is_not_stemmed() -> None:
    assert tokenizer.tokens(f"{'e' * 57}running") == ["e" * 57 + "run"]
    assert tokenizer.tokens(f"{'e' * 58}running") == ["e" * 58 + "running"]


def test_a_shape_says_how_it_is_made() -> None:
    shape = next(iter(shapes.deep()))
    assert shape.of(5) == " " * 6
    assert str(Shape("<", "a", "\0")) == "'<' + 'a' * n + '\\x00'"
