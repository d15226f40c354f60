"""Web pages and search results as tools show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class PageUnavailable(Exception):
    """The text says why, as the end of a sentence about the address."""


@dataclass(frozen=True, slots=True)
class Page:
    """`links` are lines `[number] address`; `remark` says what is missing, as the end of a sentence about the page."""

    address: str
    text: str
    links: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class WebResult:
    title: str
    address: str
    snippet: str = ""
    date: str = ""


class SearchUnavailable(Exception):
    """The text is a sentence for the model, which tells the person."""


class PageSource(Protocol):
    async def page(self, given: str) -> Page:
        """Raises `PageUnavailable`."""


class WebSearch(Protocol):
    async def results(self, query: str, session: str) -> list[WebResult]:
        """`session` pays. Raises `SearchUnavailable`."""
