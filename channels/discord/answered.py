"""What REST answers, read again where the library reads less of it: it knows JSON only under the exact content type
`application/json`, and of a 429 without the header `Via` nothing at all."""

from __future__ import annotations

from typing import Any

import discord

from channels.fields import load_json


def parsed(answer: Any) -> Any:
    """The JSON of an answer that the library took for text; any other as it is."""
    if not isinstance(answer, str):
        return answer
    try:
        return load_json(answer)
    except ValueError:
        return answer


def told_by(error: discord.HTTPException, wait: float) -> discord.DiscordException:
    """The same refusal with Discord's own number and words. `wait`: seconds that a 429 names, in its head or body."""
    if error.status == 429 and wait:
        return discord.RateLimited(wait)
    body = parsed(error.text)
    return type(error)(error.response, body) if not error.code and isinstance(body, dict) else error
