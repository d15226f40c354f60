"""Reads the calls of tools that local models write into their text, each family in its own form. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.formats.parsing import load_json
from agent.model.base import Json

_LONGEST_PYTHON = 20_000
LONGEST_BEGIN = 80
"""Characters by which a form is told from words."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,99}")
_BARE = re.compile(r'[{\[]\s*+(?:\{\s*+)?"(?:name|type|function|parameters|arguments|tool_name)"\s*+:')
_BARE_BEGINS = re.compile(r'(?:[{\[]\s*+(?:\{\s*+)?(?:"[a-z_]{0,10}"?\s*+)?)\Z')
_GLM_KEY, _GLM_VALUE = "<arg_key>", "<arg_value>"
_INVOKE = re.compile(r'<invoke name="([^"<>]{1,128})">')
_PARAMETER = re.compile(r'<parameter name="([^"<>]{1,128})"[^<>]{0,128}>')
_SEPARATORS = ("<｜tool▁sep｜>", "<|tool_call_argument_begin|>", "[args]", "<tool_sep>")
_NOISE = re.compile(
    r"<｜tool▁calls?▁(?:begin|end)｜>|<\|tool_calls?_(?:section_)?(?:begin|end)\|>|<\|/?tool_call\|>|\[/?tool_calls\]"
    r"|<\|plugin\|>|<\|action_end\|>|<\|end_action\|>|<\|call\|>|<\|constrain\|>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RawCall:
    name: str
    input: Mapping[str, Json]
    garbage: str = ""
    """The text of the call if it is unreadable."""


@dataclass(frozen=True, slots=True)
class WrittenCalls:
    """`names_unknown`: there were calls, of tools that were not offered."""

    calls: tuple[RawCall, ...] = ()
    names_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """How a family of models marks a call: its end if it has one; whether it begins a line."""

    closer: str = ""
    at_line_start: bool = False
    begins: tuple[str, ...] = ()
    """One of these stands first in it, else it is a word of the text."""

    def may_be(self, text: str) -> bool | None:
        """True if `text`, without blanks before it, begins a call of this form; None if more of it must be there."""
        if not self.begins:
            return True
        if any(text.startswith(begin) for begin in self.begins if begin != "name"):
            return True
        name = _NAME.match(text) if "name" in self.begins else None
        if name is not None and name.end() < len(text):
            return text[name.end()] in "\n<>{["
        is_open = name is not None or any(begin.startswith(text) for begin in self.begins)
        return None if is_open and len(text) < LONGEST_BEGIN else False


_HERMES = "<tool_call>"
CALLS: Mapping[str, Form] = {
    _HERMES: Form("</tool_call>", begins=("{", "[", "<function=", "name")),  # Hermes, Qwen, GLM
    "<function=": Form("</function>", begins=("name",)),  # Qwen-Coder, Llama 3.1
    "<toolcall>": Form("</TOOLCALL>", begins=("{", "[")),  # Nemotron
    "<tool_calls>": Form("</tool_calls>", begins=("{", "[")),  # Hunyuan, Jamba
    "<function_calls>": Form("</function_calls>", begins=("<invoke",)),
    "<minimax:tool_call>": Form("</minimax:tool_call>", begins=("<invoke",)),
    "<|tool_call|>": Form(),  # Granite, Phi
    "<|python_tag|>": Form(),  # Llama
    "<|action_start|>": Form(),  # InternLM
    "<|start_action|>": Form(),  # Command
    "<|tool_calls_section_begin|>": Form(),  # Kimi
    "<｜tool▁calls▁begin｜>": Form(),  # DeepSeek
    "<｜tool▁call▁begin｜>": Form(),
    "[tool_calls]": Form(begins=("{", "[", "name")),  # Mistral
    "functools[": Form(at_line_start=True, begins=("{",)),  # Phi
    "```tool_code": Form("\n```", at_line_start=True),  # Gemma
    "": Form(),  # Llama, xLAM: nothing but JSON
}
"""By the marker in small letters. The empty one stands for a text that is nothing but calls."""
MARKERS = tuple(marker for marker in CALLS if marker)


def begins_call(text: str, at: int) -> bool | None:
    """True if a text begins as a bare call does; None if more of it must be there to say."""
    if text[at : at + 1] not in ("{", "["):
        return False
    if _BARE.match(text, at):
        return True
    return None if len(text) - at < 40 and _BARE_BEGINS.match(text, at) else False


def written_calls(marker: str, text: str, tools: Collection[str]) -> WrittenCalls:
    """The calls in the text behind a marker. Hermes' may have any name or be unreadable, and are told to the model."""
    if marker == "functools[":
        text = f"[{text}"
    elif marker == "<function=":
        text = f"{marker}{text}</function>"
    calls = tuple(_calls_in(text.strip()))
    if marker == _HERMES:
        return WrittenCalls(calls or (RawCall("", {}, text.strip()),))
    if not calls or any(call.garbage for call in calls):
        return WrittenCalls()
    named = tuple(RawCall(_plain(call.name), call.input) for call in calls)
    if all(call.name in tools for call in named):
        return WrittenCalls(named)
    return WrittenCalls(names_unknown=True)


def input_of(given: Json) -> Mapping[str, Json] | None:
    """A call's input, also encoded once or twice, if readable."""
    for _ in range(3):
        if given is None or given == "":
            return {}
        if isinstance(given, Mapping):
            return given
        if not isinstance(given, str):
            return None
        try:
            given = load_json(given)
        except ValueError:
            return None
    return None


def _plain(name: str) -> str:
    return name.strip().removeprefix("functions.").partition(":")[0].partition("<|")[0]


def _calls_in(text: str) -> Iterator[RawCall]:
    """Calls in the first form that reads the whole text."""
    for read in (_as_json, _in_tags, _in_keys, _invoked, _separated, _as_python):
        if calls := read(text):
            yield from calls
            return
    if text[:1] in ("{", "["):
        yield RawCall("", {}, text)


def _as_json(text: str) -> Sequence[RawCall]:
    """`{"name": …, "arguments": …}`: one, a list of them, or several behind each other."""
    text = _NOISE.sub("", text).strip()
    for whole in (text, f"[{text.rstrip(';').replace('};', '},').replace(chr(10) + '{', ',{')}]"):
        try:
            given = load_json(whole)
        except ValueError:
            continue
        return [_call_of(call, text) for call in (given if isinstance(given, list) else [given])]
    return []


def _call_of(given: Json, text: str) -> RawCall:
    if isinstance(given, Mapping) and isinstance(given.get("function"), Mapping):
        given = given["function"]
    if not isinstance(given, Mapping):
        return RawCall("", {}, text)
    name = next((given[key] for key in ("name", "tool_name", "function") if key in given), None)
    arguments = input_of(next((given[key] for key in ("arguments", "parameters", "input") if key in given), None))
    if not isinstance(name, str) or not name or arguments is None:
        return RawCall("", {}, text)
    return RawCall(name, arguments)


def _in_tags(text: str) -> Sequence[RawCall]:
    """`<function=name><parameter=key>value</parameter></function>`, or JSON in place of the parameters."""
    calls: list[RawCall] = []
    for part in text.split("<function=")[1:]:
        name, closed, rest = part.partition(">")
        given: dict[str, Json] = {}
        rest, ended, _ = rest.partition("</function>")
        if not closed or text[: len("<function=")] != "<function=":
            return [RawCall("", {}, text)]
        if (written := rest.strip()).startswith("{"):
            arguments = input_of(written)
            calls.append(RawCall("", {}, text) if arguments is None else RawCall(name.strip(), arguments))
            continue
        for parameter in rest.split("<parameter=")[1:]:
            key, _, value = parameter.partition(">")
            value, is_whole, _ = value.partition("</parameter>")
            if not is_whole:
                return [RawCall("", {}, text)]
            given[key.strip()] = value.removeprefix("\n").removesuffix("\n")
        calls.append(RawCall(name.strip(), given) if ended or given else RawCall("", {}, text))
    return calls


def _in_keys(text: str) -> Sequence[RawCall]:
    """GLM: a name, then `<arg_key>key</arg_key><arg_value>value</arg_value>` for each argument."""
    name, *parts = text.split(_GLM_KEY)
    if not _NAME.fullmatch(name.strip()):
        return []
    given: dict[str, Json] = {}
    for part in parts:
        key, is_key, rest = part.partition("</arg_key>")
        value, is_value, _ = rest.partition(_GLM_VALUE)[2].partition("</arg_value>")
        if not is_key or not is_value:
            return [RawCall("", {}, text)]
        given[key.strip()] = _value(value)
    return [RawCall(name.strip(), given)]


def _invoked(text: str) -> Sequence[RawCall]:
    """`<invoke name="…"><parameter name="…">value</parameter></invoke>`."""
    begins = [*_INVOKE.finditer(text)]
    calls: list[RawCall] = []
    for begin, after in pairwise([*begins, None]):
        assert begin is not None
        part = text[begin.end() : after.start() if after else len(text)]
        names = [*_PARAMETER.finditer(part)]
        given = {
            name[1]: _value(part[name.end() : other.start() if other else len(part)].partition("</parameter>")[0])
            for name, other in pairwise([*names, None])
            if name is not None
        }
        calls.append(RawCall(begin[1], given))
    return calls


def _separated(text: str) -> Sequence[RawCall]:
    """DeepSeek, Kimi, Mistral: a name, a separator, JSON; several behind each other."""
    calls: list[RawCall] = []
    lower = text.lower()
    separator = next((sign for sign in _SEPARATORS if sign in lower), "")
    for part in re.split(r"<｜tool▁call▁begin｜>|<\|tool_call_begin\|>|\[TOOL_CALLS\]", text):
        part = _NOISE.sub("", part).strip()
        if not part:
            continue
        at = part.lower().find(separator) if separator else part.find("{")
        name, rest = part[:at].strip(), part[at + len(separator) :].strip()
        if name == "function":
            name, _, rest = rest.partition("\n")
        rest = rest.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
        arguments = input_of(rest) if at >= 0 and _NAME.fullmatch(name.strip()) else None
        if arguments is None:
            return []
        calls.append(RawCall(name.strip(), arguments))
    return calls


def _as_python(text: str) -> Sequence[RawCall]:
    """`name(key=value)`, one a line or in a list; within `print(…)` too."""
    if len(text) > _LONGEST_PYTHON:
        return []
    try:
        body = ast.parse(_NOISE.sub("", text).strip()).body
        nodes = [node for line in body if isinstance(line, ast.Expr) for node in _python_calls(line.value)]
        return [] if len(body) > len(nodes) else [_python_call(node) for node in nodes]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return []


def _python_calls(node: ast.expr) -> Sequence[ast.Call]:
    if isinstance(node, ast.List):
        return [call for entry in node.elts for call in _python_calls(entry)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
        return [call for entry in node.args for call in _python_calls(entry)]
    return [node] if isinstance(node, ast.Call) else []


def _python_call(node: ast.Call) -> RawCall:
    """Raises `ValueError` for arguments that are no constants or have no names."""
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        raise ValueError("arguments without names")
    name = ast.unparse(node.func).removeprefix("default_api.").removesuffix(".call")
    return RawCall(name, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords})


def _value(text: str) -> Json:
    """A value read as JSON, else its text."""
    try:
        value: Json = load_json(text.strip())
    except ValueError:
        return text.removeprefix("\n").removesuffix("\n")
    return value
