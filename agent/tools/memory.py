"""The memory tools: write down and find again."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from agent.languages.days_meant import with_days
from agent.memory import files, log_writer, notes
from agent.memory.age import OUT_OF_DATE, age_in_words, may_be_out_of_date
from agent.memory.daily_log import log_path
from agent.memory.files import FileText
from agent.memory.provenance import own_mark
from agent.memory.replace import append_lines
from agent.search.result_text import QuotedLines, room_for, search_text
from agent.tools import guard, schema
from agent.tools.arguments import integer, text, texts
from agent.tools.base import Arguments, Effect, Tool, ToolError, ToolResult
from agent.tools.context import ToolContext, lines_of
from agent.tools.files import missing, replace_passage
from agent.tools.foreign_text import foreign, in_hit, is_of_others, of_others, unique

_MOST_CHARS = 20_000
_MOST_LISTED = 200
_BY_HAND = frozenset({"TOOLS.md"})
"""Files of the prompt that are no memory: the owner's notes on tools and places."""


def memory_tools(desk: ToolContext) -> tuple[Tool, ...]:
    day = schema.string("YYYY-MM-DD")
    files_of_scope = [name for name in desk.scope.prompt_files if name not in _BY_HAND]
    return (
        desk.tool(
            schema.spec(
                "memory_append",
                "Add an entry to today's log: what happened, was decided, promised, advised; full names, YYYY-MM-DD.",
                {"text": schema.string()},
                {"heading": schema.string()},
            ),
            _append,
            remembers=True,
            effect=_effect_of_append,
        ),
        desk.tool(
            schema.spec(
                "memory_save",
                "Save a note on one lasting subject, names and days in full. The same name replaces its content.",
                {
                    "name": schema.string(),
                    "description": schema.string("one line, for the index"),
                    "type": schema.string(enum=notes.TYPES),
                    "content": schema.string(),
                },
            ),
            _save,
            remembers=True,
            effect=_effect_on_notes,
        ),
        desk.tool(
            schema.spec(
                "memory_update",
                f"Replace one exact passage in {' or '.join(files_of_scope)}; an empty old_text adds at the end.",
                {"old_text": schema.string(may_be_empty=True), "new_text": schema.string(may_be_empty=True)},
                {"file": schema.string(f"default {files_of_scope[-1]}", enum=files_of_scope)},
            ),
            _update,
            remembers=True,
            effect=_effect_of_update,
        ),
        desk.tool(
            schema.spec(
                "memory_search",
                "Search logs, notes, past talks and other files. Best is a list of two to four queries, each in the "
                "words in which it may have been said or written down then, with names, days and synonyms.",
                {"query": schema.one_or_several()},
                {"max_chars": schema.whole_number(), "since": day, "until": day},
            ),
            _search,
            reads_only=True,
        ),
        desk.tool(
            schema.spec(
                "memory_get",
                "Text of a memory file.",
                {"path": schema.string()},
                {"from": schema.whole_number("first line"), "lines": schema.whole_number()},
            ),
            _get,
            reads_only=True,
        ),
        desk.tool(
            schema.spec("memory_list", "List the notes, newest first.", {}, {"type": schema.string(enum=notes.TYPES)}),
            _list,
            reads_only=True,
        ),
        desk.tool(
            schema.spec("memory_delete", "Delete a note and its index line.", {"path": schema.string()}),
            _delete,
            effect=_effect_on_notes,
        ),
    )


async def _effect_of_append(desk: ToolContext, arguments: Arguments) -> Effect | None:
    return await _effect(desk, text(arguments, "text"), log_path(desk.scope, desk.clock.today()))


async def _effect_on_notes(desk: ToolContext, arguments: Arguments) -> Effect | None:
    folder, index = desk.scope.folder / notes.FOLDER, await desk.blocking(notes.index_path, desk.scope)
    new = text(arguments, "content", text(arguments, "path"))
    return await _effect(desk, new, index, folder / "note.md")


async def _effect_of_update(desk: ToolContext, arguments: Arguments) -> Effect | None:
    index = await desk.blocking(notes.index_path, desk.scope)
    return await _effect(desk, text(arguments, "new_text"), _curated(desk, arguments, index))


async def _effect(desk: ToolContext, new: str, *paths: Path) -> Effect | None:
    """None, unless the owner has put links in their places that lead to guarded files."""
    found = [await desk.blocking(guard.written, desk, path, None, new) for path in paths]
    return next(filter(None, found), None)


async def _append(desk: ToolContext, arguments: Arguments) -> str:
    await desk.blocking(desk.may_change, log_path(desk.scope, desk.clock.today()))
    said, new = desk.said_on(desk.clock), text(arguments, "text")
    entry = with_days(new, said) if said is not None else new
    path = await desk.blocking(log_writer.append_log, desk.scope, desk.clock, entry, text(arguments, "heading") or None)
    desk.wrote(path)
    return f"Added to {desk.name(path)}."


async def _save(desk: ToolContext, arguments: Arguments) -> str:
    await desk.blocking(_may_change_index, desk)
    saved = await desk.blocking(
        notes.save,
        desk.scope,
        desk.clock,
        text(arguments, "name"),
        own_mark(text(arguments, "description")),
        text(arguments, "type"),
        text(arguments, "content"),
        desk.may_update,
        desk.settings,
    )
    desk.has_made(saved.path, saved.file)
    desk.wrote(saved.path)
    desk.wrote(saved.index)
    said = f"Saved {desk.name(saved.path)}."
    if saved.replaced is not None and saved.replaced.strip() != text(arguments, "content").strip():
        said = f"Updated {desk.name(saved.path)}. It said before:\n{saved.replaced.strip()}"
    return said + desk.fullness(saved.index, saved.index_file)


async def _update(desk: ToolContext, arguments: Arguments) -> str:
    index = await desk.blocking(notes.index_path, desk.scope)
    path = _curated(desk, arguments, index)
    old_text, new_text = text(arguments, "old_text"), text(arguments, "new_text")
    return await (replace_passage(desk, path, old_text, new_text) if old_text else _add(desk, path, new_text))


def _curated(desk: ToolContext, arguments: Arguments, index: Path) -> Path:
    name = text(arguments, "file", desk.scope.prompt_files[-1])
    return index if name == desk.scope.prompt_files[-1] else desk.scope.folder / name


async def _add(desk: ToolContext, path: Path, new_text: str) -> str:
    if not files.clean(new_text).strip():
        raise ToolError("old_text and new_text are both empty; there is nothing to change")
    await desk.blocking(desk.may_change, path)
    file = await desk.blocking(
        files.rewrite,
        path,
        desk.scope.folder,
        desk.clock.today(),
        lambda now: append_lines(now or b"", new_text, path.name),
    )
    desk.wrote(path)
    return f"Added to {path.name}." + desk.fullness(path, file)


async def _search(desk: ToolContext, arguments: Arguments) -> ToolResult:
    queries = [query for query in texts(arguments, "query") if query.strip()]
    if not queries:
        raise ToolError("argument 'query' is empty")
    since, until = _day(arguments, "since"), _day(arguments, "until")
    if since is not None and until is not None and since > until:
        raise ToolError(f"since ({since}) is after until ({until}), so nothing can be found between them")
    found = await desk.blocking(
        desk.search,
        desk.scope,
        desk.clock,
        queries,
        since=since,
        until=until,
        most=desk.settings.search.max_results,
    )
    most = room_for(len(queries), desk.settings.search.max_chars)
    room = min(integer(arguments, "max_chars", most), most)
    result = await desk.blocking(search_text, found, desk.scope, desk.clock.today(), room)
    others = unique(one for hit in result.hits for one in in_hit(hit, desk.scope))
    return ToolResult(result.text, tuple(result.quoted), others)


async def _get(desk: ToolContext, arguments: Arguments) -> str | ToolResult:
    path = desk.path(text(arguments, "path"))
    file = await desk.blocking(files.read_text, path, desk.scope.folder)
    if file is None:
        talk = await _talk(desk, arguments)
        return f"[Empty: {await desk.blocking(missing, desk, path)}]" if talk is None else talk
    shown, quoted = _of_file(desk, arguments, path, file)
    return ToolResult(shown, quoted, await desk.blocking(desk.foreign, path, file.text))


def _of_file(
    desk: ToolContext, arguments: Arguments, path: Path, file: FileText
) -> tuple[str, tuple[QuotedLines, ...]]:
    """The text, and which lines are in it."""
    lines = lines_of(file.text)
    first = integer(arguments, "from", 1)
    if first > len(lines):
        desk.has_read(path, file, 1, 0)
        said = f"has only {len(lines)} lines" if lines else "has no lines"
        return f"[{'' if lines else 'Empty: '}{desk.name(path)} {said}]", ()
    wanted = lines[first - 1 :][: integer(arguments, "lines", len(lines))]
    shown, chars = 0, 0
    while shown < len(wanted) and chars + len(wanted[shown]) < _MOST_CHARS:
        chars += len(wanted[shown]) + 1
        shown += 1
    if not shown:
        cut = f"{wanted[0][:_MOST_CHARS]}\n[Line {first} is cut here: it has {len(wanted[0])} characters]"
        return cut, (desk.quoted(path, first, first, is_part=True),)
    desk.has_read(path, file, first, first + shown - 1)
    tail = [] if shown == len(wanted) else [f"[Cut here: read on with from={first + shown}]"]
    return "\n".join([*wanted[:shown], *tail]), (desk.quoted(path, first, first + shown - 1),)


async def _talk(desk: ToolContext, arguments: Arguments) -> str | None:
    """A past session, if the path is one that a hit named, else None; by lines of its transcript."""
    said = (
        await desk.blocking(desk.talks.opened, desk.scope, text(arguments, "path"), desk.clock) if desk.talks else None
    )
    if not said:
        return None
    first = integer(arguments, "from", 1)
    last = first + integer(arguments, "lines", said[-1].end) - 1
    shown: list[str] = []
    room, day = _MOST_CHARS, None
    for one in (one for one in said if first <= one.start <= last):
        if one.day != day:
            shown.append(f"[{one.day}]")
            day = one.day
        shown.append(f"{one.start}: {one.text[:_MOST_CHARS]}")
        room -= len(shown[-1]) + 1
        if room <= 0 and one is not said[-1]:
            shown.append(f"[Cut here: read on with from={one.end + 1}]")
            break
    return "\n".join(shown)


async def _list(desk: ToolContext, arguments: Arguments) -> str | ToolResult:
    every = await desk.blocking(notes.listing, desk.scope, desk.clock)
    kind = text(arguments, "type")
    listed = [note for note in every if not kind or note.type == kind]
    if not listed:
        return f"There are no notes of type {kind}." if kind else "There are no notes yet."
    today = desk.clock.today()
    lines = [
        f"[{note.type or '?'}] {note.path} ({age_in_words(note.changed, today)}): {note.description or note.name}"
        for note in listed[:_MOST_LISTED]
    ]
    if len(listed) > _MOST_LISTED:
        lines.append(f"[{len(listed) - _MOST_LISTED} older notes are not shown; memory_search finds them]")
    if any(may_be_out_of_date(note.changed, today) for note in listed):
        lines.append(OUT_OF_DATE)
    shown = "\n".join(lines)
    if is_of_others(notes.FOLDER, desk.scope):
        return ToolResult(shown, foreign=of_others(notes.FOLDER, shown, desk.scope))
    sources = [foreign(name, note.description or note.name) for note in listed[:_MOST_LISTED] for name in note.sources]
    return ToolResult(shown, foreign=unique(sources))


async def _delete(desk: ToolContext, arguments: Arguments) -> str:
    await desk.blocking(_may_change_index, desk)
    deleted = await desk.blocking(notes.delete, desk.scope, desk.clock, text(arguments, "path"), desk.may_delete)
    desk.wrote(deleted.path)
    if deleted.index is not None:
        desk.wrote(deleted.index)
    return f"Deleted {desk.name(deleted.path)}. It said:\n{deleted.text.strip()}"


def _may_change_index(desk: ToolContext) -> None:
    desk.may_change(notes.index_path(desk.scope))


def _day(arguments: Arguments, name: str) -> date | None:
    given = text(arguments, name)
    if not given:
        return None
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise ToolError(f"argument {name!r} is {given[:40]!r}; it must be a day, YYYY-MM-DD") from None
