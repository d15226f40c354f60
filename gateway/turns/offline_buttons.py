"""The buttons under an answer of the offline assistant: under a note, one that takes back that note and nothing
else; under a greeting, examples of what it can do."""

from __future__ import annotations

import asyncio

from agent.agent import Agent
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import said
from agent.memory.history import Change
from agent.model.offline.intent import IntentKind, understand
from agent.model.offline.model import NAME as OFFLINE
from agent.values import ResultKind, TurnResult
from channels.message import Button
from gateway.i18n import example_buttons
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Buttons
from gateway.turns.services import TurnServices

_NOTES = frozenset({"memory_append", "memory_save"})


async def newest_change(agent: Agent, row: InboxRow) -> str:
    """The id of the newest change of memory in that conversation; empty where a model answers."""
    change = await _newest(agent, row)
    return change.id if change is not None else ""


async def offline_buttons(services: TurnServices, agent: Agent, row: InboxRow, before: str, end: TurnResult) -> Buttons:
    """The buttons under an answer, if any. `before`: the newest change before the turn."""
    message = row.message
    if end.kind is not ResultKind.REPLY or agent.settings.model.name != OFFLINE or not message.is_from_person:
        return ()
    if (intent := understand(message.text)).wish in (IntentKind.GREET, IntentKind.HELP):
        return example_buttons(intent.language)
    change = await _newest(agent, row)
    if change is None or change.id == before or change.by not in _NOTES:
        return ()
    try:
        language = await services.language(message.address)
    except StorageUnavailable:
        return ()
    return ((Button(said(language, "Undo it"), f"/undo {change.id}"),),)


async def _newest(agent: Agent, row: InboxRow) -> Change | None:
    if agent.settings.model.name != OFFLINE:
        return None
    try:
        return await asyncio.to_thread(agent.history.last, row.session)
    except (OSError, StorageUnavailable):
        return None
