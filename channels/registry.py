"""The channels by name. Only a used one's library is imported."""

from __future__ import annotations

from importlib import import_module

CHANNELS = {
    "telegram": "channels.telegram.channel:TelegramChannel",
    "discord": "channels.discord.channel:DiscordChannel",
    "web": "channels.web.channel:WebChannel",
}
"""Name of a channel -> `module:class`."""


def load(name: str) -> type:
    """Raises `KeyError`."""
    module, _, class_name = CHANNELS[name].partition(":")
    found: object = getattr(import_module(module), class_name)
    if not isinstance(found, type):
        raise TypeError(f"{CHANNELS[name]} is not a class")
    return found
