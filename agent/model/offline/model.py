"""The assistant without an account: files what people write, finds it again, shows today's log: a few intents
(`intent`) and the tools of the request."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import date

from agent.clock import Clock
from agent.formats.untrusted import NO_TEXT, day_in_header, person_text
from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.days_meant import with_days
from agent.languages.examples import ABILITIES
from agent.languages.moments import headed, place_in
from agent.languages.order_words import flat, words_of
from agent.languages.orders import is_general
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence, said
from agent.languages.table import OfflineStrings
from agent.languages.terms import fold, is_same_word, query_terms, terms
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
from agent.model.offline.memory_calls import MemoryCall, call_blocks, call_for, texts_said
from agent.model.tokens import estimate_blocks, estimate_request
from agent.search.result_text import ShownPassage, passages_in
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
"""How `memory_get` begins its answer for a file that is missing or empty."""
_PLACE = re.compile(r"(\d{4}-\d\d-\d\d)\.md:(\d+)")
_TIME = re.compile(r"\d\d:\d\d ")
_ENCLOSED = re.compile(r"^<daybook-(?:document|enclosed)\b", re.MULTILINE)


class OfflineModel:
    """Deterministic. A flush adds nothing, since all was filed; a summary is an extract."""

    def __init__(self, clock: Clock, env_file: str) -> None:
        """`env_file`: the file for a key, as it is shown to people."""
        self._clock = clock
        self._env_file = env_file

    async def warm_up(self) -> None:
        """Reads the words of all languages, a second's work, ahead of the first message."""
        await asyncio.to_thread(understand, "daybook?")

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

    def _answer(self, request: ModelRequest) -> tuple[str, list[MemoryCall]]:
        if request.purpose == "flush" or _only_silence_is_asked(request):
            return NO_REPLY, []
        if request.purpose not in ("chat", "job", "task"):
            return _extract(request.messages), []
        last = request.messages[-1]
        parts = list(_told(request, self._clock.today()))
        said = texts_said(last)
        if not said and not parts:
            said = _said_before(request.messages) or [""]
        unseen = [LANGUAGES[language_asked_in(request)].offline.unseen] if _brings_something(last) else []
        if unseen:
            said = [text for text in said if text]
        intents = [(text, understand(text, request.language)) for text in said]
        calls = [call for text, intent in intents if (call := self._call(text, intent, request)) is not None]
        parts += self._replies([intent for text, intent in intents if self._call(text, intent, request) is None])
        parts += unseen
        is_greeting = any(intent.wish is IntentKind.GREET for _, intent in intents)
        if parts and not (calls or is_greeting or _is_said(parts)) and _is_first_answer(request):
            offline = self._offline(LANGUAGES[language_asked_in(request)].offline)
            parts += [offline] if offline not in parts else []
        return "\n\n".join(parts), calls

    def _call(self, text: str, intent: Intent, request: ModelRequest) -> MemoryCall | None:
        return call_for(text, intent, request, self._clock.today())

    def _replies(self, intents: Sequence[Intent]) -> list[str]:
        """Replies without a tool, or for one this chat lacks."""
        replies: list[str] = []
        for intent in intents:
            strings = LANGUAGES[intent.language].offline
            match intent.wish:
                case IntentKind.GREET:
                    replies.append(greeting_in(intent.language))
                case IntentKind.HELP:
                    replies += [strings.abilities, self._offline(strings)]
                case IntentKind.NEEDS_MODEL:
                    replies.append(strings.needs_model)
                case IntentKind.THANK:
                    replies.append(strings.welcome)
                case IntentKind.TALK:
                    replies.append("🙂")
                case IntentKind.COMMAND:
                    replies.append(strings.command.format(command=intent.query))
                case IntentKind.NOTHING:
                    replies.append(strings.empty)
                case _:
                    replies += [strings.no_tool, self._offline(strings)]
        return list(dict.fromkeys(replies))

    def _offline(self, strings: OfflineStrings) -> str:
        return strings.offline.format(env=self._env_file)


def _is_said(parts: Sequence[str]) -> bool:
    """True if a part tells already that no language model is connected."""
    return any(table.offline.needs_model in part for table in LANGUAGES.values() for part in parts)


def greeting_in(language: Language) -> str:
    """Two lines: what it can do, and what a language model is for."""
    table = LANGUAGES[language]
    first = (table.offline.greeting, ABILITIES.in_language(language))
    more = said(language, "For a real conversation, connect a language model on the page under Settings.")
    return f"{(' ' if table.spaced else '').join(first)}\n{more}"


def _told(request: ModelRequest, today: date) -> Iterator[str]:
    """The results of the last tools, for the person."""
    if len(request.messages) < 2:
        return
    asked = {
        block["id"]: block
        for block in request.messages[-2].content
        if block.get("type") == "tool_use" and "id" in block
    }
    language = language_asked_in(request)
    for block in request.messages[-1].content:
        call = asked.get(block.get("tool_use_id")) if block.get("type") == "tool_result" else None
        if call is not None:
            yield _result(
                call, _text_of(block.get("content")), bool(block.get("is_error")), language, today, _newest(request)
            )


def _result(call: Block, result: str, failed: bool, language: Language, today: date, asked: str) -> str:
    strings = LANGUAGES[language].offline
    given = call.get("input")
    arguments = given if isinstance(given, Mapping) else {}
    if failed:
        return strings.failed.format(why=result)
    match call.get("name"):
        case "memory_append":
            said = _quoted(_short(str(arguments.get("text", "")), _MOST_QUOTED))
            return f"{strings.noted}\n\n{said}"
        case "memory_search":
            passages = _passages(result, str(arguments.get("query", "")), language, today)
            if not passages:
                nothing = strings.nothing.format(query=arguments.get("query", ""))
                return f"{nothing}\n\n{strings.needs_model}" if is_general(asked, language) else nothing
            return "\n\n".join([strings.found, *passages])
        case "memory_get":
            log = _short(result.strip(), _MOST_LOG_CHARS, keep_end=True)
            if not log or log.startswith(_NOTHING_THERE):
                return strings.today_empty
            return f"{strings.today}\n\n{log}"
        case _:
            return result


def _passages(result: str, asked: str, language: Language, today: date) -> list[str]:
    found = [passage for passage in passages_in(result) if not passage.is_context][:_MOST_PASSAGES]
    ordered, older = newest_first(found, asked)
    return [
        f"**{headed(place_in(language, passage.place, today))}"
        f"{_EARLIER.in_language(language) if passage in older else ''}**\n"
        f"{_quoted(_short(passage.text.strip(), _MOST_PASSAGE_CHARS))}"
        for passage in ordered
    ]


_EARLIER = Sentence(" (earlier)")


def newest_first(passages: Sequence[ShownPassage], asked: str) -> tuple[list[ShownPassage], list[ShownPassage]]:
    """The passages, those about the matter of the best one first and of these the newest first; and the older ones of
    these. Of two notes that say different things of one matter, the newer holds."""
    dated = [passage for passage in passages if _PLACE.search(passage.place)]
    if not dated or dated[0] is not passages[0]:
        return list(passages), []
    best = dated[0]
    same = [passage for passage in dated if passage is best or _are_of_one_matter(best, passage, asked)]
    same.sort(key=_day_and_line, reverse=True)
    return [*same, *(passage for passage in passages if passage not in same)], same[1:]


def _are_of_one_matter(first: ShownPassage, second: ShownPassage, asked: str) -> bool:
    """True if both have the same of the words that are asked for, and the newer corrects, or says nearly the same."""
    older, newer = sorted((first, second), key=_day_and_line)
    if _asked_words_in(older, asked) != _asked_words_in(newer, asked):
        return False
    words, others = (frozenset(terms(fold(_without_time(passage)))) for passage in (older, newer))
    return _corrects(_without_time(newer)) or 2 * len(words & others) >= max(len(words), len(others))


def _asked_words_in(passage: ShownPassage, asked: str) -> frozenset[str]:
    own = query_terms(_without_time(passage))
    return frozenset(word for word in query_terms(asked) if any(is_same_word(word, other) for other in own))


def _corrects(text: str) -> bool:
    """True if a text begins as a correction does: "No, …", "Actually …"."""
    flattened = flat(text)
    return any(re.match(words_of(language).given.corrects, flattened) for language in ALL_LANGUAGES)


def _without_time(passage: ShownPassage) -> str:
    return _TIME.sub("", passage.text, count=1)


def _day_and_line(passage: ShownPassage) -> tuple[str, int]:
    place = _PLACE.search(passage.place)
    return (place[1], int(place[2])) if place else ("", 0)


def _extract(messages: Sequence[Message]) -> str:
    """The person's messages, the newest that fit; without headers, the lines."""
    said = [line for message in messages for line in _dated_lines(message)]
    lines = said or [
        _one_line(line) for message in messages for text in texts_said(message) for line in text.splitlines()
    ]
    return "\n".join(f"- {line}" for line in [line for line in lines if line][-_MOST_EXTRACTED:]) or NO_REPLY


def _dated_lines(message: Message) -> list[str]:
    """The lines with the days that they mean, since headers are dropped."""
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
    """True if the program began the turn and names the silent token."""
    last = request.messages[-1]
    results = any(block.get("type") == "tool_result" for block in last.content)
    raw = "\n".join(_text_of(block.get("text")) for block in last.content)
    return not results and NO_REPLY in raw and not any(NO_REPLY not in text for text in texts_said(last))


def _brings_something(message: Message) -> bool:
    return any(
        block.get("type") == "image" or _ENCLOSED.search(_text_of(block.get("text"))) for block in message.content
    )


def _said_before(messages: Sequence[Message]) -> list[str]:
    return next((said for message in reversed(messages) if (said := texts_said(message))), [])


def language_asked_in(request: ModelRequest) -> Language:
    """The language of the newest message; the chat's where its words tell none."""
    return language_of(_newest(request), request.language)


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


def _completed(request: ModelRequest, text: str, calls: Sequence[MemoryCall]) -> Completed:
    content: list[Block] = [{"type": "text", "text": text}] if text.strip() else []
    content += call_blocks(request, calls, NAME)
    usage = Usage(input=estimate_request(request), output=estimate_blocks(content))
    return Completed(tuple(content), "tool_use" if calls else "end_turn", usage, NAME)
