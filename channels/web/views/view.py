"""A view: its address, and what its template is filled with.

The shell (`templates/shell.html`) is the same at every address. Its script asks for `/view/NAME?…`, which answers with
the template of that name, filled by `View.read`; `static/NAME.js`, where `has_script`, exports `mount(root, page)` and
makes it work. What a person does goes to `/call/OPERATION`, if the gateway offers that operation to the page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
"""What an operation of the gateway answers with; templates take it apart."""
Call: TypeAlias = Callable[[str, Mapping[str, object]], Awaitable[JsonValue]]
"""Calls one of the gateway's operations. Raises `ActionFailed`."""
Values: TypeAlias = Mapping[str, object]


class ActionFailed(Exception):
    """The operation failed. One sentence for the person."""


class NotOffered(ActionFailed):
    """No part of this gateway has the operation."""


@dataclass(frozen=True, slots=True)
class View:
    name: str
    """The last part of its address; empty for the chat."""
    title: str
    """English; shown in the person's language."""
    read: Callable[[Call, Mapping[str, str]], Awaitable[Values]] | None = None
    """Takes the address's query. None: the chat, which the shell holds itself."""
    has_script: bool = False

    @property
    def path(self) -> str:
        return f"/{self.name}"
