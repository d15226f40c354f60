"""All that takes a text of others on its way through, one line each: a new function at a seam gets a line here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from agent import foreign, heartbeat, parsing, remember
from agent.context import budget, marked, turn_header
from agent.journal import marks, promises
from agent.media import sniff
from agent.media import text as documents
from agent.memory import (
    cue,
    daily,
    days_meant,
    edit,
    front_matter,
    index_lines,
    memory_tests,
    paragraphs,
    provenance,
    slug,
    words,
)
from agent.memory.index import aliases, answers, cutting, dates, tokens
from agent.memory.scope import Audience, Scope
from agent.model import anthropic_errors, offline_commands, offline_intent
from agent.model.markup import MarkupFilter
from agent.model.sse import EventReader
from agent.silence import SilentFilter, can_be_seen, spoken
from channels import split, text
from channels.discord import format as discord
from channels.discord import inbound as discord_inbound
from channels.discord.directory import Directory, Place
from channels.telegram import format as telegram
from channels.telegram import inbound as telegram_inbound
from channels.web import format as web
from gateway import names, one_line, questions
from gateway.config import dotenv
from gateway.log import Redactor
from gateway.schedule import phrases
from tests.linear.judge import Act

_NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_TODAY = date(2026, 11, 21)
_PIECE = 7
"""Characters of a stream's piece."""
_DISCORD = Directory("1")
_DISCORD_BOT = discord_inbound.BotIdentity("1", "Daybook", frozenset({"help"}))
_REDACTOR = Redactor(["a secret that is long enough"])
_GROUP = Scope(Audience.GROUP, Path("workspace"), "telegram--1")


def _telegram_message(said: str) -> object:
    entities = [{"type": "mention", "offset": 0, "length": 8}, {"type": "bot_command", "offset": 9, "length": 5}]
    person = {"id": 5, "first_name": said}
    message = {
        "message_id": 1,
        "date": 1,
        "chat": {"id": -5, "type": "supergroup", "title": said},
        "from": person,
        "text": f"@daybook {said}",
        "entities": entities,
        "reply_to_message": {"message_id": 2, "date": 1, "from": person, "caption": said},
    }
    return telegram_inbound.read({"update_id": 1, "message": message}, telegram_inbound.BotIdentity(1, "daybook"))


def _discord_message(said: str) -> object:
    author = {"id": "5", "username": said}
    data = {
        "id": "7",
        "type": 19,
        "channel_id": "9",
        "author": author,
        "content": f"<@1> {said}",
        "referenced_message": {"id": "8", "author": author, "content": said},
    }
    return discord_inbound.read(data, _DISCORD_BOT, Place("9"), _DISCORD)


def _streamed(said: str) -> None:
    stream = SilentFilter()
    for at in range(0, len(said), _PIECE):
        stream.feed(said[at : at + _PIECE])
    stream.finish()


def _markup(said: str) -> None:
    stream = MarkupFilter()
    for at in range(0, len(said), _PIECE):
        stream.feed(said[at : at + _PIECE])
    stream.finish()


def _events(said: str) -> None:
    reader = EventReader()
    data = f"data: {said}".encode()
    for at in range(0, len(data), _PIECE):
        list(reader.feed(data[at : at + _PIECE]))
    list(reader.finish())


def _marked(said: str) -> str:
    """On one line, with a mark of its own behind each character."""
    return "".join(f"{one} (from: {at})" for at, one in enumerate(said.replace("\n", " ")))


def _carried(said: str) -> None:
    with provenance.written_from(provenance.Provenance(("report.pdf",), (said,))):
        provenance.carried(f"# Old\n{_marked(said[::10])}\n", f"# New\n{said}\n")


def _mail(said: str) -> None:
    list(documents.from_mail(b"From: a\nSubject: b\nContent-Type: text/html\n\n" + said.encode()))


def _cut(measure: split.Measure, limit: int) -> Act:
    """Without what is remembered of earlier times."""

    def act(said: str) -> None:
        for cache in (split._pieces, telegram._drawn, discord.rendered):
            cache.cache_clear()
        split.split(said, measure, limit)

    return act


def _drawn(draw: Act) -> Act:
    def act(said: str) -> None:
        telegram._drawn.cache_clear()
        draw(said)

    return act


FUNCTIONS: Mapping[str, Act] = {
    # What comes in
    "channels.telegram.inbound.read": _telegram_message,
    "channels.discord.inbound.read": _discord_message,
    "channels.text.clean": text.clean,
    "gateway.questions.answer_of": questions.answer_of,
    "gateway.schedule.phrases.read": lambda said: [
        phrases.read(f"{before}{said}", _NOW) for before in ("", "in 1h", "tomorrow", "every monday")
    ],
    "agent.context.marked.harmless": marked.harmless,
    "agent.context.marked.label": marked.label,
    "agent.context.marked.block": lambda said: marked.block("document", said, name=said),
    "agent.context.marked.without_blocks": marked.without_blocks,
    "agent.context.turn_header.words": turn_header.words,
    "agent.context.turn_header.enclosures": turn_header.enclosures,
    "agent.context.budget.estimate": budget.estimate,
    "agent.context.budget.shortened": lambda said: budget.shortened(said, 500),
    "agent.foreign.foreign": lambda said: foreign.foreign(said, said),
    "agent.foreign.in_text": lambda said: foreign.in_text(_marked(said)),
    "agent.foreign.in_blocks": foreign.in_blocks,
    "agent.foreign.in_memory": lambda said: foreign.in_memory(said, _GROUP),
    "gateway.names.plain_name": names.plain_name,
    "gateway.names.folded": names.folded,
    "agent.parsing.load_json": parsing.load_json,
    "agent.parsing.load_yaml": parsing.load_yaml,
    "agent.model.offline_commands.plain_command": offline_commands.plain_command,
    "agent.model.offline_intent.told_language": offline_intent.told_language,
    "agent.remember.asks_to_remember": remember.asks_to_remember.__wrapped__,
    "agent.model.offline_intent.understand": offline_intent.understand,
    "agent.media.sniff.sniffed": lambda said: sniff.sniffed(said.encode()),
    "agent.media.text.decoded": lambda said: documents.decoded(said.encode()),
    # What goes out
    "agent.silence.spoken": spoken,
    "agent.silence.can_be_seen": can_be_seen,
    "agent.silence.SilentFilter": _streamed,
    "agent.model.markup.MarkupFilter": _markup,
    "agent.model.sse.EventReader": _events,
    "agent.heartbeat.said": heartbeat.said,
    "channels.text.parse": text.parse,
    "channels.split.split": _cut(len, 2_000),
    "channels.telegram.format.split": _cut(telegram.length, telegram.MAX_TEXT),
    "channels.telegram.format.formatted": _drawn(telegram.formatted),
    "channels.telegram.format.plain": _drawn(telegram.plain),
    "channels.discord.format.split": _cut(discord.length, discord.MAX_TEXT),
    "channels.discord.format.rendered": discord.rendered.__wrapped__,
    "channels.web.format.rendered": web.rendered.__wrapped__,
    "channels.web.format.file_name": web.file_name,
    "gateway.one_line": lambda said: one_line.one_line(said, 80),
    "gateway.log.Redactor": _REDACTOR,
    "agent.model.anthropic_errors.quoted": lambda said: anthropic_errors.quoted(said, "secret"),
    # What is kept
    "agent.memory.words.terms": lambda said: words.terms(words.fold(said)),
    "agent.memory.slug": slug.slug,
    "agent.memory.cue.cue_of": lambda text: cue.cue_of(text, _TODAY),
    "agent.memory.index.tokens.tokens": tokens.tokens,
    "agent.memory.index.tokens.query_terms": tokens.query_terms,
    "agent.memory.index.tokens.words_asked": tokens.words_asked,
    "agent.memory.days_meant.days_meant": lambda said: days_meant.days_meant(said, _TODAY),
    "agent.memory.days_meant.day_ahead": lambda said: days_meant.day_ahead(said, _TODAY),
    "agent.memory.index.dates.days_named": lambda said: dates.days_named(said, _TODAY),
    "agent.memory.index.dates.without_days": dates.without_days,
    "agent.memory.index.dates.written_day": dates.written_day,
    "agent.memory.index.aliases.aliases_in": lambda said: list(
        aliases.aliases_in(cutting.passages(f"# {said}\n\n- Anna (B, {said})\n- {said}"), ["people", said])
    ),
    "agent.memory.index.aliases.other_names": lambda said: aliases.other_names(said, [("anna", said[:40] or "b")]),
    "agent.memory.index.cutting.passages": lambda said: list(cutting.passages(said)),
    "agent.memory.index.cutting.speech": cutting.speech,
    "agent.memory.index.answers.is_question": answers.is_question,
    "agent.memory.index.answers.sought": lambda said: [
        holds(said) for holds in answers.sought(f"when who how many {said}")
    ],
    "agent.memory.provenance.carried": _carried,
    "agent.memory.provenance.with_mark": lambda said: provenance.with_mark(_marked(said), list(said)),
    "agent.memory.front_matter.parse": front_matter.parse,
    "agent.memory.daily.last_heading": daily.last_heading,
    "agent.memory.daily.struck": lambda said: daily.struck(said, "[forgotten]"),
    "agent.memory.index_lines.with_line": lambda said: index_lines.with_line(
        said.encode(), "memory/notes/a.md", "a", "b"
    ),
    "agent.memory.memory_tests.parsed": lambda said: list(memory_tests.parsed(said)),
    "agent.memory.paragraphs.addition": lambda said: paragraphs.addition(said, _NOW, said, "e1", extract=False),
    "agent.memory.edit.edited": lambda said: edit.edited(said.encode(), "words that are not there", "x", "a.md"),
    "agent.memory.edit.added": lambda said: edit.added(said.encode(), said, "a.md"),
    "agent.journal.marks.for_reading": marks.for_reading,
    "agent.journal.marks.without": lambda said: marks.without(said, "a"),
    "agent.journal.promises.read": promises.read,
    "agent.journal.promises.tidy": promises.tidy,
    "gateway.config.dotenv.parse": lambda said: dotenv.parse(said),
}
