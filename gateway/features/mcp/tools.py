"""`NAME__tool`: the tools of configured MCP servers; `tool_find`, where they are many."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date

from agent.formats.untrusted import escape, label
from agent.media.pictures import Picture
from agent.media.reader import Reader
from agent.media.sniff import Unreadable
from agent.media.store import Store
from agent.memory.files import rewrite
from agent.memory.paths import FileError
from agent.memory.scope import Scope
from agent.model.base import Json
from agent.model.tokens import estimate_tool
from agent.session.outgoing import found_tools, host_of_server
from agent.tools.base import Effect, EffectKind, EffectNote, Outgoing, Tool, ToolError, ToolResult
from agent.tools.foreign_text import ForeignText, foreign, visible
from agent.tools.schema import Arguments, Text, spec, takes
from gateway.features.mcp.catalog import CatalogEntry, McpCatalog, are_few, fitting, search
from gateway.features.mcp.kept import CallOutcome, KeptMcp
from gateway.features.mcp.login_requests import LoginRequests
from gateway.features.mcp.values import CallFile, McpFailure
from gateway.kernel import Kernel
from gateway.policy.sessions import SessionRoute
from gateway.store.inbox_rows import InboxRow
from gateway.turns.user_message import user_message_id

_FOLDER = "received"
_PICTURES = frozenset({"png", "jpg", "gif", "webp"})
_LONGEST = 50_000
_MOST_NAMED = 60
_DISK = "Nothing was done: the disk takes no more writing. Tell the person."
_NOT_MADE = "Interrupted by a restart of the assistant before the call was made. Make it again if it is wanted."
_MAYBE = (
    "Interrupted by a restart of the assistant: this call may or may not have taken effect. It is not made a second "
    "time. Check before you make another."
)
_DONE = "Interrupted by a restart of the assistant, but the call was made. Its result:\n{text}"
_FIND = "Find tools of these servers by what they do; what is found can be used from then on: {servers}."


class _ToolFind(Arguments):
    query: Text


class McpTools:
    """The tools of MCP servers."""

    def __init__(self, kernel: Kernel, catalog: McpCatalog, kept: KeptMcp, logins: LoginRequests) -> None:
        media = kernel.config.media
        self._logins = logins
        self._catalog = catalog
        self._kept = kept
        self._sessions = kernel.sessions
        self._clock = kernel.clock
        self._reader = Reader(media.max_chars, media.max_pages)
        self._store = Store(kernel.home.state)
        """Keeps pictures as models take them."""

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tools that the chat's audience may use, seen by the model or not."""
        route = self._sessions.of_row(row)
        agent, audience = route.session.agent, route.scope.audience
        logins = tuple(self._logins.tool(server, row, route) for server in self._catalog.locked(agent, audience))
        entries = self._catalog.entries(agent, audience)
        if not entries:
            return logins
        if are_few(entries):
            return (*logins, *(self._tool(entry, row, route, None) for entry in entries))
        finder = _Finder(entries, self._kept, str(route.session))
        return (*logins, finder.tool, *(self._tool(entry, row, route, finder) for entry in entries))

    def _tool(self, entry: CatalogEntry, row: InboxRow, route: SessionRoute, finder: _Finder | None) -> Tool:
        turn = f"mcp:{route.session}:{row.turn or user_message_id(row.message)}"

        async def run(given: Json, call: str) -> ToolResult:
            return await self._call(entry, row, route, _arguments(given), f"{turn}:{call}")

        async def outcome(call: str) -> ToolResult:
            known = await asyncio.to_thread(self._kept.outcome, f"{turn}:{call}")
            if known is None or not known.is_done:
                return ToolResult(_NOT_MADE if known is None else _MAYBE)
            taken_in = (foreign(entry.server.name, known.text),)
            return ToolResult(_DONE.format(text=known.text), foreign=taken_in, pictures=known.pictures)

        async def effect(given: Json) -> Effect | None:
            return self._effect(entry, _arguments(given))

        def is_offered() -> bool:
            return finder is None or entry.name in finder.offered

        return Tool(entry.spec, run, outcome=outcome, effect=effect, is_offered=is_offered, server=entry.server.name)

    def _effect(self, entry: CatalogEntry, arguments: Mapping[str, Json]) -> Effect:
        """The first use of a tool, or of a tool that describes itself otherwise since, asks with its description. The
        owner's yes frees a tool that only reads; a tool that writes is asked about as the configuration says."""
        tool, ask = entry.tool, entry.config.ask
        target = f"{entry.server.name}: {label(tool.name)}"
        text = json.dumps(arguments, ensure_ascii=False, indent=1) if arguments else ""
        outgoing = Outgoing(host_of_server(entry.server.name), is_lasting=tool.reads_only)
        agreed = self._kept.used().get(entry.name)
        kind, notes = EffectKind.USE_TOOL, tuple[EffectNote, ...]()
        if agreed is not None and agreed != tool.digest:
            kind = EffectKind.USE_CHANGED_TOOL
        elif agreed is None and ask != "none":
            kind = EffectKind.USE_NEW_TOOL
        if kind is not EffectKind.USE_TOOL:
            text = "\n\n".join(filter(None, (text, tool.description)))
            notes = (EffectNote.FOR_TOOL,) if ask != "all" and (tool.reads_only or ask == "none") else ()
        always = kind is not EffectKind.USE_TOOL or ask == "all" or (ask == "writes" and not tool.reads_only)
        return Effect(kind, target, text, always=always, before=tool.digest, outgoing=outgoing, notes=notes)

    async def _call(
        self, entry: CatalogEntry, row: InboxRow, route: SessionRoute, arguments: Mapping[str, Json], key: str
    ) -> ToolResult:
        name = entry.server.name
        try:
            earlier = await asyncio.to_thread(self._kept.begin, key)
            if earlier is None:
                await asyncio.to_thread(self._kept.keep_used, entry.name, entry.tool.digest)
                earlier = await self._made(entry, row, route, arguments)
                await asyncio.to_thread(self._kept.finish, key, earlier)
        except OSError as error:
            raise ToolError(_DISK) from error
        if not earlier.is_done:
            raise ToolError(_MAYBE)
        taken_in = (foreign(name, earlier.text),)
        if earlier.failed:
            raise ToolError(earlier.text, taken_in, earlier.pictures)
        return ToolResult(earlier.text, foreign=taken_in, pictures=earlier.pictures)

    async def _made(
        self, entry: CatalogEntry, row: InboxRow, route: SessionRoute, arguments: Mapping[str, Json]
    ) -> CallOutcome:
        try:
            result = await entry.server.call(entry.tool.name, arguments)
        except McpFailure as failure:
            if failure.needs_login:
                return CallOutcome(True, await self._asked_for_login(entry, row, route), failed=True)
            said = escape(failure.said)
            return CallOutcome(True, f"{failure}: {said}" if said else str(failure), failed=True)
        saved = [await self._saved(entry.server.name, file, route.scope) for file in result.files]
        text = "\n".join(filter(None, [escape(result.text[: _LONGEST + 1]), *(words for words, _ in saved)]))
        pictures = tuple(picture for _, picture in saved if picture is not None)
        return CallOutcome(True, text[: _LONGEST + 1_000], failed=result.failed, pictures=pictures)

    async def _asked_for_login(self, entry: CatalogEntry, row: InboxRow, route: SessionRoute) -> str:
        try:
            return await self._logins.ask(entry.server, row, route)
        except ToolError as error:
            return str(error)

    async def _saved(self, server: str, file: CallFile, scope: Scope) -> tuple[str, Picture | None]:
        """The words for a file that came, and the picture for the model, if it is one."""
        name = f"{server}-{hashlib.sha256(file.content).hexdigest()[:8]}.{file.ending}"
        path = f"{_FOLDER}/{name}"
        try:
            await asyncio.to_thread(_write, scope, path, self._clock.today(), file.content)
        except FileError as error:
            return f"[a file came that could not be saved: {error}]", None
        if file.ending not in _PICTURES:
            return f"[a file came, saved as {path}]", None
        try:
            with self._store.scratch() as shrunk:
                ending = await self._reader.picture(scope.folder / path, shrunk)
                kept = await asyncio.to_thread(self._store.keep, shrunk, ending)
        except (Unreadable, OSError) as error:
            return f"[a picture came, saved as {path}; it can't be shown: {error}]", None
        return f"[a picture came, saved as {path}]", Picture(name, kept, path)


class _Finder:
    """Looks tools up for one conversation."""

    def __init__(self, entries: Sequence[CatalogEntry], kept: KeptMcp, session: str) -> None:
        counts: dict[str, int] = {}
        for entry in entries:
            counts[entry.server.name] = counts.get(entry.server.name, 0) + 1
        servers = ", ".join(f"{name} ({count})" for name, count in counts.items())
        self._entries = entries
        self._kept = kept
        self._session = session
        self.tool = Tool(
            spec("tool_find", _FIND.format(servers=servers), _ToolFind), takes(_ToolFind, self._find), reads_only=True
        )
        self.offered = self._offered()

    async def _find(self, arguments: _ToolFind) -> ToolResult:
        found = search(self._entries, arguments.query)
        if not found:
            names = ", ".join(entry.name for entry in self._entries[:_MOST_NAMED])
            return ToolResult(
                f"No tool fits these words. Some that there are: {names}", foreign=_sources(self._entries)
            )
        await asyncio.to_thread(self._kept.keep_loaded, self._session, tuple(entry.name for entry in found))
        self.offered = self._offered()
        usable = [entry for entry in found if entry.name in self.offered]
        lines = [f"- {entry.name}: {visible(entry.spec.description, 200)}" for entry in usable]
        return ToolResult("\n".join(["You can use these now:", *lines]), foreign=_sources(usable))

    def _offered(self) -> frozenset[str]:
        return fitting(self._entries, self._kept.loaded(self._session), estimate_tool(self.tool.spec))


def _sources(entries: Sequence[CatalogEntry]) -> tuple[ForeignText, ...]:
    names = dict.fromkeys(entry.server.name for entry in entries)
    return tuple(map(found_tools, names))


def _arguments(given: Json) -> Mapping[str, Json]:
    if not isinstance(given, Mapping):
        raise ToolError("the input must be an object with named arguments")
    return given


def _write(scope: Scope, path: str, today: date, content: bytes) -> None:
    rewrite(scope.folder / path, scope.folder, today, lambda _: content)
