"""The arguments of the agent's own tools."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from agent.memory.notes import NoteType
from agent.tools.schema import Arguments, Count, OneOrSeveral, Text

_EVERYTHING = 1_000_000_000
"""More lines and characters than there can be."""

_InFolder = Annotated[Text, Field(description="relative to this conversation's folder")]
_First = Annotated[Count, Field(alias="from", description="first line")]
_Day = Annotated[Text, Field(description="YYYY-MM-DD")]


class ReadFile(Arguments):
    path: _InFolder
    first: _First = 1
    lines: Count = _EVERYTHING


class WriteFile(Arguments):
    path: _InFolder
    content: str


class EditFile(Arguments):
    path: _InFolder
    old_text: Text
    new_text: str


class ListFiles(Arguments):
    path: _InFolder = "."


class MemoryAppend(Arguments):
    text: Text
    heading: Text | None = None


class MemorySave(Arguments):
    name: Text
    description: Annotated[Text, Field(description="one line, for the index")]
    type: NoteType
    content: Text


class MemoryUpdate(Arguments):
    old_text: str
    new_text: str
    file: str | None = None


@cache
def memory_update(files: tuple[str, ...]) -> type[MemoryUpdate]:
    """`MemoryUpdate` where these files can be updated; the last is the default."""
    about = Field(None, description=f"default {files[-1]}")
    return create_model("MemoryUpdate", __base__=MemoryUpdate, file=(Literal[files] | None, about))  # type: ignore[arg-type]


class MemorySearch(Arguments):
    query: OneOrSeveral
    max_chars: Count = _EVERYTHING
    since: _Day = ""
    until: _Day = ""


class MemoryGet(Arguments):
    path: Text
    first: _First = 1
    lines: Count = _EVERYTHING


class MemoryList(Arguments):
    type: NoteType | None = None


class MemoryDelete(Arguments):
    path: Text


class SkillRead(Arguments):
    name: Text
