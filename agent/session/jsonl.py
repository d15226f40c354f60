"""The lines of a transcript: header and entries as JSON.

Reading tolerates a later version's additions; a bad value raises `ValueError`, for a damaged line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import cast

from agent.formats.parsing import MOST_DEEP_JSON, load_json
from agent.model.base import Json, Usage
from agent.search.result_text import QuotedLines
from agent.session.entries import (
    CompactionEntry,
    Entry,
    Header,
    LineRanges,
    MarkEntry,
    MessageEntry,
    Meta,
    RecalledPassage,
    RedactionEntry,
    SeenFile,
)
from agent.tools.foreign_text import ForeignText

VERSION = 1


def header_line(header: Header) -> bytes:
    return _line(
        {
            "type": "session",
            "version": VERSION,
            "id": header.id,
            "key": header.key,
            "agent": header.agent,
            "started": header.started,
            "system": list(header.system),
            "files": _files_json(header.files),
        }
    )


def entry_line(entry: Entry) -> bytes:
    """One line with its newline. Keys keep their order, so that the replay equals what was sent."""
    start: dict[str, Json] = {"id": entry.id, "ts": entry.ts}
    match entry:
        case MessageEntry():
            start |= {"type": "message", "role": entry.role, "content": list(entry.content)}
            start |= {"meta": _meta_json(entry.meta)}
        case CompactionEntry():
            start |= {"type": "compaction", "summary": entry.summary, "first_kept": entry.first_kept}
            start |= {"tokens_before": entry.tokens_before}
            if entry.system:
                start |= {"system": list(entry.system), "files": _files_json(entry.files)}
            if entry.said:
                start |= {"said": list(entry.said)}
            if entry.asked:
                start |= {"asked": entry.asked}
        case RedactionEntry():
            lines: dict[str, Json] = {id: [[*line] for line in places] for id, places in entry.lines.items()}
            start |= {"type": "redaction", "day": entry.day, "lines": lines}
            start |= {"change": entry.change, "lifts": entry.lifts}
            if entry.system:
                start |= {"system": list(entry.system), "files": _files_json(entry.files)}
        case MarkEntry():
            start |= {"type": entry.type} | dict(entry.fields)
    return _line(start)


_MOST_DEEP = 2 * MOST_DEEP_JSON
"""A line holds what was read at that depth, and is itself some levels around it."""


def read_header(line: bytes) -> Header:
    """Raises `ValueError`."""
    data = _object(load_json(line, _MOST_DEEP))
    if data.get("type") != "session" or data.get("version") != VERSION:
        raise ValueError(f"not the header of a session of version {VERSION}")
    return Header(
        id=_text(data, "id"),
        key=_text(data, "key"),
        agent=_text(data, "agent"),
        started=_text(data, "started"),
        system=_strings(data.get("system")),
        files=_read_files(data.get("files", {})),
    )


def read_entry(line: bytes) -> Entry:
    """Raises `ValueError`."""
    data = _object(load_json(line, _MOST_DEEP))
    id, ts, type = _text(data, "id"), _text(data, "ts"), _text(data, "type")
    match type:
        case "message":
            role = _text(data, "role")
            if role not in ("user", "assistant"):
                raise ValueError(f"a message of role {role!r}")
            content = tuple(_object(block) for block in _array(data.get("content")))
            return MessageEntry(id, ts, role, content, _read_meta(_object(data.get("meta", {}))))
        case "compaction":
            return CompactionEntry(
                id,
                ts,
                summary=_text(data, "summary"),
                first_kept=_text(data, "first_kept"),
                tokens_before=_ints([data.get("tokens_before", 0)], 1)[0],
                system=_strings(data.get("system", [])),
                files=_read_files(data.get("files", {})),
                said=_strings(data.get("said", [])),
                asked=_text(data, "asked", ""),
            )
        case "redaction":
            return RedactionEntry(
                id,
                ts,
                day=_text(data, "day"),
                lines={id: _read_lines(places) for id, places in _object(data.get("lines", {})).items()},
                change=_text(data, "change", ""),
                lifts=_text(data, "lifts", ""),
                system=_strings(data.get("system", [])),
                files=_read_files(data.get("files", {})),
            )
        case _:
            return MarkEntry(
                id, ts, type, {name: value for name, value in data.items() if name not in ("id", "ts", "type")}
            )


def _line(data: Mapping[str, Json]) -> bytes:
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair: JSON can hold it escaped, UTF-8 cannot
        return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def _meta_json(meta: Meta) -> dict[str, Json]:
    data: dict[str, Json] = {}
    for name in ("turn", "sender", "model", "stop_reason", "prefix", "tool", "by"):
        if value := getattr(meta, name):
            data[name] = value
    if meta.said:
        data["said"] = list(meta.said)
    if meta.error:
        data["error"] = True
    if meta.doubted:
        data["doubted"] = True
    if meta.usage is not None:
        usage = meta.usage
        data["usage"] = [usage.input, usage.output, usage.cache_read, usage.cache_write]
    if meta.files:
        data["files"] = _files_json(meta.files)
    if meta.recalled:
        data["recalled"] = [
            [
                passage.path,
                *passage.lines,
                passage.day.isoformat(),
                passage.score,
                passage.sha,
                dict(passage.parts),
                passage.is_part,
            ]
            for passage in meta.recalled
        ]
    if meta.quoted:
        data["quoted"] = [[quoted.path, *quoted.lines, quoted.is_part] for quoted in meta.quoted]
    if meta.foreign is not None:
        data["foreign"] = [_foreign_json(text) for text in meta.foreign]
    return data


def _read_meta(data: Mapping[str, Json]) -> Meta:
    usage = data.get("usage")
    return Meta(
        turn=_text(data, "turn", ""),
        said=_strings(data.get("said", [])),
        sender=_text(data, "sender", ""),
        model=_text(data, "model", ""),
        usage=None if usage is None else Usage(*_ints(usage, 4)),
        stop_reason=_text(data, "stop_reason", ""),
        prefix=_text(data, "prefix", ""),
        tool=_text(data, "tool", ""),
        error=data.get("error") is True,
        files=_read_files(data.get("files", {})),
        recalled=tuple(_read_recalled(passage) for passage in _array(data.get("recalled", []))),
        quoted=tuple(_read_quoted(quoted) for quoted in _array(data.get("quoted", []))),
        foreign=tuple(_read_foreign(_object(text)) for text in _array(data["foreign"])) if "foreign" in data else None,
        by=_text(data, "by", ""),
        doubted=data.get("doubted") is True,
    )


def _foreign_json(text: ForeignText) -> dict[str, Json]:
    return {"from": text.source, "line": text.line} | ({"talk": True} if text.is_talk else {})


def _read_foreign(data: Mapping[str, Json]) -> ForeignText:
    return ForeignText(_text(data, "from"), _text(data, "line", ""), data.get("talk") is True)


def _files_json(files: Mapping[str, SeenFile]) -> dict[str, Json]:
    return {path: _seen_json(seen) for path, seen in files.items()}


def _seen_json(seen: SeenFile) -> list[Json]:
    first, last = (seen.known[0][0], seen.known[-1][1]) if seen.known else (0, 0)
    numbers: list[Json] = [seen.sha, seen.size, first, last, seen.total]
    if seen.known == seen.shown and len(seen.known) < 2:
        return numbers
    return [*numbers, [[*pair] for pair in seen.shown], [[*pair] for pair in seen.known]]


def _read_files(data: Json) -> dict[str, SeenFile]:
    files: dict[str, SeenFile] = {}
    for path, value in _object(data).items():
        sha, *rest = _array(value)
        size, first, last, total = _ints(rest[:4], 4)
        ranges: list[LineRanges] = [((first, last),) if last else ()] * 2
        if len(rest) > 4:
            ranges = [tuple(_read_lines(given)) for given in rest[4:6]]
        files[path] = SeenFile(_string(sha), size, total, *ranges)
    return files


def _read_lines(data: Json) -> list[tuple[int, int]]:
    pairs = [_ints(pair, 2) for pair in _array(data)]
    return [(text, line) for text, line in pairs]


def _read_quoted(data: Json) -> QuotedLines:
    values = _array(data)
    first, last = _ints(values[1:3], 2)
    return QuotedLines(_string(values[0]), (first, last), values[-1] is True)


def _read_recalled(data: Json) -> RecalledPassage:
    values = _array(data)
    if len(values) < 6:
        raise ValueError("a recalled passage was expected")
    path, first, last, day, score, sha = values[:6]
    if not isinstance(score, int | float):
        raise ValueError("a score was expected")
    lines = _ints([first, last], 2)
    given = _object(values[6]) if len(values) > 6 else {}
    parts = {name: float(value) for name, value in given.items() if isinstance(value, int | float)}
    when = date.fromisoformat(_string(day))
    is_part = values[7] is True if len(values) > 7 else False
    return RecalledPassage(_string(path), (lines[0], lines[1]), when, float(score), _string(sha), parts, is_part)


def _object(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise ValueError("an object was expected")
    return cast("Mapping[str, Json]", value)


def _array(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


def _string(value: Json) -> str:
    if not isinstance(value, str):
        raise ValueError("a text was expected")
    return value


def _strings(value: Json) -> tuple[str, ...]:
    return tuple(_string(item) for item in _array(value))


def _text(data: Mapping[str, Json], name: str, default: str | None = None) -> str:
    return _string(data.get(name, default))


def _ints(value: Json, count: int) -> list[int]:
    numbers = [number for number in _array(value) if isinstance(number, int)]
    if len(numbers) != count:
        raise ValueError(f"{count} numbers were expected")
    return numbers
