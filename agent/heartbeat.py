"""The heartbeat: a model looks at HEARTBEAT.md now and then, in a small separate context, which is not kept. An empty
list costs no call."""

from __future__ import annotations

import asyncio
import logging
import re

from agent.clock import Clock
from agent.formats import untrusted
from agent.journal import open_items
from agent.journal.progress import for_reading
from agent.memory.daily_log import log_path
from agent.memory.files import FileError, read_text
from agent.memory.redaction_lock import ReadEpoch, RedactionLock
from agent.memory.scope import Scope
from agent.model.base import Model
from agent.model.client import ask_once
from agent.model.tokens import estimate
from agent.settings import ModelSettings
from agent.silence import NO_REPLY, deliverable_text

_log = logging.getLogger(__name__)

FILE = "HEARTBEAT.md"
PURPOSE = "heartbeat"
_OK = "HEARTBEAT_OK"
_MOST_TOKENS = 512
_MOST_LIST_CHARS = 8_000
_MOST_LOG_TOKENS = 2_000
_TOKEN_AT_START = re.compile(rf"\W*+{_OK}\b[\s*_`.!:,;–—-]*+", re.IGNORECASE)
_TOKEN_AT_END = re.compile(rf"(?<!\w){_OK}(?=\W*+\Z)", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"[ \t]*(?:#.*|[-*+][ \t]*(?:\[ \][ \t]*)?|[-=_*]{3,}[ \t]*)?")
_SYSTEM = f"""\
You are a personal assistant that looks, every now and then, at a list of things to watch for. You are shown the list, \
the time, what is promised and the end of today's log. If something on the list calls for a word to your owner now, \
write that word: one or two sentences in the owner's language, to be sent as it is. Otherwise answer {_OK} alone. Do \
not repeat what the log says was said already, and do not report that all is well."""


async def heartbeat(
    model: Model, settings: ModelSettings, session: str, scope: Scope, clock: Clock, redaction_lock: RedactionLock
) -> str | None:
    """The message to send, empty for none; None if the list is empty. Raises `ModelError`, `FileError`."""

    async def made(reading: ReadEpoch) -> str | None:
        wanted = await asyncio.to_thread(_list, scope)
        if not wanted:
            return None
        shown = await asyncio.to_thread(_shown, scope, clock, wanted)
        answer = await ask_once(
            model,
            settings,
            _SYSTEM,
            shown,
            most_tokens=_MOST_TOKENS,
            purpose=PURPOSE,
            session=session,
            is_current=reading.is_current,
        )
        return "" if answer is None else said(answer)

    return await redaction_lock.until_current(scope, made)


def said(answer: str) -> str:
    """The part of an answer to send: no HEARTBEAT_OK or NO_REPLY."""
    bare = answer.strip().strip("*_`.!\"' \n").upper()
    if bare in (_OK, NO_REPLY):
        return ""
    text = deliverable_text(answer)
    if start := _TOKEN_AT_START.match(text):
        text = text[start.end() :]
    if end := _TOKEN_AT_END.search(text):
        text = text[: end.start()].rstrip("*`")
    return text.strip()


def _list(scope: Scope) -> str:
    """The list without comments, headings and empty bullets. Raises `FileError`."""
    file = read_text(scope.folder / FILE, scope.folder)
    text = _COMMENT.sub("", file.text) if file is not None else ""
    lines = [line for line in text.splitlines() if not _HEADING.fullmatch(line)]
    return "\n".join(lines)[:_MOST_LIST_CHARS].strip()


def _shown(scope: Scope, clock: Clock, wanted: str) -> str:
    now = clock.now()
    log, open_ = "", ""
    try:
        file = read_text(log_path(scope, now.date()), scope.folder)
        log = "\n".join(for_reading(file.text)) if file is not None else ""
        open_ = "\n".join(item.text for item in open_items.still_open(scope))
    except FileError as problem:
        _log.warning("the heartbeat sees less: %s", problem)
    if (size := estimate(log)) > _MOST_LOG_TOKENS:
        log = f"[…]\n{log[-(len(log) * _MOST_LOG_TOKENS // size) :]}"
    return "\n".join(
        (
            f"It is {now:%Y-%m-%d %H:%M} {clock.zone.key}.",
            untrusted.marked_block("file", wanted, name=FILE),
            untrusted.marked_block("quoted", f"Open promises:\n{open_ or '(none)'}"),
            untrusted.marked_block("file", log or "(empty)", name=f"memory/{now.date().isoformat()}.md"),
        )
    )
