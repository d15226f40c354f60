"""Cuts Markdown into messages: between paragraphs, else blocks, lines, sentences, words, characters.

A cut code block is closed and reopened with its language, a table repeats its header, a list item that starts a message
loses its indentation. Otherwise the pieces are the text, apart from white space at the cuts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

Measure = Callable[[str], int]

_FENCE = re.compile(r"(?P<prefix>[ >]*(?:(?:[-*+]|\d{1,9}[.)])[ ]+)?)(?P<mark>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)
_TABLE_RULE = re.compile(r"[ ]{0,3}(?=[^\n]*\|)(?=[^\n]*-)[-:| \t]+")
_LIST_ITEM = re.compile(r"[ ]*(?:[-*+]|\d{1,9}[.)])[ ]")
_NUMBERED = re.compile(r"((?:[ ]*>)*[ ]{0,3}\d{1,9})(?=[.)][ ])")
_OTHER_BLOCK = re.compile(r"[ ]*(?:(?:[-*+]|\d{1,9}[.)])[ ]|#{1,6}[ \t]|>|(?:[-*_][ \t]*){3,}$)")
"""Lines that end a table without a blank line."""
_QUOTE = re.compile(r"[ ]*>(?:[ ]{0,3}>)*[ ]?")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]")
_SENTENCE_END = re.compile(r"(?:[.!?…][\"'”’»)\]*_]*\s+|[。！？][”’」』）]*)(?![-+*#>=~`|:]|\d{1,9}[.)])")
_WORD_END = re.compile(r"\s+(?![-+*#>=~`|:\s]|\d{1,9}[.)])")
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")
_EMPTY_QUOTE = re.compile(r"(?:[ ]{0,3}>)+[ \t]*\n")
_GAP = re.compile(r"[ \t]+")
_LEAST_FILL = 8
"""A cut is good only if it fills at least an eighth of a message."""


@dataclass(frozen=True, slots=True)
class _Fence:
    prefix: str
    mark: str
    info: str

    @classmethod
    def opened_by(cls, line: str) -> _Fence | None:
        found = _FENCE.match(line)
        if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
            return None
        return cls(found["prefix"], found["mark"], (found["info"].split() or [""])[0][:40])

    def is_closed_by(self, line: str) -> bool:
        if ">" in self.prefix and not line.lstrip().startswith(">"):
            return True
        bare = line.lstrip(" >").rstrip()
        return len(bare) >= len(self.mark) and not bare.strip(self.mark[0])

    @property
    def opening(self) -> str:
        return (self.prefix if ">" in self.prefix else "") + self.mark + self.info + "\n"

    @property
    def closing(self) -> str:
        return re.sub(r"[^ >]", " ", self.prefix) + self.mark


@dataclass(frozen=True, slots=True)
class _Context:
    fence: _Fence | None = None
    table: str = ""
    header: str = ""
    """A line that may become a `table`."""
    in_list: bool = False
    after_blank: bool = False
    dedent: int = 0
    """The margin removed from a message that begins inside a list."""
    within_line: bool = False
    in_quoted_list: bool = False
    quoted_dedent: int = 0

    def after(self, line: str) -> _Context:
        if self.fence is not None:
            closed = self.fence.is_closed_by(line)
            return replace(self, fence=None, header="", after_blank=False, within_line=False) if closed else self
        if ("```" in line or "~~~" in line) and (fence := _Fence.opened_by(line)):
            return replace(self, fence=fence, table="", header="", after_blank=False, within_line=False)
        blank = not line.strip()
        table = "" if blank or self._table_ends(line) else self.table
        if self.header and _TABLE_RULE.fullmatch(line.rstrip("\n")):
            table = self.header + line
        header = line if "|" in line else ""
        goes_on = blank or line[0] in " \t" or self.within_line
        in_list = (self.in_list and goes_on) or bool(_LIST_ITEM.match(line))
        in_quoted_list = self._goes_on_in_quoted_list(line)
        now = (table, header, in_list, blank, False, in_quoted_list)
        if now == (self.table, self.header, self.in_list, self.after_blank, self.within_line, self.in_quoted_list):
            return self
        return replace(
            self,
            table=table,
            header=header,
            in_list=in_list,
            after_blank=blank,
            within_line=False,
            in_quoted_list=in_quoted_list,
        )

    def _goes_on_in_quoted_list(self, line: str) -> bool:
        marks, inner = _unquoted(line)
        if not marks:
            return self.in_quoted_list and self.within_line
        return bool(_LIST_ITEM.match(inner)) or (self.in_quoted_list and (not inner.strip() or inner[0] in " \t"))

    def _table_ends(self, line: str) -> bool:
        if ">" in self.table.partition("|")[0]:
            return not line.lstrip(" ").startswith(">")
        return bool(_OTHER_BLOCK.match(line))

    def as_start(self, following: str, cut_line: str) -> _Context:
        """The context from the line `following` on; `cut_line`: the line cut in two, if any."""
        indent = _indent(cut_line, following)
        quoted = _indent(_unquoted(cut_line)[1], _unquoted(following)[1]) if self.in_quoted_list else 0
        if self.fence is not None:
            marks, margin = _unquoted(self.fence.prefix)
            if marks:
                outer = _margin(marks)  # of the list around the quote
                fence = replace(self.fence, prefix=(marks if self.in_quoted_list else self.fence.prefix)[outer:])
                inner = max(len(margin), self.quoted_dedent)
                return replace(self, fence=fence, dedent=max(outer, self.dedent), quoted_dedent=inner, table="")
            width = len(self.fence.prefix)
            fence = self.fence if width == 0 else replace(self.fence, prefix="")
            return replace(self, fence=fence, dedent=max(width, self.dedent), table="")
        table = "" if not cut_line and self._table_ends(following) else self.table
        dedent = indent if self.in_list else 0
        return replace(self, table=table, dedent=dedent, quoted_dedent=quoted, within_line=bool(cut_line))

    @property
    def opening(self) -> str:
        return self.fence.opening if self.fence is not None else self.table

    @property
    def closing(self) -> str:
        return self.fence.closing if self.fence is not None else ""


@dataclass(frozen=True, slots=True)
class _Piece:
    markdown: str
    end: _Context


def split(markdown: str, measure: Measure, limit: int) -> list[str]:
    """Pieces whose `measure` is at most `limit`; none for a blank text.

    `measure` is the length once formatted. A piece is longer only if a single character is. Linear for a `limit` of
    some hundreds or more.
    """
    text = markdown.strip("\n")
    if not text.strip():
        return []
    if len(text) <= limit and measure(whole := _compose(text, _Context()).markdown) <= limit:
        return [whole]
    return list(_pieces(text, measure, limit))


@lru_cache(maxsize=32)
def _pieces(text: str, measure: Measure, limit: int) -> tuple[str, ...]:
    """The pieces, cached: a long text is cut in a thread, and again when stored."""
    pieces: list[str] = []
    start, context = 0, _Context()
    while start < len(text):
        end, piece = _next_piece(text, start, context, measure, limit)
        if text[start:end].strip():
            pieces.append(piece.markdown)
        start, context = _resume(text, end, piece.end, limit)
    return tuple(pieces)


def _next_piece(text: str, start: int, context: _Context, measure: Measure, limit: int) -> tuple[int, _Piece]:
    end = _longest(text, start, context, measure, limit)
    while True:
        if end < len(text):
            end = _best_cut(text, start, end, context)
        piece = _compose(text[start:end], context)
        # A cut can make a text longer (half a link shows its address): look again with less.
        if end - start <= 1 or measure(piece.markdown) <= limit:
            return end, piece
        end = start + max(1, (end - start) * 7 // 8)


def _longest(text: str, start: int, context: _Context, measure: Measure, limit: int) -> int:
    """An offset at most a little before the furthest that fits."""
    left = len(text) - start
    close_enough = 1 + limit // 32
    fits, fails, size = 0, left + close_enough + 1, min(limit, left)
    while fails - fits > close_enough:
        used = measure(_compose(text[start : start + size], context).markdown)
        if used <= limit:
            fits = size
            if fits == left or limit - used < close_enough:
                break
            size = min(fits * 2 if used * 2 < limit else fits * limit // used, left)
        else:
            fails = size
            size = size * limit // used
        if not fits < size < fails:
            size = min((fits + fails) // 2, left)
    return start + max(fits, 1)


def _best_cut(text: str, start: int, end: int, context: _Context) -> int:
    window = text[start:end]
    least = len(window) // _LEAST_FILL
    between_paragraphs, between_blocks, between_lines = _line_cuts(text, start, end, context, least)
    for cut in (between_paragraphs, between_blocks, between_lines):
        if cut:
            return start + cut
    for ends in (_SENTENCE_END, _WORD_END):
        cuts = [match.end() for match in ends.finditer(window, least)]
        # White space at the window's end may continue after it; the lookahead has not seen what follows.
        cuts = [cut for cut in cuts if cut < len(window) or not window[-1].isspace()]
        if cuts:
            return start + cuts[-1]
    return start + _before_character(text, start, end)


def _line_cuts(text: str, start: int, end: int, context: _Context, least: int) -> tuple[int, int, int]:
    """Cuts relative to `start`, between paragraphs, blocks and lines; 0 for none."""
    paragraphs = blocks = lines = 0
    offset, previous_text = 0, ""
    before, has_code = context, True
    for line in _lines(text[start:end]):
        if offset > least and offset and line.strip() and text[start + offset - 1] == "\n":
            opened_now = context.fence is not None and not has_code
            after_rule = bool(context.table) and not before.table
            if not opened_now and not after_rule and not _TABLE_RULE.fullmatch(line.rstrip("\n")):
                lines = offset
                if (
                    context.fence is None
                    and not context.table
                    and line[0] not in " \t"
                    and not _HEADING.match(previous_text)
                ):
                    blocks = offset
                    if context.after_blank:
                        paragraphs = offset
        offset += len(line)
        before, context = context, context.after(line)
        has_code = context.fence is None or (before.fence is not None and (has_code or bool(line.strip(" >\n"))))
        previous_text = line if line.strip() else previous_text
    if end < len(text) and text[end - 1] == "\n" and lines == 0 and context.fence is None and not context.table:
        lines = end - start
    return paragraphs, blocks, lines


def _compose(body: str, context: _Context) -> _Piece:
    end = context
    lines: list[str] = []
    numbered: list[int] = []
    dedent, quoted = context.dedent, context.quoted_dedent
    for number, line in enumerate(_lines(body)):
        end = end.after(line)
        margin = _margin(line)
        marks, inner = _unquoted(line)
        if line.strip() and end.fence is None and not (context.within_line and number == 0):
            if margin < dedent or (marks and inner.strip() and _margin(inner) < quoted):
                # Inner items now have the outer margin; escaped, they keep their own numbers.
                for at in numbered:
                    if found := _NUMBERED.match(lines[at]):
                        lines[at] = f"{found[1]}\\{lines[at][found.end() :]}"
                numbered.clear()
            dedent = min(dedent, margin)
            quoted = min(quoted, _margin(inner)) if marks and inner.strip() else quoted
        lines.append(_shifted(line, dedent, quoted))
        if end.fence is None and _NUMBERED.match(lines[-1]):
            numbered.append(number)
    end = replace(end, dedent=dedent, quoted_dedent=quoted, within_line=False)
    text = "".join(lines)
    text = text.removesuffix("\n") if end.fence is not None else text.rstrip()
    closing = "\n" + _shifted(end.closing, dedent, quoted) if end.closing else ""
    return _Piece(context.opening + text + closing, end)


def _resume(text: str, end: int, context: _Context, limit: int) -> tuple[int, _Context]:
    """Skips white space and the end of an open code block."""
    while context.fence is not None and end < len(text):
        line = next(_lines(text, end))
        if not (context.fence.is_closed_by(line) and line.strip(" >\n")[:3] == context.fence.mark[:3]):
            break
        end += len(line)
        context = context.after(line)
    if context.fence is None:
        if blank := _BLANK_LINES.match(text, end):
            if text[end - 1] == "\n" or blank[0].count("\n") > 1:
                context = context.after("\n")
            end = blank.end()
        if text[end - 1] != "\n" and (gap := _GAP.match(text, end)):
            end = gap.end()
        while text[end - 1] == "\n" and (empty := _EMPTY_QUOTE.match(text, end)):
            context = context.after(empty[0])
            end = empty.end()
    following = next(_lines(text, end), "")
    cut_line = text[text.rfind("\n", 0, end) + 1 : end]
    context = context.as_start(following, cut_line)
    if len(context.opening) + 1 + len(context.closing) > limit // 4:  # no room left for what it would open
        context = _Context(in_list=context.in_list)
    return end, context


def _lines(text: str, start: int = 0) -> Iterator[str]:
    """The lines with their ends. (`str.splitlines` also cuts at other characters.)"""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _unquoted(line: str) -> tuple[str, str]:
    marks = _QUOTE.match(line)
    return (marks[0], line[marks.end() :]) if marks else ("", line)


def _shifted(line: str, dedent: int, quoted_dedent: int) -> str:
    marks, inner = _unquoted(line)
    inner = inner[min(_margin(inner), quoted_dedent) :] if marks else inner
    return (marks + inner)[min(_margin(line), dedent) :]


def _indent(cut_line: str, following: str) -> int:
    item = _LIST_ITEM.match(cut_line)
    return item.end() if item else _margin(cut_line or following)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _before_character(text: str, start: int, end: int) -> int:
    """A cut near `end`, relative to `start`, that splits no character from its combining marks."""
    for cut in range(end, max(start, end - 64), -1):
        if cut >= len(text) or not _belongs_to_previous(text, cut, start):
            return cut - start
    return end - start


def _belongs_to_previous(text: str, index: int, start: int) -> bool:
    """True if the character is displayed as one with its predecessor (approximates UAX 29)."""
    character, previous = text[index], text[index - 1]
    if unicodedata.category(character) in ("Mn", "Me", "Mc") or "\u200d" in (character, previous):
        return True
    if "\U0001f3fb" <= character <= "\U0001f3ff" or "\U000e0020" <= character <= "\U000e007f":
        return True
    if _is_flag_letter(character):
        first = index
        while first > start and _is_flag_letter(text[first - 1]):
            first -= 1
        return (index - first) % 2 == 1
    return False


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
