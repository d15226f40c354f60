"""Loads `config.yaml` and `.env` into a `Config`, or reports every problem at once, in words."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agent.languages.sentences import Sentence
from agent.languages.system_reasons import reason_of
from channels.registry import MANIFESTS
from gateway.config import dotenv, yaml_tree
from gateway.config.checks import cautions, contradictions
from gateway.config.dotenv import Substituted, substitute
from gateway.config.errors import ConfigError, ConfigPath, ConfigProblem, did_you_mean, dotted
from gateway.config.schema import SHARED_SECTIONS, Config
from gateway.config.whole import whole
from gateway.config.yaml_tree import Tree, Value
from gateway.home import Home

_SECRET_KEYS = {"token", "api_key", "env", "headers", "database_url"}.union(
    *(manifest.variables for manifest in MANIFESTS.values())
)
_LONGEST_SHOWN = 60
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+(?=@)")
"""`user:password` in an address."""

_LINES, _LIST = Sentence("`key: value` lines"), Sentence("a list")
_ALLOWED: Mapping[str, Callable[[Mapping[str, object]], str]] = {
    **dict.fromkeys(("bool_parsing", "bool_type"), lambda _: Sentence("`true` or `false`")),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), lambda _: Sentence("a whole number")),
    "int_parsing_size": lambda _: Sentence("a smaller whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), lambda _: Sentence("a number")),
    "finite_number": lambda _: Sentence("a finite number"),
    "string_type": lambda _: Sentence("text (put a number or `true`/`false` into quotes)"),
    "string_too_short": lambda _: Sentence("text that is not empty"),
    "time_delta_type": lambda _: Sentence("an interval such as 30m"),
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), lambda _: _LINES),
    **dict.fromkeys(("tuple_type", "list_type"), lambda _: _LIST),
    "union_tag_not_found": lambda context: Sentence(
        "`key: value` lines with the key {key}", key=context["discriminator"]
    ),
    "greater_than": lambda of: Sentence("a number greater than {bound}", bound=of["gt"]),
    "greater_than_equal": lambda of: Sentence("a number not below {bound}", bound=of["ge"]),
    "less_than": lambda of: Sentence("a number less than {bound}", bound=of["lt"]),
    "less_than_equal": lambda of: Sentence("a number not above {bound}", bound=of["le"]),
}


def what_is_wrong(detail: ErrorDetails, found: Value, *, hidden: bool) -> str:
    """`found …; allowed: …; did you mean …?`. A value from a variable, or a secret, is not shown."""
    kind, message, context = detail["type"], detail["msg"], detail.get("ctx", {})
    if kind == "missing":
        return Sentence("is missing and has no default")
    hidden = hidden or any(part in _SECRET_KEYS for part in detail["loc"])
    shown = "***" if hidden and found is not None else _shown(context.get("tag", found))
    hint: str = ""
    if choices := context.get("expected") or context.get("expected_tags"):
        names = re.findall(r"'([^']*)'", choices)
        hint = "" if hidden or not isinstance(found, str) else did_you_mean(found, names)
        allowed = ", ".join(names)
    elif kind in _ALLOWED:
        allowed = _ALLOWED[kind](context)
    else:
        return Sentence("found {found}; {what}", found=shown, what=context.get("error") or Sentence(message))
    return Sentence("found {found}; allowed: {allowed}{hint}", found=shown, allowed=allowed, hint=hint)


def _shown(value: Value) -> str:
    if isinstance(value, dict):
        return _LINES
    if isinstance(value, list):
        return _LIST
    if value is None:
        return Sentence("nothing")
    text = str(value).lower() if isinstance(value, bool) else _CREDENTIALS.sub("***", repr(value))
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


FROM_ENVIRONMENT: Mapping[ConfigPath, str] = {
    ("model", "api_key"): "${ANTHROPIC_API_KEY:-}",
    ("model", "servers", "anthropic", "api_key"): "${ANTHROPIC_API_KEY:-}",
    ("model", "servers", "openai", "api_key"): "${OPENAI_API_KEY:-}",
    **{
        ("channels", name, key): f"${{{variable}:-}}"
        for name, manifest in MANIFESTS.items()
        for key, variable in manifest.variables.items()
    },
}
"""Keys whose default is a variable."""
_SET_BY_IMAGE: Mapping[ConfigPath, str] = {("channels", "web", "host"): "${DAYBOOK_WEB_HOST:-127.0.0.1}"}
"""Settings that a container's image makes, so that the home in it stays as it is anywhere."""


def from_environment(provider: Value) -> Mapping[ConfigPath, str]:
    """Keys whose default is a variable: a provider's key goes to its own servers only."""
    own: dict[ConfigPath, str] = {("model", "api_key"): "${OPENAI_API_KEY:-}"} if provider == "openai" else {}
    return {**FROM_ENVIRONMENT, **own}


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    config: Config
    warnings: tuple[ConfigProblem, ...] = ()


def load(home: Home, environ: Mapping[str, str]) -> LoadedConfig:
    """The home's configuration; a missing file means all defaults. `environ` wins over `.env`. Blocks. Raises
    `ConfigError` with every problem."""
    values, warnings = dotenv.parse(read_text(home.env_file) or "", str(home.env_file))
    variables = values | {name: value for name, value in environ.items() if value}
    loaded = parse(read_text(home.config_file) or "", variables, str(home.config_file))
    return LoadedConfig(loaded.config, (*warnings, *loaded.warnings))


def parse(text: str, variables: Mapping[str, str], file: str = "config.yaml") -> LoadedConfig:
    """The configuration in the text of a `config.yaml`. Raises `ConfigError`."""
    return _Document(file, yaml_tree.parse(text, file), variables).loaded()


def dotenv_names(home: Home) -> frozenset[str]:
    """Names with a value in the home's `.env`. Blocks. Raises `ConfigError`."""
    values, _ = dotenv.parse(read_text(home.env_file) or "", str(home.env_file))
    return frozenset(name for name, value in values.items() if value)


def read_text(file: Path) -> str | None:
    """The file's text, if it is there. Blocks. Raises `ConfigError`."""
    try:
        with file.open("rb") as stream:
            data = stream.read(yaml_tree.MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise _unusable(file, Sentence("is a folder, but must be a text file")) from error
    except OSError as error:
        raise _unusable(file, Sentence("can't be read: {why}", why=reason_of(error))) from error
    if len(data) > yaml_tree.MAX_BYTES:
        raise _unusable(file, Sentence("is larger than {most} bytes", most=f"{yaml_tree.MAX_BYTES:,}"))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unusable(file, Sentence("is not UTF-8 text; save it as UTF-8"), line) from error


def _unusable(file: Path, text: str, line: int = 0) -> ConfigError:
    return ConfigError([ConfigProblem(str(file), line, "", text)])


class _Document:
    def __init__(self, file: str, written: Tree, variables: Mapping[str, str]) -> None:
        self._file = file
        self._tree = written
        value = written.value
        provider = _value_at(substitute(value, variables).value, ("model", "provider"))
        for path, variable in {**_SET_BY_IMAGE, **from_environment(provider)}.items():
            value = _filled_in(value, path, variable)
        self._filled: Substituted = substitute(value, variables)

    def loaded(self) -> LoadedConfig:
        problems: list[ConfigProblem] = []
        warnings: list[ConfigProblem] = []
        try:
            config = whole().model_validate(self._filled.value)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
            unknown = [detail for detail in details if detail["type"] == "extra_forbidden"]
            warnings = self._once(self._unknown_key(detail["loc"]) for detail in unknown)
            consequences = ("extra_forbidden", "default_factory_not_called")
            problems = self._once(self._problem(detail) for detail in details if detail["type"] not in consequences)
            for detail in unknown:
                _remove(self._filled.value, detail["loc"])
        problems += self._missing()
        if problems:
            raise ConfigError(sorted(problems, key=lambda problem: problem.line), warnings)
        config = whole().model_validate(self._filled.value)
        problems = [self._at(path, text) for path, text in contradictions(config)]
        if problems:
            raise ConfigError(problems, warnings)
        warnings += [self._at(path, text) for path, text in cautions(config)]
        return LoadedConfig(config, tuple(warnings))

    def _at(self, path: ConfigPath, text: str) -> ConfigProblem:
        return ConfigProblem(self._file, self._tree.line(path), dotted(path), text)

    def _written(self, path: ConfigPath) -> ConfigPath:
        """The path in the file for a path in the model: without pydantic's marks, and for inherited keys in the common
        section."""
        value: Value = self._filled.value
        found: list[str | int] = []
        for position, part in enumerate(path):
            last = position == len(path) - 1
            if isinstance(value, dict) and isinstance(part, str) and (part in value or last):
                value = value.get(part)
                found.append(part)
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                value = value[part]
                found.append(part)
            elif (inherited := path[2:])[:1] and path[0] == "agents" and inherited[0] in SHARED_SECTIONS:
                return self._written(inherited)
        result = tuple(found)
        if result[:1] == ("agents",) and result not in self._tree.lines and path[2:3] and path[2] in SHARED_SECTIONS:
            return self._written(path[2:])
        return result

    def _problem(self, detail: ErrorDetails) -> ConfigProblem:
        loc = detail["loc"]
        about_key = loc[-1:] == ("[key]",)  # pydantic's mark
        path = self._written(loc[:-1] if about_key else loc)
        found = str(path[-1]) if about_key else _value_at(self._filled.value, path)
        return self._at(path, what_is_wrong(detail, found, hidden=path in self._filled.touched))

    def _unknown_key(self, loc: ConfigPath) -> ConfigProblem:
        path = self._written(loc)
        known = _keys_around(whole(), loc)
        name = str(loc[-1])
        elsewhere = ", ".join(f"{section}.{name}" for section in _sections_with(name)[:3])
        hint = (
            did_you_mean(name, known)
            or (elsewhere and Sentence("; it belongs under another key: {keys}", keys=elsewhere))
            or Sentence("; known here: {keys}", keys=", ".join(sorted(known)))
        )
        return self._at(path, Sentence("unknown key, ignored{hint}", hint=hint))

    def _missing(self) -> list[ConfigProblem]:
        """Variables without a value or default, except below something that is off."""
        return [
            self._at(
                path, Sentence("needs {name}, which is not set in the environment or in .env", name=f"${{{name}}}")
            )
            for path, name in self._filled.missing.items()
            if not any(_is_off(_value_at(self._filled.value, path[:size])) for size in range(1, len(path)))
        ]

    @staticmethod
    def _once(problems: Iterable[ConfigProblem]) -> list[ConfigProblem]:
        return list(dict.fromkeys(problems))


def _filled_in(value: Value, path: ConfigPath, variable: str) -> Value:
    """The value with a default variable at `path`, unless anything is written there, even null."""
    if not path:
        return variable
    if value is None:
        value = {}
    if not isinstance(value, dict):
        return value
    name = str(path[0])
    if len(path) == 1 and name in value:
        return value
    return {**value, name: _filled_in(value.get(name), path[1:], variable)}


def _is_off(section: Value) -> bool:
    return isinstance(section, dict) and (section.get("enabled") is False or section.get("provider") == "offline")


def _value_at(value: Value, path: ConfigPath) -> Value:
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


def _remove(value: Value, loc: ConfigPath) -> None:
    """Removes an unknown key, also one that an agent inherited from a common section."""
    for part in loc[:-1]:
        if isinstance(value, dict) and part in value:
            value = value[str(part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
    if isinstance(value, dict):
        value.pop(str(loc[-1]), None)


def _keys_around(model: type[BaseModel], loc: ConfigPath) -> set[str]:
    kinds: list[object] = [model]
    for part in loc[:-1]:
        kinds = [inner for kind in kinds for inner in _inside(kind, part)] or kinds  # a union's mark leads nowhere
    return {name for kind in kinds for section in _sections(kind) for name in section.model_fields}


def _sections_with(word: str) -> list[str]:
    """The sections that know a key of this name, the outer ones first."""
    found: list[str] = []
    waiting: list[tuple[str, type[BaseModel]]] = [("", whole())]
    while waiting:
        path, section = waiting.pop(0)
        for name, described in section.model_fields.items():
            inner = f"{path}.{name}" if path else name
            for kind in _sections(described.annotation):
                if word in kind.model_fields:
                    found.append(inner)
                waiting.append((inner, kind))
    return list(dict.fromkeys(found))


def _sections(kind: object) -> list[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    if typing.get_origin(kind) in (typing.Union, types.UnionType, typing.Annotated):
        return [section for argument in typing.get_args(kind) for section in _sections(argument)]
    return []


def _inside(kind: object, part: str | int) -> list[object]:
    """The types of the values under `part`."""
    origin = typing.get_origin(kind)
    if origin is dict:
        return [typing.get_args(kind)[1]]
    if origin in (tuple, list):
        return [typing.get_args(kind)[0]]
    if origin in (typing.Union, types.UnionType, typing.Annotated):
        return [inner for argument in typing.get_args(kind) for inner in _inside(argument, part)]
    if isinstance(kind, type) and issubclass(kind, BaseModel) and part in kind.model_fields:
        return [kind.model_fields[str(part)].annotation]
    return []
