"""The memory tools."""

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
from agent.tools import guard
from agent.tools.arguments import (
    MemoryAppend,
    MemoryDelete,
    MemoryGet,
    MemoryList,
    MemorySave,
    MemorySearch,
    MemoryUpdate,
    memory_update,
)
from agent.tools.base import Effect, Tool, ToolError, ToolResult
from agent.tools.context import ToolContext, lines_of
from agent.tools.files import missing, replace_passage
from agent.tools.foreign_text import foreign, in_hit, is_of_others, of_others, unique

_MOST_CHARS = 20_000
_MOST_LISTED = 200
_BY_HAND = frozenset({"TOOLS.md"})
"""Files of the prompt that are no memory: the owner's notes on tools and places."""


def memory_tools(context: ToolContext) -> tuple[Tool, ...]:
    files_of_scope = tuple(name for name in context.scope.prompt_files if name not in _BY_HAND)
    return (
        context.tool(
            "memory_append",
            "Add an entry to today's log: what happened, was decided, promised, advised; full names, YYYY-MM-DD.",
            MemoryAppend,
            _append,
            remembers=True,
            effect=_effect_of_append,
        ),
        context.tool(
            "memory_save",
            "Save a note on one lasting subject, names and days in full. The same name replaces its content.",
            MemorySave,
            _save,
            remembers=True,
            effect=_effect_on_notes,
        ),
        context.tool(
            "memory_update",
            f"Replace one exact passage in {' or '.join(files_of_scope)}; an empty old_text adds at the end.",
            memory_update(files_of_scope),
            _update,
            remembers=True,
            effect=_effect_of_update,
        ),
        context.tool(
            "memory_search",
            "Search logs, notes, past conversations and other files. Best is a list of two to four queries, each in "
            "the words in which it may have been said or written down then, with names, days and synonyms.",
            MemorySearch,
            _search,
            reads_only=True,
        ),
        context.tool(
            "memory_get",
            "Text of a memory file.",
            MemoryGet,
            _get,
            reads_only=True,
        ),
        context.tool(
            "memory_list",
            "List the notes, newest first.",
            MemoryList,
            _list,
            reads_only=True,
        ),
        context.tool(
            "memory_delete",
            "Delete a note and its index line.",
            MemoryDelete,
            _delete,
            effect=_effect_on_notes,
        ),
    )


async def _effect_of_append(context: ToolContext, arguments: MemoryAppend) -> Effect | None:
    return await _effect(context, arguments.text, log_path(context.scope, context.clock.today()))


async def _effect_on_notes(context: ToolContext, arguments: MemorySave | MemoryDelete) -> Effect | None:
    folder, index = context.scope.folder / notes.FOLDER, await context.blocking(notes.index_path, context.scope)
    new = arguments.content if isinstance(arguments, MemorySave) else arguments.path
    return await _effect(context, new, index, folder / "note.md")


async def _effect_of_update(context: ToolContext, arguments: MemoryUpdate) -> Effect | None:
    index = await context.blocking(notes.index_path, context.scope)
    return await _effect(context, arguments.new_text, _curated(context, arguments, index))


async def _effect(context: ToolContext, new: str, *paths: Path) -> Effect | None:
    """The effect, if the owner's links lead to guarded files."""
    found = [await context.blocking(guard.written, context, path, None, new) for path in paths]
    return next(filter(None, found), None)


async def _append(context: ToolContext, arguments: MemoryAppend) -> str:
    await context.blocking(context.may_change, log_path(context.scope, context.clock.today()))
    said, new = context.day_of_text(context.clock), arguments.text
    entry = with_days(new, said) if said is not None else new
    path = await context.blocking(log_writer.append_log, context.scope, context.clock, entry, arguments.heading)
    context.wrote(path)
    return f"Added to {context.name(path)}."


async def _save(context: ToolContext, arguments: MemorySave) -> str:
    await context.blocking(_may_change_index, context)
    saved = await context.blocking(
        notes.save,
        context.scope,
        context.clock,
        arguments.name,
        own_mark(arguments.description),
        arguments.type,
        arguments.content,
        context.may_update,
        context.settings,
    )
    context.has_made(saved.path, saved.file)
    context.wrote(saved.path)
    context.wrote(saved.index)
    said = f"Saved {context.name(saved.path)}."
    if saved.replaced is not None and saved.replaced.strip() != arguments.content.strip():
        said = f"Updated {context.name(saved.path)}. It said before:\n{saved.replaced.strip()}"
    return said + context.fullness(saved.index, saved.index_file)


async def _update(context: ToolContext, arguments: MemoryUpdate) -> str:
    index = await context.blocking(notes.index_path, context.scope)
    path = _curated(context, arguments, index)
    old_text, new_text = arguments.old_text, arguments.new_text
    return await (replace_passage(context, path, old_text, new_text) if old_text else _add(context, path, new_text))


def _curated(context: ToolContext, arguments: MemoryUpdate, index: Path) -> Path:
    name = arguments.file or context.scope.prompt_files[-1]
    return index if name == context.scope.prompt_files[-1] else context.scope.folder / name


async def _add(context: ToolContext, path: Path, new_text: str) -> str:
    if not files.clean(new_text).strip():
        raise ToolError("old_text and new_text are both empty; there is nothing to change")
    await context.blocking(context.may_change, path)
    file = await context.blocking(
        files.rewrite,
        path,
        context.scope.folder,
        context.clock.today(),
        lambda now: append_lines(now or b"", new_text, path.name),
    )
    context.wrote(path)
    return f"Added to {path.name}." + context.fullness(path, file)


async def _search(context: ToolContext, arguments: MemorySearch) -> ToolResult:
    queries = [query for query in arguments.query if query.strip()]
    if not queries:
        raise ToolError("argument 'query' is empty")
    since, until = _day("since", arguments.since), _day("until", arguments.until)
    if since is not None and until is not None and since > until:
        raise ToolError(f"since ({since}) is after until ({until}), so nothing can be found between them")
    found = await context.blocking(
        context.search,
        context.scope,
        context.clock,
        queries,
        since=since,
        until=until,
        most=context.settings.search.max_results,
    )
    most = room_for(len(queries), context.settings.search.max_chars)
    room = min(arguments.max_chars, most)
    result = await context.blocking(search_text, found, context.scope, context.clock.today(), room)
    others = unique(text for hit in result.hits for text in in_hit(hit, context.scope))
    return ToolResult(result.text, tuple(result.quoted), others)


async def _get(context: ToolContext, arguments: MemoryGet) -> str | ToolResult:
    path = context.path(arguments.path)
    file = await context.blocking(files.read_text, path, context.scope.folder)
    if file is None:
        session = await _past_session(context, arguments)
        return f"[Empty: {await context.blocking(missing, context, path)}]" if session is None else session
    shown, quoted = _of_file(context, arguments, path, file)
    return ToolResult(shown, quoted, await context.blocking(context.foreign, path, file.text))


def _of_file(
    context: ToolContext, arguments: MemoryGet, path: Path, file: FileText
) -> tuple[str, tuple[QuotedLines, ...]]:
    lines = lines_of(file.text)
    first = arguments.first
    if first > len(lines):
        context.has_read(path, file, 1, 0)
        said = f"has only {len(lines)} lines" if lines else "has no lines"
        return f"[{'' if lines else 'Empty: '}{context.name(path)} {said}]", ()
    wanted = lines[first - 1 :][: arguments.lines]
    shown, chars = 0, 0
    while shown < len(wanted) and chars + len(wanted[shown]) < _MOST_CHARS:
        chars += len(wanted[shown]) + 1
        shown += 1
    if not shown:
        cut = f"{wanted[0][:_MOST_CHARS]}\n[Line {first} is cut here: it has {len(wanted[0])} characters]"
        return cut, (context.quoted(path, first, first, is_part=True),)
    context.has_read(path, file, first, first + shown - 1)
    tail = [] if shown == len(wanted) else [f"[Cut here: read on with from={first + shown}]"]
    return "\n".join([*wanted[:shown], *tail]), (context.quoted(path, first, first + shown - 1),)


async def _past_session(context: ToolContext, arguments: MemoryGet) -> str | None:
    """Lines of a past session, if its hits name the path."""
    said = (
        await context.blocking(context.past.opened, context.scope, arguments.path, context.clock)
        if context.past
        else None
    )
    if not said:
        return None
    first = arguments.first
    last = first + arguments.lines - 1
    shown: list[str] = []
    room, day = _MOST_CHARS, None
    wanted = [passage for passage in said if first <= passage.start <= last]
    for passage in wanted:
        if passage.day != day:
            shown.append(f"[{passage.day}]")
            day = passage.day
        shown.append(f"{passage.start}: {passage.text[:_MOST_CHARS]}")
        room -= len(shown[-1]) + 1
        if room <= 0 and passage is not said[-1]:
            shown.append(f"[Cut here: read on with from={passage.end + 1}]")
            break
    return "\n".join(shown)


async def _list(context: ToolContext, arguments: MemoryList) -> str | ToolResult:
    every = await context.blocking(notes.listing, context.scope, context.clock)
    kind = arguments.type
    listed = [note for note in every if not kind or note.type == kind]
    if not listed:
        return f"There are no notes of type {kind}." if kind else "There are no notes yet."
    today = context.clock.today()
    lines = [
        f"[{note.type or '?'}] {note.path} ({age_in_words(note.changed, today)}): {note.description or note.name}"
        for note in listed[:_MOST_LISTED]
    ]
    if len(listed) > _MOST_LISTED:
        lines.append(f"[{len(listed) - _MOST_LISTED} older notes are not shown; memory_search finds them]")
    if any(may_be_out_of_date(note.changed, today) for note in listed):
        lines.append(OUT_OF_DATE)
    shown = "\n".join(lines)
    if is_of_others(notes.FOLDER, context.scope):
        return ToolResult(shown, foreign=of_others(notes.FOLDER, shown, context.scope))
    sources = [foreign(name, note.description or note.name) for note in listed[:_MOST_LISTED] for name in note.sources]
    return ToolResult(shown, foreign=unique(sources))


async def _delete(context: ToolContext, arguments: MemoryDelete) -> str:
    await context.blocking(_may_change_index, context)
    deleted = await context.blocking(notes.delete, context.scope, context.clock, arguments.path, context.may_delete)
    context.wrote(deleted.path)
    if deleted.index is not None:
        context.wrote(deleted.index)
    return f"Deleted {context.name(deleted.path)}. It said:\n{deleted.text.strip()}"


def _may_change_index(context: ToolContext) -> None:
    context.may_change(notes.index_path(context.scope))


def _day(name: str, given: str) -> date | None:
    if not given:
        return None
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise ToolError(f"argument {name!r} is {given[:40]!r}; it must be a day, YYYY-MM-DD") from None
