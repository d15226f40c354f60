"""The result of a call: its text and its other parts. Pure."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from dataclasses import dataclass

import mcp_types as types

from gateway.features.mcp.values import CallFile, CallResult

_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "application/pdf": "pdf",
}
_MOST_FILES = 10


@dataclass(slots=True)
class _Collected:
    lines: list[str]
    files: list[CallFile]


def call_result(result: types.CallToolResult) -> CallResult:
    """The result as Daybook takes it. Takes some time for a large result."""
    found = _Collected([], [])
    for block in result.content:
        found.lines.extend(_text(block, found.files))
    if not found.lines and not found.files and result.structured_content is not None:
        found.lines.append(json.dumps(result.structured_content, ensure_ascii=False, indent=1))
    return CallResult("\n".join(found.lines), tuple(found.files), failed=result.is_error)


def _text(block: types.ContentBlock, files: list[CallFile]) -> Iterator[str]:
    match block:
        case types.TextContent():
            yield block.text
        case types.ImageContent() | types.AudioContent():
            yield from _file(block.data, block.mime_type, files)
        case types.ResourceLink():
            yield f"[{block.name}: {block.uri}]"
        case types.EmbeddedResource(resource=types.TextResourceContents() as inner):
            yield f"[{inner.uri}]\n{inner.text}"
        case types.EmbeddedResource(resource=types.BlobResourceContents() as inner):
            yield f"[{inner.uri}]"
            yield from _file(inner.blob, inner.mime_type or "", files)


def _file(data: str, kind: str, files: list[CallFile]) -> Iterator[str]:
    if len(files) == _MOST_FILES:
        yield f"[more files are left out: at most {_MOST_FILES}]"
        return
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        yield "[a file that is not readable]"
        return
    files.append(CallFile(content, _ENDINGS.get(kind.partition(";")[0].strip().lower(), "bin")))
