"""Sets single keys of `config.yaml` and `.env`, also the chosen time zone; all else stays as its owner wrote it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from agent.formats.parsing import compose_yaml
from agent.fs import atomic_write
from agent.languages.sentences import Sentence
from gateway.config import dotenv, yaml_tree
from gateway.config.errors import ConfigError, ConfigPath, ConfigProblem, did_you_mean
from gateway.config.loader import LoadedConfig, from_environment, load, parse, read_text
from gateway.config.reference import keys as known_keys
from gateway.config.schema import Config
from gateway.config.yaml_tree import Value
from gateway.home import Home

HEADER = """\
# Daybook's configuration. Only what differs from the defaults needs to be here;
# `daybook config show` prints all of it, `daybook config validate` checks it. Secrets are in .env.

"""
"""How a new `config.yaml` begins."""
_KEY = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_PLAIN = re.compile(r"[!-~]*")
_UNASKED = re.compile(
    r"^(?P<key>timezone:[ \t]*)(?:Etc/)?(?:UTC|UCT|GMT|Universal|Zulu)[ \t]+# decides when a day begins[ \t]*$",
    re.MULTILINE,
)
"""The line that the set-up of earlier versions wrote on a machine without a zone, asked or not."""


def path_of(key: str) -> ConfigPath:
    """The path of a dotted key, as `channels.web.port`. Raises `ConfigError`."""
    known = [known_key.name for known_key in known_keys()]
    parts = key.strip().split(".")
    if not _KEY.fullmatch(key.strip()) or not any(_is_within(parts, name.split(".")) for name in known):
        hint = did_you_mean(key.strip(), known)
        what = Sentence("there is no such key{hint}; `daybook config reference` lists all", hint=hint)
        raise ConfigError([ConfigProblem("config.yaml", 0, key.strip(), what)])
    return tuple(parts)


def _is_within(parts: list[str], known: list[str]) -> bool:
    """True for a known key, its section, and what is in its value (`people.ann`, `…embedding.model`)."""
    if known[:1] == ["agents"] and parts[:1] == ["agents"]:
        return True  # an agent may have all common sections; the loader knows them
    return all(name in (part, "*") for part, name in zip(parts, known, strict=False)) and (
        len(parts) <= len(known) or known[-1] in ("people", "groups", "prices")
    )


def value_of(text: str) -> Value:
    """A value as typed: YAML (`true`, `[a, b]`, `null`), else text."""
    try:
        tree = yaml_tree.parse(f"value: {text}", "")
    except ConfigError:
        return text
    found = tree.value
    return found["value"] if isinstance(found, dict) and list(found) == ["value"] else text


def set_values(
    home: Home, values: Mapping[ConfigPath, Value], environ: Mapping[str, str], header: str = ""
) -> LoadedConfig:
    """Writes the values, if the configuration with them is valid; a null means the default again. A new file begins
    with the header. Secrets go to `.env`, unless `config.yaml` has their value. Blocks. Raises `ConfigError`,
    `OSError`."""
    config, env = read_text(home.config_file), read_text(home.env_file)
    new_config, new_env = header if config is None else config, env or ""
    for path, value in values.items():
        secrets = _variables(new_config, home.config_file)
        if path in secrets and not _is_written(new_config, path, home.config_file):
            new_env = _with_variable(new_env, secrets[path], "" if value is None else str(value), path)
        else:
            new_config = with_value(new_config, path, value, str(home.config_file))
    variables, _ = dotenv.parse(new_env, str(home.env_file))
    loaded = parse(
        new_config, variables | {name: text for name, text in environ.items() if text}, str(home.config_file)
    )
    before = {warning.key for warning in load(home, environ).warnings} if config else set()
    unknown = [
        warning for warning in loaded.warnings if warning.text.startswith("unknown key") and warning.key not in before
    ]
    if unknown:
        raise ConfigError(unknown)
    if (read_text(home.config_file), read_text(home.env_file)) != (config, env):
        what = Sentence("was changed by somebody else meanwhile, so nothing was written; try again")
        raise ConfigError([ConfigProblem(str(home.config_file), 0, "", what)])
    if new_env != (env or ""):
        atomic_write(home.env_file, new_env)
    if new_config != (config or ""):
        atomic_write(home.config_file, new_config)
    return loaded


def _variables(config: str, file: Path) -> Mapping[ConfigPath, str]:
    """Secrets that `.env` holds, each with its variable."""
    written = yaml_tree.parse(config, str(file)).value
    model = written.get("model") if isinstance(written, dict) else None
    provider = model.get("provider") if isinstance(model, dict) else None
    return {path: text.partition("{")[2].partition(":")[0] for path, text in from_environment(provider).items()}


def with_value(text: str, path: ConfigPath, value: Value, file: str = "config.yaml") -> str:
    """The text with one value set and every other byte kept. Raises `ConfigError`."""
    before = yaml_tree.parse(text, file).value
    edited = _edited(text, [str(part) for part in path], value)
    try:
        after = yaml_tree.parse(edited, file).value
    except ConfigError:
        after = None
    if after != _laid_in(before, path, value):
        what = Sentence("can't be set without rewriting what is around it; edit the file yourself")
        raise ConfigError([ConfigProblem(file, 0, ".".join(map(str, path)), what)])
    return edited


def _laid_in(whole: Value, path: ConfigPath, value: Value) -> Value:
    if not path:
        return value
    inner = whole if isinstance(whole, dict) else {}
    name = str(path[0])
    return {**inner, name: _laid_in(inner.get(name), path[1:], value)}


def _edited(text: str, keys: list[str], value: Value) -> str:
    node, mark = compose_yaml(text), None
    while isinstance(node, yaml.MappingNode) and keys:
        found = next(((key, inner) for key, inner in node.value if key.value == keys[0]), None)
        if found is None:
            return _inserted(text, node, keys, value)
        mark, node = found
        keys = keys[1:]
    if mark is None or node is None:  # the file says nothing yet
        return f"{text}{_line_end(text)}{_block(keys, value, 0)}\n"
    if keys and _at(text, node.start_mark) == _at(text, node.end_mark):  # nothing is written behind the key
        return _after_line(text, mark.end_mark.line, _block(keys, value, mark.start_mark.column + 2))
    return _replaced(text, mark, node, _flow(keys, value))


def _replaced(text: str, key: yaml.Node, node: yaml.Node, written: str) -> str:
    start, end = _at(text, node.start_mark), _at(text, _end(node))
    if node.start_mark.line > key.end_mark.line:  # a list or mapping in lines of its own below its key
        lines = text.splitlines(keepends=True)
        colon = _at(text, key.end_mark) + text[_at(text, key.end_mark) :].index(":") + 1
        below = sum(map(len, lines[: node.start_mark.line]))
        rest = sum(map(len, lines[: _end(node).line + 1]))
        return f"{text[:colon]} {written}{text[colon:below]}{text[rest:]}"
    gap = "" if text[start - 1 : start] in (" ", "\t") else " "
    return f"{text[:start]}{gap}{written}{text[end:]}"


def _inserted(text: str, node: yaml.MappingNode, keys: list[str], value: Value) -> str:
    if not node.flow_style:
        return _after_line(text, _end(node).line, _block(keys, value, node.value[0][0].start_mark.column))
    brace = _at(text, node.end_mark) - 1
    before = text[:brace].rstrip()
    comma = "" if before.endswith(("{", ",")) else ", "
    return (
        f"{before}{comma}{_flow(keys, value)[1:-1] if len(keys) > 1 else f'{keys[0]}: {_scalar(value)}'}{text[brace:]}"
    )


def _end(node: yaml.Node) -> yaml.Mark:
    """The end of the last thing in a node: a block ends where the next one begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return node.end_mark


def _at(text: str, mark: yaml.Mark) -> int:
    return sum(map(len, text.splitlines(keepends=True)[: mark.line])) + mark.column


def _after_line(text: str, line: int, block: str) -> str:
    lines = text.splitlines(keepends=True)
    above = "".join(lines[: line + 1])
    return f"{above}{_line_end(above)}{block}\n{''.join(lines[line + 1 :])}"


def _line_end(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


def _block(keys: list[str], value: Value, column: int) -> str:
    lines = [f"{' ' * (column + 2 * depth)}{key}:" for depth, key in enumerate(keys)]
    return "\n".join(lines) + f" {_scalar(value)}"


def _flow(keys: list[str], value: Value) -> str:
    return f"{{{keys[0]}: {_flow(keys[1:], value)}}}" if keys else _scalar(value)


def _scalar(value: Value) -> str:
    """A value in one line; text that YAML 1.1 would misread is quoted."""
    written = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False)
    return written.removesuffix("\n").removesuffix("\n...")


def _is_written(text: str, path: ConfigPath, file: Path) -> bool:
    value: Value = yaml_tree.parse(text, str(file)).value
    for part in path:
        if not isinstance(value, dict) or part not in value:
            return False
        value = value[str(part)]
    return True


def _with_variable(text: str, name: str, value: str, path: ConfigPath) -> str:
    """The text of `.env` with a variable set in its line or a new line; without its line if the value is empty."""
    if not _PLAIN.fullmatch(value):
        what = Sentence("allowed: a key without spaces, line breaks and accents")
        raise ConfigError([ConfigProblem(".env", 0, ".".join(map(str, path)), what)])
    line = f"{name}={dotenv.quoted(value)}\n" if value else ""
    lines = text.splitlines(keepends=True)
    own = [at for at, written in enumerate(lines) if name in dotenv.parse(written)[0]]
    if own:
        lines[own[-1]] = line
        for at in own[:-1]:
            lines[at] = ""
        return "".join(lines)
    return f"{text}{_line_end(text)}{line}"


def is_zone_chosen(home: Home, config: Config) -> bool:
    """False where the machine's zone is used because nobody named one. Blocks. Raises `ConfigError`, `OSError`."""
    if "timezone" not in config.model_fields_set:
        return False
    return _UNASKED.search(read_text(home.config_file) or "") is None


def choose_zone(home: Home, zone: str, environ: Mapping[str, str]) -> Config:
    """Writes down a zone that a person named. Blocks. Raises `ConfigError`, `HomeError`, `OSError`."""
    home.create()
    config = set_values(home, {("timezone",): zone}, environ, HEADER).config
    written = read_text(home.config_file) or ""
    if _UNASKED.search(written):
        atomic_write(home.config_file, _UNASKED.sub(rf"\g<key>{zone}", written))
    return config
