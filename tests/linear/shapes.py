"""Texts that break patterns: runs of everything, openings without an end, and what a pattern itself gives away."""

from __future__ import annotations

import re
import re._constants as op  # the parts of a pattern, which Python's own compiler works on
import re._parser as parser
from collections.abc import Iterable, Iterator

from tests.linear.judge import Shape

# fmt: off
_RUNS = (
    *" \t\nae1é中あ\u3000\u200b😀", *"_.-,:;!?*`~|<>[](){}\"'#=/\\@&$%+",
    "\r\n", " \n", "\n\n", "a ", "a\n", "A b. ", "1 ", "1.", "1:", "ab1-", "a.b", "- ", " -", "-\n", "x.md", " a:1",
)
_OPENINGS = (
    "<!--", "<!---->", "<!-- -->", "<!-", "<?", "<![CDATA[", "<a ", "<a/>", "</", "<svg", "&#", "&a;", "<div>\n",
    "![", "![[", "[[]", "[a](", "[](", "[a](<", "![a](", "](", "[a]", "[ ] ", "((a)",
    "` ", "``a`", "```\n", "~~~\n", "~~", "~~a", "||", "||a", "*a", "a*", "**a ", "_a_", "***a** ", "*_", "`a``",
    "> ", ">\n", "> - ", "- a\n", "1. a\n", "  - a\n", "# ", "#\n", "| a ", "|a|\n", "|-|\n", "a|b\n-|-\n",
    '"a', "'a", "«", "“a", "「", "„a", "<daybook-", "<daybook-a>\n",
    " (from: a)", " (from: a", "<think>", "<tool_call>", "http://", "https://a ", "www.a", "@a", ":a:",
    "NO_REPLY", "no_reply ", " NO_", "HEARTBEAT_OK ", "---\n", "a: b\n", "[2026-11-21 ", "2026-11-21", "- 08:30 ",
)
_WITHIN = (
    *(("x", unit, "\0") for unit in " \na1*_."), *(("https://a", unit, "") for unit in ")].a"),
    ("[", "a", "](b)"), ("[", "[", "](b)"), ("[a](", "(", ")"), ("[a](", " ", ""), ("![", "![", "](b)"),
    ("- ", " ", "x"), ("| a |\n|-|\n", "|a", "|"), ("a|b\n-|-\n", "c|d\n", ""), ("```\n", "a\n", ""), ("> ", "a\n", ""),
    ("不要", "把", ""),
)
_DEEP = (
    " ", "a\n", "[", "![[", "*a", "`a``", "[a](b) ", "|a|\n", "- a\n", "a|b\n-|-\n", "> a\n", "あ",
    "<daybook-document>\n", '<daybook-file name="a">\n',
)
# fmt: on
_CANDIDATES = " \n\ta1-.:<>[](){}*_`|\"'/\\#=~!?@&;,eyéA中あ\u3000\x00\x7f“»]、。％"
_FAILING = ("\0", "é")
_MOST_PUMPED = 150
"""Of one pattern: a long list of words repeats white space again and again."""


def general() -> Iterator[Shape]:
    """Shapes for whatever takes a text."""
    for unit in (*_RUNS, *_OPENINGS):
        yield Shape("", unit, "")
    for before, unit, after in _WITHIN:
        yield Shape(before, unit, after)


def deep() -> Iterator[Shape]:
    """Shapes that are worth the time of being fed much."""
    for unit in _DEEP:
        yield Shape("", unit, "")


def of(pattern: re.Pattern[str] | re.Pattern[bytes]) -> Iterator[Shape]:
    """Shapes for one pattern: runs of everything, and for each repeat in it what leads there, what it takes over and
    over, and an end that it cannot stand before."""
    for unit in _RUNS:
        yield Shape("", unit, "")
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    ends_at_line_end = "$" in source or r"\Z" in source or len(source) < 80
    pumped = [one for one in dict.fromkeys(_pumped(list(parser.parse(source, flags)), "")) if one[1]]
    for before, unit in pumped[:: len(pumped) // _MOST_PUMPED + 1]:
        for after in (*_FAILING, "\n\0") if ends_at_line_end else _FAILING:
            yield Shape(before, unit, after)
        if before:
            yield Shape("", before + unit, "\0")


def _pumped(tree: Iterable[tuple[object, object]], before: str) -> Iterator[tuple[str, str]]:
    """What leads to each repeat of a pattern's parts, and what it repeats."""
    for kind, value in tree:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            _, most, body = value
            parts = list(body)
            if most > 4:
                yield from ((before, unit) for unit in _units(parts))
            yield from _pumped(parts, before)
        elif kind is op.SUBPATTERN:
            yield from _pumped(list(value[3]), before)
        elif kind is op.ATOMIC_GROUP:
            yield from _pumped(list(value), before)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _pumped(list(value[1]), before)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _pumped(list(branch), before)
        before += _witness([(kind, value)])


def _units(parts: list[tuple[object, object]]) -> Iterator[str]:
    if len(parts) == 1 and parts[0][0] in (op.IN, op.ANY, op.NOT_LITERAL, op.LITERAL):
        yield from [one for one in _CANDIDATES if _takes(parts[0], one)][:3]
    elif len(parts) == 1 and parts[0][0] is op.BRANCH:
        for branch in parts[0][1][1]:
            yield _witness(list(branch))
    elif len(parts) == 1 and parts[0][0] is op.SUBPATTERN:
        yield from _units(list(parts[0][1][3]))
    else:
        yield _witness(parts)


def _witness(parts: Iterable[tuple[object, object]]) -> str:
    """A short text that these parts take, as far as that can be said without trying."""
    return "".join(map(_one, parts))


def _one(part: tuple[object, object]) -> str:
    kind, value = part
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return _witness(list(value[2])) * min(value[0], 40)
    if kind is op.SUBPATTERN:
        return _witness(list(value[3]))
    if kind is op.ATOMIC_GROUP:
        return _witness(list(value))
    if kind is op.BRANCH:
        return _witness(list(value[1][0]))
    if kind in (op.LITERAL, op.IN, op.NOT_LITERAL, op.ANY):
        return chr(value) if kind is op.LITERAL else next((one for one in "a1" + _CANDIDATES if _takes(part, one)), "")
    return ""


def _takes(part: tuple[object, object], character: str) -> bool:
    kind, value = part
    if kind is op.LITERAL:
        return ord(character) == value
    if kind is op.NOT_LITERAL:
        return ord(character) != value
    if kind is op.ANY:
        return character != "\n"
    items = list(value)
    negated = bool(items) and items[0][0] is op.NEGATE
    return negated != any(_in_class(item, character) for item in items)


_CATEGORIES = {
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
}


def _in_class(item: tuple[object, object], character: str) -> bool:
    kind, value = item
    if kind is op.LITERAL:
        return ord(character) == value
    if kind is op.RANGE:
        return value[0] <= ord(character) <= value[1]
    return kind is op.CATEGORY and re.match(_CATEGORIES[value], character) is not None
