"""All that takes a text of others on its way through, one line each: a new function at a seam gets a line here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent import heartbeat
from agent.context import budget, recall_gate
from agent.formats import parsing, plain_text, untrusted
from agent.journal import open_items, progress
from agent.languages import dates, days_meant, order_words, remember, terms
from agent.media import sniff
from agent.media import text as documents
from agent.memory import daily_log, notes, provenance, replace
from agent.memory.scope import Audience, Scope
from agent.model import errors, tokens
from agent.model.anthropic.stream import EventReader
from agent.model.markup import MarkupFilter
from agent.model.offline import intent
from agent.search import aliases, answer_types, chunking, forms_of_address, memory_tests, tokenizer
from agent.silence import SilentFilter, deliverable_text, is_visible
from agent.tools import foreign_text
from channels import formula, maths, split, text
from channels.discord import format as discord
from channels.discord import inbound as discord_inbound
from channels.discord.directory import Directory, DiscordChat
from channels.telegram import format as telegram
from channels.telegram import inbound as telegram_inbound
from channels.web import format as web
from gateway import i18n
from gateway.config import dotenv
from gateway.log_setup import Redactor
from gateway.messages import confirmations
from gateway.policy import display_names
from gateway.scheduling.words import phrases
from tests.linear.judge import Act

_NOW = datetime(2026, 11, 21, 12, 0, tzinfo=ZoneInfo("UTC"))
_TODAY = date(2026, 11, 21)
_PIECE = 7
"""Characters of a stream's piece."""
_DISCORD = Directory("1")
_DISCORD_BOT = discord_inbound.DiscordIdentity("1", "Daybook", frozenset({"help"}))
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
    return telegram_inbound.read({"update_id": 1, "message": message}, telegram_inbound.TelegramIdentity(1, "daybook"))


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
    return discord_inbound.read(data, _DISCORD_BOT, DiscordChat("9"), _DISCORD)


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
    with provenance.provenance_of_writes(provenance.Provenance(("report.pdf",), (said,))):
        provenance.add_marks(f"# Old\n{_marked(said[::10])}\n", f"# New\n{said}\n")


def _mail(said: str) -> None:
    list(documents.from_mail(b"From: a\nSubject: b\nContent-Type: text/html\n\n" + said.encode()))


def _cut(measure: split.Measure, limit: int) -> Act:
    """Without what is remembered of earlier times."""

    def act(said: str) -> None:
        for cache in (split._pieces, telegram._render, discord.rendered):
            cache.cache_clear()
        split.split(said, measure, limit)

    return act


def _read(read: Act) -> Act:
    def act(said: str) -> None:
        for cache in (intent._order_in, order_words.flat):
            cache.cache_clear()
        read(said)

    return act


def _drawn(draw: Act) -> Act:
    def act(said: str) -> None:
        telegram._render.cache_clear()
        draw(said)

    return act


FUNCTIONS: Mapping[str, Act] = {
    # What comes in
    "channels.telegram.inbound.read": _telegram_message,
    "channels.discord.inbound.read": _discord_message,
    "channels.text.clean": text.clean,
    "gateway.messages.confirmations.answer_of": confirmations.answer_of,
    "gateway.scheduling.words.phrases.read": lambda said: [
        phrases.read(f"{before}{said}", _NOW) for before in ("", "every monday")
    ],
    "agent.formats.untrusted.escape": untrusted.escape,
    "agent.formats.untrusted.label": untrusted.label,
    "agent.formats.untrusted.marked_block": lambda said: untrusted.marked_block("document", said, name=said),
    "agent.formats.untrusted.without_blocks": untrusted.without_blocks,
    "agent.formats.untrusted.person_text": untrusted.person_text,
    "agent.formats.untrusted.enclosures": untrusted.enclosures,
    "agent.model.tokens.estimate": tokens.estimate,
    "agent.context.budget.shortened": lambda said: budget.shortened(said, 500),
    "agent.tools.foreign_text.foreign": lambda said: foreign_text.foreign(said, said),
    "agent.tools.foreign_text.in_text": lambda said: foreign_text.in_text(_marked(said)),
    "agent.tools.foreign_text.in_blocks": foreign_text.in_blocks,
    "agent.tools.foreign_text.in_memory": lambda said: foreign_text.in_memory(said, _GROUP),
    "gateway.policy.display_names.plain_name": display_names.plain_name,
    "gateway.policy.display_names.folded": display_names.folded,
    "agent.formats.parsing.load_json": parsing.load_json,
    "agent.formats.parsing.load_yaml": parsing.load_yaml,
    "agent.model.offline.intent.plain_command": _read(intent.plain_command),
    "agent.model.offline.intent.told_language": intent.told_language,
    "agent.languages.remember.asks_to_remember": remember.asks_to_remember.__wrapped__,
    "agent.model.offline.intent.understand": _read(intent.understand),
    "agent.media.sniff.sniffed": lambda said: sniff.sniffed(said.encode()),
    "agent.media.text.decoded": lambda said: documents.decoded(said.encode()),
    # What goes out
    "agent.silence.deliverable_text": deliverable_text,
    "agent.silence.is_visible": is_visible,
    "agent.silence.SilentFilter": _streamed,
    "agent.model.markup.MarkupFilter": _markup,
    "agent.model.anthropic.stream.EventReader": _events,
    "agent.heartbeat.said": heartbeat.said,
    "channels.text.parse": text.parse,
    "channels.maths.protected": maths.protected,
    "channels.formula.readable": formula.readable.__wrapped__,
    "channels.split.split": _cut(len, 2_000),
    "channels.telegram.format.split": _cut(telegram.length, telegram.MAX_TEXT),
    "channels.telegram.format.formatted": _drawn(telegram.formatted),
    "channels.telegram.format.plain": _drawn(telegram.plain),
    "channels.discord.format.split": _cut(discord.length, discord.MAX_TEXT),
    "channels.discord.format.rendered": discord.rendered.__wrapped__,
    "channels.web.format.rendered": web.rendered.__wrapped__,
    "channels.web.format.file_name": web.file_name,
    "gateway.i18n": lambda said: i18n.one_line(said, 80),
    "gateway.log_setup.Redactor": _REDACTOR,
    "agent.model.errors.quoted": lambda said: errors.quoted(said, "secret"),
    # What is kept
    "agent.languages.terms.terms": lambda said: terms.terms(terms.fold(said)),
    "agent.formats.plain_text": plain_text.slug,
    "agent.context.recall_gate.cue_of": lambda text: recall_gate.cue_of(text, _TODAY),
    "agent.search.tokenizer.tokens": tokenizer.tokens,
    "agent.search.tokenizer.query_terms": tokenizer.query_terms,
    "agent.search.tokenizer.words_asked": tokenizer.words_asked,
    "agent.languages.days_meant.relative_days": lambda said: days_meant.relative_days(said, _TODAY),
    "agent.languages.days_meant.day_ahead": lambda said: days_meant.day_ahead(said, _TODAY),
    "agent.languages.dates.days_named": lambda said: dates.days_named(said, _TODAY),
    "agent.languages.dates.without_days": dates.without_days,
    "agent.languages.dates.written_day": dates.written_day,
    "agent.search.aliases.aliases_in": lambda said: list(
        aliases.aliases_in(chunking.passages(f"# {said}\n\n- Anna (B, {said})\n- {said}"), ["people", said])
    ),
    "agent.search.aliases.other_names": lambda said: aliases.other_names(said, [("anna", said[:40] or "b")]),
    "agent.search.chunking.passages": lambda said: list(chunking.passages(said)),
    "agent.search.chunking.speech": chunking.speech,
    "agent.search.answer_types.is_question": answer_types.is_question,
    "agent.search.answer_types.only_asks": answer_types.only_asks,
    "agent.search.forms_of_address.greeted_in": lambda said: list(
        forms_of_address.greeted_in(
            [chunking.Passage(1, 1, f"Anna: {said}"), chunking.Passage(2, 2, f"Ben: Hi {said}")]
        )
    ),
    "agent.search.answer_types.answer_tests": lambda said: [
        holds(said) for holds in answer_types.answer_tests(f"when who how many {said}")
    ],
    "agent.memory.provenance.add_marks": _carried,
    "agent.memory.provenance.with_mark": lambda said: provenance.with_mark(_marked(said), list(said)),
    "agent.memory.notes.parse": notes.parse,
    "agent.memory.daily_log.last_heading": daily_log.last_heading,
    "agent.memory.daily_log.strike_out": lambda said: daily_log.strike_out(said, "[forgotten]"),
    "agent.memory.notes.with_line": lambda said: notes.with_line(said.encode(), "memory/notes/a.md", "a", "b"),
    "agent.search.memory_tests.parsed": lambda said: list(memory_tests.parsed(said)),
    "agent.memory.daily_log.history_addition": lambda said: daily_log.history_addition(
        said, _NOW, said, "e1", extract=False
    ),
    "agent.memory.replace.replace_once": lambda said: replace.replace_once(
        said.encode(), "words that are not there", "x", "a.md"
    ),
    "agent.memory.replace.append_lines": lambda said: replace.append_lines(said.encode(), said, "a.md"),
    "agent.journal.progress.for_reading": progress.for_reading,
    "agent.memory.daily_log.lines_outside_session": lambda said: daily_log.lines_outside_session(said, "a"),
    "agent.journal.open_items.read": open_items.read,
    "agent.journal.open_items.tidy": open_items.tidy,
    "gateway.config.dotenv.parse": lambda said: dotenv.parse(said),
}
