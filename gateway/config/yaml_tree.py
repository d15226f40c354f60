"""YAML text as plain values, with the line of each.

Scalars follow the YAML 1.2 core schema, so that `dm_policy: off` is the word off and `time: 21:00` a time: YAML 1.1,
PyYAML's default, reads them as false and 1260. Keys are always text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from agent.formats.parsing import MOST_DEEP_YAML, compose_yaml
from agent.languages.sentences import Sentence
from gateway.config.errors import ConfigError, ConfigPath, ConfigProblem, dotted

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"

MAX_BYTES = 1_000_000
_MAX_NODES = 100_000  # an alias bomb stays small in the file and not in memory


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own shape


_MERGE = "tag:yaml.org,2002:merge"
for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("tag:yaml.org,2002:int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("tag:yaml.org,2002:float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
    (_MERGE, r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z"), _first)


@dataclass(slots=True)
class Tree:
    """`lines` has the line of every written key and list item."""

    value: Value = None
    lines: dict[ConfigPath, int] = field(default_factory=dict)

    def line(self, path: ConfigPath) -> int:
        """The line of a path, or of the nearest one around it; 0 for an empty file."""
        for size in range(len(path), 0, -1):
            if line := self.lines.get(path[:size]):
                return line
        return 0


def parse(text: str, file: str) -> Tree:
    """Parses YAML. Raises `ConfigError`, also for duplicate keys and a top that is no mapping."""
    try:
        node = compose_yaml(text, _Loader)
    except yaml.MarkedYAMLError as error:
        raise ConfigError([_syntax_problem(error, file)]) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        code = f"U+{ord(text[error.position]):04X}"
        what = Sentence("not valid YAML: found the character {code}; allowed: text", code=code)
        raise ConfigError([ConfigProblem(file, line, "", what)]) from error
    except yaml.YAMLError as error:
        raise ConfigError([ConfigProblem(file, 0, "", Sentence("not valid YAML: {why}", why=error))]) from error
    tree = Tree()
    if node is None:
        tree.value = {}
        return tree
    reader = _Reader(file, tree)
    tree.value = reader.read(node, ())
    if tree.value is None:
        tree.value = {}
    if not isinstance(tree.value, dict):
        found = Sentence("a list") if isinstance(tree.value, list) else Sentence("a single value")
        what = Sentence("found {found} at the top; allowed: `key: value` lines, such as `timezone: …`", found=found)
        reader.problems.append(ConfigProblem(file, node.start_mark.line + 1, "", what))
    if reader.problems:
        raise ConfigError(reader.problems)
    return tree


_SYNTAX = {
    r"'\t'": Sentence("found a tab where the indentation is; allowed: spaces"),
    "mapping values are not allowed": Sentence(
        "found a second `: ` in one line; put a value that holds one into quotes"
    ),
    "could not find expected ':'": Sentence("a `:` is missing, here or in the line above"),
    "expected ','": Sentence("a comma or a closing bracket is missing; between brackets a ${NAME} needs quotes"),
    "end of stream": Sentence("a quote or a bracket is never closed"),
    "that cannot start any token": Sentence("found a sign that no value begins with; put the value into quotes"),
    "expected": Sentence("look at the indentation and brackets here and in the line above"),
}
"""What to say, by a part of the parser's message."""


def _syntax_problem(error: yaml.MarkedYAMLError, file: str) -> ConfigProblem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 0
    said = error.problem or error.context or ""
    why = next((words for part, words in _SYNTAX.items() if part in said), said)
    return ConfigProblem(file, line, "", Sentence("not valid YAML: {why}", why=why))


class _Reader:
    def __init__(self, file: str, tree: Tree) -> None:
        self.problems: list[ConfigProblem] = []
        self._file = file
        self._tree = tree
        self._nodes = 0
        self._open: set[int] = set()

    def read(self, node: yaml.Node, path: ConfigPath) -> Value:
        self._nodes += 1
        if self._nodes > _MAX_NODES or id(node) in self._open or len(self._open) > MOST_DEEP_YAML:
            what = Sentence("found too many values")
            if id(node) in self._open:
                what = Sentence("found an alias that contains itself")
            if len(self._open) > MOST_DEEP_YAML:  # by aliases of aliases
                what = Sentence("found values nested more than {most} deep", most=MOST_DEEP_YAML)
            raise ConfigError([ConfigProblem(self._file, node.start_mark.line + 1, dotted(path), what)])
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode):
                return [self._item(item, (*path, index)) for index, item in enumerate(node.value)]
            return self._scalar(node, path)
        finally:
            self._open.discard(id(node))

    def _item(self, node: yaml.Node, path: ConfigPath) -> Value:
        self._tree.lines[path] = node.start_mark.line + 1
        return self.read(node, path)

    def _mapping(self, node: yaml.MappingNode, path: ConfigPath) -> dict[str, Value]:
        merged: dict[str, Value] = {}
        own: dict[str, Value] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self._complain(line, path, Sentence("found a key that is not a word"))
                continue
            if key_node.tag == _MERGE:
                merged |= self._merge(value_node, path)
                continue
            key = str(key_node.value)
            inner: ConfigPath = (*path, key)
            if key in own:
                first = self._tree.lines[inner]
                self._complain(line, inner, Sentence("written twice (first in line {line}); keep one", line=first))
            self._tree.lines[inner] = line
            own[key] = self.read(value_node, inner)
        return merged | own

    def _merge(self, node: yaml.Node, path: ConfigPath) -> dict[str, Value]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Value] = {}
        for source in reversed(sources):  # of several, the first wins (YAML merge key)
            value = self.read(source, path)
            if isinstance(value, dict):
                merged |= value
            else:
                self._complain(source.start_mark.line + 1, path, Sentence("`<<` takes `key: value` lines"))
        return merged

    def _scalar(self, node: yaml.Node, path: ConfigPath) -> Value:
        text = str(node.value)
        match node.tag.removeprefix("tag:yaml.org,2002:"):
            case "str":
                return text
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return _number(text, int)
            case "float":
                return _number(text, float)
            case _:
                self._complain(
                    node.start_mark.line + 1, path, Sentence("found the tag {tag}; allowed: plain values", tag=node.tag)
                )
                return None

    def _complain(self, line: int, path: ConfigPath, text: str) -> None:
        self.problems.append(ConfigProblem(self._file, line, dotted(path), text))


def _number(text: str, kind: type[int] | type[float]) -> Value:
    try:
        return kind(text)
    except ValueError:  # an explicit tag before something else, or a number too long to convert: the model complains
        return text
