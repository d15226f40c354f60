"""`/memory QUERY`: what is remembered, found without a model, in this chat's own scope.

What holds no word of the question is left out: nobody could see why it was found."""

from __future__ import annotations

import asyncio

from agent.memory.age import age_in_words
from agent.memory.search import Hit
from gateway.commands import Ask, Command, CommandError

_MOST = 6
_LOOKED_AT = 40
_PASSAGE_CHARS = 400
_MOST_GAPS = 3


async def memory(ask: Ask) -> str:
    if not ask.words:
        raise CommandError("What shall I look for? `/memory QUERY`")
    clock = ask.house.clock
    found = await asyncio.to_thread(
        ask.agent.index.search, ask.conversation.scope, clock, [ask.words], until=clock.today(), most=_LOOKED_AT
    )
    hits = [hit for hit in found.hits if not hit.is_context]
    gaps = [f"_Not searched: {gap}_" for gap in found.gaps[:_MOST_GAPS]]
    if not hits:
        return "\n\n".join(["Nothing found. Try other words, or fewer.", *gaps])
    today = clock.today()
    passages = [_passage(hit, age_in_words(hit.date, today)) for hit in hits[:_MOST]]
    more = ["There is more; more words narrow it down."] if len(hits) > _MOST else []
    return "\n\n".join([*passages, *more, *gaps])


def _passage(hit: Hit, age: str) -> str:
    text = hit.text if len(hit.text) <= _PASSAGE_CHARS else f"{hit.text[:_PASSAGE_CHARS].rstrip()} […]"
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
    return f"`{hit.place}` ({age}, score {hit.score:.2f}: {parts})\n{quoted}"


COMMANDS = (Command("memory", "QUERY", "search what I remember here", memory),)
