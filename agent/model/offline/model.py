"""The embedded assistant without an account: files what it is told, finds it again, shows today's log.

No language model and no guessing: a few intents (`intent`), the tools of the request, and sentences that say what was
done. It uses the same loop, tools and files as any model.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.formats.message_text import NO_TEXT, day_in_header, person_text
from agent.languages.days_meant import with_days
from agent.model.base import (
    Block,
    Completed,
    Json,
    Message,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolCallStarted,
    Usage,
)
from agent.model.offline.intent import Intent, IntentKind, language_of, understand
from agent.model.offline.phrases import PHRASES, Phrases
from agent.model.tokens import estimate, estimate_blocks, estimate_tools
from agent.search.result_text import passages_in
from agent.silence import NO_REPLY

NAME = "offline"
WINDOW = 200_000
_PIECE_WORDS = 12
_MOST_QUOTED = 300
_MOST_PASSAGES = 5
_MOST_PASSAGE_CHARS = 600
_MOST_LOG_CHARS = 6_000
_MOST_EXTRACTED = 40
_NOTHING_THERE = "[Empty"
"""With what `memory_get` answers for a file that is not there, or has nothing in it."""
_ENCLOSED = re.compile(r"^<daybook-(?:document|enclosed)\b", re.MULTILINE)
_PATH = re.compile(r"(?<!\S)\S+\.md\b")
_TOOL_OF = {IntentKind.FILE: "memory_append", IntentKind.FIND: "memory_search", IntentKind.TODAY: "memory_get"}


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: Mapping[str, Json]


class OfflineModel:
    """Deterministic. A flush has nothing to add, since everything was filed at once; a summary is an extract of the
    person's messages."""

    def __init__(self, clock: Clock, env_file: str) -> None:
        """`env_file`: the file for a key, as it is shown to people."""
        self._clock = clock
        self._env_file = env_file

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        text, calls = self._answer(request)
        for piece in _pieces(text):
            yield TextDelta(piece)
        for call in calls:
            yield ToolCallStarted(call.name)
        yield _completed(request, text, calls)

    async def context_window(self, model: str) -> int | None:
        return WINDOW

    async def aclose(self) -> None:
        pass

    def _answer(self, request: ModelRequest) -> tuple[str, list[_Call]]:
        if request.purpose == "flush" or _only_silence_is_asked(request):
            return NO_REPLY, []
        if request.purpose not in ("chat", "job"):
            return _extract(request.messages), []
        last = request.messages[-1]
        parts = list(_told(request))
        said = _said(last)
        if not said and not parts:
            said = _said_before(request.messages) or [""]
        unseen = [PHRASES[language_of(_newest(request))].unseen] if _brings_something(last) else []
        if unseen:
            said = [text for text in said if text]
        intents = [(text, understand(text)) for text in said]
        calls = [call for text, intent in intents if (call := self._call(text, intent, request)) is not None]
        parts += self._replies([intent for text, intent in intents if self._call(text, intent, request) is None])
        parts += unseen
        if parts and not calls and _is_first_answer(request):
            offline = self._offline(PHRASES[language_of(_newest(request))])
            parts += [offline] if offline not in parts else []
        return "\n\n".join(parts), calls

    def _call(self, text: str, intent: Intent, request: ModelRequest) -> _Call | None:
        name = _TOOL_OF.get(intent.wish)
        if name is None or name not in {tool.name for tool in request.tools}:
            return None
        match intent.wish:
            case IntentKind.FILE:
                return _Call(name, {"text": text})
            case IntentKind.FIND:
                return _Call(name, {"query": intent.query})
            case _:
                return _Call(name, {"path": f"memory/{self._clock.today().isoformat()}.md"})

    def _replies(self, intents: Sequence[Intent]) -> list[str]:
        """Replies without a tool, or for a tool that this chat does not have. Each sentence once."""
        replies: list[str] = []
        for intent in intents:
            phrases = PHRASES[intent.language]
            match intent.wish:
                case IntentKind.GREET:
                    replies += [phrases.greeting, self._offline(phrases), phrases.abilities]
                case IntentKind.HELP:
                    replies += [self._offline(phrases), phrases.abilities]
                case IntentKind.THANK:
                    replies.append(phrases.welcome)
                case IntentKind.COMMAND:
                    replies.append(phrases.command.format(command=intent.query))
                case IntentKind.NOTHING:
                    replies.append(phrases.empty)
                case _:
                    replies += [phrases.no_tool, self._offline(phrases)]
        return list(dict.fromkeys(replies))

    def _offline(self, phrases: Phrases) -> str:
        return phrases.offline.format(env=self._env_file)


def _told(request: ModelRequest) -> Iterator[str]:
    """The results of the tools in the last message, for the person."""
    if len(request.messages) < 2:
        return
    asked = {
        block["id"]: block
        for block in request.messages[-2].content
        if block.get("type") == "tool_use" and "id" in block
    }
    phrases = PHRASES[language_of(_newest(request))]
    for block in request.messages[-1].content:
        call = asked.get(block.get("tool_use_id")) if block.get("type") == "tool_result" else None
        if call is not None:
            yield _result(call, _text_of(block.get("content")), bool(block.get("is_error")), phrases)


def _result(call: Block, result: str, failed: bool, phrases: Phrases) -> str:
    given = call.get("input")
    arguments = given if isinstance(given, Mapping) else {}
    if failed:
        return phrases.failed.format(why=result)
    match call.get("name"):
        case "memory_append":
            path = _PATH.search(result)
            said = _quoted(_short(str(arguments.get("text", "")), _MOST_QUOTED))
            return f"{phrases.noted.format(path=path[0] if path else 'memory/')}\n\n{said}"
        case "memory_search":
            passages = _passages(result)
            if not passages:
                return phrases.nothing.format(query=arguments.get("query", ""))
            return "\n\n".join([phrases.found, *passages])
        case "memory_get":
            log = _short(result.strip(), _MOST_LOG_CHARS, keep_end=True)
            if not log or log.startswith(_NOTHING_THERE):
                return phrases.today_empty
            return f"{phrases.today.format(path=arguments.get('path', ''))}\n\n{log}"
        case _:
            return result


def _passages(result: str) -> list[str]:
    """The best passages of a search's result, each under its path and lines, without those found only by their
    context."""
    passages = [
        f"**{one.place}** ({one.age})\n{_quoted(_short(one.text.strip(), _MOST_PASSAGE_CHARS))}"
        for one in passages_in(result)
        if not one.is_context
    ]
    return passages[:_MOST_PASSAGES]


def _extract(messages: Sequence[Message]) -> str:
    """The person's messages, a line each, the newest where there is too much; of a text without headers, its lines."""
    said = [line for message in messages for line in _dated_lines(message)]
    lines = said or [_one_line(line) for message in messages for text in _said(message) for line in text.splitlines()]
    return "\n".join(f"- {line}" for line in [line for line in lines if line][-_MOST_EXTRACTED:]) or NO_REPLY


def _dated_lines(message: Message) -> list[str]:
    """The lines under headers with the days that they mean, since the headers are dropped."""
    texts = [_text_of(block.get("text")) for block in message.content if block.get("type") == "text"]
    headed = (
        (day, person_text(text))
        for text in texts
        if message.role == "user" and (day := day_in_header(text)) is not None
    )
    return [with_days(_one_line(said), day) for day, said in headed if said != NO_TEXT]


def _one_line(text: str) -> str:
    return _short(" ".join(text.split()), _MOST_QUOTED)


def _only_silence_is_asked(request: ModelRequest) -> bool:
    """True for a turn that the program began and that names the silent token."""
    last = request.messages[-1]
    results = any(block.get("type") == "tool_result" for block in last.content)
    raw = "\n".join(_text_of(block.get("text")) for block in last.content)
    return not results and NO_REPLY in raw and not any(NO_REPLY not in text for text in _said(last))


def _said(message: Message) -> list[str]:
    """Texts of a user message without headers and marked blocks, empty for one without words."""
    if message.role != "user":
        return []
    texts = [_text_of(block.get("text")) for block in message.content if block.get("type") == "text"]
    said = list(map(person_text, texts))
    return ["" if text == NO_TEXT else text for text in said if text]


def _brings_something(message: Message) -> bool:
    """True where a person's message has more than words."""
    return any(
        block.get("type") == "image" or _ENCLOSED.search(_text_of(block.get("text"))) for block in message.content
    )


def _said_before(messages: Sequence[Message]) -> list[str]:
    return next((said for message in reversed(messages) if (said := _said(message))), [])


def _newest(request: ModelRequest) -> str:
    return "\n".join(_said_before(request.messages))


def _is_first_answer(request: ModelRequest) -> bool:
    return not any(
        message.role == "assistant" and any(block.get("type") == "text" for block in message.content)
        for message in request.messages
    )


def _text_of(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "\n".join(_text_of(part.get("text")) for part in value if isinstance(part, Mapping))
    return ""


def _short(text: str, most: int, *, keep_end: bool = False) -> str:
    if len(text) <= most:
        return text
    return "…" + text[-most:].lstrip() if keep_end else text[:most].rstrip() + "…"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _pieces(text: str) -> Iterator[str]:
    parts = re.findall(r"\S+\s*|\s+", text)
    for start in range(0, len(parts), _PIECE_WORDS):
        yield "".join(parts[start : start + _PIECE_WORDS])


def _completed(request: ModelRequest, text: str, calls: Sequence[_Call]) -> Completed:
    content: list[Block] = [{"type": "text", "text": text}] if text.strip() else []
    for position, call in enumerate(calls):
        content.append(
            {"type": "tool_use", "id": _call_id(request, position), "name": call.name, "input": call.arguments}
        )
    told = sum(map(estimate, request.system)) + estimate_tools(request.tools)
    told += sum(estimate_blocks(message.content) for message in request.messages)
    usage = Usage(input=told, output=estimate_blocks(content))
    return Completed(tuple(content), "tool_use" if calls else "end_turn", usage, NAME)


def _call_id(request: ModelRequest, position: int) -> str:
    """A unique id, the same when the same request is repeated."""
    used = [block["id"] for message in request.messages for block in message.content if block.get("type") == "tool_use"]
    digest = hashlib.sha256(f"{request.session}|{len(request.messages)}|{used}|{position}".encode()).hexdigest()
    return f"toolu_offline_{digest[:16]}"
