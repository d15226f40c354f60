"""`web_fetch` and `web_search`: the web, as text of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field
from yarl import URL

from agent.formats.addresses import AddressRefused, AddressRules
from agent.formats.untrusted import clean, label, marked_block
from agent.tools.base import Effect, EffectKind, Outgoing, Tool, ToolError, ToolResult
from agent.tools.foreign_text import foreign
from agent.tools.schema import Arguments, Count, Text, checked, spec, takes
from gateway.features.web_tools.page import Page, PageSource, PageUnavailable, SearchUnavailable, WebResult, WebSearch
from gateway.messages.inbox import asking_session
from gateway.policy.sessions import SessionPolicy
from gateway.store.inbox_rows import InboxRow

_SHOWN_CHARS = 12_000
_MOST_CHARS = 40_000
_FETCH = "Read a public web page, PDF or JSON. Links are numbered, their addresses below."
_SEARCH = "Search the web."


class _WebFetch(Arguments):
    url: Text
    max_chars: Count = _SHOWN_CHARS
    first: Annotated[Count, Field(alias="from", description="first character")] = 1


class _WebSearch(Arguments):
    query: Text


class WebTools:
    """The tools for the web. `pages` is called at the first fetch; `searches`: of the agents that may use the web."""

    def __init__(
        self,
        sessions: SessionPolicy,
        pages: Callable[[], PageSource],
        searches: Mapping[str, WebSearch | None],
        rules: AddressRules,
    ) -> None:
        self._sessions = sessions
        self._pages = pages
        self._searches = searches
        self._rules = rules

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        session = self._sessions.of_row(row).session
        if session.agent not in self._searches:
            return ()
        key = asking_session(replace(row, session=str(session)))
        read: dict[str, Page] = {}

        async def fetch(arguments: _WebFetch) -> ToolResult:
            address = self._address(arguments.url)
            try:
                page = read.get(address) or await self._pages().page(address)
            except PageUnavailable as error:
                raise ToolError(f"The page was not read: {error}.") from error
            read[address] = page
            return _shown(page, arguments.first, min(arguments.max_chars, _MOST_CHARS))

        async def effect(arguments: _WebFetch) -> Effect | None:
            address = self._address(arguments.url)
            if address in read:
                return None
            host = URL(address).host or address
            return Effect(EffectKind.FETCH, address, outgoing=Outgoing(host, address=address))

        async def may_be_opened(arguments: _WebFetch) -> ToolResult:
            return ToolResult("It may be opened: call web_fetch again.")

        tools = [
            Tool(
                spec("web_fetch", _FETCH, _WebFetch),
                takes(_WebFetch, fetch),
                reads_only=True,
                effect=checked(_WebFetch, effect),
                approved=takes(_WebFetch, may_be_opened),
            )
        ]
        engine = self._searches[session.agent]
        if engine is not None:

            async def search(arguments: _WebSearch) -> ToolResult:
                try:
                    return _listed(await engine.results(arguments.query, key))
                except SearchUnavailable as error:
                    raise ToolError(str(error)) from error

            async def query(arguments: _WebSearch) -> Effect | None:
                return Effect(EffectKind.SEARCH, label(arguments.query), outgoing=Outgoing("web search"))

            async def may_be_searched(arguments: _WebSearch) -> ToolResult:
                return ToolResult("It may be searched for: call web_search again.")

            tools.append(
                Tool(
                    spec("web_search", _SEARCH, _WebSearch),
                    takes(_WebSearch, search),
                    reads_only=True,
                    effect=checked(_WebSearch, query),
                    approved=takes(_WebSearch, may_be_searched),
                )
            )
        return tuple(tools)

    def _address(self, given: str) -> str:
        """Raises `ToolError`, whose text does not repeat the address: only others' texts may name it."""
        try:
            return str(self._rules.checked(given))
        except AddressRefused as error:
            raise ToolError(f"The page was not read: {error}.") from error


def _shown(page: Page, first: int, most: int) -> ToolResult:
    host = URL(page.address).host or "the web"
    text = clean(page.text)
    part = text[first - 1 : first - 1 + most]
    if not part:
        raise ToolError(f"The page has only {len(text):,} characters.")
    links = [link for link in page.links if f"{link.partition(' ')[0]}" in part]
    last = first - 1 + len(part)
    notes = [f"[{page.remark}]"] if page.remark else []
    if last < len(text):
        notes.append(f"[characters {first:,} to {last:,} of {len(text):,}; the next: from={last + 1}]")
    shown = "\n\n".join(filter(None, (page.address, part, "\n".join(links))))
    block = marked_block("document", shown, name=host)
    return ToolResult("\n".join([block, *notes]), foreign=(foreign(host, part),))


def _listed(found: list[WebResult]) -> ToolResult:
    if not found:
        return ToolResult("Nothing was found.")
    rows = [
        "\n".join(
            filter(None, (f"{number}. {result.title or result.address}", result.address, result.date, result.snippet))
        )
        for number, result in enumerate(found, 1)
    ]
    text = clean("\n\n".join(rows))
    return ToolResult(
        marked_block("document", text, name="web search"), foreign=(foreign("a web search", found[0].title),)
    )
